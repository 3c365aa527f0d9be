"""Excel 5 to 2003 ([MS-XLS], BIFF5 and BIFF8): the same order and look as ``spreadsheet``.

Text boxes and comments stand after the rows of their sheet. Strings may be broken over
records anywhere, with a new flag where they go on.
"""

import struct
from collections.abc import Callable, Iterator
from itertools import islice

from ingather.extract.documents.draft import Draft
from ingather.extract.documents.numberformat import BUILT_IN
from ingather.extract.documents.spreadsheet import header_text, shown_cell
from ingather.extract.documents.summary import codepage_name
from ingather.extract.documents.xlsb import rk_number

__all__ = ["read_stream"]

_BOF, _CONTINUE, _FILEPASS, _CODEPAGE, _DATEMODE = 0x0809, 0x003C, 0x002F, 0x0042, 0x0022
_SHEET, _SST, _FORMAT, _FORMAT5, _XF = 0x0085, 0x00FC, 0x041E, 0x001E, 0x00E0
_NUMBER, _RK, _MULRK, _LABEL, _RSTRING, _LABELSST = 0x0203, 0x027E, 0x00BD, 0x0204, 0x00D6, 0x00FD
_FORMULA, _FORMULA_STRING, _BOOLERR = 0x0006, 0x0207, 0x0205
_HLINK, _HEADER, _FOOTER, _TXO = 0x01B8, 0x0014, 0x0015, 0x01B6
_BEFORE_FILEPASS = 20
_BIFF8 = 0x0600
_LONGEST_FLOAT_TYPE = 0xFFFF
_MOST_STRINGS = 2_000_000
_URL_MONIKER = bytes.fromhex("e0c9ea79f9bace118c8200aa004ba90b")
_FILE_MONIKER = bytes.fromhex("0303000000000000c000000000000046")


def _records(data: bytes) -> Iterator[tuple[int, int, list[bytes]]]:
    """Yield (offset, type, content and its continuations) of each record."""
    position, size = 0, len(data)
    while position + 4 <= size:
        offset = position
        kind, length = struct.unpack_from("<HH", data, position)
        chunks = [data[position + 4 : position + 4 + length]]
        position += 4 + length
        while position + 4 <= size:
            following, length = struct.unpack_from("<HH", data, position)
            if following != _CONTINUE:
                break
            chunks.append(data[position + 4 : position + 4 + length])
            position += 4 + length
        yield offset, kind, chunks


class _Strings:
    """Reads BIFF8 strings that may go on in the next record."""

    def __init__(self, chunks: list[bytes], position: int) -> None:
        self._chunks = chunks
        self._index = 0
        self._position = position

    def _take(self, size: int) -> bytes:
        taken = b""
        while len(taken) < size and not self.ended:
            chunk = self._chunks[self._index]
            if self._position >= len(chunk):
                self._index, self._position = self._index + 1, 0
                continue
            piece = chunk[self._position : self._position + size - len(taken)]
            taken += piece
            self._position += len(piece)
        return taken

    @property
    def ended(self) -> bool:
        """Whether nothing is left."""
        last = len(self._chunks) - 1
        return self._index > last or (self._index == last and self._position >= len(self._chunks[last]))

    def next(self) -> str:
        """Return the next string with its phonetic guide.

        Raises:
            struct.error: the records end too early.
        """
        count, flags = struct.unpack("<HB", self._take(3))
        runs = struct.unpack("<H", self._take(2))[0] if flags & 8 else 0
        extra = struct.unpack("<I", self._take(4))[0] if flags & 4 else 0
        text = self._characters(count, wide=bool(flags & 1))
        self._take(4 * runs)
        phonetic = _phonetic(self._take(min(extra, 1 << 20))) if extra else ""
        return f"{text} {phonetic}" if phonetic else text

    def _characters(self, count: int, *, wide: bool) -> str:
        words = []
        while count > 0 and not self.ended:
            chunk = self._chunks[self._index]
            width = 2 if wide else 1
            fits = min(count, (len(chunk) - self._position) // width)
            if not fits:
                # Characters that go on in the next record are preceded by a flag of their own.
                self._index, self._position = self._index + 1, 1
                wide = self._index < len(self._chunks) and self._chunks[self._index][:1] == b"\x01"
                continue
            piece = chunk[self._position : self._position + fits * width]
            words.append(piece.decode("utf-16-le" if wide else "latin-1", "replace"))
            self._position += fits * width
            count -= fits
        return "".join(words)


def _phonetic(extra: bytes) -> str:
    """Return the phonetic text of ``ExtRst`` ([MS-XLS] 2.5.86)."""
    if len(extra) < 14:  # noqa: PLR2004 (up to the text's length)
        return ""
    (count,) = struct.unpack_from("<H", extra, 12)
    return extra[14 : 14 + 2 * count].decode("utf-16-le", "replace")


class _Workbook:
    """The state of reading: strings, formats, the sheet and row at hand."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._biff8 = True
        self._codepage = "cp1252"
        self._from_1904 = False
        self._strings: list[str] = []
        self._formats: dict[int, str] = dict(BUILT_IN)
        self._styles: list[int] = []
        self._codes: list[str] = []
        self._names: dict[int, str] = {}
        self._row = -1
        self._awaited = False
        self._after: list[str] = []
        self._links: list[tuple[int, int, str, str]] = []
        self._cells: dict[tuple[int, int], str] = {}
        self._handlers: dict[int, Callable[[list[bytes]], None]] = {
            _CODEPAGE: self._use_codepage,
            _DATEMODE: self._date_mode,
            _SHEET: self._sheet,
            _SST: self._shared,
            _FORMAT: self._format,
            _FORMAT5: self._format,
            _XF: self._style,
            _NUMBER: self._number,
            _RK: self._rk,
            _MULRK: self._many_rk,
            _LABEL: self._label,
            _RSTRING: self._label,
            _LABELSST: self._shared_label,
            _FORMULA: self._formula,
            _FORMULA_STRING: self._formula_string,
            _BOOLERR: self._bool,
            _HLINK: self._hyperlink,
            _HEADER: self._header,
            _FOOTER: self._header,
            _TXO: self._box,
        }

    def read(self, stream: bytes) -> None:
        depth = 0
        for offset, kind, chunks in _records(stream):
            if kind == _BOF and len(chunks[0]) >= 4:  # noqa: PLR2004 (version and type)
                self._biff8 = struct.unpack_from("<H", chunks[0])[0] == _BIFF8
                depth += 1
                if offset in self._names or depth > 1:
                    self._end_sheet()
                    self._draft.budget.take_member()
                    self._draft.block(self._names.get(offset, ""), level=2)
            elif handler := self._handlers.get(kind):
                try:
                    handler(chunks)
                except (struct.error, IndexError):
                    self._draft.flag("partial")
        self._end_sheet()

    def _end_sheet(self) -> None:
        self._draft.end_block()
        self._row = -1
        for words in self._after:
            self._draft.block(words)
        for row, column, url, shown in self._links:
            self._draft.link(url, shown or self._cells.get((row, column), ""))
        self._after, self._links, self._cells = [], [], {}

    # --- globals ------------------------------------------------------------------------------------

    def _use_codepage(self, chunks: list[bytes]) -> None:
        number = struct.unpack_from("<H", chunks[0])[0]
        self._codepage = "mac_roman" if number == 0x8000 else codepage_name(number)  # noqa: PLR2004

    def _date_mode(self, chunks: list[bytes]) -> None:
        self._from_1904 = struct.unpack_from("<H", chunks[0])[0] == 1

    def _sheet(self, chunks: list[bytes]) -> None:
        (place,) = struct.unpack_from("<I", chunks[0])
        self._names[place] = self._short_string(chunks[0], 6)

    def _shared(self, chunks: list[bytes]) -> None:
        strings = _Strings(chunks, 8)
        left = 4 * self._draft.budget.limits.text_bytes
        (count,) = struct.unpack_from("<I", chunks[0], 4)
        while len(self._strings) < count and not strings.ended:
            text = strings.next()
            left -= len(text) + 1
            if left < 0 or len(self._strings) >= _MOST_STRINGS:
                self._draft.flag("cut")
                return
            self._strings.append(text)

    def _format(self, chunks: list[bytes]) -> None:
        (number,) = struct.unpack_from("<H", chunks[0])
        self._formats[number] = (
            self._long_string(chunks, 2) if self._biff8 else self._short_string(chunks[0], 2)
        )

    def _style(self, chunks: list[bytes]) -> None:
        self._styles.append(struct.unpack_from("<H", chunks[0], 2)[0])
        self._codes = []

    def _short_string(self, data: bytes, position: int) -> str:
        count = data[position]
        if not self._biff8:
            return data[position + 1 : position + 1 + count].decode(self._codepage, "replace")
        wide = data[position + 1] & 1
        start = position + 2
        raw = data[start : start + count * (2 if wide else 1)]
        return raw.decode("utf-16-le" if wide else "latin-1", "replace")

    def _long_string(self, chunks: list[bytes], position: int) -> str:
        if self._biff8:
            return _Strings(chunks, position).next()
        (count,) = struct.unpack_from("<H", chunks[0], position)
        return chunks[0][position + 2 : position + 2 + count].decode(self._codepage, "replace")

    # --- cells --------------------------------------------------------------------------------------

    def _cell(self, row: int, column: int, text: str) -> None:
        if row != self._row:
            self._draft.end_block()
            self._row = row
        if text:
            if len(self._cells) < self._draft.budget.limits.links:
                self._cells[row, column] = text[:200]
            self._draft.write(f"{text}\t")

    def _shown(self, value: float, style: int) -> str:
        if not self._codes:
            self._codes = [self._formats.get(number, "General") for number in self._styles]
        return shown_cell(repr(value), self._codes, style, from_1904=self._from_1904)

    def _number(self, chunks: list[bytes]) -> None:
        row, column, style, value = struct.unpack_from("<HHHd", chunks[0])
        self._cell(row, column, self._shown(value, style))

    def _rk(self, chunks: list[bytes]) -> None:
        row, column, style, packed = struct.unpack_from("<HHHI", chunks[0])
        self._cell(row, column, self._shown(rk_number(packed), style))

    def _many_rk(self, chunks: list[bytes]) -> None:
        row, column = struct.unpack_from("<HH", chunks[0])
        for index in range((len(chunks[0]) - 6) // 6):
            style, packed = struct.unpack_from("<HI", chunks[0], 4 + 6 * index)
            self._cell(row, column + index, self._shown(rk_number(packed), style))

    def _label(self, chunks: list[bytes]) -> None:
        row, column = struct.unpack_from("<HH", chunks[0])
        self._cell(row, column, self._long_string(chunks, 6))

    def _shared_label(self, chunks: list[bytes]) -> None:
        row, column, _, index = struct.unpack_from("<HHHI", chunks[0])
        self._cell(row, column, self._strings[index] if index < len(self._strings) else "")

    def _formula(self, chunks: list[bytes]) -> None:
        row, column, style = struct.unpack_from("<HHH", chunks[0])
        (mark,) = struct.unpack_from("<H", chunks[0], 12)
        if mark != _LONGEST_FLOAT_TYPE:
            self._cell(row, column, self._shown(struct.unpack_from("<d", chunks[0], 6)[0], style))
            return
        self._cell(row, column, "")
        kind = chunks[0][6]
        self._awaited = kind == 0
        if kind == 1:
            self._cell(row, column, "TRUE" if chunks[0][8] else "FALSE")

    def _formula_string(self, chunks: list[bytes]) -> None:
        if self._awaited:
            self._awaited = False
            self._draft.write(self._long_string(chunks, 0))
            self._draft.write("\t")

    def _bool(self, chunks: list[bytes]) -> None:
        row, column = struct.unpack_from("<HH", chunks[0])
        if not chunks[0][7]:
            self._cell(row, column, "TRUE" if chunks[0][6] else "FALSE")

    # --- around the cells -----------------------------------------------------------------------------

    def _header(self, chunks: list[bytes]) -> None:
        if chunks[0]:
            code = self._long_string(chunks, 0) if self._biff8 else self._short_string(chunks[0], 0)
            self._after.append(header_text(code))

    def _box(self, chunks: list[bytes]) -> None:
        """A text box's or comment's text is in the record that continues it."""
        (count,) = struct.unpack_from("<H", chunks[0], 10)
        if self._biff8 and count and len(chunks) > 1:
            words = []
            for chunk in chunks[1:]:
                if count <= 0:
                    break
                wide = chunk[0] & 1
                raw = chunk[1 : 1 + count * (2 if wide else 1)]
                words.append(raw.decode("utf-16-le" if wide else "latin-1", "replace"))
                count -= len(words[-1])
            self._after.append("".join(words))

    def _hyperlink(self, chunks: list[bytes]) -> None:
        data = b"".join(chunks)
        row, _, column, _ = struct.unpack_from("<HHHH", data)
        (flags,) = struct.unpack_from("<I", data, 28)
        position = 32
        shown = url = place = ""
        if flags & 0x10:
            shown, position = _counted(data, position)
        if flags & 0x80:
            _, position = _counted(data, position)
        if flags & 0x1:
            url, position = _counted(data, position) if flags & 0x100 else _moniker(data, position)
        if flags & 0x8:
            place, position = _counted(data, position)
        if url and place and "#" not in url:
            url = f"{url}#{place}"
        if url:
            self._links.append((row, column, url, shown))


def _counted(data: bytes, position: int) -> tuple[str, int]:
    (count,) = struct.unpack_from("<I", data, position)
    end = position + 4 + 2 * count
    return data[position + 4 : end].decode("utf-16-le", "replace").rstrip("\x00"), end


def _moniker(data: bytes, position: int) -> tuple[str, int]:
    """Return the address of a URL or file moniker ([MS-OSHARED] 2.3.7) and where it ends."""
    kind, position = data[position : position + 16], position + 16
    if kind == _URL_MONIKER:
        (size,) = struct.unpack_from("<I", data, position)
        text = data[position + 4 : position + 4 + size].decode("utf-16-le", "replace")
        return text.partition("\x00")[0], position + 4 + size
    if kind == _FILE_MONIKER:
        up, size = struct.unpack_from("<HI", data, position)
        path = data[position + 6 : position + 6 + size].decode("cp1252", "replace").rstrip("\x00")
        end = position + 6 + size + 24
        (more,) = struct.unpack_from("<I", data, end)
        return "../" * min(up, 20) + path.replace("\\", "/"), end + 4 + more
    return "", position


def read_stream(stream: bytes, draft: Draft) -> None:
    """Read the stream ``Workbook`` (or ``Book``) into *draft*.

    Raises:
        ExtractError: ``encrypted`` by another password than Excel's own.
        LimitReachedError: a limit of the draft's budget.
    """
    for _, kind, chunks in islice(_records(stream), _BEFORE_FILEPASS):
        if kind == _FILEPASS:
            from ingather.extract.documents.wellknown import opened_workbook

            stream = opened_workbook(stream, chunks[0])
            draft.flag("encrypted")
            break
    _Workbook(draft).read(stream)
