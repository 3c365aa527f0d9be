"""xlsb: the workbook of Office Open XML with binary parts ([MS-XLSB]); the same order and look as ``spreadsheet``."""

import struct
from collections.abc import Callable, Iterator

from ingather.extract.documents.drawing import read_drawings
from ingather.extract.documents.limits import LimitReachedError
from ingather.extract.documents.numberformat import BUILT_IN
from ingather.extract.documents.ooxml import Office
from ingather.extract.documents.spreadsheet import header_text, shown_cell

__all__ = ["read_document", "rk_number"]

# Record types, [MS-XLSB] 2.3.2
_CELL_RK, _CELL_BOOL, _CELL_REAL, _CELL_ST, _CELL_ISST = 2, 4, 5, 6, 7
_FMLA_STRING, _FMLA_NUM, _FMLA_BOOL = 8, 9, 10
_SHORT_RK, _SHORT_BOOL, _SHORT_REAL, _SHORT_ST, _SHORT_ISST = 13, 15, 16, 17, 18
_ROW, _SST_ITEM, _FMT, _XF, _CELL_RSTRING = 0, 19, 44, 47, 62
_WORKBOOK_PROPERTIES, _SHEET, _HEADER_FOOTER, _HYPERLINK = 153, 156, 479, 494
_BEGIN_CELL_XFS, _END_CELL_XFS = 617, 618
_COMMENT_AUTHOR, _BEGIN_COMMENT, _COMMENT_TEXT = 632, 635, 637

_CELL_HEADER, _SHORT_HEADER = 8, 4
_MOST_STRINGS = 2_000_000
_NULL = 0xFFFFFFFF


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (type, content) of each record; a broken end ends it."""
    position, size = 0, len(data)
    while position < size:
        kind = data[position]
        position += 1
        if kind & 0x80 and position < size:
            kind = (kind & 0x7F) | (data[position] & 0x7F) << 7
            position += 1
        length = shift = 0
        for _ in range(4):
            if position >= size:
                return
            byte = data[position]
            position += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        yield kind, data[position : position + length]
        position += length


def _wide(data: bytes, position: int) -> tuple[str, int]:
    """Return the string at *position* and where it ends; a null string is empty."""
    (count,) = struct.unpack_from("<I", data, position)
    if count == _NULL:
        return "", position + 4
    end = position + 4 + 2 * count
    return data[position + 4 : end].decode("utf-16-le", "replace"), end


def _rich(data: bytes, position: int = 0) -> str:
    """Return a rich string's text, followed by its phonetic guide."""
    flags = data[position]
    text, end = _wide(data, position + 1)
    if flags & 2:
        if flags & 1:
            (runs,) = struct.unpack_from("<I", data, end)
            end += 4 + 4 * runs
        phonetic, _ = _wide(data, end)
        return f"{text} {phonetic}"
    return text


def rk_number(packed: int) -> float:
    """Return the number that an RK value packs into 30 bits ([MS-XLS] 2.5.217)."""
    if packed & 2:
        value = float((packed >> 2) - (1 << 30 if packed & 0x80000000 else 0))
    else:
        (value,) = struct.unpack("<d", struct.pack("<Q", (packed & 0xFFFFFFFC) << 32))
    return value / 100 if packed & 1 else value


class _Book:
    """The workbook part, the shared strings and the styles."""

    def __init__(self, office: Office, main: str) -> None:
        self.sheets: list[tuple[str, str]] = []
        self.from_1904 = False
        self.strings: list[str] = []
        self.codes: list[str] = []
        for kind, data in _part(office, main):
            if kind == _SHEET:
                relation, end = _wide(data, 8)
                self.sheets.append((_wide(data, end)[0], relation))
            elif kind == _WORKBOOK_PROPERTIES:
                self.from_1904 = bool(data[0] & 1)
        for part in office.targets(main, "sharedstrings"):
            self._read_strings(office, part)
        for part in office.targets(main, "styles"):
            self._read_styles(office, part)

    def _read_strings(self, office: Office, part: str) -> None:
        left = 4 * office.draft.budget.limits.text_bytes
        for kind, data in _part(office, part):
            if kind == _SST_ITEM:
                text = _rich(data)
                left -= len(text) + 1
                if left < 0 or len(self.strings) >= _MOST_STRINGS:
                    office.draft.flag("cut")
                    return
                self.strings.append(text)

    def _read_styles(self, office: Office, part: str) -> None:
        codes = dict(BUILT_IN)
        in_cells = False
        for kind, data in _part(office, part):
            if kind == _FMT:
                codes[struct.unpack_from("<H", data)[0]] = _wide(data, 2)[0]
            elif kind in {_BEGIN_CELL_XFS, _END_CELL_XFS}:
                in_cells = kind == _BEGIN_CELL_XFS
            elif kind == _XF and in_cells:
                self.codes.append(codes.get(struct.unpack_from("<H", data, 2)[0], "General"))


def _part(office: Office, part: str) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a part; what does not parse is left out and flags the document ``partial``."""
    if not office.seen(part):
        yield from _records(office.data(part) or b"")


class _Sheet:
    """One sheet: a row is a block, cells apart by tabs."""

    def __init__(self, office: Office, part: str, book: _Book) -> None:
        self._office = office
        self._part = part
        self._draft = office.draft
        self._book = book
        self._footers: list[str] = []
        self._cells: dict[int, Callable[[bytes, int], str]] = {
            _CELL_RK: self._rk,
            _SHORT_RK: self._rk,
            _CELL_REAL: self._real,
            _SHORT_REAL: self._real,
            _FMLA_NUM: self._real,
            _CELL_BOOL: self._bool,
            _SHORT_BOOL: self._bool,
            _FMLA_BOOL: self._bool,
            _CELL_ST: self._string,
            _SHORT_ST: self._string,
            _FMLA_STRING: self._string,
            _CELL_ISST: self._shared,
            _SHORT_ISST: self._shared,
            _CELL_RSTRING: self._rich_string,
        }

    def read(self) -> None:
        for kind, data in _part(self._office, self._part):
            try:
                self._record(kind, data)
            except (struct.error, IndexError):
                self._draft.flag("partial")
        self._draft.end_block()
        for words in self._footers:
            self._draft.block(words)

    def _record(self, kind: int, data: bytes) -> None:
        if kind == _ROW:
            self._draft.end_block()
        elif reader := self._cells.get(kind):
            short = _SHORT_RK <= kind <= _SHORT_ISST
            if text := reader(data, _SHORT_HEADER if short else _CELL_HEADER):
                self._draft.write(f"{text}\t")
        elif kind == _HYPERLINK:
            self._hyperlink(data)
        elif kind == _HEADER_FOOTER:
            end = 2
            for _ in range(6):
                code, end = _wide(data, end)
                self._footers.append(header_text(code))

    def _number(self, value: float, data: bytes, start: int) -> str:
        style = int.from_bytes(data[start - 4 : start - 1], "little")
        return shown_cell(repr(value), self._book.codes, style, from_1904=self._book.from_1904)

    def _rk(self, data: bytes, start: int) -> str:
        return self._number(rk_number(struct.unpack_from("<I", data, start)[0]), data, start)

    def _real(self, data: bytes, start: int) -> str:
        return self._number(struct.unpack_from("<d", data, start)[0], data, start)

    @staticmethod
    def _bool(data: bytes, start: int) -> str:
        return "TRUE" if data[start] else "FALSE"

    @staticmethod
    def _string(data: bytes, start: int) -> str:
        return _wide(data, start)[0]

    @staticmethod
    def _rich_string(data: bytes, start: int) -> str:
        return _rich(data, start)

    def _shared(self, data: bytes, start: int) -> str:
        (index,) = struct.unpack_from("<I", data, start)
        return self._book.strings[index] if index < len(self._book.strings) else ""

    def _hyperlink(self, data: bytes) -> None:
        relation, end = _wide(data, 16)
        place, end = _wide(data, end)
        tooltip, end = _wide(data, end)
        display, _ = _wide(data, end)
        self._draft.link(self._office.url(self._part, relation, place), display or tooltip)


def _read_comments(office: Office, part: str) -> None:
    authors: list[str] = []
    author = ""
    for kind, data in _part(office, part):
        if kind == _COMMENT_AUTHOR:
            authors.append(_wide(data, 0)[0])
        elif kind == _BEGIN_COMMENT:
            (number,) = struct.unpack_from("<I", data)
            author = authors[number] if number < len(authors) else ""
        elif kind == _COMMENT_TEXT:
            office.draft.block(f"{author}: {_rich(data)}" if author else _rich(data))


def read_document(office: Office, main: str) -> None:
    """Read the workbook whose main part is *main* into the office's draft.

    Raises:
        ExtractError: ``refused`` for a document type declaration in a part that is XML.
        LimitReachedError: a limit of the draft's budget.
    """
    try:
        book = _Book(office, main)
    except (struct.error, IndexError):
        office.draft.flag("partial")
        return
    relationships = office.relationships(main)
    for count, (name, identity) in enumerate(book.sheets):
        if count >= office.draft.budget.limits.members:
            raise LimitReachedError("members")
        if identity not in relationships:
            continue
        part = relationships[identity].target
        office.draft.block(name, level=2)
        _Sheet(office, part, book).read()
        for comments in office.targets(part, "comments"):
            try:
                _read_comments(office, comments)
            except (struct.error, IndexError):
                office.draft.flag("partial")
        read_drawings(office, part)
