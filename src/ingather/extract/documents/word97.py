"""Word 97 to 2003 ([MS-DOC]): the piece table gives the text of all stories, deleted runs are left out.

Stories follow one another in the text: body, footnotes, headers, comments, endnotes, text
boxes. Field marks in the text carry hyperlinks.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterator

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.wordprocessing import equation_of, hyperlink_of

__all__ = ["read_streams"]

_WORD97, _WORD6 = 0xA5EC, 0xA5DC
_ENCRYPTED, _OTHER_TABLE, _COMPLEX = 0x0100, 0x0200, 0x0004
_FIRST_97 = 0x00C1
_PIECE_IS_BYTES = 0x40000000
_DELETED = 0x0800
_PAGE = 512
_MOST_PIECES = 500_000
_OPERAND_SIZES = (1, 1, 2, 4, 2, 2, -1, 3)
_LONG_SPRMS = frozenset({0xD608, 0xC615})  # table definition and tab stops: sizes of their own making

_PLAIN = {
    "\x07": "\t",
    "\x0b": "\n",
    "\x0c": "\n",
    "\x0e": "\n",
    "\x1e": "-",
    "\x1f": "",
    "\x01": "",
    "\x02": "",
    "\x05": "",
    "\x08": "",
}
_TRANSLATION = str.maketrans(_PLAIN)


def read_streams(main: bytes, tables: dict[str, bytes], draft: Draft) -> bool:
    """Read the streams of a Word document into *draft*; ``False`` for versions that are not read here.

    Args:
        main: the stream ``WordDocument``.
        tables: the streams ``0Table`` and ``1Table``, as far as there are.
        draft: what is written into.

    Raises:
        ExtractError: ``encrypted``, ``damaged``.
        LimitReachedError: a limit of the draft's budget.
    """
    try:
        identity, version, flags = (struct.unpack_from("<H", main, at)[0] for at in (0, 2, 10))
        if flags & _ENCRYPTED:
            raise ExtractError("the document needs a password", reason="encrypted")
        if identity == _WORD6 or version < _FIRST_97:
            return _read_word6(main, flags, draft)
        table = tables.get("1Table" if flags & _OTHER_TABLE else "0Table", b"")
        pieces = list(_pieces(main, table))
        deleted = _deleted_runs(main, table)
    except struct.error as error:
        raise ExtractError("the document's tables are broken", reason="damaged") from error
    _Story(draft).read("".join(_texts(main, pieces, deleted)))
    return True


def _read_word6(main: bytes, flags: int, draft: Draft) -> bool:
    """Word 6 and 95 keep the text in one run of bytes, unless it was saved fast."""
    if flags & _COMPLEX:
        return False
    first, last = struct.unpack_from("<II", main, 0x18)
    text = main[first:last].decode("cp1252", "replace")
    if not text.strip():
        return False
    _Story(draft).read(text)
    return True


# --- text ---------------------------------------------------------------------------------------


def _pieces(main: bytes, table: bytes) -> Iterator[tuple[int, int, bool]]:
    """Yield (offset in *main*, characters, whether a character is one byte) in order of the text."""
    start, size = struct.unpack_from("<II", main, 0x01A2)
    clx = table[start : start + size]
    position = 0
    while position < len(clx) and clx[position] == 1:  # property lists of fast saves
        position += 3 + int(struct.unpack_from("<H", clx, position + 1)[0])
    if position >= len(clx) or clx[position] != 2:  # noqa: PLR2004 (the mark of the piece table)
        raise ExtractError("the document has no piece table", reason="damaged")
    (length,) = struct.unpack_from("<I", clx, position + 1)
    plc = clx[position + 5 : position + 5 + length]
    count = min((len(plc) - 4) // 12, _MOST_PIECES)
    for index in range(count):
        begin, end = struct.unpack_from("<II", plc, 4 * index)
        (place,) = struct.unpack_from("<I", plc, 4 * (count + 1) + 8 * index + 2)
        if end <= begin:
            continue
        if place & _PIECE_IS_BYTES:
            yield (place & ~_PIECE_IS_BYTES) // 2, end - begin, True
        else:
            yield place, end - begin, False


def _texts(main: bytes, pieces: list[tuple[int, int, bool]], deleted: list[tuple[int, int]]) -> Iterator[str]:
    starts = [begin for begin, _ in deleted]
    left = len(main)
    for offset, characters, is_bytes in pieces:
        end = min(offset + (characters if is_bytes else 2 * characters), len(main))
        left -= max(end - offset, 0)
        if left < -len(main):
            return  # pieces that overlap over and over
        encoding = "cp1252" if is_bytes else "utf-16-le"
        position = offset
        for begin, stop in deleted[max(bisect_right(starts, offset) - 1, 0) :]:
            if begin >= end:
                break
            if stop > position:
                yield main[position : max(begin, position)].decode(encoding, "replace")
                position = stop
        if position < end:
            yield main[position:end].decode(encoding, "replace")


def _deleted_runs(main: bytes, table: bytes) -> list[tuple[int, int]]:
    """Return the byte ranges of *main* whose characters are marked as deleted, in order."""
    start, size = struct.unpack_from("<II", main, 0x00FA)
    plc = table[start : start + size]
    count = max((len(plc) - 4) // 8, 0)
    runs: list[tuple[int, int]] = []
    for index in range(min(count, _MOST_PIECES)):
        (page,) = struct.unpack_from("<I", plc, 4 * (count + 1) + 4 * index)
        runs += _deleted_in_page(main[(page & 0x3FFFFF) * _PAGE : ((page & 0x3FFFFF) + 1) * _PAGE])
    return sorted(runs)


def _deleted_in_page(page: bytes) -> Iterator[tuple[int, int]]:
    if len(page) < _PAGE:
        return
    count = page[-1]
    if 4 * (count + 1) + count > _PAGE:
        return
    for index in range(count):
        place = 2 * page[4 * (count + 1) + index]
        if place and place < _PAGE - 1:
            properties = page[place + 1 : place + 1 + page[place]]
            if _is_deleted(properties):
                begin, end = struct.unpack_from("<II", page, 4 * index)
                yield begin, end


def _is_deleted(properties: bytes) -> bool:
    position = 0
    while position + 3 <= len(properties):
        (code,) = struct.unpack_from("<H", properties, position)
        if code == _DELETED:
            return properties[position + 2] in {1, 0x81}
        size = _OPERAND_SIZES[code >> 13]
        if size < 0:
            if code in _LONG_SPRMS:
                return False
            size = 1 + properties[position + 2]
        position += 2 + size
    return False


# --- fields and paragraphs ------------------------------------------------------------------------


class _Story:
    """Writes the text: paragraphs, rows, fields."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._fields: list[list[str]] = []
        self._shown: list[bool] = []

    def read(self, text: str) -> None:
        # A row ends with the mark of its last cell and one more.
        for paragraph in text.replace("\x07\x07", "\x07\r").split("\r"):
            self._paragraph(paragraph)
            if not self._instructing:
                self._draft.end_block()
        self._draft.drop_anchors()

    @property
    def _instructing(self) -> bool:
        return bool(self._fields) and not self._shown[-1]

    def _paragraph(self, text: str) -> None:
        start = 0
        for position, mark in enumerate(text):
            if "\x13" <= mark <= "\x15":
                self._words(text[start:position])
                start = position + 1
                self._mark(mark)
        self._words(text[start:])

    def _words(self, text: str) -> None:
        if not text:
            return
        if self._instructing:
            self._fields[-1].append(text)
        else:
            self._draft.write(text.translate(_TRANSLATION))

    def _mark(self, mark: str) -> None:
        if mark == "\x13":
            self._fields.append([])
            self._shown.append(False)
            return
        if not self._fields:
            return
        if mark == "\x14":
            if not self._shown[-1]:
                self._shown[-1] = True
                self._draft.open_anchor()
            return
        instruction = "".join(self._fields.pop())
        url = hyperlink_of(instruction)
        if self._shown.pop():
            self._draft.close_anchor(url)
        else:
            self._draft.link(url)
            self._words(equation_of(instruction))
