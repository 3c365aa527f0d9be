"""Which reader a body wants: by its content type, and where that is missing or wrong, by how it begins."""

import re
from typing import Final

from ingather.web.feedgate.form import Form, Shape
from ingather.web.feedgate.head import ContentType
from ingather.web.feedgate.multipart import Multipart
from ingather.web.feedgate.urlencoded import UrlEncoded

__all__ = ["JSON_LINES", "Bare", "Sniffing", "bare_name"]

JSON_LINES: Final = frozenset(
    {
        "application/x-ndjson",
        "application/ndjson",
        "application/jsonl",
        "application/jsonlines",
        "application/x-jsonlines",
        "application/json-lines",
        "text/x-ndjson",
    }
)
_LOOK: Final = 1024
_LONGEST_BOUNDARY: Final = 256
_BARE: Final = re.compile(
    rb"\A(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff|[\x00\s])*(?:<|\x00<)|\A(?:\xff\xfe|\xfe\xff)"
)
_FIRST_LINE: Final = re.compile(rb"\A\s*--([^\r\n]{1,256})\r?\n")
_DISPOSITION: Final = re.compile(rb"\ncontent-disposition:", re.IGNORECASE)


class Bare:
    """A body that is the feed itself."""

    def __init__(self, form: Form, name: str, media: str) -> None:
        self._form = form
        form.begin(name, media)

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        self._form.piece(piece)

    def finish(self) -> None:
        """End the feed."""
        self._form.end()


class Sniffing:
    """Looks at the first bytes of a body (4.2 f: multipart without a boundary and a body of pairs), then reads it."""

    def __init__(self, kind: ContentType, form: Form) -> None:
        self._kind = kind
        self._form = form
        self._buffer = b""
        self._shape: Shape | None = None
        if kind.media.startswith("multipart/") and 0 < len(kind.boundary) <= _LONGEST_BOUNDARY:
            self._shape = Multipart(kind.boundary, form)
        elif kind.media in JSON_LINES:
            self._shape = Bare(form, "data", kind.media)

    @property
    def quick(self) -> bool:
        """Whether the bytes go on as they come."""
        return not isinstance(self._shape, UrlEncoded)

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        if self._shape is not None:
            self._shape.feed(piece)
            return
        self._buffer += piece
        if len(self._buffer) >= _LOOK:
            self._settle()

    def finish(self) -> None:
        """See that the body is whole."""
        shape = self._shape or self._settle()
        shape.finish()

    def _settle(self) -> Shape:
        start, self._buffer = self._buffer, b""
        line = _FIRST_LINE.match(start)
        if line and (self._kind.media.startswith("multipart/") or _DISPOSITION.search(start)):
            self._shape = Multipart(line[1].rstrip(), self._form)
        elif _BARE.match(start):
            self._shape = Bare(self._form, "data", self._kind.media)
        else:
            self._shape = UrlEncoded(self._form)
        self._shape.feed(start)
        return self._shape


def bare_name(shape: Shape) -> bool:
    """Whether *shape* reads a feed without a form, so that the query of the address takes the form's place."""
    return isinstance(shape, Bare) or (isinstance(shape, Sniffing) and isinstance(shape._shape, Bare))  # noqa: SLF001
