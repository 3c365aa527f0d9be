"""Documents that want to hurt: every one ends in bounded text or a documented refusal."""

import random
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.errors import ExtractError
from ingather.extract.conversion import ConversionLimits, convert
from ingather.testing.documents import (
    NAMESPACES,
    dbase,
    docx,
    epub,
    hwp,
    hwp_record,
    iwa,
    odf,
    pdf,
    pptx,
    relationships,
    xlsx,
    zipped,
)
from ingather.testing.locked import locked_agile

REASONS = {"unsupported", "encrypted", "damaged", "refused", "empty"}


def refused(body: bytes) -> str:
    with pytest.raises(ExtractError) as caught:
        convert(body)
    assert caught.value.reason in REASONS
    return caught.value.reason


ENTITIES = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>]>"


OUTSIDE = "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>"
OUTSIDE_PARAMETER = "<!DOCTYPE x [<!ENTITY % a SYSTEM 'file:///etc/passwd'> %a;]>"
FLAT = "<!DOCTYPE x [<!ENTITY a 'declared'>]>"


@pytest.mark.parametrize(
    "body",
    [
        docx("", {"word/document.xml": f"{ENTITIES}<w:document {NAMESPACES}><w:t>&b;</w:t></w:document>"}),
        docx("<w:p/>", {"docProps/core.xml": f"{ENTITIES}<x/>"}),
        pptx([""], {"ppt/slides/slide1.xml": f"{ENTITIES}<x/>"}),
        zipped(
            {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": f"{ENTITIES}<x>&b;</x>"}
        ),
        f"<?xml version='1.0'?>{ENTITIES}<x>&b;</x>".encode(),
        f"<?xml version='1.0'?>{OUTSIDE}<x>text</x>".encode(),
        f"<?xml version='1.0'?>{OUTSIDE_PARAMETER}<x>text</x>".encode(),
        f"<?xml version='1.0'?>{FLAT}<x>text &a;</x>".encode(),
        f"<?xml version='1.0'?>{FLAT}<x><y a='1>2' b='&a;'/>text</x>".encode(),
        f"<?xml version='1.0'?>{FLAT}<x><y b='&a;'/>text</x>".encode("utf-16"),
    ],
    ids=[
        "docx",
        "docx-properties",
        "pptx",
        "odt",
        "nested",
        "outside",
        "outside-parameter",
        "used",
        "attribute",
        "attribute-utf-16",
    ],
)
def test_entities_that_a_document_declares_and_uses_or_that_lie_outside_are_refused(body: bytes) -> None:
    assert refused(body) == "refused"


@pytest.mark.parametrize(
    ("declaration", "text", "found"),
    [
        ('<!DOCTYPE x PUBLIC "-//OpenOffice.org//DTD 1.0//EN" "office.dtd">', "text", "text"),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd">', "text", "text"),
        ("<!DOCTYPE x [<!ELEMENT x ANY><!ATTLIST x a CDATA 'given'>]>", "text", "text"),
        (FLAT, "text &amp; more", "text & more"),
        (FLAT, "<y a='&amp;'/>text", "text"),
        ('<!DOCTYPE x SYSTEM "x.dtd">', "a&nbsp;b &eacute; &house;.", "a b \u00e9 ."),
    ],
    ids=["public", "system", "subset", "declared-only", "attribute", "names-of-an-external-part"],
)
def test_a_document_type_declaration_alone_is_passed_over(declaration: str, text: str, found: str) -> None:
    assert convert(f"<?xml version='1.0'?>{declaration}<x>{text}</x>".encode()).text == found


@pytest.mark.parametrize(
    "body",
    [
        docx("<w:p><w:r><w:t>kept</w:t></w:r></w:p>", {"docProps/core.xml": f"{ENTITIES}<x/>"}),
        xlsx(
            "<row><c t='inlineStr'><is><t>kept</t></is></c></row>",
            {"xl/sharedStrings.xml": f"{ENTITIES}<sst/>"},
        ),
        odf("text", "<text:p>kept</text:p>", styles="&unknown;"),
        odf(
            "text",
            "<text:p>kept<draw:object xlink:href='./Object 1'/></text:p>",
            parts={"Object 1/content.xml": f"{OUTSIDE}<x/>"},
        ),
    ],
    ids=["docx-properties", "xlsx-strings", "odt-styles", "odt-object"],
)
def test_a_part_that_is_refused_or_broken_makes_the_document_partial(body: bytes) -> None:
    converted = convert(body)

    assert "kept" in converted.text
    assert "partial" in converted.flags


@pytest.mark.parametrize("filler", [b" ", b"x"], ids=["blanks", "text"])
def test_a_document_that_unpacks_without_end_is_cut(filler: bytes) -> None:
    limits = ConversionLimits(unpacked_bytes=2_000_000, text_bytes=100_000)
    start = f"<w:document {NAMESPACES}><w:body><w:p><w:r><w:t>kept</w:t></w:r></w:p><w:p><w:r><w:t>".encode()
    bomb = docx("", {"word/document.xml": start + filler * 10_000_000})
    assert len(bomb) < 50_000

    converted = convert(bomb, limits=limits)

    assert "cut" in converted.flags
    assert converted.text.startswith("kept")
    assert len(converted.text) <= limits.text_bytes


def test_what_unpacks_is_counted_over_the_whole_tree() -> None:
    member = b"a" * 600_000
    archive = zipped({f"{n}.txt": member for n in range(5)})

    converted = convert(archive, limits=ConversionLimits(unpacked_bytes=2_500_000))

    assert "cut" in converted.flags
    assert converted.text.count("a" * 600_000) == 4


def test_sizes_in_headers_are_not_believed() -> None:
    honest = docx("<w:p><w:r><w:t>words</w:t></w:r></w:p>")
    lying = bytearray(honest)
    position = honest.find(b"PK\x01\x02")
    while position >= 0:
        lying[position + 20 : position + 28] = b"\x01\0\0\0\x01\0\0\0"
        position = honest.find(b"PK\x01\x02", position + 4)

    assert convert(bytes(lying)).text == "words"


def test_sixty_thousand_members_are_cut() -> None:
    parts: dict[str, str | bytes] = {"a.txt": "kept"}
    parts.update((f"{n}", b"") for n in range(60_000))

    converted = convert(zipped(parts))

    assert "cut" in converted.flags
    assert "kept" in converted.text


def test_xml_a_million_deep_is_cut() -> None:
    body = docx(
        "",
        {
            "word/document.xml": f"<w:document {NAMESPACES}><w:p><w:r><w:t>kept</w:t></w:r></w:p>"
            + "<w:p>" * 1_000_000
        },
    )

    converted = convert(body)

    assert "cut" in converted.flags
    assert converted.text == "kept"


def test_boxes_in_boxes_are_cut() -> None:
    body = docx(
        "<w:p><w:r><w:t>kept</w:t></w:r></w:p>"
        + "<w:p><w:txbxContent>" * 300
        + "</w:txbxContent></w:p>" * 300
    )

    assert convert(body).text == "kept"


def test_parts_that_point_at_each_other_are_read_once() -> None:
    chart = f"<c:chartSpace {NAMESPACES}><a:p><a:r><a:t>once</a:t></a:r></a:p></c:chartSpace>"
    body = docx(
        "<w:p/>",
        {
            "word/charts/c1.xml": chart,
            "word/charts/_rels/c1.xml.rels": relationships(
                ("r", "chart", "c2.xml"), ("s", "chart", "c1.xml")
            ),
            "word/charts/c2.xml": chart,
            "word/charts/_rels/c2.xml.rels": relationships(("r", "chart", "c1.xml")),
        },
        rels=[("r1", "chart", "charts/c1.xml")],
    )

    assert convert(body).text.split("\n") == ["once", "once"]


def test_an_archive_that_holds_itself_ends() -> None:
    body = zipped({"a.txt": "x"})
    for _ in range(12):
        body = zipped({"a.zip": body, "b.zip": body})

    converted = convert(body)

    assert "cut" in converted.flags


def test_attachments_beyond_the_limit_are_dropped() -> None:
    archive = zipped({"a.png": b"\x89PNG" + bytes(1000), "b.png": b"\x89PNG" + bytes(10)})

    converted = convert(archive, limits=ConversionLimits(parts_bytes=100))

    assert [name for name, _ in converted.parts] == ["b.png"]
    assert "parts-dropped" in converted.flags


def test_links_beyond_the_limit_are_left_out() -> None:
    field = """<w:fldSimple w:instr='HYPERLINK "http://a.example/{}"'><w:r><w:t>x</w:t></w:r></w:fldSimple>""".format

    converted = convert(
        docx(f"<w:p>{''.join(map(field, range(50)))}</w:p>"), limits=ConversionLimits(links=10)
    )

    assert len(converted.links) == 10
    assert "links-truncated" in converted.flags


def test_html_that_would_stall_a_parser_is_stripped_of_its_tags() -> None:
    body = (
        b"<html><script>no</script>"
        + b"<div>" * 60_000
        + b"deep &amp; kept <a href='http://a.example/?x&amp;y'>x</a><a href=inside>y</a>"
    )

    converted = convert(body)

    assert converted.text.split("\n") == ["deep & kept", "x", "y"]
    assert converted.links == (("http://a.example/?x&y", ""),)
    assert "suspect-html" in converted.flags


def test_names_without_end_are_cut() -> None:
    names = "".join(f"<b{n}/>" for n in range(250_000))

    assert convert(f"<?xml version='1.0'?><a>kept{names}</a>".encode()).flags == ("cut",)


def test_elements_are_counted_where_nothing_is_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingather.extract.documents.xmlevents._MOST_ELEMENTS", 1_000)

    assert (
        convert(docx("<w:p><w:r><w:t>kept</w:t></w:r></w:p>" + "<w:del><w:x/></w:del>" * 600)).text == "kept"
    )


def test_blocks_without_end_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingather.extract.documents.draft._MOST_BLOCKS", 100)

    converted = convert(b"x\n" * 1_000)

    assert converted.flags == ("cut",)
    assert converted.text.count("x") == 101


def test_tokens_of_rtf_without_end_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingather.extract.documents.rtf._MOST_TOKENS", 100)

    assert convert(b"{\\rtf1 kept" + b"{x}" * 1_000).flags == ("cut",)


def test_a_page_tree_that_holds_itself_ends() -> None:
    body = pdf(["x"]).replace(b"/Kids[10 0 R]/Count 1", b"/Kids[2 0 R]/Count 9")

    assert convert_or_refuse(body) in {"", *REASONS}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "empty"),
        (b"\x7fELF\x02\x01\x01", "unsupported"),
        (b"\x89PNG\r\n\x1a\n", "unsupported"),
        (b"\x00\x01\x02\x03random", "unsupported"),
        (b"PK\x03\x04 and nothing else", "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "damaged"),
        (b"\x1f\x8b\x08 broken", "damaged"),
        (b"7z\xbc\xaf\x27\x1c broken", "damaged"),
        (b"<?xml version='1.0'?><a", "damaged"),
    ],
)
def test_what_cannot_be_read_says_why(body: bytes, reason: str) -> None:
    assert refused(body) == reason


@pytest.mark.parametrize(
    "name", ["report.pdf", "report.docx", "report.doc", "report.rtf", "report.eml", "report.zip"]
)
def test_bytes_decide_not_names_or_declared_types(name: str) -> None:
    body = docx("<w:p><w:r><w:t>still a document</w:t></w:r></w:p>")

    assert convert(body, name=name, content_type="application/pdf").text == "still a document"


def convert_or_refuse(body: bytes) -> str:
    """Return nothing for a conversion, the reason for a refusal; anything else is a failure."""
    try:
        convert(body, limits=ConversionLimits(unpacked_bytes=10_000_000, text_bytes=200_000))
    except ExtractError as error:
        return error.reason
    return ""


SAMPLES: list[Callable[[], bytes]] = [
    lambda: docx(
        "<w:p><w:hyperlink r:id='r1'><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>",
        rels=[("r1", "hyperlink", "http://a.example/")],
    ),
    lambda: xlsx("<sheetData><row><c><v>39127</v></c></row></sheetData>"),
    lambda: pptx(["<p:sp><p:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></p:txBody></p:sp>"]),
    lambda: odf("text", "<text:p>x</text:p>"),
    lambda: epub({"a.xhtml": "<p>x</p>"}),
    lambda: pdf(["x", "y"], information="/Title(T)"),
    lambda: (
        rb"{\rtf1\ansi{\fonttbl{\f0\fcharset128 M;}}\f0\'93\'fa \u8364?{\field{\*\fldinst HYPERLINK x}{\fldrslt y}}}"
    ),
    lambda: (
        b"From: a@example.org\nSubject: =?utf-8?q?x?=\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b--\n"
    ),
    lambda: b"<MIFFile 7>\n<Para <ParaLine <String `x'> <Char Tab>>>",
    lambda: zipped(
        {"Index/Document.iwa": iwa((2001, {3: "x" * 500}), (2032, {2: "http://a.example/"}))},
        stored=["Index/Document.iwa"],
    ),
    lambda: hwp(hwp_record(67, "x\x0b123456\x0by".encode("utf-16-le")), flags=0),
    lambda: dbase([("A", "C", 20), ("B", "D", 8)], ["x", "20260101"]),
    lambda: locked_agile(xlsx("<sheetData><row><c><v>39127</v></c></row></sheetData>"), spins=3),
    lambda: (
        b"<?xml version='1.0'?><!DOCTYPE a PUBLIC 'x' 'y' [<!ENTITY b 'c'>]><a><title>T</title><p b='1'>x &amp; y</p></a>"
    ),
    lambda: zlib.compress(b"x"),
]


NAMES = [
    "docx",
    "xlsx",
    "pptx",
    "odt",
    "epub",
    "pdf",
    "rtf",
    "mail",
    "mif",
    "iwork",
    "hwp",
    "dbf",
    "agile",
    "docbook",
    "noise",
]


@pytest.mark.parametrize("make", SAMPLES, ids=NAMES)
def test_cut_and_flipped_documents_are_read_or_refused(make: Callable[[], bytes]) -> None:
    body = make()
    dice = random.Random(7)  # noqa: S311 (reproducible damage)
    for _ in range(60):
        broken = bytearray(body[: dice.randrange(len(body) // 2, len(body) + 1)])
        for _ in range(dice.randrange(6)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        assert convert_or_refuse(bytes(broken)) in {"", *REASONS}


@given(
    st.binary(max_size=300),
    st.sampled_from(
        [
            b"",
            b"{\\rtf1 ",
            b"<MIFFile 7>",
            b"%PDF-1.4\n",
            b"PK\x03\x04",
            b"<?xml version='1.0'?>",
            b"Subject: x\nFrom: y\n",
        ]
    ),
)
def test_arbitrary_bytes_are_read_or_refused(tail: bytes, head: bytes) -> None:
    assert convert_or_refuse(head + tail) in {"", *REASONS}
