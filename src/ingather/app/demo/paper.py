"""A PDF file made by hand: headed entries on A4 pages, in the fonts that every reader has.

As much of ISO 32000-1 as a printed glossary needs: a page tree, two standard fonts, bookmarks and the
document's title. Text is Windows-1252; what that does not have becomes a question mark.
"""

import textwrap
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice

__all__ = ["make_pdf"]

_WIDTH, _HEIGHT, _MARGIN = 595, 842, 56
_SIZE, _LEADING = 10, 14
_LINES = (_HEIGHT - 2 * _MARGIN) // _LEADING
_COLUMNS = 92
_CATALOG, _PAGES, _PLAIN, _BOLD, _INFO, _OUTLINE = range(1, 7)
_FIRST_FREE = 7


def make_pdf(title: str, entries: Sequence[tuple[str, str]]) -> bytes:
    """Return a PDF file of *entries*: (heading, text), a bookmark for each page's first heading."""
    lines = iter([(True, title), (False, ""), *_lines(entries)])
    sheets: list[list[tuple[bool, str]]] = []
    while sheet := list(islice(lines, _LINES)):
        sheets.append(sheet)
    count = len(sheets)
    pages = [_FIRST_FREE + 3 * number for number in range(count)]
    objects = {
        _CATALOG: f"<</Type/Catalog/Pages {_PAGES} 0 R/Outlines {_OUTLINE} 0 R/Lang(en)>>".encode(),
        _PAGES: f"<</Type/Pages/Count {count}/Kids[{' '.join(f'{page} 0 R' for page in pages)}]>>".encode(),
        _PLAIN: _font("Helvetica"),
        _BOLD: _font("Helvetica-Bold"),
        _INFO: b"<</Title(" + _escaped(title) + b")/Producer(Ingather demo)>>",
        _OUTLINE: f"<</Type/Outlines/Count {count}/First {pages[0] + 2} 0 R/Last {pages[-1] + 2} 0 R>>".encode(),
    }
    for number, (page, sheet) in enumerate(zip(pages, sheets, strict=True)):
        objects[page] = (
            f"<</Type/Page/Parent {_PAGES} 0 R/MediaBox[0 0 {_WIDTH} {_HEIGHT}]/Contents {page + 1} 0 R"
            f"/Resources<</Font<</P {_PLAIN} 0 R/B {_BOLD} 0 R>>>>>>"
        ).encode()
        drawn = zlib.compress(_drawn(sheet), 9)
        objects[page + 1] = b"<</Length %d/Filter/FlateDecode>>\nstream\n%b\nendstream" % (len(drawn), drawn)
        heading = next((text for bold, text in sheet if bold), f"Page {number + 1}")
        siblings = f"/Prev {page - 1} 0 R" if number else ""
        siblings += f"/Next {page + 5} 0 R" if number + 1 < count else ""
        place = f"/Parent {_OUTLINE} 0 R{siblings}/Dest[{page} 0 R/Fit]>>"
        objects[page + 2] = b"<</Title(" + _escaped(heading) + b")" + place.encode()
    return _file(objects)


def _lines(entries: Sequence[tuple[str, str]]) -> Iterator[tuple[bool, str]]:
    for heading, text in entries:
        yield True, heading
        yield from ((False, line) for line in textwrap.wrap(text, _COLUMNS))
        yield False, ""


def _drawn(sheet: Sequence[tuple[bool, str]]) -> bytes:
    rows = [b"/%b %d Tf (%b) Tj T*" % (b"B" if bold else b"P", _SIZE, _escaped(text)) for bold, text in sheet]
    start = b"BT %d TL %d %d Td" % (_LEADING, _MARGIN, _HEIGHT - _MARGIN)
    return b"\n".join([start, *rows, b"ET"])


def _font(name: str) -> bytes:
    return f"<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>".encode()


def _escaped(text: str) -> bytes:
    return text.encode("cp1252", "replace").replace(b"\\", rb"\\").replace(b"(", rb"\(").replace(b")", rb"\)")


def _file(objects: dict[int, bytes]) -> bytes:
    """Put the objects into a file, with the table that says where each begins."""
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    table = [b"0000000000 65535 f \n"]
    for number, body in sorted(objects.items()):
        table.append(b"%010d 00000 n \n" % len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n%b" % (len(table), b"".join(table))
    trailer = (
        f"trailer\n<</Size {len(table)}/Root {_CATALOG} 0 R/Info {_INFO} 0 R>>\nstartxref\n{start}\n%%EOF\n"
    )
    return bytes(out + trailer.encode())
