"""SpreadsheetML: xlsx, xlsm, xltx; sheet by sheet: name, headers, rows as shown, comments, drawings, footers.

ECMA-376 part 1, chapter 18. A row is a block, cells apart by tabs, gaps left out (a cell in
the far corner costs nothing). Dates appear as shown and as ISO; phonetic guides follow
their text. Links: cell hyperlinks, HYPERLINK formulas, shapes.
"""

import re
from collections.abc import Mapping

from ingather.extract.documents.drawing import read_drawings
from ingather.extract.documents.numberformat import BUILT_IN, is_date, iso_date, shown
from ingather.extract.documents.ooxml import Office
from ingather.extract.documents.xmlevents import XmlReader

__all__ = [
    "CommentReader",
    "SharedText",
    "header_text",
    "hyperlink_formula",
    "read_document",
    "read_sheet_parts",
    "shown_cell",
]

_MOST_STRINGS = 2_000_000
_HYPERLINK = re.compile(r"\bHYPERLINK\(\s*\"([^\"]{1,8192})\"", re.IGNORECASE)
_HEADER_CODE = re.compile(r'&(?:"[^"]*"|K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|\d+|[LCRPNDTGZFABIUESXYOH+-]|(&))')


def header_text(code: str) -> str:
    """Return the words of a header or footer code: ``&L&"Arial,Bold"&12Secret &P`` is ``Secret``."""
    return _HEADER_CODE.sub(lambda found: "&" if found[1] else " ", code)


def hyperlink_formula(formula: str) -> str:
    """Return the URL of a formula with ``HYPERLINK("url", ...)``, or ``""``."""
    match = _HYPERLINK.search(formula)
    return match[1] if match else ""


class SharedText(XmlReader):
    """The shared strings, in order; a string's phonetic guides follow it."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__()
        self.strings: list[str] = []
        self.full = False
        self._left = most_bytes
        self._words: list[str] = []
        self._in_text = False
        self.starts = {"si": self._open, "t": self._open_text, "rPh": self._phonetic}
        self.ends = {"si": self._close, "t": self._close_text}

    def text(self, data: str) -> None:
        """Take the text of ``t``."""
        if self._in_text and not self.full:
            self._words.append(data)

    def _open(self, _attributes: Mapping[str, str]) -> None:
        self._words = []

    def _open_text(self, _attributes: Mapping[str, str]) -> None:
        self._in_text = True

    def _close_text(self) -> None:
        self._in_text = False

    def _phonetic(self, _attributes: Mapping[str, str]) -> None:
        self._words.append(" ")

    def _close(self) -> None:
        text = "".join(self._words)
        self._left -= len(text) + 1
        if self._left < 0 or len(self.strings) >= _MOST_STRINGS:
            self.full = True
        if not self.full:
            self.strings.append(text)


class _Styles(XmlReader):
    """The number format of each cell style."""

    def __init__(self) -> None:
        super().__init__()
        self._codes = dict(BUILT_IN)
        self._in_cells = False
        self._numbers: list[int] = []
        self.starts = {"numFmt": self._format, "cellXfs": self._open, "xf": self._style}
        self.ends = {"cellXfs": self._close}

    def _format(self, attributes: Mapping[str, str]) -> None:
        number = attributes.get("numFmtId", "")
        if number.isdecimal():
            self._codes[int(number)] = attributes.get("formatCode", "General")

    def _open(self, _attributes: Mapping[str, str]) -> None:
        self._in_cells = True

    def _close(self) -> None:
        self._in_cells = False

    def _style(self, attributes: Mapping[str, str]) -> None:
        if self._in_cells:
            number = attributes.get("numFmtId", "0")
            self._numbers.append(int(number) if number.isdecimal() else 0)

    def codes(self) -> list[str]:
        """Return the format code of each cell style, in order."""
        return [self._codes.get(number, "General") for number in self._numbers]


class _Workbook(XmlReader):
    """Sheet names with their relationships, and which epoch dates count from."""

    def __init__(self) -> None:
        super().__init__()
        self.sheets: list[tuple[str, str]] = []
        self.from_1904 = False
        self.starts = {"sheet": self._sheet, "workbookPr": self._settings}

    def _sheet(self, attributes: Mapping[str, str]) -> None:
        self.sheets.append((attributes.get("name", ""), attributes.get("r:id", "")))

    def _settings(self, attributes: Mapping[str, str]) -> None:
        self.from_1904 = attributes.get("date1904", "").lower() in {"1", "true", "on"}


class _Sheet(XmlReader):
    """One sheet's rows, headers and links."""

    def __init__(
        self, office: Office, part: str, strings: list[str], codes: list[str], *, from_1904: bool
    ) -> None:
        super().__init__()
        self._office = office
        self._part = part
        self._draft = office.draft
        self._strings = strings
        self._codes = codes
        self._from_1904 = from_1904
        self._kind = "n"
        self._style = 0
        self._place = ""
        self._value: list[str] = []
        self._formula: list[str] = []
        self._into: list[str] | None = None
        self._cell_texts: dict[str, str] = {}
        self.footers: list[str] = []
        self.starts = {
            "c": self._open_cell,
            "v": self._open_value,
            "t": self._open_value,
            "f": self._open_formula,
            "rPh": self._phonetic,
            "hyperlink": self._hyperlink,
        }
        self.ends = {"c": self._close_cell, "v": self._close, "t": self._close, "f": self._close}
        self.ends["row"] = self._draft.end_block
        for name in ("oddHeader", "evenHeader", "firstHeader", "oddFooter", "evenFooter", "firstFooter"):
            self.starts[name] = self._open_header
            self.ends[name] = self._close_header

    def text(self, data: str) -> None:
        """Take values, formulas and headers."""
        if self._into is not None:
            self._into.append(data)

    def _open_cell(self, attributes: Mapping[str, str]) -> None:
        self._kind = attributes.get("t", "n")
        style = attributes.get("s", "0")
        self._style = int(style) if style.isdecimal() else 0
        self._place = attributes.get("r", "")
        self._value = []
        self._formula = []

    def _open_value(self, _attributes: Mapping[str, str]) -> None:
        self._into = self._value

    def _open_formula(self, _attributes: Mapping[str, str]) -> None:
        self._into = self._formula

    def _phonetic(self, _attributes: Mapping[str, str]) -> None:
        self._value.append(" ")

    def _close(self) -> None:
        self._into = None

    def _close_cell(self) -> None:
        text = self._shown("".join(self._value)) if self._value else ""
        if text:
            self._draft.write(f"{text}\t")
        if self._formula and (url := hyperlink_formula("".join(self._formula))):
            self._draft.link(url, text)
        elif len(text) < 200 and len(self._cell_texts) < self._draft.budget.limits.links:  # noqa: PLR2004 (an anchor's length)
            self._cell_texts[self._place] = text

    def _shown(self, value: str) -> str:
        match self._kind:
            case "s":
                index = int(value) if value.strip().isdecimal() else -1
                return self._strings[index] if 0 <= index < len(self._strings) else ""
            case "b":
                return "FALSE" if value.strip() in {"0", "false"} else "TRUE"
            case "n" | "":
                return shown_cell(value, self._codes, self._style, from_1904=self._from_1904)
            case _:
                return value

    def _hyperlink(self, attributes: Mapping[str, str]) -> None:
        url = self._office.url(self._part, attributes.get("r:id", ""), attributes.get("location", ""))
        anchor = attributes.get("display") or self._cell_texts.get(
            attributes.get("ref", "").partition(":")[0], ""
        )
        self._draft.link(url, anchor or attributes.get("tooltip", ""))

    def _open_header(self, _attributes: Mapping[str, str]) -> None:
        self._value = []
        self._into = self._value

    def _close_header(self) -> None:
        self._into = None
        self.footers.append(header_text("".join(self._value)))


def shown_cell(value: str, codes: list[str], style: int, *, from_1904: bool) -> str:
    """Return a number as its cell shows it, followed by its ISO form when it is a date."""
    try:
        number = float(value)
    except ValueError:
        return value
    code = codes[style] if style < len(codes) else "General"
    text = shown(number, code, from_1904=from_1904)
    if is_date(code) and (iso := iso_date(number, from_1904=from_1904)) and iso != text:
        return f"{text} {iso}"
    return text


class CommentReader(XmlReader):
    """Cell comments, old (``comment``/``text``) and threaded (``threadedComment``/``text``)."""

    skipped = frozenset({"mentions"})

    def __init__(self, office: Office) -> None:
        super().__init__()
        self._draft = office.draft
        self._authors: list[str] = []
        self._author: list[str] | None = None
        self._depth = 0
        self.starts = {"author": self._open_author, "comment": self._comment, "text": self._open}
        self.ends = {"author": self._close_author, "text": self._close}

    def text(self, data: str) -> None:
        """Take the comments' text and the authors' names."""
        if self._author is not None:
            self._author.append(data)
        elif self._depth:
            self._draft.write(data)

    def _open_author(self, _attributes: Mapping[str, str]) -> None:
        self._author = []

    def _close_author(self) -> None:
        self._authors.append("".join(self._author or []))
        self._author = None

    def _comment(self, attributes: Mapping[str, str]) -> None:
        number = attributes.get("authorId", "")
        if number.isdecimal() and int(number) < len(self._authors):
            self._draft.write(f"{self._authors[int(number)]}: ")

    def _open(self, _attributes: Mapping[str, str]) -> None:
        self._depth += 1

    def _close(self) -> None:
        self._depth -= 1
        self._draft.end_block()


def read_document(office: Office, main: str) -> None:
    """Read the workbook whose main part is *main* into the office's draft.

    Raises:
        ExtractError: ``refused`` for a document type declaration.
        LimitReachedError: a limit of the draft's budget.
    """
    draft = office.draft
    book = _Workbook()
    office.parse(main, book)
    strings = SharedText(4 * draft.budget.limits.text_bytes)
    for part in office.targets(main, "sharedstrings"):
        office.parse(part, strings)
    if strings.full:
        draft.flag("cut")
    styles = _Styles()
    for part in office.targets(main, "styles"):
        office.parse(part, styles)
    codes = styles.codes()
    relationships = office.relationships(main)
    named = [(name, relationships[rid].target) for name, rid in book.sheets if rid in relationships]
    known = {part for _, part in named}
    named += [
        ("", part)
        for part in office.names_under("xl/worksheets")
        if part not in known and part.endswith(".xml")
    ]
    for name, part in named:
        sheet = _Sheet(office, part, strings.strings, codes, from_1904=book.from_1904)
        if not office.seen(part):
            draft.block(name, level=2)
            office.parse(part, sheet, again=True)
            draft.end_block()
            for words in sheet.footers:
                draft.block(words)
            read_sheet_parts(office, part)


def read_sheet_parts(office: Office, part: str) -> None:
    """Read comments and drawings of the sheet in *part*."""
    for comments in office.targets(part, "comments", "threadedcomment"):
        office.parse(comments, CommentReader(office))
        office.draft.end_block()
    read_drawings(office, part)
