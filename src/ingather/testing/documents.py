"""Documents made of a few lines: Office Open XML, OpenDocument, EPUB, PDF, for tests of whoever reads documents.

Everything is deterministic and as small as its format allows; what a test is about is given as XML or text.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence

__all__ = [
    "compound", "dbase", "docx", "epub", "hwp", "hwp_record", "iwa", "odf", "pdf", "pptx", "relationships", "xlsx", "zipped",
]  # fmt: skip

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_REL = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES = {
    "word/document.xml": "wordprocessingml.document.main",
    "xl/workbook.xml": "spreadsheetml.sheet.main",
    "ppt/presentation.xml": "presentationml.presentation.main",
}
NAMESPACES = (
    f'xmlns:w="{_W}" xmlns:p="{_P}" xmlns:a="{_A}" xmlns:r="{_R}"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml"'
    ' xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
    ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
    ' xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"'
)


def zipped(parts: Mapping[str, str | bytes], *, stored: Sequence[str] = ()) -> bytes:
    """Return a zip archive of *parts* in their order; those named in *stored* are not compressed."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            member = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
            member.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    return target.getvalue()


def relationships(*lines: tuple[str, str, str]) -> str:
    """Return a ``.rels`` part of (id, kind, target); a target with a scheme is external."""
    rows = []
    for identity, kind, target in lines:
        mode = ' TargetMode="External"' if ":" in target else ""
        rows.append(f'<Relationship Id="{identity}" Type="{_R}/{kind}" Target="{target}"{mode}/>')
    return f'<Relationships xmlns="{_REL}">{"".join(rows)}</Relationships>'


def _office(main: str, parts: Mapping[str, str | bytes]) -> bytes:
    kind = _TYPES[main]
    vocabulary = f"application/vnd.openxmlformats-officedocument.{kind}+xml"
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        f'<Override PartName="/{main}" ContentType="{vocabulary}"/></Types>'
    )
    whole: dict[str, str | bytes] = {
        "[Content_Types].xml": types,
        "_rels/.rels": relationships(
            ("m", "officeDocument", main), ("c", "metadata/core-properties", "docProps/core.xml")
        ),
    }
    return zipped(whole | dict(parts))


def docx(
    body: str, parts: Mapping[str, str | bytes] | None = None, *, rels: Sequence[tuple[str, str, str]] = ()
) -> bytes:
    """Return a Word document with the XML *body*, further *parts* and the main part's *rels*."""
    return _office(
        "word/document.xml",
        {
            "word/document.xml": f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relationships(*rels),
            **(parts or {}),
        },
    )


def xlsx(
    sheet: str,
    parts: Mapping[str, str | bytes] | None = None,
    *,
    rels: Sequence[tuple[str, str, str]] = (),
    name: str = "Sheet one",
) -> bytes:
    """Return a workbook with one sheet: *sheet* is the XML inside of ``worksheet``."""
    book_rels = relationships(
        ("s", "worksheet", "worksheets/sheet1.xml"),
        ("t", "sharedStrings", "sharedStrings.xml"),
        ("y", "styles", "styles.xml"),
    )
    return _office(
        "xl/workbook.xml",
        {
            "xl/workbook.xml": f'<workbook xmlns="{_S}" xmlns:r="{_R}"><sheets><sheet name="{name}" r:id="s"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": book_rels,
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_S}" xmlns:r="{_R}">{sheet}</worksheet>',
            "xl/worksheets/_rels/sheet1.xml.rels": relationships(*rels),
            **(parts or {}),
        },
    )


def pptx(
    slides: Sequence[str],
    parts: Mapping[str, str | bytes] | None = None,
    *,
    rels: Sequence[tuple[str, str, str]] = (),
) -> bytes:
    """Return a presentation: *slides* are the XML inside of each shape tree, *rels* those of the first slide."""
    order = "".join(f'<p:sldId id="{256 + i}" r:id="s{i}"/>' for i in range(len(slides)))
    whole: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation {NAMESPACES}><p:sldIdLst>{order}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relationships(
            *((f"s{i}", "slide", f"slides/slide{i + 1}.xml") for i in range(len(slides)))
        ),
    }
    for number, content in enumerate(slides, start=1):
        tree = f"<p:cSld><p:spTree>{content}</p:spTree></p:cSld>"
        whole[f"ppt/slides/slide{number}.xml"] = f"<p:sld {NAMESPACES}>{tree}</p:sld>"
        whole[f"ppt/slides/_rels/slide{number}.xml.rels"] = relationships(*(rels if number == 1 else ()))
    return _office("ppt/presentation.xml", whole | dict(parts or {}))


_ODF_NAMESPACES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
    for prefix, space in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "presentation": "presentation",
        "style": "style", "meta": "meta", "svg": "svg-compatible",
    }.items()
) + ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'  # fmt: skip


def odf(  # noqa: PLR0913 (each has a default)
    kind: str,
    body: str,
    *,
    meta: str = "",
    styles: str = "",
    flat: bool = False,
    parts: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """Return an OpenDocument file: *kind* is ``text``, ``spreadsheet`` or ``presentation``, *body* the XML inside; *parts* lie beside."""
    content = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    description = f"<office:meta>{meta}</office:meta>"
    if flat:
        return f"<?xml version='1.0'?><office:document {_ODF_NAMESPACES}>{description}{styles}{content}</office:document>".encode()
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {_ODF_NAMESPACES}>{content}</office:document-content>",
            "meta.xml": f"<office:document-meta {_ODF_NAMESPACES}>{description}</office:document-meta>",
            "styles.xml": f"<office:document-styles {_ODF_NAMESPACES}>{styles}</office:document-styles>",
            **(parts or {}),
        },
        stored=["mimetype"],
    )


def epub(chapters: Mapping[str, str], *, metadata: str = "") -> bytes:
    """Return a book: *chapters* are XHTML bodies by file name, in reading order."""
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata>{metadata}</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    pages = {
        f"OEBPS/{name}": f'<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'
        for name, body in chapters.items()
    }
    whole = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container,
        "OEBPS/book.opf": package,
    }
    return zipped(whole | pages, stored=["mimetype"])


def pdf(
    pages: Sequence[str],
    *,
    annotations: Sequence[str] = (),
    catalog: str = "",
    information: str = "",
    objects: Mapping[int, str | bytes] | None = None,
) -> bytes:
    """Return a PDF: one line of text a page.

    Args:
        pages: the text of each page (parentheses and backslashes escaped by the caller).
        annotations: annotation dictionaries of the first page.
        catalog: further entries of the catalog.
        information: entries of the information dictionary.
        objects: further objects by number from 100.
    """
    whole: dict[int, str | bytes] = {
        3: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        4: f"<<{information}>>",
    }
    kids = []
    for index, text in enumerate(pages):
        page, content = 10 + 2 * index, 11 + 2 * index
        kids.append(f"{page} 0 R")
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        whole[content] = f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream"
        extra = f"/Annots[{' '.join(annotations)}]" if index == 0 and annotations else ""
        whole[page] = (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {content} 0 R"
            f"/Resources<</Font<</F1 3 0 R>>>>{extra}>>"
        )
    whole[1] = f"<</Type/Catalog/Pages 2 0 R{catalog}>>"
    whole[2] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {len(pages)}>>"
    whole |= dict(objects or {})
    return _assembled(whole)


def _assembled(objects: Mapping[int, str | bytes]) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    places: dict[int, int] = {}
    for number in sorted(objects):
        places[number] = len(out)
        content = objects[number]
        out += (
            f"{number} 0 obj\n".encode()
            + (content if isinstance(content, bytes) else content.encode("latin-1"))
            + b"\nendobj\n"
        )
    start = len(out)
    last = max(objects)
    out += f"xref\n0 {last + 1}\n0000000000 65535 f \n".encode()
    for number in range(1, last + 1):
        out += f"{places[number]:010d} 00000 n \n".encode() if number in places else b"0000000000 00000 f \n"
    out += f"trailer\n<</Size {last + 1}/Root 1 0 R/Info 4 0 R>>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


_SECTOR, _MINI, _CUTOFF = 512, 64, 4096
_END, _FREE, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFF


def compound(streams: Mapping[str, bytes]) -> bytes:
    """Return an OLE compound file; names are paths with ``/`` between storages."""
    tree: dict[str, dict[str, object] | bytes] = {}
    for path, content in streams.items():
        *folders, name = path.split("/")
        place: dict = tree  # type: ignore[type-arg]
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = content
    return _Compound().build(tree)


class _Compound:
    """Lays out sectors: streams, mini stream, directory, tables."""

    def __init__(self) -> None:
        self._sectors: list[bytes] = []
        self._fat: list[int] = []
        self._mini = bytearray()
        self._mini_fat: list[int] = []
        self._entries: list[bytes] = []

    def build(self, tree: Mapping[str, object]) -> bytes:
        self._entries.append(b"")
        child = self._folder(tree)
        mini_start = self._chain(bytes(self._mini)) if self._mini else _END
        self._entries[0] = self._entry("Root Entry", 5, start=mini_start, size=len(self._mini), child=child)
        directory = self._chain(b"".join(self._entries))
        mini_fat = (
            self._chain(struct.pack(f"<{len(self._mini_fat)}I", *self._mini_fat)) if self._mini_fat else _END
        )
        tables = -(-(len(self._fat) + 8) // 128)
        first = len(self._sectors)
        fat = [*self._fat, *([0xFFFFFFFD] * tables)]
        fat += [_FREE] * (tables * 128 - len(fat))
        head = (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
            + bytes(16)
            + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6)
            + bytes(6)
        )
        head += struct.pack("<9I", 0, tables, directory, 0, _CUTOFF, mini_fat, 1, _END, 0)
        head += struct.pack("<109I", *range(first, first + tables), *([_FREE] * (109 - tables)))
        return head + b"".join(self._sectors) + struct.pack(f"<{len(fat)}I", *fat)

    def _chain(self, content: bytes) -> int:
        start = len(self._sectors)
        count = max(-(-len(content) // _SECTOR), 1)
        for index in range(count):
            self._sectors.append(content[index * _SECTOR : (index + 1) * _SECTOR].ljust(_SECTOR, b"\0"))
            self._fat.append(start + index + 1 if index + 1 < count else _END)
        return start

    def _mini_chain(self, content: bytes) -> int:
        start = len(self._mini_fat)
        count = max(-(-len(content) // _MINI), 1)
        self._mini += content.ljust(count * _MINI, b"\0")
        self._mini_fat += [*range(start + 1, start + count), _END]
        return start

    def _folder(self, tree: Mapping[str, object]) -> int:
        """Add the entries of a storage, each the right sibling of the one before; return the first."""
        following = _NONE
        for name, content in reversed(list(tree.items())):
            if isinstance(content, bytes):
                start = self._chain(content) if len(content) >= _CUTOFF else self._mini_chain(content)
                entry = self._entry(name, 2, start=start, size=len(content), right=following)
            else:
                assert isinstance(content, Mapping)
                entry = self._entry(name, 1, start=0, size=0, right=following, child=self._folder(content))
            following = len(self._entries)
            self._entries.append(entry)
        return following

    @staticmethod
    def _entry(  # noqa: PLR0913 (a directory entry has no fewer)
        name: str, kind: int, *, start: int, size: int, right: int = _NONE, child: int = _NONE
    ) -> bytes:
        raw = name.encode("utf-16-le") + b"\0\0"
        head = raw.ljust(64, b"\0") + struct.pack("<HBBIII", len(raw), kind, 1, _NONE, right, child)
        return head + bytes(36) + struct.pack("<IQ", start, size)


def iwa(*messages: tuple[int, Mapping[int, str | int | bytes]]) -> bytes:
    """Return an archive of iWork: messages of a type with fields by number, in Snappy blocks of literals and one copy."""
    stream = b""
    for kind, values in messages:
        body = _message(values)
        header = _message({1: 7, 2: _message({1: kind, 3: len(body)})})
        stream += _varint(len(header)) + header + body
    blocks = b""
    for start in range(0, len(stream), 50_000):
        block = _snappy(stream[start : start + 50_000])
        blocks += b"\0" + len(block).to_bytes(3, "little") + block
    return blocks


def _message(values: Mapping[int, str | int | bytes | Sequence[bytes]]) -> bytes:
    packed = b""
    for number, value in values.items():
        if isinstance(value, int):
            packed += _varint(number << 3) + _varint(value)
        elif isinstance(value, str | bytes):
            raw = value.encode() if isinstance(value, str) else value
            packed += _varint(number << 3 | 2) + _varint(len(raw)) + raw
        else:
            packed += b"".join(_message({number: one}) for one in value)
    return packed


def _varint(value: int) -> bytes:
    packed = bytearray()
    while value > 0x7F:  # noqa: PLR2004
        packed.append(value & 0x7F | 0x80)
        value >>= 7
    packed.append(value)
    return bytes(packed)


def _snappy(data: bytes) -> bytes:
    """Pack *data*: a run of one byte at its end as a copy that overlaps itself, the rest as literals."""
    run = len(data) - len(data.rstrip(data[-1:]))
    copies = b""
    for size in [64] * ((run - 1) // 64) if run > 1 else []:
        copies += bytes([(size - 1) << 2 | 2]) + b"\1\0"
    literals = data[: len(data) - 64 * (len(copies) // 3)]
    packed = _varint(len(data))
    for start in range(0, len(literals), 60_000):
        piece = literals[start : start + 60_000]
        packed += bytes([61 << 2]) + (len(piece) - 1).to_bytes(2, "little") + piece
    return packed + copies


def hwp(*sections: bytes, flags: int = 1, preview: str = "") -> bytes:
    """Return a document of the Hangul word processor: *sections* are records, see :func:`hwp_record`."""
    streams: dict[str, bytes] = {
        "FileHeader": b"HWP Document File".ljust(32, b"\0")
        + struct.pack("<II", 0x05000300, flags)
        + bytes(216),
        "PrvText": preview.encode("utf-16-le"),
    }
    for number, records in enumerate(sections):
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        streams[f"BodyText/Section{number}"] = (
            packer.compress(records) + packer.flush() if flags & 1 else records
        )
    return compound(streams)


def hwp_record(tag: int, body: bytes) -> bytes:
    """Return one record; a long one has its size behind the header."""
    if len(body) < 0xFFF:  # noqa: PLR2004
        return struct.pack("<I", tag | len(body) << 20) + body
    return struct.pack("<II", tag | 0xFFF << 20, len(body)) + body


def dbase(
    columns: Sequence[tuple[str, str, int]], *rows: Sequence[str], encoding: str = "ascii", language: int = 0
) -> bytes:
    """Return a dBase table: *columns* are name, type, width."""
    size = 1 + sum(width for *_, width in columns)
    start = 32 + 32 * len(columns) + 1
    head = (
        struct.pack("<4BIHH", 3, 126, 1, 2, len(rows), start, size) + bytes(17) + bytes([language]) + bytes(2)
    )
    for name, kind, width in columns:
        head += (
            name.encode(encoding).ljust(11, b"\0") + kind.encode() + bytes(4) + bytes([width, 0]) + bytes(14)
        )
    records = b"".join(
        b" "
        + b"".join(
            field.encode(encoding).ljust(width) for field, (*_, width) in zip(row, columns, strict=True)
        )
        for row in rows
    )
    return head + b"\r" + records + b"\x1a"
