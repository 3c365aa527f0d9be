"""iWork old and new, HWP and HWPX, dBase: texts, links, metadata, and what cannot be read says so."""

import struct

import pytest

from ingather.errors import ExtractError
from ingather.extract.conversion import ConversionLimits, convert
from ingather.testing.documents import dbase, hwp, hwp_record, iwa, zipped

STORAGE, CELLS, LINK, STYLE, SHEET = 2001, 6005, 2032, 2022, 2
CELL = b"\x08\x01\x1a\x05first"  # key 1, string


def iwork(*, nested: bool = False, **members: bytes) -> bytes:
    inner = {f"Index/{name.replace('__', '/')}.iwa": data for name, data in members.items()}
    if nested:
        return zipped({"Index.zip": zipped(inner), "preview.jpg": b"\xff\xd8\xff"})
    return zipped(dict(inner))


@pytest.mark.parametrize("nested", [False, True])
def test_pages_gives_its_texts_and_links_and_no_names_of_styles(*, nested: bool) -> None:
    document = iwa(
        (STYLE, {1: "Heading 2"}),
        (STORAGE, {1: 0, 3: "The garden\nRoses\u2028and\ufffc lilies"}),
        (LINK, {1: b"", 2: "http://a.example/"}),
        (3056, {1: "a remark"}),
    )

    converted = convert(
        iwork(nested=nested, Document=document, DocumentStylesheet=iwa((STORAGE, {3: "style"}))),
        name="a.pages",
    )

    assert converted.text.split("\n") == ["The garden", "Roses", "and lilies", "a remark"]
    assert converted.links == (("http://a.example/", ""),)
    assert converted.flags == ()


def test_slides_come_in_order_and_templates_are_left_out() -> None:
    body = iwork(
        Slide_10=iwa((STORAGE, {3: "tenth"})),
        Slide_9=iwa((STORAGE, {3: "ninth"})),
        TemplateSlide_1=iwa((STORAGE, {3: "Double-tap to edit"})),
        Document=iwa((SHEET, {1: "a show"})),
    )

    assert convert(body).text.split("\n") == ["ninth", "tenth"]


def test_a_table_gives_names_and_strings() -> None:
    body = iwork(
        Document=iwa((SHEET, {1: "Budget"})),
        Tables__DataList=iwa((CELLS, {1: 1, 3: CELL})),
        Tables__T=iwa((6001, {8: "Sums"})),
    )

    converted = convert(body)

    assert converted.text.split("\n") == ["Budget", "first", "Sums"]
    assert "<h2>Budget</h2>" in converted.html


def test_long_texts_and_copies_unpack_and_count() -> None:
    text = "word " * 30_000 + "a" * 1000
    body = iwork(Document=iwa((STORAGE, {3: text})))

    assert convert(body).text == " ".join(text.split())
    assert "cut" in convert(body, limits=ConversionLimits(unpacked_bytes=300_000)).flags


@pytest.mark.parametrize(
    "data",
    [b"\0\x05\0\0\xff\xff\xff\xff\x7f", b"\x01abc", b"\0\x03\0\0\x08\x05\x05", b"\0\x04\0\0\x05\x01\x09\0"],
    ids=["size", "kind", "cut", "copy-of-nothing"],
)
def test_a_broken_archive_is_partial_or_cut_and_has_no_text(data: bytes) -> None:
    flags = convert(iwork(Document=data)).flags

    assert "no-text" in flags
    assert {"partial", "cut"} & set(flags)


def test_a_locked_document_needs_its_password() -> None:
    with pytest.raises(ExtractError) as caught:
        convert(zipped({"Index.zip": b"x", ".iwpv2": b"y"}))
    assert caught.value.reason == "encrypted"


def test_pages_of_2009() -> None:
    body = (
        '<?xml version="1.0"?><sl:document xmlns:sl="http://developer.apple.com/namespaces/sl" xmlns:sf="http://developer.apple.com/namespaces/sf"'
        ' xmlns:sfa="http://developer.apple.com/namespaces/sfa"><sl:metadata><sl:title><sl:string sfa:string="The title"/></sl:title></sl:metadata>'
        '<sl:stylesheet><sf:p>style</sf:p></sl:stylesheet><sf:text-body><sf:p>One <sf:link href="http://a.example/">there</sf:link><sf:lnbr/>two</sf:p></sf:text-body>'
        '<sf:ct sfa:s="cell"/></sl:document>'
    )

    converted = convert(zipped({"index.xml": body}))

    assert converted.text.split("\n") == ["One there", "two", "cell"]
    assert converted.metadata["title"] == "The title"
    assert converted.links == (("http://a.example/", "there"),)


# --- HWP ------------------------------------------------------------------------------------------


def paragraph(text: str) -> bytes:
    return hwp_record(67, text.encode("utf-16-le"))


WIDE = "\x0b" + "\x01" * 6 + "\x0b"
COMMAND = "http\\://a.example/x;1;0;0;"
HYPERLINK = hwp_record(71, b"klh%" + bytes(5) + struct.pack("<H", len(COMMAND)) + COMMAND.encode("utf-16-le"))


@pytest.mark.parametrize("flags", [0, 1], ids=["plain", "compressed"])
def test_hwp_gives_the_text_of_its_sections(flags: int) -> None:
    body = hwp(
        paragraph(f"\ud55c\uae00{WIDE} one\x18two\r") + HYPERLINK,
        paragraph("x" * 5000),
        flags=flags,
    )

    converted = convert(body)

    assert converted.text.split("\n") == ["\ud55c\uae00 one-two", "x" * 5000]
    assert converted.links == (("http://a.example/x", ""),)


def test_hwp_for_distribution_gives_its_preview_and_a_locked_one_nothing() -> None:
    converted = convert(hwp(paragraph("x"), flags=5, preview="the preview"))

    assert (converted.text, converted.flags) == ("the preview", ("cut",))
    with pytest.raises(ExtractError) as caught:
        convert(hwp(paragraph("x"), flags=3))
    assert caught.value.reason == "encrypted"


def test_hwpx_gives_the_text_of_its_sections() -> None:
    section = (
        '<hs:sec xmlns:hs="s" xmlns:hp="p"><hp:p><hp:run><hp:t>one</hp:t></hp:run><hp:run><hp:t> two</hp:t></hp:run></hp:p>'
        "<hp:p><hp:run><hp:t>three</hp:t></hp:run></hp:p></hs:sec>"
    )
    head = '<opf:package xmlns:opf="o"><opf:metadata><opf:title>T</opf:title><opf:meta name="creator">Ada</opf:meta></opf:metadata></opf:package>'
    parts = {
        "mimetype": "application/hwp+zip",
        "META-INF/container.xml": "<container/>",
        "Contents/content.hpf": head,
    }
    body = zipped(
        parts | {"Contents/section0.xml": section, "Contents/section1.xml": section.replace("one", "four")},
        stored=["mimetype"],
    )

    converted = convert(body)

    assert converted.text.split("\n") == ["one two", "three", "four two", "three"]
    assert converted.metadata == {"title": "T", "author": "Ada"}


# --- dBase ----------------------------------------------------------------------------------------

COLUMNS = [("NAME", "C", 20), ("BORN", "D", 8), ("SUM", "N", 6), ("NOTE", "M", 10)]


@pytest.mark.parametrize(
    ("encoding", "language", "name"),
    [
        ("gb18030", 0x4D, "\u4e2d\u6587"),
        ("gb18030", 0, "\u4e2d\u56fd\u4eba\u6c11\u94f6\u884c"),
        ("utf-8", 0, "Gr\u00fc\u00dfe"),
        ("cp1251", 0xC9, "\u0418\u043c\u044f"),
    ],
)
def test_a_table_in_the_encoding_that_it_declares_or_has(encoding: str, language: int, name: str) -> None:
    body = dbase(
        COLUMNS, [name, "20260102", "  3.50", "1"], ["B", "", "", ""], encoding=encoding, language=language
    )

    assert convert(body).text.split("\n") == ["NAME BORN SUM NOTE", f"{name} 2026-01-02 3.50", "B"]
    assert convert(body, name="x.bin").flags == ()


def test_a_table_that_is_cut_off_is_partial() -> None:
    body = dbase(COLUMNS, ["a", "", "", ""], ["b", "", "", ""])

    assert convert(body[:-30]).flags == ("partial",)
    with pytest.raises(ExtractError):
        convert(body[:60], name="a.dbf")


@pytest.mark.parametrize(
    "encoding", ["gb18030", "gb2312", "shift_jis", "euc-kr", "big5", "windows-1252", "utf-8"]
)
def test_xml_in_encodings_that_its_parser_does_not_know(encoding: str) -> None:
    words = {"shift_jis": "\u65e5\u672c", "euc-kr": "\ud55c\uae00", "windows-1252": "caf\u00e9"}.get(
        encoding, "\u4e2d\u6587"
    )
    body = f"<?xml version='1.0' encoding='{encoding}'?><r><a>{words}</a></r>".encode(encoding)

    assert convert(body).text == words
