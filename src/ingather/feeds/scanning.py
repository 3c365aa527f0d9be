"""Cuts a feed into its records, ACLs and the tags around them, in one pass and bounded memory.

No ``<`` of well-formed XML is anything but markup, so each one is a place to begin anew: a torn tag costs
itself. Comments, CDATA and processing instructions are opaque. What begins with ``<record`` lasts to
``</record``, but no longer than to the next thing that cannot stand inside a record.
"""

import re
from collections.abc import Iterator
from typing import Final

from ingather.errors import FeedError
from ingather.feeds.encoding import HEAD_BYTES, ByteStream, Transcoder, detect
from ingather.feeds.scanned import Broken, Doctype, EndTag, Event, Piece, Place, StartTag, Text, TornAt

__all__ = ["Scanner"]

_CHUNK: Final = 256 * 1024
_KEPT: Final = 1 << 20
_MOST_TAG: Final = 8 << 20
_MOST_DOCTYPE: Final = 64 * 1024
_OVERSIZE_HEAD: Final = 64 * 1024
_OVERLAP: Final = 256

# Bounded, for each round of a repeated group takes memory until the match is over; tag_end goes on from there.
_VALUES: Final = rb"(?:(?:\"[^\"<]*+\"|'[^'<]*+')[^<>\"']*+)"
_TAG: Final = re.compile(rb"<[^<>\"']*+" + _VALUES + rb"{0,64}>")
_TAG_START: Final = re.compile(rb"<[^<>\"']*+")
_TAG_PART: Final = re.compile(_VALUES + rb"{1,256}")
_NAME: Final = re.compile(rb"<(/?)([A-Za-z_:\x80-\xff][\w.:\x80-\xff-]*+)")
_PREFIX: Final = rb"(?:[A-Za-z_][\w.-]*:)?"
_ACL_HINT: Final = re.compile(rb"<" + _PREFIX + rb"(?i:acl)[\s/>]|google:|Z29vZ2xlO")


def _inner(name: bytes, ends: bytes) -> re.Pattern[bytes]:
    return re.compile(
        rb"<(?:(!--)|(!\[CDATA\[)|(\?)|" + _PREFIX + rb"(?i:" + ends + rb")(?=[\s/>])"
        rb"|(/)" + _PREFIX + rb"(?i:" + name + rb")(?=[\s>/<]))"
    )


_INNER: Final = {
    "record": _inner(b"record", b"record|/?group|/?gsafeed"),
    "acl": _inner(b"acl", b"acl|/?record|/?group|/?gsafeed"),
    "membership": _inner(b"membership", b"membership|/?xmlgroups"),
}
"""Piece -> what matters inside it: comment, CDATA, instruction, its own end (group 4), and what it cannot hold."""


class Scanner:
    """One pass over a feed, from its start or from where an earlier pass stood."""

    def __init__(
        self, stream: ByteStream, *, kinds: frozenset[str], most: int, start: Place | None = None
    ) -> None:
        """Read *stream*, which stands at its beginning.

        Args:
            stream: with ``seek`` if *start* is given.
            kinds: the pieces to cut, of ``record``, ``acl``, ``membership``.
            most: bytes of a piece in UTF-8.
            start: the beginning of an event that an earlier pass gave.
        """
        head = stream.read(HEAD_BYTES)
        encoding = detect(head)
        self.warning = encoding.warning
        self.codec = encoding.codec
        self.ended_in = ""
        offset = start.offset if start else encoding.skip
        if start:
            stream.seek(offset)  # type: ignore[attr-defined]
            head = b""
        self._source = Transcoder(_Behind(head[encoding.skip :], stream), encoding, offset=offset)
        self._kinds = kinds
        self._most = most
        self._buf = bytearray()
        self._gone = 0
        self._at = 0
        self._line = start.line if start else 1

    def place(self) -> Place:
        """Return where the next event begins."""
        return self._place(self._at)

    def _place(self, at: int) -> Place:
        """Return the place of buffer position *at*, which is not before the last one asked for."""
        self._advance(at)
        whole = self._gone + at
        start = self._source.span_start(whole)
        before = bytes(self._buf[max(start - self._gone, 0) : at]) if start < whole else b""
        return Place(self._line, self._source.source_of(whole, before))

    def _advance(self, to: int) -> None:
        self._line += self._buf.count(b"\n", self._at, to)
        self._at = to

    def _more(self) -> bool:
        """Read on; forget what is behind the position (but a span, for offsets)."""
        made = self._source.read(_CHUNK)
        if not made:
            return False
        self._forget()
        self._buf += made
        return True

    def _forget(self) -> None:
        if self._at > _KEPT:
            drop = min(self._at, max(self._source.span_start(self._gone + self._at) - self._gone, 0))
            if drop:
                del self._buf[:drop]
                self._gone += drop
                self._at -= drop
                self._source.forget(self._gone)

    def _seek(self, mark: bytes, start: int) -> int:
        """Return where *mark* next begins, forgetting what lies before it; -1 at the end of the feed."""
        while (found := self._buf.find(mark, start)) < 0:
            self._advance(max(len(self._buf) - len(mark) + 1, self._at))
            gone = self._gone
            if not self._more():
                self._advance(len(self._buf))
                return -1
            start = max(start - (self._gone - gone), self._at)
        return found

    def _ahead(self, count: int) -> bytes:
        while len(self._buf) - self._at < count and self._more():
            pass
        return bytes(self._buf[self._at : self._at + count])

    def events(self) -> Iterator[Event]:
        """Yield what there is, in order. Ends at the end of the feed; ``ended_in`` says if that was inside something."""
        while True:
            found = self._buf.find(b"<", self._at)
            if found < 0:
                yield from self._text(len(self._buf))
                if not self._more():
                    return
                continue
            yield from self._text(found)
            ahead = self._ahead(9)
            if ahead.startswith(b"<!--"):
                self._advance(self._at + 4)
                self._opaque(b"-->", "a comment")
            elif ahead == b"<![CDATA[":
                yield from self._cdata()
            elif ahead.startswith(b"<?"):
                self._opaque(b"?>", "a processing instruction")
            elif ahead.upper() == b"<!DOCTYPE":
                yield self._doctype()
            else:
                yield self._tag()

    def _text(self, end: int) -> Iterator[Text]:
        if end > self._at:
            raw = bytes(self._buf[self._at : end])
            if raw.isspace():
                self._advance(end)
            else:
                place = self._place(self._at)
                self._advance(end)
                yield Text(raw, cdata=False, place=place)

    def _opaque(self, mark: bytes, what: str) -> None:
        found = self._seek(mark, self._at)
        if found < 0:
            self.ended_in = what
        else:
            self._advance(found + len(mark))

    def _cdata(self) -> Iterator[Text]:
        place = self._place(self._at)
        self._advance(self._at + 9)
        ahead = self._ahead(_OVERLAP)
        yield Text(ahead.partition(b"]]>")[0], cdata=True, place=place)
        self._opaque(b"]]>", "a CDATA section")

    def _doctype(self) -> Doctype:
        place = self._place(self._at)
        end = self._at
        while (found := doctype_end(self._buf, self._at)) < 0:
            if len(self._buf) - self._at > _MOST_DOCTYPE:
                raise FeedError("the document type declaration is too long", reason="refused")
            if not self._more():
                self.ended_in = "the document type declaration"
                found = len(self._buf)
                break
        end = found
        raw = bytes(self._buf[self._at : end])
        self._advance(end)
        return Doctype(raw, place)

    def _tag(self) -> Event:
        place = self._place(self._at)
        self._ahead(_OVERLAP)
        named = _NAME.match(self._buf, self._at)
        if named is None:
            self._advance(self._at + 1)
            return Broken("'<' that begins no tag; write &lt;", place)
        closing, name = bool(named[1]), named[2].decode("utf-8", "replace").rpartition(":")[2]
        kind = name.lower()
        if not closing and kind in self._kinds:
            return self._piece(kind, place)
        end, sound = self._tag_end()
        raw = bytes(self._buf[self._at : end])
        self._advance(end)
        if closing:
            return EndTag(name, sound and raw[2:-1].split() == [raw[2:-1].strip()], place)
        return StartTag(name, raw, raw.endswith(b"/>"), sound, place)

    def _tag_end(self) -> tuple[int, bool]:
        """Return where the tag at the position ends, and whether it is one."""
        seen = 1
        while True:
            start = self._at
            following = self._buf.find(b"<", start + seen)
            limit = following if following >= 0 else len(self._buf)
            closed = self._buf.find(b">", start + seen, limit)
            if closed >= 0 and (end := tag_end(self._buf, start, limit)) >= 0:
                return end, True
            if following >= 0:
                return (closed + 1 if closed >= 0 else following), False
            if limit - start > _MOST_TAG:
                raise FeedError("a tag is too long", reason="refused")
            if closed < 0:
                seen = limit - start
            if not self._more():
                self.ended_in = self.ended_in or "a tag"
                return len(self._buf), False

    # --- pieces -------------------------------------------------------------------------------------------

    def _piece(self, kind: str, place: Place) -> Piece:
        end, sound = self._tag_end()
        start = self._at
        if self.ended_in:
            return self._cut(kind, place, (), TornAt.END_OF_FEED, len(self._buf))
        if sound and self._buf[end - 2] == ord("/"):
            data = bytes(self._buf[start:end])
            self._advance(end)
            return Piece(kind, data, (), place)
        return self._body(kind, place, end)

    def _body(self, kind: str, place: Place, behind: int) -> Piece:
        """Find the end of the piece whose start tag ends at *behind*. Positions here are relative to its start."""
        inner = _INNER[kind]
        opaque: list[tuple[int, int]] = []
        at = behind - self._at
        until, since = b"", 0
        while True:
            start = self._at
            if until:
                found = self._buf.find(until, start + at)
                if found >= 0:
                    at = found + len(until) - start
                    opaque.append((since, at))
                    until = b""
                    continue
                at = max(at, len(self._buf) - len(until) + 1 - start)
            else:
                match = inner.search(self._buf, start + at)
                if match is not None:
                    begin, groups = match.start() - start, match.groups()
                    after = match.end() - start
                    if groups[3]:
                        return self._ended(kind, place, opaque, begin, after)
                    mark = _UNTIL.get(groups[0] or groups[1] or groups[2] or b"")
                    if mark is None:
                        return self._cut(kind, place, opaque, TornAt.NEXT, start + begin)
                    until, since, at = mark, begin, after
                    continue
                at = max(at, len(self._buf) - _OVERLAP - start)
            if at > self._most:
                return self._oversize(kind, place, inner, until)
            if not self._more():
                self.ended_in = f"a {kind}"
                return self._cut(kind, place, opaque, TornAt.END_OF_FEED, len(self._buf))

    def _ended(self, kind: str, place: Place, opaque: list[tuple[int, int]], begin: int, after: int) -> Piece:
        """Take the piece whose end tag begins at *begin*; *after* is behind the tag's name."""
        while (close := _CLOSE.match(self._buf, self._at + after)) is None and (
            len(self._buf) - self._at - after < _OVERLAP
        ):
            if not self._more():
                break
        if close is None and len(self._buf) - self._at == after:
            self.ended_in = f"a {kind}"
            return self._cut(kind, place, opaque, TornAt.END_OF_FEED, len(self._buf))
        end = close.end() if close is not None else self._at + after
        if end - self._at > self._most:
            return self._cut(kind, place, opaque, TornAt.OVERSIZE, end)
        data = bytes(memoryview(self._buf)[self._at : end])
        self._advance(end)
        self._forget()
        return Piece(kind, data, tuple(opaque), place)

    def _cut(self, kind: str, place: Place, opaque: object, torn: TornAt, end: int) -> Piece:
        hints = _ACL_HINT.search(self._buf, self._at, end) is not None
        data = bytes(self._buf[self._at : min(end, self._at + _OVERSIZE_HEAD)])
        self._advance(end)
        return Piece(kind, data, (), place, torn, hints)

    def _oversize(self, kind: str, place: Place, inner: re.Pattern[bytes], until: bytes) -> Piece:
        """Pass over a piece that is too large, forgetting it on the way."""
        data = bytes(self._buf[self._at : self._at + _OVERSIZE_HEAD])
        hints = False
        while True:
            if until:
                end = self._buf.find(until, self._at)
                end = end + len(until) if end >= 0 else -1
                if end >= 0:
                    until = b""
                    hints = hints or _ACL_HINT.search(self._buf, self._at, end) is not None
                    self._advance(end)
                    continue
            else:
                match = inner.search(self._buf, self._at + 1)
                if match is not None:
                    begin, after, groups = match.start(), match.end(), match.groups()
                    mark = _UNTIL.get(groups[0] or groups[1] or groups[2] or b"")
                    hints = hints or _ACL_HINT.search(self._buf, self._at, begin) is not None
                    if mark is None:
                        self._advance(after if groups[3] else begin)
                        if groups[3]:
                            self._ahead(_OVERLAP)
                            close = _CLOSE.match(self._buf, self._at)
                            if close is not None:
                                end = close.end()
                                self._advance(end)
                        return Piece(kind, data, (), place, TornAt.OVERSIZE, hints)
                    until = mark
                    self._advance(after)
                    continue
            keep = max(len(self._buf) - _OVERLAP, self._at)
            hints = hints or _ACL_HINT.search(self._buf, self._at) is not None
            self._advance(keep)
            if not self._more():
                self.ended_in = f"a {kind}"
                self._advance(len(self._buf))
                return Piece(kind, data, (), place, TornAt.END_OF_FEED, hints)


_UNTIL: Final = {b"!--": b"-->", b"![CDATA[": b"]]>", b"?": b"?>"}
_CLOSE: Final = re.compile(rb"\s*+>")
_DOCTYPE_STEP: Final = re.compile(
    rb"<!--.*?-->|<\?.*?\?>|<!(?!--)[A-Z]*|\"[^\"]*\"|'[^']*'|[\[\]>]|[^<\"'\[\]>]++", re.DOTALL
)


def tag_end(buffer: bytearray | bytes, start: int, limit: int) -> int:
    """Return where the tag at *start* ends, whose quoted values may hold ``>``; -1 if it does not before *limit*."""
    match = _TAG.match(buffer, start, limit)
    if match is not None:
        return match.end()
    match = _TAG_START.match(buffer, start, limit)
    end = start
    while match is not None:
        end = match.end()
        match = _TAG_PART.match(buffer, end, limit)
    return end + 1 if start < end < limit and buffer[end] == ord(">") else -1


def doctype_end(buffer: bytearray | bytes, start: int) -> int:
    """Return where the document type declaration at *start* ends, -1 if it does not end in *buffer*."""
    at, subset, inside = start + 9, False, 0
    limit = min(len(buffer), start + _MOST_DOCTYPE)
    while (match := _DOCTYPE_STEP.match(buffer, at, limit)) is not None:
        step = match.group()
        at = match.end()
        if step == b"[":
            subset = True
        elif step == b"]":
            subset = False
        elif step.startswith(b"<!") and not step.startswith(b"<!--"):
            inside += 1
        elif step == b">":
            if inside:
                inside -= 1
            elif not subset:
                return at
    return -1


class _Behind:
    """Bytes that were read already, then the rest of the stream."""

    def __init__(self, head: bytes, stream: ByteStream) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int = -1, /) -> bytes:
        if self._head:
            head, self._head = self._head, b""
            return head
        return self._stream.read(size)
