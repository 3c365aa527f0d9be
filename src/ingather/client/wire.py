"""A push as bytes: a multipart form whose ``data`` is the feed, whole or as it is made, plain or compressed.

Source: GSA feeds specification, section 4; the shape is (a) with a boundary that no feed can hold.
"""

import secrets
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final

__all__ = ["ChunkedOutput", "Form", "chunks_of", "gzipped"]

_PIECE: Final = 1 << 16
_GZIP: Final = zlib.MAX_WBITS | 16


@dataclass(frozen=True, slots=True)
class Form:
    """What stands around the feed.

    Attributes:
        head, tail: bytes before and behind it.
        content_type: of the request.
    """

    head: bytes
    tail: bytes
    content_type: str

    @classmethod
    def of(cls, fields: Mapping[str, str], *, media: str = "text/xml", data: bool = True) -> "Form":
        """Return the form with *fields*, and the part ``data`` at its end unless there is none."""
        boundary = f"ingather-{secrets.token_hex(20)}"
        head = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\nContent-Type: text/plain\r\n\r\n'
            f"{value}\r\n"
            for name, value in fields.items()
        )
        if data:
            head += f'--{boundary}\r\nContent-Disposition: form-data; name="data"\r\nContent-Type: {media}\r\n\r\n'
        tail = f"--{boundary}--\r\n"
        if data:
            tail = f"\r\n{tail}"
        return cls(head.encode(), tail.encode(), f"multipart/form-data; boundary={boundary}")

    def around(self, data: BinaryIO | None) -> Iterator[bytes]:
        """Yield the body."""
        yield self.head
        if data is not None:
            yield from chunks_of(data)
        yield self.tail


def chunks_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield what is left of *file*."""
    while piece := file.read(_PIECE):
        yield piece


def gzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield *pieces* compressed."""
    engine = zlib.compressobj(wbits=_GZIP)
    for piece in pieces:
        if made := engine.compress(piece):
            yield made
    yield engine.flush()


class ChunkedOutput:
    """Sends what is written as chunks of an HTTP body, compressed on the way if asked for."""

    def __init__(self, send: Callable[[bytes], object], *, compress: bool) -> None:
        self._send = send
        self._engine = zlib.compressobj(wbits=_GZIP) if compress else None
        self._held = bytearray()

    def write(self, data: bytes) -> None:
        """Take bytes of the body."""
        self._held += data if self._engine is None else self._engine.compress(data)
        if len(self._held) >= _PIECE:
            self._chunk()

    def end(self) -> None:
        """Send what is held, and the end of the body."""
        if self._engine is not None:
            self._held += self._engine.flush()
        self._chunk()
        self._send(b"0\r\n\r\n")

    def _chunk(self) -> None:
        if self._held:
            self._send(b"%x\r\n%b\r\n" % (len(self._held), bytes(self._held)))
            self._held.clear()
