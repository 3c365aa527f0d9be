"""A WebDAV server's answer about a folder (multistatus, RFC 4918 section 13) as the folder's entries.

Expat reads it where it came in: without document types, so that no entity is ever declared, with bounds on depth, text and
number of entries, and of each entry nothing but its address, its status and whether it is a folder.
"""

from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_to_bytes, urljoin, urlsplit
from xml.parsers import expat

from ingather.errors import UrlError
from ingather.fetch.shares.listing import Entry
from ingather.model.resource import LISTING_ENTRIES
from ingather.model.url import canonical
from ingather.model.urlparts import split

__all__ = ["MultistatusError", "read_multistatus"]

_DAV: Final = "DAV: "  # of expat's expanded names
_RESPONSE, _HREF, _STATUS, _PROPSTAT = _DAV + "response", _DAV + "href", _DAV + "status", _DAV + "propstat"
_ENTRY: Final = (_DAV + "multistatus", _RESPONSE)
_PROPERTIES: Final = (*_ENTRY, _PROPSTAT)
_COLLECTION: Final = (*_PROPERTIES, _DAV + "prop", _DAV + "resourcetype", _DAV + "collection")
_DEEPEST: Final = 50
_MOST_NAMES: Final = 10_000
_MOST_ENTRIES: Final = 2 * LISTING_ENTRIES
_HREF_CHARS: Final = 8192
_PIECE_BYTES: Final = 1 << 16


class MultistatusError(Exception):
    """It is no multistatus, or one that is not read; the message says why."""


class _EnoughError(Exception):
    """More entries than are taken."""


def read_multistatus(url: str, body: bytes, *, cut: bool = False) -> tuple[list[Entry], bool]:
    """Return the entries of the folder *url*, and whether there are more of them.

    What lies elsewhere or deeper is left out, and what the server says is not there.

    Args:
        url: canonical, of the folder that was asked for.
        body: of the answer, content encoding removed.
        cut: the answer goes on: what is whole counts.

    Raises:
        MultistatusError: it is not well-formed, has a document type, or is no multistatus.
    """
    reader = _Reader()
    more = cut
    try:
        for start in range(0, len(body), _PIECE_BYTES):
            reader.feed(body[start : start + _PIECE_BYTES])
        if not cut:
            reader.feed(b"", last=True)
    except _EnoughError:
        more = True
    except (expat.ExpatError, LookupError, ValueError) as error:  # the last two: encodings that nobody knows
        raise MultistatusError(f"not well-formed: {error}") from None
    if not reader.began:
        raise MultistatusError("no multistatus in it")
    return list(_below(url, reader.found)), more


class _Reader:
    """Expat's handlers; ``found`` gets (href, folder) of each response that is there."""

    def __init__(self) -> None:
        self.found: list[tuple[str, bool]] = []
        self.began = False
        self._path: tuple[str, ...] = ()
        self._names: set[str] = set()
        self._text: list[str] | None = None
        self._chars = 0
        self._href = self._status = self._property_status = ""
        self._folder = self._collection = False
        parser = self._parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data

    def feed(self, piece: bytes, *, last: bool = False) -> None:
        self._parser.Parse(piece, last)

    def _refuse(self, *_: object) -> None:
        raise MultistatusError("a document type in it")

    def _start(self, name: str, _attributes: object) -> None:
        if not self._path and name != _ENTRY[0]:
            raise MultistatusError(f"{name.rpartition(' ')[2][:64]!r} in place of a multistatus")
        self.began = True
        self._path = (*self._path, name)
        self._names.add(name)
        if len(self._path) > _DEEPEST or len(self._names) > _MOST_NAMES:
            raise MultistatusError("nested too deep, or too many names in it")
        if self._path == _ENTRY:
            if len(self.found) >= _MOST_ENTRIES:
                raise _EnoughError
            self._href, self._status, self._folder = "", "", False
        elif self._path == _PROPERTIES:
            self._property_status, self._collection = "", False
        elif self._path == _COLLECTION:
            self._collection = True
        elif name in {_HREF, _STATUS}:
            self._text, self._chars = [], 0

    def _data(self, data: str) -> None:
        if self._text is not None and self._chars <= _HREF_CHARS:
            self._text.append(data)
            self._chars += len(data)

    def _end(self, name: str) -> None:
        before = self._path[:-1]
        if self._text is not None and name in {_HREF, _STATUS}:
            text = "".join(self._text).strip() if self._chars <= _HREF_CHARS else ""
            self._text = None
            if name == _STATUS and before == _PROPERTIES:
                self._property_status = text
            elif name == _STATUS and before == _ENTRY:
                self._status = text
            elif before == _ENTRY:
                self._href = self._href or text
        elif self._path == _PROPERTIES:
            self._folder |= self._collection and _is_good(self._property_status)
        elif self._path == _ENTRY and self._href and _is_good(self._status):
            self.found.append((self._href, self._folder))
        self._path = before


def _is_good(status: str) -> bool:
    """Whether a status line speaks of success; without one it does."""
    words = status.split(maxsplit=2)
    return not words or (len(words) > 1 and words[1].startswith("2"))


def _below(url: str, found: list[tuple[str, bool]]) -> Iterator[Entry]:
    """Yield an entry for each address that is one segment below the folder, on the same origin."""
    origin, path = split(url).origin, url.partition("?")[0]
    folder = _segments(urlsplit(path).path)
    known: dict[str, bool] = {}
    for href, is_folder in found:
        try:
            parts = urlsplit(urljoin(path, href))
            server = f"{parts.scheme}://{parts.netloc}/"
            if server not in known:
                known[server] = split(canonical(server)).origin == origin
            if parts.query or not known[server]:
                continue
        except (ValueError, UrlError):
            continue
        segments = _segments(parts.path)
        if len(segments) == len(folder) + 1 and segments[:-1] == folder:
            yield Entry(segments[-1].decode("utf-8", "surrogateescape"), folder=is_folder)


def _segments(path: str) -> list[bytes]:
    return [unquote_to_bytes(part) for part in path.rstrip("/").split("/")]
