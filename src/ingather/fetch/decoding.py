"""Content encodings, taken off by us: one layer, its output bounded while it grows.

A general HTTP client decodes a whole chunk before anybody can count it (1.6 KB of brotli gave
2 GiB); here every decoder is asked for at most one step of output at a time. Formats:
RFC 9110 section 8.4, RFC 1952 (gzip), RFC 1950/1951 (deflate, with and without the zlib
wrapper), RFC 7932 (brotli), RFC 8878 and RFC 9659 (zstd, window at most 8 MiB).
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import zstandard
from isal import isal_zlib

import brotli
from ingather.model.resource import FailureKind

__all__ = ["ACCEPT_ENCODING", "Undecodable", "decode_body", "encoding_of"]

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
"""What requests offer."""

_InflateError = cast("type[Exception]", isal_zlib.error)  # its stub calls it an instance
_STEP = 256 * 1024
_MAX_WINDOW = 8 << 20
_ZLIB_METHOD = 8
_GZIP_BITS, _ZLIB_BITS, _RAW_BITS = 31, 15, -15
_NONE = frozenset({"", "identity", "none", "binary", "8bit", "7bit", "utf-8", "utf8"})
_NAMES = {"x-gzip": "gzip", "gzip": "gzip", "deflate": "deflate", "br": "br", "zstd": "zstd"}


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Why a body could not be decoded; *kind* is ENCODING, DECODED_TOO_LARGE or RATIO."""

    kind: FailureKind
    detail: str


class _BrokenError(Exception):
    """The data are not what the header says."""


def encoding_of(header: str) -> str | Undecodable:
    """Read a ``Content-Encoding`` value: the one encoding, ``""`` for none.

    Values that name no encoding but occur in the wild (a charset, a transfer encoding of mail)
    count as none.
    """
    names = [name for part in header.split(",") if (name := part.strip().lower()) not in _NONE]
    if not names:
        return ""
    if len(names) > 1:
        return Undecodable(FailureKind.ENCODING, f"stacked encodings: {', '.join(names)[:200]}")
    known = _NAMES.get(names[0])
    return known or Undecodable(FailureKind.ENCODING, f"unknown encoding: {names[0][:200]}")


def decode_body(  # noqa: PLR0913 - each number is a limit with a name
    body: bytes,
    encoding: str,
    *,
    max_bytes: int,
    max_ratio: int = 100,
    ratio_after_bytes: int = 1 << 20,
    cut: bool = False,
    partial: bool = False,
) -> bytes | Undecodable:
    """Take one layer of *encoding* (``gzip``, ``deflate``, ``br``, ``zstd``) off *body*.

    Args:
        body: as it travelled.
        encoding: from :func:`encoding_of`.
        max_bytes: most decoded bytes.
        max_ratio: most decoded bytes for each byte of *body*, judged beyond *ratio_after_bytes*.
        ratio_after_bytes: see above.
        cut: give what fits into the limits instead of failing.
        partial: *body* was cut on purpose: do not mind that it ends early.
    """
    if not body:
        return b""
    most = min(max_bytes, max(ratio_after_bytes, max_ratio * len(body)))
    pieces: list[bytes] = []
    total = 0
    try:
        for piece in _DECODERS[encoding](body, min(_STEP, most + 1)):
            total += len(piece)
            pieces.append(piece)
            if total > most:
                if cut:
                    break
                return _beyond(total, len(body), max_bytes, max_ratio)
    except _BrokenError as error:
        if not partial or not pieces:
            return Undecodable(FailureKind.ENCODING, f"{encoding}: {error}")
    decoded = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    return decoded[:most] if cut else decoded


def _beyond(total: int, wire: int, max_bytes: int, max_ratio: int) -> Undecodable:
    if total > max_bytes:
        return Undecodable(FailureKind.DECODED_TOO_LARGE, f"more than {max_bytes} bytes from {wire}")
    return Undecodable(FailureKind.RATIO, f"{total} bytes and more from {wire}: beyond {max_ratio} to 1")


def _inflate(body: bytes, bits: int, step: int) -> Iterator[bytes]:
    """Inflate; gzip members that follow one another are one body, what is no member is ignored."""
    data = body
    while data:
        decoder = isal_zlib.decompressobj(wbits=bits)
        try:
            while not decoder.eof:
                piece = decoder.decompress(data, step)
                data = decoder.unconsumed_tail
                if not piece and not data and not decoder.eof:
                    raise _BrokenError("the data end early")
                yield piece
        except _InflateError as error:
            raise _BrokenError(str(error)) from error
        data = decoder.unused_data if bits == _GZIP_BITS else b""
        if not data.startswith(b"\x1f\x8b"):
            return


def _gzip(body: bytes, step: int) -> Iterator[bytes]:
    return _inflate(body, _GZIP_BITS, step)


def _deflate(body: bytes, step: int) -> Iterator[bytes]:
    head = int.from_bytes(body[:2], "big")
    wrapped = len(body) > 1 and body[0] & 0x0F == _ZLIB_METHOD and head % 31 == 0
    return _inflate(body, _ZLIB_BITS if wrapped else _RAW_BITS, step)


def _brotli(body: bytes, step: int) -> Iterator[bytes]:
    decoder = brotli.Decompressor()
    data = body
    try:
        while not decoder.is_finished():
            piece = decoder.process(data, output_buffer_limit=step)
            data = b""
            if not piece and decoder.can_accept_more_data() and not decoder.is_finished():
                raise _BrokenError("the data end early")
            yield piece
    except brotli.error as error:
        raise _BrokenError(str(error) or "not brotli") from error


def _zstd(body: bytes, step: int) -> Iterator[bytes]:
    decoder = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
    try:
        reader: Any = decoder.stream_reader(io.BytesIO(body), read_across_frames=True)
        with reader:
            while piece := reader.read(step):
                yield piece
        if not _zstd_ends(body):  # the reader takes a cut frame for its end
            raise _BrokenError("the data end early")
    except zstandard.ZstdError as error:
        raise _BrokenError(str(error)) from error


def _zstd_ends(body: bytes) -> bool:
    """Whether the last frame of *body* is whole: walk the block headers (RFC 8878 section 3.1.1)."""
    at, size = 0, len(body)
    while at < size:
        if body[at + 1 : at + 4] == b"\x2a\x4d\x18" and body[at] >> 4 == 5:  # noqa: PLR2004 - skippable frame
            at += 8 + int.from_bytes(body[at + 4 : at + 8], "little")
            continue
        head = body[at : at + 18]
        checksum = zstandard.get_frame_parameters(head).has_checksum
        at += zstandard.frame_header_size(head)
        last = False
        while not last:
            block = int.from_bytes(body[at : at + 3], "little")
            last = bool(block & 1)
            at += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
            if at > size:
                return False
        at += 4 if checksum else 0
    return at == size


_DECODERS: dict[str, Callable[[bytes, int], Iterator[bytes]]] = {
    "gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
