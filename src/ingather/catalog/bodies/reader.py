"""Taking records back by place, every one verified."""

import hashlib
import os
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

from isal import isal_zlib

from ingather.catalog.bodies.folder import segment_name
from ingather.catalog.bodies.warc import (
    GZIP_ERROR,
    BadRecordError,
    Parsed,
    beginning,
    digest_label,
    epoch,
    inflate,
    parse,
    parse_http,
)
from ingather.errors import CatalogDamagedError

__all__ = ["Record", "SegmentReader", "SegmentReport"]

_CHUNK = 1 << 18
_MAGIC = b"\x1f\x8b\x08"


class Record(NamedTuple):
    """A kept response: headers as received (wire form), body decoded, wall time in epoch seconds."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    url: str
    at_s: float


class SegmentReport(NamedTuple):
    """What :meth:`SegmentReader.verify` found; *damaged* holds (offset, what) pairs."""

    segment: int
    records: int
    size: int
    damaged: tuple[tuple[int, str], ...]


class SegmentReader:
    """Reads segments of *folder*; belongs to one thread; keeps at most *max_open* files open.

    A segment that compaction dropped is gone from the folder: a caller that holds a place from
    before looks the row up again, and takes the error for damage only when the place is the same.
    """

    def __init__(self, folder: Path, *, max_open: int = 16) -> None:
        self._folder = folder
        self._max_open = max_open
        self._open: OrderedDict[int, int] = OrderedDict()

    def body(self, segment: int, offset: int, length: int, digest: bytes = b"") -> Record:
        """Return the response at a place, its payload equal to *digest* (MD5, 16 raw bytes).

        Without *digest* the payload is compared with the digest that the record itself carries.

        Raises:
            CatalogDamagedError: it does not read back as written; ``place`` is ``FILE:OFFSET``.
        """
        try:
            record = parse(inflate(self.member(segment, offset, length)))
            return response_of(record, digest)
        except BadRecordError as error:
            raise _damaged(segment, offset, str(error)) from error

    def text(self, segment: int, text_offset: int, text_length: int) -> str:
        """Return the text at a place; *text_length* 0 gives ``""``.

        Raises:
            CatalogDamagedError: it does not read back as written; ``place`` is ``FILE:OFFSET``.
        """
        if not text_length:
            return ""
        try:
            record = parse(inflate(self.member(segment, text_offset, text_length)))
            return text_of(record)
        except BadRecordError as error:
            raise _damaged(segment, text_offset, str(error)) from error

    def opening(self, segment: int, text_offset: int, text_length: int, most_bytes: int) -> tuple[str, bool]:
        """Return the first *most_bytes* (about) of the text at a place, and whether that is all of it.

        A whole text is verified as :meth:`text` does; the beginning of a longer one cannot be.

        Raises:
            CatalogDamagedError: it does not read back as written; ``place`` is ``FILE:OFFSET``.
        """
        if not text_length:
            return "", True
        try:
            if text_length > most_bytes:
                data, whole = beginning(self.member(segment, text_offset, most_bytes), most_bytes)
            else:
                data, whole = beginning(self.member(segment, text_offset, text_length), most_bytes)
            if whole:
                return text_of(parse(data)), True
            return _begun(data), False
        except BadRecordError as error:
            raise _damaged(segment, text_offset, str(error)) from error

    def member(self, segment: int, offset: int, length: int) -> bytes:
        """Return the raw gzip member at a place, not verified.

        Raises:
            CatalogDamagedError: the file is missing or shorter than that.
        """
        try:
            fd = self._file(segment)
            if length <= 0 or offset < 0 or offset + length > os.fstat(fd).st_size:
                raise _damaged(segment, offset, "the segment ends before the record does")
            parts = []
            while length > 0 and (part := os.pread(fd, length, offset)):
                parts.append(part)
                offset += len(part)
                length -= len(part)
        except OSError as error:
            raise _damaged(segment, offset, error.strerror or str(error)) from error
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def verify(self, segment: int, *, end: int | None = None) -> SegmentReport:
        """Read all records of *segment* up to *end* (default: all of it), naming each damaged place.

        After damage the search goes on at the next gzip member, so that one bad record hides no other.

        Raises:
            CatalogDamagedError: the file is missing or cannot be read at all.
        """
        try:
            fd = self._file(segment)
            size = os.fstat(fd).st_size if end is None else min(end, os.fstat(fd).st_size)
            good, damaged = 0, []
            for offset, trouble in _walk(fd, size):
                if trouble:
                    damaged.append((offset, trouble))
                else:
                    good += 1
        except OSError as error:
            raise _damaged(segment, 0, error.strerror or str(error)) from error
        return SegmentReport(segment, good, size, tuple(damaged))

    def close(self) -> None:
        """Close all files; a later call opens them again."""
        while self._open:
            os.close(self._open.popitem()[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _file(self, segment: int) -> int:
        fd = self._open.get(segment)
        if fd is not None:
            self._open.move_to_end(segment)
            return fd
        for number in [n for n, old in self._open.items() if not os.fstat(old).st_nlink]:
            os.close(self._open.pop(number))  # dropped: give its space back
        fd = os.open(self._folder / segment_name(segment), os.O_RDONLY | os.O_CLOEXEC)
        self._open[segment] = fd
        if len(self._open) > self._max_open:
            os.close(self._open.popitem(last=False)[1])
        return fd


def response_of(record: Parsed, digest: bytes = b"") -> Record:
    """Read a ``response`` record and compare its payload with *digest* and with its own label.

    Raises:
        BadRecordError: it is another record, or the payload is not what was kept.
    """
    fields = record.fields
    if fields.get("warc-type") != "response":
        raise BadRecordError(f"a {fields.get('warc-type')} record where a response was kept")
    status, headers, body = parse_http(record.block)
    found = hashlib.md5(body, usedforsecurity=False).digest()
    if digest and found != digest:
        raise BadRecordError(f"the body's digest is {found.hex()}, not {digest.hex()}")
    if fields.get("warc-payload-digest") != digest_label("md5", found):
        raise BadRecordError("the body does not fit the digest in its record")
    return Record(
        status, headers, body, fields.get("warc-target-uri", ""), epoch(fields.get("warc-date", ""))
    )


def _begun(data: bytes) -> str:
    head, _, block = data.partition(b"\r\n\r\n")
    if b"\r\nWARC-Type: conversion\r\n" not in head:
        raise BadRecordError("another record where a text was kept")
    return block.decode("utf-8", "ignore")  # the last character may be cut


def text_of(record: Parsed) -> str:
    """Read a ``conversion`` record and compare its block with its digest.

    Raises:
        BadRecordError: it is another record, or the text is not what was kept.
    """
    fields = record.fields
    if fields.get("warc-type") != "conversion":
        raise BadRecordError(f"a {fields.get('warc-type')} record where a text was kept")
    found = hashlib.sha1(record.block, usedforsecurity=False).digest()
    if fields.get("warc-block-digest") != digest_label("sha1", found):
        raise BadRecordError("the text does not fit the digest in its record")
    return record.block.decode("utf-8", "replace")


def _walk(fd: int, size: int) -> Iterator[tuple[int, str]]:
    """Yield (offset, trouble) for each record; ``""`` = it is sound."""
    offset = 0
    while offset < size:
        length, data, trouble = _next_member(fd, offset, size)
        if not trouble:
            try:
                record = parse(data)
                if record.fields.get("warc-type") == "response":
                    response_of(record)
                elif record.fields.get("warc-type") == "conversion":
                    text_of(record)
            except BadRecordError as error:
                trouble = str(error)
        yield offset, trouble
        offset = offset + length if length else _next_magic(fd, offset + 1, size)


def _next_member(fd: int, offset: int, size: int) -> tuple[int, bytes, str]:
    """Return (compressed length, data, trouble) of the member at *offset*; length 0 = no end found."""
    engine = isal_zlib.decompressobj(31)
    parts, at = [], offset
    try:
        while not engine.eof and at < size:
            chunk = os.pread(fd, min(_CHUNK, size - at), at)
            if not chunk:
                break
            parts.append(engine.decompress(chunk))
            at += len(chunk)
    except GZIP_ERROR as error:
        return 0, b"", f"gzip: {error}"
    if not engine.eof:
        return 0, b"", "gzip: the member is cut short"
    return at - len(engine.unused_data) - offset, b"".join(parts), ""


def _next_magic(fd: int, offset: int, size: int) -> int:
    while offset < size:
        chunk = os.pread(fd, min(_CHUNK, size - offset), offset)
        found = chunk.find(_MAGIC)
        if found >= 0:
            return offset + found
        if len(chunk) < len(_MAGIC):
            break
        offset += len(chunk) - len(_MAGIC) + 1
    return size


def _damaged(segment: int, offset: int, what: str) -> CatalogDamagedError:
    place = f"{segment_name(segment)}:{offset}"
    return CatalogDamagedError(
        f"{place} does not read back as written: {what}",
        place=place,
        hint="the page is fetched again at its next visit; ingather catalog check lists all such places",
    )
