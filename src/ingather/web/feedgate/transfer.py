"""From the wire's bytes to the body's: length, chunks, and one layer of compression with a bound on what it unpacks to."""

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from ingather.web.feedgate.head import RequestHead
from ingather.web.feedgate.refusal import RefusedError, bad

__all__ = ["Chunks", "Framing", "Inflater", "Length", "Ratio", "framing_of", "inflater_of"]

_SIZE: Final = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;.*)?")
_LONGEST_LINE: Final = 4096
_PIECE: Final = 64 * 1024
_GZIP, _ZLIB, _RAW = 31, 15, -15


class Framing(Protocol):
    """Where a body ends; what the wire brought goes in, what belongs to the body comes out."""

    done: bool

    def feed(self, piece: bytes) -> bytes:
        """Return the bytes of the body in *piece*."""
        ...


class Length:
    """A body of declared length."""

    def __init__(self, length: int) -> None:
        self._left = length
        self.done = length == 0

    def feed(self, piece: bytes) -> bytes:
        """Return what of *piece* belongs to the body."""
        body = piece if len(piece) <= self._left else piece[: self._left]
        self._left -= len(body)
        self.done = self._left == 0
        return body


class Chunks:
    """A body in chunks (RFC 9112, section 7.1); extensions and trailers are skipped."""

    def __init__(self) -> None:
        self.done = False
        self._line = b""
        self._left = 0
        self._in_trailer = False
        self._after_chunk = False

    def feed(self, piece: bytes) -> bytes:
        """Return the bytes of the body in *piece*.

        Raises:
            RefusedError: no chunk begins where one should.
        """
        body: list[bytes] = []
        at = 0
        while at < len(piece) and not self.done:
            if self._left:
                part = piece[at : at + self._left]
                body.append(part)
                at += len(part)
                self._left -= len(part)
                self._after_chunk = self._left == 0
                continue
            end = piece.find(b"\n", at)
            self._line += piece[at : end + 1 if end >= 0 else len(piece)]
            if len(self._line) > _LONGEST_LINE:
                raise bad("a line between two chunks is too long")
            if end < 0:
                break
            at = end + 1
            line, self._line = self._line.rstrip(b"\r\n"), b""
            self._between(line)
        return body[0] if len(body) == 1 else b"".join(body)

    def _between(self, line: bytes) -> None:
        if self._in_trailer:
            self.done = not line
            return
        if self._after_chunk and not line:
            self._after_chunk = False
            return
        match = _SIZE.fullmatch(line)
        if match is None or self._after_chunk:
            raise bad("the chunks of the body cannot be read")
        self._left = int(match[1], 16)
        self._in_trailer = self._left == 0


@dataclass(frozen=True, slots=True)
class Ratio:
    """How far a body may unpack: *times* its own length, counted from *after* bytes on."""

    times: float = 100.0
    after: int = 1 << 20


class Inflater:
    """One layer of gzip, zlib or bare deflate; never more than 64 KiB of output at a time."""

    def __init__(self, wbits: int | None, ratio: Ratio) -> None:
        self._wbits = wbits
        self._ratio = ratio
        self._engine: zlib._Decompress | None = None
        self._head = b""
        self._in = self._out = 0
        self._ended = False

    def feed(self, piece: bytes, out: Callable[[bytes], None]) -> None:
        """Unpack *piece* into *out*.

        Raises:
            RefusedError: it is damaged (400) or unpacks to too much (413).
        """
        self._in += len(piece)
        for part in self._parts(piece):
            self._out += len(part)
            if self._out > self._ratio.after and self._out > self._ratio.times * self._in:
                raise RefusedError(
                    413,
                    f"Error - the compressed body unpacks to more than {self._ratio.times:g} times its size",
                )
            out(part)

    def finish(self) -> None:
        """See that the stream has come to its end.

        Raises:
            RefusedError: it was cut off.
        """
        if self._engine is not None and not self._ended:
            raise bad("the compressed body ends too early")

    def _parts(self, piece: bytes) -> Iterator[bytes]:
        data = piece
        while data:
            if self._engine is None or self._ended:
                data = self._head + data
                if self._ended and not data.startswith(b"\x1f\x8b"[: len(data)]):
                    return  # padding behind the last member
                if len(data) < 2:  # noqa: PLR2004 - two bytes tell the formats apart
                    self._head = data
                    return
                self._head = b""
                self._engine, self._ended = zlib.decompressobj(self._wbits or _deflate(data)), False
            engine = self._engine
            try:
                yield engine.decompress(data, _PIECE)
            except zlib.error:
                raise bad("the compressed body is damaged") from None
            self._ended = engine.eof
            data = engine.unused_data if engine.eof else engine.unconsumed_tail


def _deflate(data: bytes) -> int:
    """``deflate`` means zlib (RFC 9110), and bare deflate to clients that misread it."""
    return _ZLIB if data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0 else _RAW  # noqa: PLR2004


def framing_of(head: RequestHead) -> Framing:
    """Return where the body of a request ends.

    Raises:
        RefusedError: it does not say (411): a body that ends with the connection cannot be told from one cut off.
    """
    if head.chunked:
        return Chunks()
    if head.length is None:
        if head.method == "POST":
            raise RefusedError(411, "Error - send the body with Content-Length, or chunked")
        return Length(0)
    return Length(head.length)


def inflater_of(head: RequestHead, ratio: Ratio) -> Inflater | None:
    """Return what unpacks the body, ``None`` if it is not compressed.

    Raises:
        RefusedError: the coding is not known, or there is more than one (415).
    """
    names = [name.strip().lower() for name in head.fields.get("content-encoding", "").split(",")]
    names = [name for name in names if name not in {"", "identity"}]
    if not names:
        return None
    if names[0] in {"gzip", "x-gzip"} and len(names) == 1:
        return Inflater(_GZIP, ratio)
    if names == ["deflate"]:
        return Inflater(None, ratio)
    raise RefusedError(
        415, f"Error - the content coding {', '.join(names)[:60]!r} is not known here; send gzip"
    )
