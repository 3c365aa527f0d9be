"""PowerPoint 97 to 2003 ([MS-PPT]): the persist directory says which slides are current; then text, notes, links.

Text of placeholders stands in the document's outline, text of other shapes in the slide.
Masters give what stands outside of their placeholders.
"""

import struct
import zlib
from collections.abc import Iterator

from ingather.errors import ExtractError
from ingather.extract.documents.diagram import read_diagram
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.limits import LimitReachedError

__all__ = ["read_streams"]

_ENCRYPTED_USER = 0xF3D1C4DF
_USER_EDIT, _PERSIST_DIRECTORY = 0x0FF5, 0x1772
_LIST, _SLIDE_PERSIST = 0x0FF0, 0x03F3
_CHARS, _BYTES, _STRING = 0x0FA0, 0x0FA8, 0x0FBA
_SHAPE, _CLIENT_DATA, _PLACEHOLDER = 0xF004, 0xF011, 0x0BC3
_OPTIONS = frozenset({0xF00B, 0xF121, 0xF122})
_HYPERLINK, _HEADERS, _COMMENT, _OLE_STORAGE = 0x0FD7, 0x0FD9, 0x2EE0, 0x1011
_TEXT_TYPE = 0x0F9F
_CONTAINER = 0xF
_SLIDES, _MASTERS, _NOTES = 0, 1, 2
_TITLES = frozenset({0, 6})
_DESCRIPTION, _WORD_ART, _MODERN = 0x0381, 0x00C0, 0x03A9
_DEEPEST = 40
_MOST_EDITS = 1_000


class _Record:
    """One record: its kind, instance, and where its content lies."""

    __slots__ = ("data", "instance", "kind", "version")

    def __init__(self, version: int, instance: int, kind: int, data: bytes) -> None:
        self.version = version
        self.instance = instance
        self.kind = kind
        self.data = data


def _records(data: bytes) -> Iterator[_Record]:
    position = 0
    while position + 8 <= len(data):
        head, kind, size = struct.unpack_from("<HHI", data, position)
        content = data[position + 8 : position + 8 + size]
        yield _Record(head & 0xF, head >> 4, kind, content)
        position += 8 + size


def _record_at(data: bytes, offset: int) -> _Record | None:
    if not 0 <= offset <= len(data) - 8:
        return None
    head, kind, size = struct.unpack_from("<HHI", data, offset)
    return _Record(head & 0xF, head >> 4, kind, data[offset + 8 : offset + 8 + size])


def read_streams(document: bytes, current_user: bytes, draft: Draft) -> None:
    """Read the streams of a presentation into *draft*.

    Args:
        document: the stream ``PowerPoint Document``.
        current_user: the stream ``Current User``.
        draft: what is written into.

    Raises:
        ExtractError: ``encrypted``, ``damaged``.
        LimitReachedError: a limit of the draft's budget.
    """
    if len(current_user) >= 20:  # noqa: PLR2004 (up to the offset of the last edit)
        token, edit = struct.unpack_from("<II", current_user, 12)
        if token == _ENCRYPTED_USER:
            raise ExtractError("the presentation needs a password", reason="encrypted")
    else:
        edit = 0
    places, root = _persist_directory(document, edit)
    main = _record_at(document, places.get(root, -1))
    _Show(document, places, draft).read(main)


def _persist_directory(document: bytes, edit: int) -> tuple[dict[int, int], int]:
    """Return where each persistent object lies, newest first, and which one is the document."""
    places: dict[int, int] = {}
    root = 1
    seen: set[int] = set()
    while edit not in seen and len(seen) < _MOST_EDITS:
        seen.add(edit)
        record = _record_at(document, edit)
        if record is None or record.kind != _USER_EDIT or len(record.data) < 20:  # noqa: PLR2004
            break
        previous, directory, reference = struct.unpack_from("<III", record.data, 8)
        if len(seen) == 1:
            root = reference
        _read_directory(_record_at(document, directory), places)
        edit = previous
        if not edit:
            break
    return places, root


def _read_directory(record: _Record | None, places: dict[int, int]) -> None:
    if record is None or record.kind != _PERSIST_DIRECTORY:
        return
    position = 0
    while position + 4 <= len(record.data):
        (head,) = struct.unpack_from("<I", record.data, position)
        first, count = head & 0xFFFFF, head >> 20
        position += 4
        for index in range(min(count, (len(record.data) - position) // 4)):
            places.setdefault(first + index, struct.unpack_from("<I", record.data, position + 4 * index)[0])
        position += 4 * count


class _Show:
    """The presentation: its outline, slides, notes, masters."""

    def __init__(self, document: bytes, places: dict[int, int], draft: Draft) -> None:
        self._document = document
        self._places = places
        self._draft = draft
        self._read: set[int] = set()

    def read(self, main: _Record | None) -> None:
        if main is None:
            # Nothing says what is current: everything that is text is read in its order.
            self._walk(self._document, masters=False, depth=0)
            return
        lists = {record.instance: record for record in _records(main.data) if record.kind == _LIST}
        for instance in (_SLIDES, _NOTES, _MASTERS):
            if instance in lists:
                self._list(lists[instance], masters=instance == _MASTERS)
        for record in _records(main.data):
            if record.kind != _LIST:
                self._record(record, masters=True, depth=1)
        self._objects()

    def _list(self, outline: _Record, *, masters: bool) -> None:
        reference = None
        title = False
        for record in _records(outline.data):
            if record.kind == _SLIDE_PERSIST:
                self._slide(reference, masters=masters)
                reference = struct.unpack_from("<I", record.data)[0] if len(record.data) >= 4 else None  # noqa: PLR2004
            elif record.kind == _TEXT_TYPE and len(record.data) >= 4:  # noqa: PLR2004
                title = struct.unpack_from("<I", record.data)[0] in _TITLES
            elif record.kind in {_CHARS, _BYTES}:
                self._text(record, level=2 if title else 0)
        self._slide(reference, masters=masters)

    def _slide(self, reference: int | None, *, masters: bool) -> None:
        if reference is None:
            return
        self._draft.budget.take_member()
        place = self._places.get(reference, -1)
        record = _record_at(self._document, place)
        if record is not None and place not in self._read:
            self._read.add(place)
            self._walk(record.data, masters=masters, depth=1)

    def _walk(self, data: bytes, *, masters: bool, depth: int) -> None:
        if depth > _DEEPEST:
            raise LimitReachedError("nesting")
        for record in _records(data):
            self._record(record, masters=masters, depth=depth)

    def _record(self, record: _Record, *, masters: bool, depth: int) -> None:
        kind = record.kind
        if kind in {_CHARS, _BYTES}:
            self._text(record)
        elif kind == _HYPERLINK:
            self._hyperlink(record)
        elif kind == _COMMENT:
            self._strings(record, (0, 1))
        elif kind == _HEADERS:
            self._strings(record, (0, 1, 2))
        elif kind in _OPTIONS:
            self._options(record)
        elif kind == _SHAPE and masters and _is_placeholder(record):
            return
        elif record.version == _CONTAINER:
            self._walk(record.data, masters=masters, depth=depth + 1)

    # --- leaves -------------------------------------------------------------------------------------

    def _text(self, record: _Record, level: int = 0) -> None:
        text = record.data.decode("utf-16-le" if record.kind == _CHARS else "latin-1", "replace")
        for line in text.replace("\x0b", "\r").split("\r"):
            self._draft.block(line, level=level)

    def _hyperlink(self, record: _Record) -> None:
        strings = {inner.instance: _string(inner) for inner in _records(record.data) if inner.kind == _STRING}
        url, place = strings.get(1, ""), strings.get(3, "")
        if url and place and "#" not in url and not place.split(",")[0].isdecimal():
            url = f"{url}#{place}"
        self._draft.link(url, strings.get(0, ""))

    def _strings(self, record: _Record, instances: tuple[int, ...]) -> None:
        for inner in _records(record.data):
            if inner.kind == _STRING and inner.instance in instances:
                self._draft.block(_string(inner))

    def _options(self, record: _Record) -> None:
        """Alternative text, word art and diagrams among a shape's properties ([MS-ODRAW] 2.2.9, 2.3.2.27)."""
        position = 6 * record.instance
        for index in range(min(record.instance, len(record.data) // 6)):
            code, value = struct.unpack_from("<HI", record.data, 6 * index)
            if not code & 0x8000:
                continue
            if code & 0x3FFF in {_DESCRIPTION, _WORD_ART}:
                words = record.data[position : position + value].decode("utf-16-le", "replace").rstrip("\x00")
                self._draft.block(words)
            elif code & 0x3FFF == _MODERN:
                read_diagram(record.data[position : position + value], self._draft)
            position += value

    def _objects(self) -> None:
        """Embedded documents: compressed compound files."""
        for place in set(self._places.values()):
            record = _record_at(self._document, place)
            if record is None or record.kind != _OLE_STORAGE:
                continue
            data = record.data
            if record.instance == 1:
                inflater = zlib.decompressobj()
                try:
                    data = inflater.decompress(data[4:], self._draft.budget.limits.unpacked_bytes // 4)
                except zlib.error:
                    continue
                self._draft.budget.take_unpacked(len(data))
            self._draft.embed("", data, keep=False)


def _string(record: _Record) -> str:
    return record.data.decode("utf-16-le", "replace").rstrip("\x00")


def _is_placeholder(shape: _Record) -> bool:
    for record in _records(shape.data):
        if record.kind == _CLIENT_DATA:
            return any(inner.kind == _PLACEHOLDER for inner in _records(record.data))
    return False
