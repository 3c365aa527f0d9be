"""A Word file made by hand: a title, paragraphs and a table (Office Open XML, ECMA-376 parts 1 and 2)."""

import io
import zipfile
from collections.abc import Sequence
from html import escape

__all__ = ["make_docx"]

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_FORM = "application/vnd.openxmlformats-officedocument.wordprocessingml"

_TYPES = (
    f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_FORM}.document.main+xml"/>'
    f'<Override PartName="/word/styles.xml" ContentType="{_FORM}.styles+xml"/>'
    '<Override PartName="/docProps/core.xml" '
    'ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>'
)
_PARTS = (
    f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/>'
    f'<Relationship Id="rId2" Type="{_PACKAGE}/relationships/metadata/core-properties" Target="docProps/core.xml"/>'
    "</Relationships>"
)
_OF_DOCUMENT = (
    f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>'
)
_STYLES = (
    f'{_HEAD}<w:styles xmlns:w="{_MAIN}">'
    '<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/><w:rPr><w:b/><w:sz w:val="40"/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/>'
    '<w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:rPr><w:b/><w:sz w:val="28"/></w:rPr></w:style></w:styles>'
)
_EARLIEST = (1980, 1, 1, 0, 0, 0)


def make_docx(
    title: str, paragraphs: Sequence[str], head: Sequence[str], rows: Sequence[Sequence[str]]
) -> bytes:
    """Return a Word file: *title*, *paragraphs*, then a table of *rows* under *head*."""
    body = [
        _paragraph(title, "Title"),
        *map(_paragraph, paragraphs),
        _paragraph(" and ".join(head), "Heading1"),
    ]
    body += ["<w:tbl><w:tblPr/>", *map(_row, [head, *rows]), "</w:tbl>", _paragraph("")]
    document = f'{_HEAD}<w:document xmlns:w="{_MAIN}"><w:body>{"".join(body)}</w:body></w:document>'
    core = (
        f'{_HEAD}<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{escape(title)}</dc:title><dc:creator>Ingather</dc:creator><dc:language>en</dc:language>"
        "</cp:coreProperties>"
    )
    parts = {
        "[Content_Types].xml": _TYPES, "_rels/.rels": _PARTS, "docProps/core.xml": core,
        "word/document.xml": document, "word/styles.xml": _STYLES, "word/_rels/document.xml.rels": _OF_DOCUMENT,
    }  # fmt: skip
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in parts.items():
            package.writestr(zipfile.ZipInfo(name, _EARLIEST), text, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _paragraph(text: str, style: str = "") -> str:
    chosen = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{chosen}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def _row(cells: Sequence[str]) -> str:
    return f"<w:tr>{''.join(f'<w:tc>{_paragraph(cell)}</w:tc>' for cell in cells)}</w:tr>"
