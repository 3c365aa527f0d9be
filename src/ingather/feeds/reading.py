"""A feed, from bytes to records, one at a time: memory depends on the largest record, not on the feed.

Source: GSA feeds specification, sections 6 to 11 and 15. Each record, free ACL or membership gives exactly one item,
so that a count of items is a place in the feed.
"""

import re
from collections.abc import Callable, Iterator
from typing import ClassVar, Final

from lxml import etree

from ingather.errors import FeedError
from ingather.feeds.cursor import FeedCursor, OpenElement
from ingather.feeds.encoding import ByteStream
from ingather.feeds.limits import FeedLimits
from ingather.feeds.naming import Names, action_of, local_name
from ingather.feeds.pieces import lift, parse_piece, parse_tag, raw_url
from ingather.feeds.records import GroupContext, RecordReader
from ingather.feeds.references import resolve_text
from ingather.feeds.scanned import Broken, Doctype, EndTag, Piece, Place, StartTag, Text, TornAt
from ingather.feeds.scanning import Scanner
from ingather.model.feed import (
    FeedAcl,
    FeedEnd,
    FeedHeader,
    FeedRecord,
    FeedRejection,
    FeedType,
    GroupMembership,
)

__all__ = ["FeedItem", "FeedReader", "read_items"]

FeedItem = FeedHeader | FeedRecord | FeedAcl | GroupMembership | FeedRejection | FeedEnd

_ENTITY: Final = re.compile(rb"<!ENTITY", re.IGNORECASE)
_COMMENT: Final = re.compile(rb"<!--.*?-->", re.DOTALL)
_SPACES: Final = re.compile(rb"\sxmlns:([A-Za-z_][\w.-]{0,60})\s*=\s*[\"']([^\"'<>&]{0,300})[\"']")
_DEEPEST: Final = 100
_HEADER_CHARS: Final = 1000
_MOST_SPACES: Final = 50
_BENIGN: Final = frozenset({"gsafeed", "header", "datasource", "feedtype", "group", "xmlgroups"})
_METADATA_AND_URL: Final = "metadata-and-url"


def read_items(
    stream: ByteStream,
    *,
    limits: FeedLimits | None = None,
    feedtype: FeedType | None = None,
    start: FeedCursor | None = None,
) -> Iterator[FeedItem]:
    """Yield what *stream* says: a ``FeedHeader``, then records, ACLs and rejections in order, then one ``FeedEnd``.

    Args:
        stream: the feed from its first byte, in any encoding; ``seek`` is needed with *start*.
        limits: what it may hold; ``None`` = the defaults.
        feedtype: what the form field says; without it the header's counts (only content is treated differently).
        start: where to go on, a :attr:`FeedReader.cursor` of an earlier pass.

    Raises:
        FeedError: it is no feed (its root is another element, or there is none), its encoding is unknown, or it
            declares entities, which is refused as a whole.
    """
    return FeedReader(stream, limits=limits, feedtype=feedtype, start=start).items()


class FeedReader:
    """One pass over a feed; :attr:`cursor` says where it stands behind the last item."""

    root: ClassVar[str] = "gsafeed"
    kinds: ClassVar[frozenset[str]] = frozenset({"record", "acl"})

    def __init__(  # noqa: PLR0913 (given by name)
        self,
        stream: ByteStream,
        *,
        limits: FeedLimits | None = None,
        feedtype: FeedType | None = None,
        start: FeedCursor | None = None,
        on_element: Callable[[etree._Element, int], None] | None = None,
        on_slip: Callable[[str, int], None] | None = None,
    ) -> None:
        """Read *stream* (see :func:`read_items`).

        *on_element* is told of every element that was parsed, with its line; *on_slip* of slips outside records.
        """
        self.limits = limits or FeedLimits()
        began = start or FeedCursor()
        place = Place(began.line, began.offset) if began.begun else None
        self.scanner = Scanner(stream, kinds=self.kinds, most=self.limits.record_bytes, start=place)
        self._feedtype = feedtype
        self._stack = list(began.stack)
        self._spaces = dict(began.spaces)
        self._header = {"datasource": began.datasource, "feedtype": began.feedtype}
        self._headed = began.headed
        self._rooted, self._ended = began.rooted, began.ended
        self._items, self._rejected, self._repaired = began.items, began.rejected, began.repaired
        self._outside = began.outside
        self._warnings: list[str] = [self.scanner.warning] if self.scanner.warning and place is None else []
        self._on_element, self._on_slip = on_element, on_slip
        self._waiting: Place | None = None
        self._context: tuple[OpenElement | None, GroupContext] = None, GroupContext()
        self.pass_over = ""
        """A reason to reject the next record unparsed: it has brought down its reader."""
        self.names = Names(self.limits.names, began.met)
        self.records = RecordReader(self.limits, self.names)

    @property
    def cursor(self) -> FeedCursor:
        """Where the pass stands: between two items."""
        place = self._waiting or self.scanner.place()
        return FeedCursor(
            offset=place.offset,
            line=place.line,
            items=self._items,
            rejected=self._rejected,
            repaired=self._repaired,
            rooted=self._rooted,
            ended=self._ended,
            stack=tuple(self._stack),
            spaces=tuple(self._spaces.items()),
            datasource=self._header["datasource"],
            feedtype=self._header["feedtype"],
            headed=self._headed,
            outside=self._outside,
            met=self.names.met,
        )

    def items(self) -> Iterator[FeedItem]:
        """Yield the items; see :func:`read_items`."""
        if self._headed:
            yield self._head()
        trouble = ""
        for event in self.scanner.events():
            if isinstance(event, Piece):
                if not self._rooted:
                    self._begin(event.kind, event.place)
                if not self._headed:
                    self._waiting = event.place
                    yield self._head()
                    self._waiting = None
                item = self._piece(event)
                self._items += 1
                self._rejected += isinstance(item, FeedRejection)
                yield item
            else:
                self._around(event)
                if not self._headed and self._stack and self._stack[-1].name == "group":
                    yield self._head()
            if trouble := self._overflow():
                break
        if not self._rooted:
            self._no_feed()
        if not self._headed:
            yield self._head()
        yield self._end(trouble)

    # --- around the pieces ----------------------------------------------------------------------------------

    def _around(self, event: StartTag | EndTag | Text | Doctype | Broken) -> None:
        match event:
            case StartTag():
                self._outside += len(event.raw)
                self._open(event)
            case EndTag():
                self._outside += len(event.name)
                self._close(event)
            case Text():
                self._outside += len(event.raw)
                self._text(event)
            case Doctype():
                self._doctype(event)
            case Broken():
                self._slip(event.text, event.place)

    def _overflow(self) -> str:
        if self.names.overflow:
            return f"more than {self.limits.names} different unknown names"
        if self._outside > self.limits.outside_bytes:
            return f"more than {self.limits.outside_bytes} bytes outside records"
        return ""

    def _doctype(self, event: Doctype) -> None:
        if _ENTITY.search(_COMMENT.sub(b"", event.raw)):
            raise FeedError(
                f"line {event.place.line}: the feed declares entities, which is refused",
                reason="refused",
                hint="write the characters themselves or numeric references (&#228;)",
            )
        if self._rooted:
            self._slip("a document type declaration inside the feed", event.place)

    def _open(self, event: StartTag) -> None:  # noqa: C901
        name = event.name
        if not self._rooted:
            self._begin(name, event.place)
        elif self._ended:
            self._slip(f"<{name}> behind the end of the feed", event.place)
        action, pagerank = "add", None
        plain = event.raw == b"<" + name.encode() + b">"
        element = None if plain or not event.sound else parse_tag(event.raw)
        if not plain and element is None and not self._prefixed(event):
            self._slip(f"the tag <{name}> is broken", event.place)
            action = ""
        if element is not None and self._on_element is not None:
            self._on_element(element, event.place.line)
        if name == "group":
            action, pagerank = self._group(element, action)
        elif name not in _BENIGN:
            self.names.unknown(f"the element {name}", self._warnings)
        if b"xmlns:" in event.raw and len(self._spaces) < _MOST_SPACES:
            self._spaces.update(
                (prefix.decode(), space.decode("utf-8", "replace"))
                for prefix, space in _SPACES.findall(event.raw)
                if prefix.lower() not in {b"xml", b"xmlns"}
            )
        if not event.empty:
            if len(self._stack) >= _DEEPEST:
                raise FeedError(f"line {event.place.line}: elements are nested too deeply", reason="refused")
            self._stack.append(OpenElement(name[:200], action, pagerank))
        elif name == self.root and len(self._stack) == 0:
            self._ended = True

    def _prefixed(self, event: StartTag) -> bool:
        """Whether the tag is fine but for name spaces, which are declared further out."""
        return event.sound and b":" in event.raw and parse_tag(event.raw.replace(b":", b"_")) is not None

    def _group(self, element: etree._Element | None, action: str) -> tuple[str, int | None]:
        pagerank = None
        if element is not None:
            for written, value in element.attrib.items():
                key = local_name(written).lower()
                if key == "action":
                    action = action_of(str(value), self._warnings)
                    if not action:
                        self._repaired = True
                elif key == "pagerank" and str(value).strip().isascii() and str(value).strip().isdigit():
                    pagerank = int(str(value).strip()[:9])
                elif key not in {"pagerank", "feedrank"}:
                    self.names.unknown(f"the attribute group@{key}", self._warnings)
        return action, pagerank

    def _begin(self, name: str, place: Place) -> None:
        if name in {"record", "acl", "membership", "group"}:
            self._slip(f"<{name}> without the {self.root} around it", place)
        elif name != self.root:
            other = "; groups go to /xmlgroups" if name == "xmlgroups" else ""
            raise FeedError(
                f"line {place.line}: the root element is {name!r}, not {self.root!r}{other}", reason="failed"
            )
        self._rooted = True

    def _close(self, event: EndTag) -> None:
        if not event.sound:
            self._slip(f"the end tag of {event.name} is broken", event.place)
        depth = next((at for at, open_ in enumerate(reversed(self._stack)) if open_.name == event.name), -1)
        if depth != 0:
            self._slip(f"</{event.name}> closes nothing that is open", event.place)
        if depth >= 0:
            del self._stack[len(self._stack) - 1 - depth :]
            if event.name == self.root and not self._stack and event.sound:
                self._ended = True

    def _text(self, event: Text) -> None:
        name = self._stack[-1].name if self._stack else ""
        if name in self._header:
            text = event.raw.decode("utf-8", "replace")
            known = self._header[name] + (text if event.cdata else resolve_text(text))
            self._header[name] = known.strip()[:_HEADER_CHARS]
        elif not name:
            self._slip("text outside the feed", event.place)
        elif name in {"group", self.root, "header", "membership"}:
            self.names.unknown(f"text in {name}", self._warnings)

    def _slip(self, text: str, place: Place) -> None:
        self._repaired = True
        if self._on_slip is not None:
            self._on_slip(text, place.line)
        if len(self._warnings) < self.limits.warnings:
            self._warnings.append(f"line {place.line}: {text}")

    def _head(self) -> FeedHeader:
        self._headed = True
        kind = self._feedtype or self._header["feedtype"].lower().replace("_", "-")
        self.records.keeps_content = kind != _METADATA_AND_URL
        warnings, self._warnings = tuple(self._warnings), []
        return FeedHeader(self._header["datasource"], self._header["feedtype"], warnings)

    def _no_feed(self) -> None:
        raise FeedError(f"there is no {self.root} element", reason="failed")

    def _end(self, trouble: str) -> FeedEnd:
        if not trouble:
            if self.scanner.ended_in:
                trouble = f"the feed ends inside {self.scanner.ended_in}"
            elif not self._ended:
                trouble = f"the feed ends before </{self.root}>"
        place = self.scanner.place()
        return FeedEnd(
            complete=not trouble,
            repaired=self._repaired,
            line=place.line,
            items=self._items,
            rejected=self._rejected,
            trouble=trouble,
            warnings=tuple(text[:1000] for text in self._warnings),
        )

    # --- pieces --------------------------------------------------------------------------------------------

    def _group_context(self) -> GroupContext:
        for element in reversed(self._stack):
            if element.name == "group":
                if self._context[0] is not element:
                    self._context = element, GroupContext(element.action, element.pagerank)
                return self._context[1]
        return GroupContext()

    def _piece(  # noqa: C901
        self, piece: Piece
    ) -> FeedRecord | FeedAcl | GroupMembership | FeedRejection:
        if self._ended:
            self._repaired = True
        if piece.torn is not None:
            self._repaired = self._repaired or piece.torn is not TornAt.OVERSIZE
            return self._rejection(piece, piece.torn.value, piece.place.line, denies=piece.hints)
        if self.pass_over:
            reason, self.pass_over = self.pass_over, ""
            return self._rejection(piece, reason, piece.place.line, denies=True)
        piece, self.records.lifted = lift(piece)
        parsed = parse_piece(piece, spaces=tuple(self._spaces.items()), tags=self.limits.tags)
        warnings = []
        if parsed.settled.lost:
            self._repaired = True
            names = ", ".join(f"&{name};" for name in parsed.settled.lost)
            warnings.append(f"references that nobody declared: {names}")
        if parsed.settled.resolved:
            names = ", ".join(f"&{name};" for name in parsed.settled.resolved)
            warnings.append(f"references of HTML, not of XML, became their characters: {names}")
        if parsed.repaired or (parsed.element is None and parsed.trouble):
            self._repaired = True
        if parsed.element is None:
            return self._rejection(
                piece,
                f"broken markup: {parsed.trouble}",
                piece.place.line + parsed.line,
                denies=_hints(piece),
            )
        if parsed.repaired:
            warnings.append(f"broken markup was repaired: {', '.join(parsed.repaired)}")
        if self._on_element is not None:
            self._on_element(parsed.element, piece.place.line)
        marked = bool(parsed.settled.lost or parsed.repaired)
        item = self._value(piece, parsed.element, warnings, marked=marked)
        if isinstance(item, FeedRejection) and (parsed.repaired or parsed.settled.lost):
            reason = f"{item.reason} ({'; '.join(warnings[:3])})"
            return FeedRejection(item.line, item.offset, item.url, reason[:1000], item.denies)
        return item

    def _value(
        self, piece: Piece, element: etree._Element, warnings: list[str], *, marked: bool
    ) -> FeedRecord | FeedAcl | GroupMembership | FeedRejection:
        read = self.records.record if piece.kind == "record" else self.records.free_acl
        return read(element, piece.place, self._group_context(), warnings, marked=marked)

    def _rejection(self, piece: Piece, reason: str, line: int, *, denies: bool) -> FeedRejection:
        url = resolve_text(raw_url(piece.data))[: self.limits.url_chars]
        if line != piece.place.line:
            reason = f"line {line}: {reason}"
        return FeedRejection(
            piece.place.line, piece.place.offset, url, reason[:1000], denies or piece.kind != "record"
        )


_HINT: Final = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?acl[\s/>]|google:|Z29vZ2xlO", re.IGNORECASE)


def _hints(piece: Piece) -> bool:
    """Whether a record that cannot be read may have said who may see it; CDATA counts, to be on the safe side."""
    text = piece.data.decode("utf-8", "replace")
    return _HINT.search(text) is not None or _HINT.search(resolve_text(text)) is not None
