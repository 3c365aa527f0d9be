r"""RTF: text with its code pages, headers and notes, fields, shapes, embedded objects, document information.

Microsoft, "Rich Text Format Specification 1.9.1". Each font has a code page of its own; ``\\u``
carries UTF-16 units, surrogates too, and announces by ``\\uc`` how many fallback characters
follow. Deleted text is left out.
"""

import re
from collections.abc import Callable
from functools import partial

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.limits import LimitReachedError
from ingather.extract.documents.objdata import embed_object
from ingather.extract.documents.rtf_words import (
    ASIDES,
    BLOCK_ENDS,
    CAPTURED,
    CHARACTERS,
    CHARSETS,
    SKIPPED,
    SYMBOLS,
    TIME_PARTS,
    TIMES,
)
from ingather.extract.documents.summary import codepage_name
from ingather.extract.documents.wordprocessing import equation_of, hyperlink_of

__all__ = ["read"]

_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?\d{1,10})? ?"  # a control word
    rb"|\\'([0-9A-Fa-f]{2})"  # a byte
    rb"|\\([^A-Za-z])"  # a control symbol
    rb"|([{}])"
    rb"|[\r\n]+"
    rb"|([^\\{}\r\n]+)"
    rb"|.",
    re.DOTALL,
)
_DEEPEST = 5_000
_MOST_TOKENS = 6_000_000
_HREF = re.compile(r"""<a\b[^>]*?\bhref\s*=\s*["']([^"'>]{1,8192})""", re.IGNORECASE)
_HIGH, _LOW, _LAST = 0xD800, 0xDC00, 0xDFFF


class _Group:
    """What a group saves: where text goes, fallback count, code page, deletion, what its end does."""

    __slots__ = ("at_end", "codepage", "deleted", "destination", "fallback")

    def __init__(self, destination: str, fallback: int, codepage: str, *, deleted: bool) -> None:
        self.destination = destination
        self.fallback = fallback
        self.codepage = codepage
        self.deleted = deleted
        self.at_end: Callable[[], None] | None = None

    def inner(self) -> "_Group":
        """Return the state at the beginning of a group inside this one."""
        return _Group(self.destination, self.fallback, self.codepage, deleted=self.deleted)


class _Rtf:
    """The state of reading: groups, fonts, the bytes not yet decoded, the field being read."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._codepage = "cp1252"
        self._groups = [_Group("text", 1, self._codepage, deleted=False)]
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._raw = bytearray()
        self._high = 0
        self._fallback_left = 0
        self._starred = False
        self._captured: list[str] = []
        self._fields: list[list[str]] = []
        self._property = ""
        self._author = ""
        self._time: dict[str, int] = {}
        self._in_table = False
        self._level = 0
        self._words: dict[str, Callable[[int | None], None]] = {
            "par": self._paragraph,
            "line": self._line,
            "pard": self._plain_paragraph,
            "intbl": self._table,
            "outlinelevel": self._outline,
            "u": self._unicode,
            "uc": self._announce,
            "f": self._use_font,
            "fcharset": self._charset,
            "cpg": self._font_codepage,
            "ansicpg": self._document_codepage,
            "mac": lambda _number: self._default("mac_roman"),
            "pc": lambda _number: self._default("cp437"),
            "pca": lambda _number: self._default("cp850"),
            "deleted": self._deletion,
            "htmlrtf": self._only_rtf,
            "fonttbl": lambda _number: self._go("fonts"),
            "upr": lambda _number: self._go("skip"),
            "ud": lambda _number: self._go("text"),
            "field": self._field,
            "fldinst": lambda _number: self._go("instruction"),
            "fldrslt": self._field_result,
            "shpinst": lambda _number: self._go("shape"),
            "pict": lambda _number: self._go("shape"),
            "sn": lambda _number: self._capture(self._take_property_name),
            "sv": lambda _number: self._capture(self._take_property_value),
            "htmltag": lambda _number: self._capture(self._take_html),
            "objdata": lambda _number: self._capture(self._take_object),
            "atnauthor": lambda _number: self._capture(self._take_author),
            "hlsrc": lambda _number: self._capture(self._take_link),
            "nofpages": lambda number: self._draft.meta("pages", str(number)),
            "nofwords": lambda number: self._draft.meta("words", str(number)),
        }

    def read(self, body: bytes) -> None:  # noqa: C901 (a branch for each kind of token)
        position, size, tokens = 0, len(body), 0
        match = _TOKEN.match
        while position < size:
            token = match(body, position)
            if token is None:
                break
            position = token.end()
            tokens += 1
            if tokens > _MOST_TOKENS:
                raise LimitReachedError("tokens")
            word, number, code, symbol, brace, plain = token.groups()
            if plain is not None:
                self._bytes(plain)
            elif code is not None:
                self._bytes(bytes.fromhex(code.decode()))
            elif word is not None:
                if word == b"bin":
                    position += max(int(number or 0), 0)
                else:
                    self._word(word.decode().lower() if word.isupper() else word.decode(), number)
            elif brace is not None:
                self._brace(brace)
            elif symbol is not None:
                self._symbol(symbol)
        self._flush()
        while len(self._groups) > 1:
            self._close_group()
        self._end_paragraph()

    # --- groups -----------------------------------------------------------------------------------

    def _brace(self, brace: bytes) -> None:
        self._flush()
        self._fallback_left = 0
        self._starred = False
        if brace == b"{":
            if len(self._groups) > _DEEPEST:
                raise LimitReachedError("nesting")
            self._groups.append(self._groups[-1].inner())
        elif len(self._groups) > 1:
            self._close_group()

    def _close_group(self) -> None:
        group = self._groups.pop()
        if group.at_end:
            group.at_end()

    def _go(self, destination: str) -> None:
        self._groups[-1].destination = destination

    def _capture(self, at_end: Callable[[], None]) -> None:
        self._captured = []
        group = self._groups[-1]
        group.destination = "captured"
        group.at_end = at_end

    # --- text -------------------------------------------------------------------------------------

    def _bytes(self, data: bytes) -> None:
        self._starred = False
        if self._fallback_left:
            skipped = min(self._fallback_left, len(data))
            self._fallback_left -= skipped
            data = data[skipped:]
        if data and self._groups[-1].destination not in {"skip", "shape"}:
            self._raw += data

    def _flush(self) -> None:
        if self._raw:
            data, self._raw = bytes(self._raw), bytearray()
            self._high = 0
            self._put(data.decode(self._groups[-1].codepage, "replace"))

    def _put(self, text: str) -> None:
        group = self._groups[-1]
        match group.destination:
            case "text":
                if not group.deleted:
                    self._draft.write(text)
            case "instruction":
                if self._fields:
                    self._fields[-1].append(text)
            case "captured":
                self._captured.append(text)
            case _:
                return

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._starred = True
            return
        if self._fallback_left:
            self._fallback_left -= 1
            return
        self._flush()
        if symbol in b"\r\n":
            self._paragraph(None)
        elif symbol in SYMBOLS:
            self._put(SYMBOLS[symbol])

    def _word(self, word: str, number: bytes | None) -> None:
        starred, self._starred = self._starred, False
        if self._fallback_left and word != "u":
            self._fallback_left -= 1
            return
        self._flush()
        value = int(number) if number is not None else None
        group = self._groups[-1]
        if group.destination == "skip" and word != "ud":
            return
        if text := CHARACTERS.get(word):
            self._put(text)
        elif handler := self._words.get(word):
            handler(value)
        elif word in BLOCK_ENDS:
            self._end_paragraph()
        elif word in SKIPPED:
            group.destination = "skip"
        elif word in ASIDES:
            self._aside()
            if word == "annotation" and self._author:
                self._draft.block(self._author)
                self._author = ""
        elif not self._information(word, value) and starred:
            group.destination = "skip"

    def _aside(self) -> None:
        self._draft.open_aside()
        group = self._groups[-1]
        group.destination, group.at_end = "text", self._draft.close_aside

    def _information(self, word: str, value: int | None) -> bool:
        """Take what belongs to the document's description; say whether *word* did."""
        if key := CAPTURED.get(word):
            self._capture(partial(self._take_meta, key))
        elif key := TIMES.get(word):
            self._time = {}
            self._go("skip-text")
            self._groups[-1].at_end = partial(self._take_time, key)
        elif word in TIME_PARTS:
            self._time[word] = value or 0
        else:
            return word in {"shppict", "shp", "listtext", "pntext", "picprop", "sp", "hl", "hlfr", "hlloc"}
        return True

    def _take_meta(self, key: str) -> None:
        self._draft.meta(key, "".join(self._captured))

    def _take_time(self, key: str) -> None:
        self._draft.meta(key, self._moment())

    def _moment(self) -> str:
        year, month, day, hour, minute, second = (self._time.get(part, 0) for part in TIME_PARTS)
        if year < 1900 or not month or not day:  # noqa: PLR2004 (LibreOffice writes 1601 for "never")
            return ""
        return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}Z"

    # --- paragraphs -------------------------------------------------------------------------------

    def _paragraph(self, _number: int | None) -> None:
        if self._groups[-1].destination != "text":
            return
        if self._in_table:
            self._draft.write(" ")
        else:
            self._end_paragraph()

    def _end_paragraph(self) -> None:
        if self._level:
            self._draft.heading(self._level)
        self._draft.end_block()

    def _line(self, _number: int | None) -> None:
        self._put(" " if self._in_table else "\n")

    def _plain_paragraph(self, _number: int | None) -> None:
        self._in_table = False
        self._level = 0

    def _table(self, _number: int | None) -> None:
        self._in_table = True

    def _outline(self, number: int | None) -> None:
        self._level = (number or 0) + 1 if 0 <= (number or 0) < 6 else 0  # noqa: PLR2004 (six levels of headings)

    def _deletion(self, number: int | None) -> None:
        self._groups[-1].deleted = number != 0

    def _only_rtf(self, number: int | None) -> None:
        # Between \htmlrtf and \htmlrtf0 stands what encapsulated HTML does not show.
        self._groups[-1].deleted = number != 0

    # --- characters -------------------------------------------------------------------------------

    def _unicode(self, number: int | None) -> None:
        unit = (number or 0) & 0xFFFF
        self._fallback_left = self._groups[-1].fallback
        if _HIGH <= unit < _LOW:
            self._high = unit
        elif _LOW <= unit <= _LAST:
            if self._high:
                self._put(chr(0x10000 + ((self._high - _HIGH) << 10) + (unit - _LOW)))
            self._high = 0
        else:
            self._high = 0
            # Symbol fonts use the private area for what is a byte in them.
            self._put(chr(unit))

    def _announce(self, number: int | None) -> None:
        self._groups[-1].fallback = min(max(number or 0, 0), 10)

    def _default(self, codepage: str) -> None:
        self._codepage = codepage
        for group in self._groups:
            group.codepage = codepage

    def _document_codepage(self, number: int | None) -> None:
        if number:
            self._default(codepage_name(number))

    def _use_font(self, number: int | None) -> None:
        self._font = number or 0
        self._groups[-1].codepage = self._fonts.get(self._font, self._codepage)

    def _charset(self, number: int | None) -> None:
        if self._groups[-1].destination == "fonts" and (codepage := CHARSETS.get(number or 0)):
            self._fonts[self._font] = codepage

    def _font_codepage(self, number: int | None) -> None:
        if number and self._groups[-1].destination == "fonts":
            self._fonts[self._font] = codepage_name(number)

    # --- fields, shapes, objects --------------------------------------------------------------------

    def _field(self, _number: int | None) -> None:
        self._fields.append([])
        self._groups[-1].at_end = self._close_field

    def _field_result(self, _number: int | None) -> None:
        group = self._groups[-1]
        group.destination = "text"
        if self._fields:
            self._draft.open_anchor()
            group.at_end = self._close_result

    def _close_result(self) -> None:
        url = hyperlink_of("".join(self._fields[-1])) if self._fields else ""
        self._draft.close_anchor(url)
        if url and self._fields:
            self._fields[-1].clear()

    def _close_field(self) -> None:
        instruction = "".join(self._fields.pop()) if self._fields else ""
        if url := hyperlink_of(instruction):
            self._draft.link(url)
        elif words := equation_of(instruction):
            self._put(words)

    def _take_property_name(self) -> None:
        self._property = "".join(self._captured).strip()

    def _take_property_value(self) -> None:
        if self._property in {"wzDescription", "gtextUNICODE"}:
            self._draft.open_aside()
            self._draft.block("".join(self._captured))
            self._draft.close_aside()

    def _take_html(self) -> None:
        for url in _HREF.findall("".join(self._captured)):
            self._draft.link(url.replace("&amp;", "&"))

    def _take_author(self) -> None:
        self._author = "".join(self._captured).strip()

    def _take_link(self) -> None:
        self._draft.link("".join(self._captured).strip())

    def _take_object(self) -> None:
        embed_object("".join(self._captured), self._draft)


def read(body: bytes, draft: Draft, _name: str, _content_type: str | None) -> None:
    """Read an RTF document into *draft*.

    Raises:
        ExtractError: ``damaged``.
        LimitReachedError: a limit of the draft's budget.
    """
    start = body.find(b"{\\rt")
    if start < 0:
        raise ExtractError("not an RTF document", reason="damaged")
    try:
        _Rtf(draft).read(body[start:])
    finally:
        draft.drop_anchors()
