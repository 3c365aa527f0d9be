"""WARC 1.1 records, formed and read: one gzip member a record (ISO 28500:2017, annex D).

What we keep of a response is its *decoded* body, so header lines that describe the wire form
(Content-Encoding, Transfer-Encoding, Content-Length) carry the prefix ``X-Crawl-`` in the archive,
as public web archives do, with the true Content-Length beside them; reading gives the original names
back. The status line always says HTTP/1.1, which is what WARC readers understand; another version of
the protocol is noted in ``WARC-Protocol``.
"""

import hashlib
import re
import time
from base64 import b32encode
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple

from isal import igzip_lib, isal_zlib

__all__ = [
    "GZIP_ERROR",
    "BadRecordError",
    "Parsed",
    "conversion_member",
    "digest_label",
    "epoch",
    "inflate",
    "parse",
    "parse_http",
    "response_member",
    "warcinfo_member",
]

GZIP_ERROR: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # its stub calls the class an instance

_LEVEL = 1
_GZIP_WINDOW = 31
_LONGEST_RECORD = 1 << 30
_LAST_SECOND = 253402300799.0  # 9999-12-31
_REASONS = {int(status): status.phrase for status in HTTPStatus}
_WIRE = frozenset({"content-encoding", "transfer-encoding", "content-length"})
_PREFIX = "X-Crawl-"
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [first + second for first in _BASE32 for second in _BASE32]
_PADS = {16: "======", 20: ""}  # MD5 and SHA-1: their letters come in pairs
_BREAKS = re.compile(r"[\r\n]+")
_PROTOCOLS = {"2": "h2", "2.0": "h2", "3": "h3", "1.0": "http/1.0"}


class BadRecordError(Exception):
    """A member that is not what we wrote; never leaves this room."""


class Parsed(NamedTuple):
    """A record taken apart: named fields (lower-case names) and the block."""

    fields: dict[str, str]
    block: bytes


def digest_label(name: str, digest: bytes) -> str:
    """Return ``name:BASE32``, the form in which archive tools compare digests.

    Not hexadecimal: of an MD5 that has as many characters as padded base 32, and tools mistake it.
    """
    pads = _PADS.get(len(digest))
    if pads is None:
        return f"{name}:{b32encode(digest).decode('ascii')}"
    letters: list[str] = []
    for at in range(0, len(digest), 5):  # five bytes are eight letters, and a number that is quickly shifted
        five = int.from_bytes(digest[at : at + 5].ljust(5, b"\0"), "big")
        letters += (
            _PAIRS[five >> 30],
            _PAIRS[five >> 20 & 1023],
            _PAIRS[five >> 10 & 1023],
            _PAIRS[five & 1023],
        )
    return f"{name}:{''.join(letters)[: 32 - len(pads)]}{pads}"


@lru_cache(maxsize=4)
def _second(at_s: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_s))


def _date(at_s: float) -> str:
    if not 0 <= at_s <= _LAST_SECOND:  # a clock gone mad, or NaN
        at_s = 0.0
    micros = round(at_s * 1e6)
    return f"{_second(micros // 1_000_000)}.{micros % 1_000_000:06d}Z"


def _line(text: str) -> str:
    """Make *text* one line: nothing from the network may start a header line of its own."""
    return _BREAKS.sub(" ", text) if "\n" in text or "\r" in text else text


def _member(head: str, *block: bytes) -> bytes:
    return igzip_lib.compress(
        b"".join((head.encode("utf-8", "surrogatepass"), *block, b"\r\n\r\n")), _LEVEL, igzip_lib.COMP_GZIP
    )


def warcinfo_member(*, at_s: float, record_id: str, filename: str, software: str, writer: str) -> bytes:
    """Form the record that opens a segment."""
    block = (
        f"software: {software}\r\nformat: WARC File Format 1.1\r\n"
        "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"
        f"description: decoded bodies and extracted texts, appended by {_line(writer)}\r\n"
    ).encode()
    return _member(
        f"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Date: {_date(at_s)}\r\nWARC-Record-ID: <urn:uuid:{record_id}>\r\n"
        f"WARC-Filename: {filename}\r\nContent-Type: application/warc-fields\r\n"
        f"Content-Length: {len(block)}\r\n\r\n",
        block,
    )


def response_member(  # noqa: PLR0913 - what a response is, in one call a page
    url: str,
    status: int,
    headers: Sequence[tuple[str, str]],
    body: bytes,
    *,
    at_s: float,
    digest: bytes,
    http_version: str,
    record_id: str,
) -> bytes:
    """Form the compressed ``response`` record of a decoded *body* (*digest*: its MD5, 16 raw bytes)."""
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, '')}\r\n"]
    for name, value in headers:
        lines.append(f"{_PREFIX}{name}: {value}\r\n" if name.lower() in _WIRE else f"{name}: {value}\r\n")
    lines.append(f"Content-Length: {len(body)}\r\n\r\n")
    http = "".join(lines)
    if http.count("\n") != len(lines) + 1 or http.count("\r") != len(lines) + 1:
        http = "".join(f"{_line(line.strip())}\r\n" for line in lines) + "\r\n"
    block = http.encode("utf-8", "surrogatepass")
    protocol = _PROTOCOLS.get(http_version)
    return _member(
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {_line(url)}\r\nWARC-Date: {_date(at_s)}\r\n"
        f"WARC-Record-ID: <urn:uuid:{record_id}>\r\nWARC-Payload-Digest: {digest_label('md5', digest)}\r\n"
        f"{f'WARC-Protocol: {protocol}' + chr(13) + chr(10) if protocol else ''}"
        f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(block) + len(body)}\r\n\r\n",
        block,
        body,
    )


def conversion_member(url: str, text: str, *, at_s: float, record_id: str, refers_to: str) -> bytes:
    """Form the compressed ``conversion`` record of an extracted *text*; *refers_to* may be empty."""
    try:
        block = text.encode()
    except UnicodeEncodeError:  # lone surrogates out of a broken document
        block = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    about = f"WARC-Refers-To: <urn:uuid:{refers_to}>\r\n" if refers_to else ""
    return _member(
        f"WARC/1.1\r\nWARC-Type: conversion\r\nWARC-Target-URI: {_line(url)}\r\nWARC-Date: {_date(at_s)}\r\n"
        f"WARC-Record-ID: <urn:uuid:{record_id}>\r\n{about}"
        f"WARC-Block-Digest: {digest_label('sha1', hashlib.sha1(block, usedforsecurity=False).digest())}\r\n"
        f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(block)}\r\n\r\n",
        block,
    )


def inflate(member: bytes) -> bytes:
    """Decompress exactly one whole gzip member.

    Raises:
        BadRecordError: it is damaged, cut, or more than one member.
    """
    engine = isal_zlib.decompressobj(_GZIP_WINDOW)
    try:
        data = engine.decompress(member, _LONGEST_RECORD)
    except GZIP_ERROR as error:
        raise BadRecordError(f"gzip: {error}") from error
    if not engine.eof:
        raise BadRecordError("gzip: the member is cut short")
    if engine.unused_data:
        raise BadRecordError("gzip: bytes beyond the end of the member")
    return data


def beginning(member: bytes, most_bytes: int) -> tuple[bytes, bool]:
    """Decompress the first *most_bytes* of a gzip member, of which *member* may be a part, and tell whether that was all of it.

    Raises:
        BadRecordError: what was read is damaged.
    """
    engine = isal_zlib.decompressobj(_GZIP_WINDOW)
    try:
        return engine.decompress(member, most_bytes), engine.eof
    except GZIP_ERROR as error:
        raise BadRecordError(f"gzip: {error}") from error


def parse(data: bytes) -> Parsed:
    """Take one decompressed record apart.

    Raises:
        BadRecordError: it is not a WARC record, or its length is not what it says.
    """
    head, sep, rest = data.partition(b"\r\n\r\n")
    if not sep or not head.startswith(b"WARC/1."):
        raise BadRecordError("not a WARC record")
    fields: dict[str, str] = {}
    for line in head.decode("utf-8", "surrogatepass").split("\r\n")[1:]:
        name, _, value = line.partition(":")
        fields[name.lower()] = value.strip()
    length = fields.get("content-length", "")
    if not length.isdecimal() or len(rest) != int(length) + 4 or not rest.endswith(b"\r\n\r\n"):
        raise BadRecordError("the record is not as long as it says")
    return Parsed(fields, rest[:-4])


def parse_http(block: bytes) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
    """Take the block of a ``response`` record apart: status, headers as they were received, body.

    Raises:
        BadRecordError: it is not an HTTP response.
    """
    head, sep, body = block.partition(b"\r\n\r\n")
    lines = head.decode("utf-8", "surrogatepass").split("\r\n")
    start = lines[0].split(" ", 2)
    if not sep or not lines[0].startswith("HTTP/") or len(start) < 2 or not start[1].isdecimal():  # noqa: PLR2004
        raise BadRecordError("not an HTTP response")
    headers: list[tuple[str, str]] = []
    for line in lines[1:-1]:  # the last one is the Content-Length that we added
        name, _, value = line.partition(": ")
        headers.append((name.removeprefix(_PREFIX), value))
    return int(start[1]), tuple(headers), body


def epoch(date: str) -> float:
    """Read a ``WARC-Date`` as seconds since the epoch.

    Raises:
        BadRecordError: it is not a date.
    """
    try:
        return datetime.strptime(date, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC).timestamp()
    except ValueError as error:
        raise BadRecordError(f"not a date: {date!r}") from error
