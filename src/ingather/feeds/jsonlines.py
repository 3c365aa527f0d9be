"""A feed as JSON lines, for people without XML: the same model, one object a line, in UTF-8.

The fields: docs/reference/feed-jsonl.md. Each object is made an element and read as XML would be, so both forms mean the
same. A line that cannot be read costs itself. Only a feed whose last line is ``{"type": "end"}`` is complete.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from lxml import etree

from ingather.feeds.cursor import FeedCursor
from ingather.feeds.encoding import ByteStream
from ingather.feeds.limits import FeedLimits
from ingather.feeds.naming import Names
from ingather.feeds.reading import FeedItem
from ingather.feeds.records import GroupContext, RecordReader
from ingather.feeds.scanned import Place
from ingather.model.feed import FeedEnd, FeedHeader, FeedRejection, FeedType

__all__ = ["JsonLinesReader", "read_json_lines"]

_CHUNK: Final = 256 * 1024
_BOM: Final = b"\xef\xbb\xbf"
_URL: Final = re.compile(rb"\"url\"\s*:\s*\"((?:[^\"\\]|\\.){0,8192})\"")
_HINT: Final = re.compile(rb"\"(?:acl|principals|type)\"\s*:|google:|\\u|Z29vZ2xlO", re.IGNORECASE)
_HEADER_CHARS: Final = 1000
_NESTED: Final = frozenset(
    {"acl", "metadata", "content", "content_encoding", "overwrite_acls", "type", "principals"}
)
_METADATA_AND_URL: Final = "metadata-and-url"


class _ShapeError(Exception):
    """A value is not of the kind that its field wants."""


def read_json_lines(
    stream: ByteStream,
    *,
    limits: FeedLimits | None = None,
    feedtype: FeedType | None = None,
    start: FeedCursor | None = None,
) -> Iterator[FeedItem]:
    """Yield what *stream* says, as :func:`ingather.feeds.reading.read_items` does; never raises for what it reads."""
    return JsonLinesReader(stream, limits=limits, feedtype=feedtype, start=start).items()


class JsonLinesReader:
    """One pass over a feed of JSON lines; :attr:`cursor` says where it stands behind the last item."""

    def __init__(
        self,
        stream: ByteStream,
        *,
        limits: FeedLimits | None = None,
        feedtype: FeedType | None = None,
        start: FeedCursor | None = None,
    ) -> None:
        """Read *stream*; see :func:`read_json_lines`."""
        began = start or FeedCursor()
        self.limits = limits or FeedLimits()
        self.pass_over = ""
        self._stream = stream
        if began.begun:
            stream.seek(began.offset)  # type: ignore[attr-defined]
        self._offset, self._line = began.offset, began.line or 1
        self._items, self._rejected, self._ended = began.items, began.rejected, began.ended
        self._repaired = began.repaired
        self._headed = began.headed
        self._header = FeedHeader(began.datasource, began.feedtype)
        self._feedtype = feedtype
        self.names = Names(self.limits.names, began.met)
        self.records = RecordReader(self.limits, self.names)
        self._warnings: list[str] = []

    @property
    def cursor(self) -> FeedCursor:
        """Where the pass stands: between two lines."""
        return FeedCursor(
            offset=self._offset,
            line=self._line,
            items=self._items,
            rejected=self._rejected,
            repaired=self._repaired,
            ended=self._ended,
            datasource=self._header.datasource,
            feedtype=self._header.feedtype,
            headed=self._headed,
            met=self.names.met,
        )

    def items(self) -> Iterator[FeedItem]:  # noqa: C901, PLR0912 (one line after the other)
        """Yield the items; see :func:`read_json_lines`."""
        if self._headed:
            yield self._head()
        for line, place, behind in self._lines():
            bare = line.strip() if line is not None else b"?"
            if place.offset == 0:
                bare = bare.removeprefix(_BOM)
            if not bare:
                self._offset, self._line = behind
                continue
            read = self._decoded(bare, place) if line is not None else self._oversize(place)
            if isinstance(read, dict) and read.get("type") == "header" and not self._headed:
                self._header = FeedHeader(
                    self._word(read.get("datasource")), self._word(read.get("feedtype"))
                )
                self._offset, self._line = behind
                continue
            if not self._headed:
                yield self._head()
            self._offset, self._line = behind
            if self._ended:
                self._repaired = True
            if isinstance(read, dict):
                if read.get("type") == "end":
                    self._ended = True
                    continue
                item = self._item(read, place)
            else:
                item = read
            self._items += 1
            self._rejected += isinstance(item, FeedRejection)
            yield item
            if self.names.overflow:
                self._ended = False
                break
        if not self._headed:
            yield self._head()
        trouble = "" if self._ended else 'the feed does not end with {"type": "end"}'
        if self.names.overflow:
            trouble = f"more than {self.limits.names} different unknown names"
        yield FeedEnd(
            complete=not trouble,
            repaired=self._repaired,
            line=self._line,
            items=self._items,
            rejected=self._rejected,
            trouble=trouble,
        )

    def _head(self) -> FeedHeader:
        self._headed = True
        kind = self._feedtype or self._header.feedtype.lower().replace("_", "-")
        self.records.keeps_content = kind != _METADATA_AND_URL
        return self._header

    @staticmethod
    def _word(value: object) -> str:
        return value.strip()[:_HEADER_CHARS] if isinstance(value, str) else ""

    def _lines(self) -> Iterator[tuple[bytes | None, Place, tuple[int, int]]]:
        """Yield each line, its place and what is behind it (offset, line); ``None`` = longer than a record may be."""
        offset, number = self._offset, self._line
        buffer, over, searched = bytearray(), False, 0
        size = 0
        ended = False
        while not ended or buffer:
            end = buffer.find(b"\n", searched)
            if end < 0 and not ended:
                if len(buffer) > self.limits.record_bytes:
                    over, size = True, size + len(buffer)
                    buffer.clear()
                searched = len(buffer)
                chunk = self._stream.read(_CHUNK)
                ended = not chunk
                buffer += chunk
                continue
            end = len(buffer) if end < 0 else end + 1
            line = None if over else bytes(buffer[:end])
            del buffer[:end]
            place = Place(number, offset)
            offset += size + end
            number += 1
            over, searched, size = False, 0, 0
            yield line, place, (offset, number)

    def _oversize(self, place: Place) -> FeedRejection:
        self._repaired = True
        return FeedRejection(place.line, place.offset, "", "the line is longer than the limit", denies=True)

    def _decoded(self, line: bytes, place: Place) -> dict[str, Any] | FeedRejection:
        if self.pass_over:
            reason, self.pass_over = self.pass_over, ""
            return self._broken(line, place, reason, denies=True)
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, ValueError) as error:
            self._repaired = True
            return self._broken(line, place, f"the line is no JSON: {error}")
        if not isinstance(value, dict):
            self._repaired = True
            return self._broken(line, place, "the line is no JSON object")
        return value

    @staticmethod
    def _broken(line: bytes, place: Place, reason: str, *, denies: bool = False) -> FeedRejection:
        found = _URL.search(line)
        url = ""
        if found is not None:
            try:
                url = str(msgspec.json.decode(b'"' + found[1] + b'"'))
            except (msgspec.DecodeError, ValueError):
                url = ""
        denies = denies or _HINT.search(line) is not None
        return FeedRejection(place.line, place.offset, url.strip(), reason[:1000], denies)

    def _item(self, value: dict[str, Any], place: Place) -> FeedItem:
        kind = value.get("type", "record")
        warnings: list[str] = []
        try:
            if kind == "record":
                element = _record(value)
                return self.records.record(element, place, GroupContext(), warnings, marked=False)
            if kind == "acl":
                element = _acl(value)
                for name, text in _attributes(value, {"url", "action"}):
                    element.set(name, text)
                self._unknown(value, {"type", "url", "action", *_ACL_FIELDS}, warnings)
                return self.records.free_acl(element, place, GroupContext(), warnings, marked=False)
        except (_ShapeError, ValueError) as error:
            url = value.get("url")
            denies = kind == "acl" or not {"acl", "metadata"}.isdisjoint(value)
            return FeedRejection(
                place.line,
                place.offset,
                url.strip()[: self.limits.url_chars] if isinstance(url, str) else "",
                str(error)[:1000],
                denies,
            )
        return FeedRejection(
            place.line, place.offset, "", f"the type {str(kind)[:60]!r} is not known", denies=True
        )

    def _unknown(self, value: Mapping[str, Any], known: set[str], warnings: list[str]) -> None:
        for name in value:
            if name not in known:
                self.names.unknown(f"the field {name}", warnings)


_ACL_FIELDS: Final = ("inherit_from", "inheritance_type", "principals")


def _scalar(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise _ShapeError(f"{name!r} must be a string, a number, true or false")


def _attributes(value: Mapping[str, Any], names: set[str] | frozenset[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        if value.get(name) is not None:
            yield name.replace("_", "-"), _scalar(name, value[name])


def _record(value: Mapping[str, Any]) -> etree._Element:
    element = etree.Element("record")
    for name, text in _attributes(value, {str(name) for name in value} - _NESTED):
        key = "displayurl" if name == "display-url" else name
        element.set(key if _PLAIN_NAME.fullmatch(key) else "unknown-field", text)
    if value.get("acl") is not None:
        if not isinstance(value["acl"], dict):
            raise _ShapeError("'acl' must be an object")
        element.append(_acl(value["acl"]))
    if value.get("metadata") is not None:
        element.append(_metadata(value["metadata"], value.get("overwrite_acls")))
    if value.get("content") is not None:
        if not isinstance(value["content"], str):
            raise _ShapeError(
                "'content' must be a string; put bytes in base64 and say so in 'content_encoding'"
            )
        content = etree.SubElement(element, "content")
        encoding = value.get("content_encoding")
        if encoding is not None:
            content.set("encoding", _scalar("content_encoding", encoding))
        content.text = value["content"] if encoding is not None else _LEGAL.sub(" ", value["content"])
    return element


_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,100}")
_LEGAL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _acl(value: Mapping[str, Any]) -> etree._Element:
    element = etree.Element("acl")
    for name, text in _attributes(value, {"inherit_from", "inheritance_type"}):
        element.set(name, text)
    principals = value.get("principals")
    if principals is None:
        return element
    if not isinstance(principals, list):
        raise _ShapeError("'principals' must be an array")
    for one in principals:
        if not isinstance(one, dict):
            raise _ShapeError("each of 'principals' must be an object")
        child = etree.SubElement(element, "principal")
        for name, text in _attributes(one, {str(name) for name in one} - {"name"}):
            child.set(name if _PLAIN_NAME.fullmatch(name) else "unknown-field", text)
        child.text = _scalar("name", one.get("name", ""))
    return element


def _metadata(value: object, overwrite: object) -> etree._Element:
    element = etree.Element("metadata")
    if overwrite is not None:
        element.set("overwrite-acls", _scalar("overwrite_acls", overwrite))
    for name, content in _pairs(value):
        meta = etree.SubElement(element, "meta", encoding="base64binary")
        meta.set("name", base64.b64encode(name.encode("utf-8", "replace")).decode())
        meta.set("content", base64.b64encode(content.encode("utf-8", "replace")).decode())
    return element


def _pairs(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, content in value.items():
            for one in content if isinstance(content, list) else [content]:
                yield str(name), _scalar(str(name), one)
    elif isinstance(value, list):
        for pair in value:
            if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):  # noqa: PLR2004
                raise _ShapeError("'metadata' as an array holds pairs of name and content")
            yield pair[0], _scalar(pair[0], pair[1])
    else:
        raise _ShapeError("'metadata' must be an object or an array of pairs")
