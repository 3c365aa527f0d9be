"""Hangul word processor: HWP 5 (an OLE file of packed records) and HWPX (XML in a zip, KS X 6101).

Of a document for distribution the text is encrypted; its preview, which is not, is read instead.
"""

import re
import struct
import zlib
from collections.abc import Iterator, Mapping

from ingather.errors import ExtractError
from ingather.extract.documents.cfb import CompoundFile
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.package import Package, gather
from ingather.extract.documents.summary import read_properties
from ingather.extract.documents.xmlevents import BrokenXmlError, XmlReader, parse_xml

__all__ = ["read_compound", "read_package"]

_SIGNATURE = b"HWP Document File"
_FLAGS_AT = 36
_COMPRESSED, _ENCRYPTED, _DISTRIBUTED = 1, 2, 4
_PARA_TEXT, _CTRL_HEADER, _EQUATION = 67, 71, 88
_LONG = 0xFFF
_LINK = b"klh%"
_CHUNK = 64 * 1024
_WIDE = frozenset({*range(1, 10), 11, 12, *range(14, 24)})
"""Controls that take eight characters: their number, six of data, their number."""
_CHARACTERS = {10: "\n", 13: "\n", 24: "-", 30: "\u00a0", 31: " "}
_TAB = 9
_URL = re.compile(r"https?\\?:[^;]+")


def read_compound(file: CompoundFile, draft: Draft) -> None:
    """Read the HWP 5 document in *file* into *draft*.

    Raises:
        ExtractError: ``encrypted``, ``unsupported``, ``damaged``.
        LimitReachedError: a limit of the draft's budget.
    """
    header = file.stream("FileHeader") or b""
    if not header.startswith(_SIGNATURE) or len(header) < _FLAGS_AT + 4:
        raise ExtractError("a compound file of no kind that we read", reason="unsupported")
    (flags,) = struct.unpack_from("<I", header, _FLAGS_AT)
    read_properties(file.stream("\x05HwpSummaryInformation") or b"", draft)
    if flags & _ENCRYPTED:
        raise ExtractError("the document needs a password", reason="encrypted")
    sections = [] if flags & _DISTRIBUTED else [e for e in file.children("BodyText") if e.is_stream]
    for section in sorted(sections, key=lambda entry: (len(entry.path[-1]), entry.path[-1])):
        draft.budget.take_member()
        data = file.read(section)
        _read_section(_inflated(data, draft) if flags & _COMPRESSED else data, draft)
    if not draft.has_text:
        preview = (file.stream("PrvText") or b"").decode("utf-16-le", "replace")
        if preview.strip() and flags & _DISTRIBUTED:
            draft.flag("cut")
        for line in preview.splitlines():
            draft.block(line)
    if not draft.has_text and flags & _DISTRIBUTED:
        raise ExtractError("the document is for distribution: its text is encrypted", reason="encrypted")


def _inflated(data: bytes, draft: Draft) -> bytes:
    return gather(_inflating(data, draft), draft.budget)


def _inflating(data: bytes, draft: Draft) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        while not inflater.eof and data:
            chunk = inflater.decompress(data, _CHUNK)
            data = inflater.unconsumed_tail
            draft.budget.take_unpacked(len(chunk))
            yield chunk
    except zlib.error:
        draft.flag("partial")


def _read_section(data: bytes, draft: Draft) -> None:
    position = 0
    while position + 4 <= len(data):
        (head,) = struct.unpack_from("<I", data, position)
        position += 4
        tag, size = head & 0x3FF, head >> 20
        if size == _LONG:
            if position + 4 > len(data):
                break
            (size,) = struct.unpack_from("<I", data, position)
            position += 4
        body = data[position : position + size]
        position += size
        if tag == _PARA_TEXT:
            draft.block(_text_of(body))
        elif tag == _CTRL_HEADER and body.startswith(_LINK):
            _read_link(body, draft)
        elif tag == _EQUATION and len(body) > 6:  # noqa: PLR2004 (attribute, length)
            (length,) = struct.unpack_from("<H", body, 4)
            draft.block(body[6 : 6 + 2 * length].decode("utf-16-le", "replace"))
    if position > len(data):
        draft.flag("partial")


def _text_of(body: bytes) -> str:
    pieces: list[str] = []
    units = struct.unpack(f"<{len(body) // 2}H", body[: len(body) // 2 * 2])
    start = position = 0
    while position < len(units):
        unit = units[position]
        if unit >= 32:  # noqa: PLR2004 (the first that is no control)
            position += 1
            continue
        pieces.append(body[2 * start : 2 * position].decode("utf-16-le", "replace"))
        pieces.append("\t" if unit == _TAB else _CHARACTERS.get(unit, ""))
        position += 8 if unit in _WIDE else 1
        start = position
    pieces.append(body[2 * start :].decode("utf-16-le", "replace"))
    return "".join(pieces)


def _read_link(body: bytes, draft: Draft) -> None:
    """Read a hyperlink's field: mark, five bytes of properties, length, command with colons escaped."""
    if len(body) < 11:  # noqa: PLR2004
        return
    (length,) = struct.unpack_from("<H", body, 9)
    command = body[11 : 11 + 2 * length].decode("utf-16-le", "replace")
    if found := _URL.match(command):
        draft.link_once(found[0].replace("\\", ""))


class _Section(XmlReader):
    """Contents/section*.xml: runs of text in paragraphs."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft
        self._open = 0
        self.starts = {"t": self._begin, "tab": self._tab, "lineBreak": self._break, "fieldBegin": self._field,
                       "subList": self._aside, "script": self._begin}  # fmt: skip
        self.ends = {"t": self._end, "p": draft.end_block, "subList": draft.close_aside, "script": self._end}

    def text(self, data: str) -> None:
        if self._open:
            self._draft.write(data)

    def _begin(self, _attributes: Mapping[str, str]) -> None:
        self._open += 1

    def _end(self) -> None:
        self._open = max(self._open - 1, 0)

    def _tab(self, _attributes: Mapping[str, str]) -> None:
        self._draft.write("\t")

    def _break(self, _attributes: Mapping[str, str]) -> None:
        self._draft.write("\n")

    def _aside(self, _attributes: Mapping[str, str]) -> None:
        self._draft.open_aside()

    def _field(self, attributes: Mapping[str, str]) -> None:
        if found := _URL.match(attributes.get("command", "")):
            self._draft.link_once(found[0].replace("\\", ""))


class _Head(XmlReader):
    """Contents/content.hpf: what the document says about itself."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft
        self._words: list[str] | None = None
        self._name = ""
        self.starts = {"title": self._open, "language": self._open, "meta": self._open_named}
        self.ends = {"title": self._title, "language": self._language, "meta": self._meta}

    def text(self, data: str) -> None:
        if self._words is not None:
            self._words.append(data)

    def _open(self, _attributes: Mapping[str, str]) -> None:
        self._words = []

    def _open_named(self, attributes: Mapping[str, str]) -> None:
        self._name = _NAMES.get(attributes.get("name", ""), "")
        self._words = []

    def _close(self, name: str) -> None:
        if name and self._words:
            self._draft.meta(name, "".join(self._words))
        self._words = None

    def _title(self) -> None:
        self._close("title")

    def _language(self) -> None:
        self._close("language")

    def _meta(self) -> None:
        self._close(self._name)


_NAMES = {
    "creator": "author", "subject": "subject", "description": "description", "lastsaveby": "last-author",
    "CreatedDate": "created", "ModifiedDate": "modified", "keyword": "keywords",
}  # fmt: skip


def read_package(package: Package, draft: Draft) -> None:
    """Read the HWPX document in *package* into *draft*.

    Raises:
        ExtractError: ``encrypted``, ``damaged``, ``refused``.
        LimitReachedError: a limit of the draft's budget.
    """
    manifest = _Manifest()
    _parse(package, "META-INF/manifest.xml", manifest, draft)
    if manifest.encrypted:
        raise ExtractError("the document needs a password", reason="encrypted")
    _parse(package, "Contents/content.hpf", _Head(draft), draft)
    sections = [m.name for m in package if m.name.lower().startswith("contents/section")]
    for name in sorted(sections, key=lambda name: (len(name), name)):
        _parse(package, name, _Section(draft), draft)
    if not draft.has_text and "partial" in draft.flags:
        raise ExtractError("the document's sections cannot be read", reason="damaged")


class _Manifest(XmlReader):
    def __init__(self) -> None:
        super().__init__()
        self.encrypted = False
        self.starts = {"encryption-data": self._encryption}

    def _encryption(self, _attributes: Mapping[str, str]) -> None:
        self.encrypted = True


def _parse(package: Package, name: str, reader: XmlReader, draft: Draft) -> None:
    member = package.find(name)
    if member is None:
        return
    try:
        parse_xml(package.chunks(member), reader)
    except (BrokenXmlError, ExtractError):
        draft.flag("partial")
    finally:
        draft.end_block()
