"""Workbooks: cells as shown, dates as shown and as ISO, sheet names, comments, headers, links."""

import datetime as dt
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.extract.conversion import ConversionLimits, convert
from ingather.extract.documents.numberformat import is_date, iso_date, shown
from ingather.extract.documents.spreadsheet import header_text
from ingather.extract.documents.xlsb import rk_number
from ingather.testing.documents import NAMESPACES, relationships, xlsx, zipped

STRINGS = "<sst xmlns='x'><si><t>shared</t></si><si><r><t>ri</t></r><r><t>ch</t></r><rPh><t>phonetic</t></rPh></si></sst>"


def row(*cells: str) -> str:
    return f"<sheetData><row>{''.join(cells)}</row></sheetData>"


def test_every_kind_of_cell() -> None:
    sheet = row(
        "<c t='s'><v>0</v></c>",
        "<c t='s'><v>1</v></c>",
        "<c t='inlineStr'><is><t>inline</t></is></c>",
        "<c t='str'><f>A1</f><v>formula</v></c>",
        "<c t='b'><v>1</v></c>",
        "<c t='e'><v>#DIV/0!</v></c>",
        "<c><v>12.5</v></c>",
        "<c t='d'><v>2026-01-02</v></c>",
        "<c t='s'><v>99</v></c>",
    )

    text = convert(xlsx(sheet, {"xl/sharedStrings.xml": STRINGS})).text

    assert text == "Sheet one\nshared rich phonetic inline formula TRUE #DIV/0! 12.5 2026-01-02"


def test_numbers_and_dates_by_the_format_of_their_style() -> None:
    styles = (
        "<styleSheet xmlns='x'><numFmts><numFmt numFmtId='164' formatCode='yyyy\\-mm\\-dd hh:mm'/></numFmts>"
        "<cellStyleXfs><xf numFmtId='9'/></cellStyleXfs>"
        "<cellXfs><xf numFmtId='0'/><xf numFmtId='14'/><xf numFmtId='164'/><xf numFmtId='10'/></cellXfs></styleSheet>"
    )
    sheet = row(
        "<c s='1'><v>39127</v></c>",
        "<c s='2'><v>39127.5</v></c>",
        "<c s='3'><v>0.125</v></c>",
        "<c s='0'><v>39127</v></c>",
    )

    text = convert(xlsx(sheet, {"xl/styles.xml": styles})).text

    assert text == "Sheet one\n2/14/07 2007-02-14 2007-02-14 12:00 2007-02-14T12:00:00 12.50% 39127"


def test_the_far_corner_costs_nothing() -> None:
    assert convert(
        xlsx("<sheetData><row r='1048576'><c r='XFD1048576'><v>1</v></c></row></sheetData>")
    ).text.endswith("\n1")


def test_links_by_relationship_formula_and_shape() -> None:
    drawing = (
        f"<xdr:wsDr {NAMESPACES}><xdr:sp><xdr:nvSpPr><xdr:cNvPr id='1' name='n' descr='arrow'><a:hlinkClick r:id='d1'/></xdr:cNvPr></xdr:nvSpPr>"
        "<xdr:txBody><a:p><a:r><a:t>boxed</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:wsDr>"
    )
    sheet = (
        row(
            "<c r='A1' t='inlineStr'><is><t>manual</t></is></c>",
            """<c r='B1' t='str'><f>HYPERLINK("http://formula.example/","go")</f><v>go</v></c>""",
        )
        + "<hyperlinks><hyperlink ref='A1' r:id='h1' location='top'/><hyperlink ref='B2' location='Sheet1!A1'/></hyperlinks>"
    )
    document = xlsx(
        sheet,
        {
            "xl/drawings/drawing1.xml": drawing,
            "xl/drawings/_rels/drawing1.xml.rels": relationships(
                ("d1", "hyperlink", "http://shape.example/")
            ),
        },
        rels=[("h1", "hyperlink", "http://cell.example/"), ("d", "drawing", "../drawings/drawing1.xml")],
    )

    converted = convert(document)

    assert converted.links == (
        ("http://formula.example/", "go"),
        ("http://cell.example/#top", "manual"),
        ("http://shape.example/", ""),
    )
    assert converted.text.split("\n")[-2:] == ["arrow", "boxed"]


def test_comments_old_and_threaded_with_their_authors() -> None:
    old = (
        "<comments xmlns='x'><authors><author>Ada</author></authors><commentList>"
        "<comment ref='A1' authorId='0'><text><r><t>remark</t></r></text></comment></commentList></comments>"
    )
    threaded = "<ThreadedComments xmlns='x'><threadedComment ref='A1'><text>reply</text></threadedComment></ThreadedComments>"
    document = xlsx(
        row("<c><v>1</v></c>"),
        {"xl/comments1.xml": old, "xl/threadedComments/threadedComment1.xml": threaded},
        rels=[
            ("c", "comments", "../comments1.xml"),
            ("t", "threadedComment", "../threadedComments/threadedComment1.xml"),
        ],
    )

    assert convert(document).text.split("\n")[2:] == ["Ada: remark", "reply"]


def test_headers_and_footers_without_their_codes() -> None:
    sheet = '<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Secret&amp;CR&amp;&amp;D &amp;P</oddHeader></headerFooter>'

    assert convert(xlsx(sheet)).text == "Sheet one\nSecret R&D"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("&CPage &P of &N", "Page of"),
        ("&KFF0000red", "red"),
        ("a && b", "a & b"),
        ('&"Arial"x', "x"),
        ("plain", "plain"),
    ],
)
def test_header_codes(code: str, words: str) -> None:
    assert header_text(code).split() == words.split()


def test_a_shared_string_used_without_end_is_cut() -> None:
    cells = "<c t='s'><v>0</v></c>" * 300_000
    bomb = xlsx(row(cells), {"xl/sharedStrings.xml": f"<sst xmlns='x'><si><t>{'z' * 32_000}</t></si></sst>"})
    assert len(bomb) < 100_000

    converted = convert(bomb)

    assert converted.flags == ("cut",)
    assert len(converted.text) <= ConversionLimits().text_bytes


def test_a_table_of_shared_strings_without_end_is_cut() -> None:
    strings = f"<sst xmlns='x'>{'<si><t>abc</t></si>' * 10_000}</sst>"

    converted = convert(
        xlsx(row("<c t='s'><v>1</v></c>"), {"xl/sharedStrings.xml": strings}),
        limits=ConversionLimits(text_bytes=500),
    )

    assert converted.flags == ("cut",)
    assert converted.text == "Sheet one\nabc"


def test_excel_2003_xml_is_read() -> None:
    body = (
        b"<?xml version='1.0'?><Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet'"
        b" xmlns:ss='urn:schemas-microsoft-com:office:spreadsheet'><Worksheet ss:Name='Old'><Table><Row>"
        b"<Cell ss:HRef='http://old.example/'><Data ss:Type='String'>a</Data></Cell><Cell><Data>b</Data></Cell>"
        b"</Row></Table></Worksheet></Workbook>"
    )

    converted = convert(body)

    assert converted.text == "Old\na b"
    assert converted.links == (("http://old.example/", "a"),)


# --- binary workbooks ---------------------------------------------------------------------------


def record(kind: int, content: bytes = b"") -> bytes:
    head = bytes([kind]) if kind < 0x80 else bytes([kind & 0x7F | 0x80, kind >> 7])
    return head + bytes([len(content) & 0x7F | 0x80, len(content) >> 7]) + content


def wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def test_a_binary_workbook_is_read() -> None:
    cell = struct.pack("<II", 0, 0)
    date = struct.pack("<II", 0, 1)
    sheet = (
        record(0)
        + record(7, cell + struct.pack("<I", 0))
        + record(6, cell + wide("inline"))
        + record(2, cell + struct.pack("<I", 4711 << 2 | 2))
        + record(5, date + struct.pack("<d", 39127.0))
        + record(4, cell + b"\x01")
        + record(494, bytes(16) + wide("h1") + wide("") + wide("tip") + wide("shown"))
        + record(479, b"\0\0" + wide("&LTop") + struct.pack("<I", 0xFFFFFFFF) * 5)
    )
    comments = (
        record(632, wide("Ada")) + record(635, struct.pack("<I", 0)) + record(637, b"\0" + wide("remark"))
    )
    document = zipped(
        {
            "[Content_Types].xml": "<Types xmlns='x'><Override PartName='/xl/workbook.bin'"
            " ContentType='application/vnd.ms-excel.sheet.binary.macroEnabled.main'/></Types>",
            "_rels/.rels": relationships(("m", "officeDocument", "xl/workbook.bin")),
            "xl/workbook.bin": record(156, struct.pack("<II", 0, 1) + wide("s") + wide("Binary")),
            "xl/_rels/workbook.bin.rels": relationships(
                ("s", "worksheet", "worksheets/sheet1.bin"),
                ("t", "sharedStrings", "sharedStrings.bin"),
                ("y", "styles", "styles.bin"),
            ),
            "xl/sharedStrings.bin": record(19, b"\x02" + wide("shared") + wide("phonetic")),
            "xl/styles.bin": record(617) + record(47, b"\0\0\0\0") + record(47, b"\0\0\x0e\0") + record(618),
            "xl/worksheets/sheet1.bin": sheet,
            "xl/worksheets/_rels/sheet1.bin.rels": relationships(
                ("h1", "hyperlink", "http://binary.example/"), ("c", "comments", "../comments1.bin")
            ),
            "xl/comments1.bin": comments,
        }
    )

    converted = convert(document)

    assert converted.text.split("\n") == [
        "Binary",
        "shared phonetic inline 4711 2/14/07 2007-02-14 TRUE",
        "Top",
        "Ada: remark",
    ]
    assert converted.links == (("http://binary.example/", "shown"),)


@pytest.mark.parametrize(
    ("packed", "value"),
    [(123 << 2 | 2, 123), (123 << 2 | 3, 1.23), (0xFFFFFFFE, -1), (0x3FF00000, 1.0), (0x3FF00001, 0.01)],
)
def test_packed_numbers(packed: int, value: float) -> None:
    assert rk_number(packed) == pytest.approx(value)


# --- number formats -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (1234.5, "General", "1234.5"),
        (4006381333931, "General", "4006381333931"),
        (0.1 + 0.2, "General", "0.3"),
        (1e20, "General", "1E+20"),
        (1234.567, "0.00", "1234.57"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (-5, "#,##0;(#,##0)", "(5)"),
        (-5, "0.0", "-5.0"),
        (0, '0;-0;"none"', "none"),
        (0.5, "0%", "50%"),
        (12345, "0.00E+00", "1.23E+04"),
        (5, '"No. "000', "No. 005"),
        (5, "[$€-407] #,##0.00", "€ 5.00"),
        (5, "[Red]0", "5"),
        (1.5, "0.###", "1.5"),
        (2, "0.###", "2"),
        (3000000, '0.0,,"M"', "3.0M"),
        (7, "@", "7"),
        (39127, "d-mmm-yy", "14-Feb-07"),
        (39127, "dddd, mmmm dd, yyyy", "Wednesday, February 14, 2007"),
        (39127.5625, "m/d/yy h:mm AM/PM", "2/14/07 1:30 PM"),
        (1.5, "[h]:mm", "36:00"),
        (0.0007, "mm:ss", "01:00"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (-1, "yyyy", "-1"),
    ],
)  # fmt: skip
def test_a_number_is_shown_as_its_format_says(value: float, code: str, text: str) -> None:
    assert shown(value, code) == text


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("General", False),
        ("0.00", False),
        ("yyyy", True),
        ("[h]:mm", True),
        ('"day" 0', False),
        ("@", False),
        ("[Red]#,##0", False),
    ],
)
def test_what_is_a_date(code: str, expected: bool) -> None:  # noqa: FBT001
    assert is_date(code) is expected


@given(st.dates(min_value=dt.date(1900, 3, 1), max_value=dt.date(9999, 12, 31)))
def test_every_day_since_march_1900_is_shown_as_itself(day: dt.date) -> None:
    serial = (day - dt.date(1899, 12, 30)).days

    assert iso_date(serial) == shown(serial, "yyyy-mm-dd") == day.isoformat()


@given(st.dates(min_value=dt.date(1904, 1, 2), max_value=dt.date(9999, 12, 31)))
def test_every_day_of_the_other_epoch(day: dt.date) -> None:
    assert iso_date((day - dt.date(1904, 1, 1)).days, from_1904=True) == day.isoformat()


@given(st.floats(allow_nan=True, allow_infinity=True), st.text(max_size=30))
def test_no_format_breaks_anything(value: float, code: str) -> None:
    assert isinstance(shown(value, code), str)
    assert isinstance(iso_date(value), str)
