"""OpenDocument: text, sheets, slides, packed and flat."""

import pytest

from ingather.errors import ExtractError
from ingather.extract.conversion import ConversionLimits, convert
from ingather.testing.documents import odf, zipped


def test_text_with_headings_spaces_notes_and_annotations() -> None:
    body = (
        '<text:h text:outline-level="2">Title</text:h>'
        "<text:p>one<text:s text:c='3'/>two<text:tab/>three<text:line-break/>four</text:p>"
        "<text:p>noted<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>the note</text:p></text:note-body></text:note></text:p>"
        "<text:p>said<office:annotation><dc:creator>Ada</dc:creator><dc:date>2026-01-01</dc:date><text:p>a remark</text:p></office:annotation></text:p>"
    )

    converted = convert(odf("text", body))

    assert converted.text.split("\n") == [
        "Title",
        "one two three",
        "four",
        "the note",
        "noted",
        "Ada",
        "a remark",
        "said",
    ]
    assert "<h2>Title</h2>" in converted.html


def test_tracked_deletions_are_left_out() -> None:
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>deleted</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes><text:p>kept</text:p>"
    )

    assert convert(odf("text", body)).text == "kept"


def test_headers_and_footers_of_the_page_style() -> None:
    styles = (
        "<office:master-styles><style:master-page><style:header><text:p>the header</text:p></style:header>"
        "<style:footer><text:p>the footer</text:p></style:footer></style:master-page></office:master-styles>"
    )

    assert convert(odf("text", "<text:p>body</text:p>", styles=styles)).text.split("\n") == [
        "body",
        "the header",
        "the footer",
    ]


def test_links_with_their_anchors() -> None:
    body = '<text:p>see <text:a xlink:href="http://a.example/">the <text:span>manual</text:span></text:a><text:a xlink:href="#x">y</text:a></text:p>'

    assert convert(odf("text", body)).links == (("http://a.example/", "the manual"),)


def test_metadata() -> None:
    meta = (
        "<dc:title>T</dc:title><meta:initial-creator>Ada</meta:initial-creator><dc:creator>Eve</dc:creator><meta:keyword>a</meta:keyword>"
        "<meta:keyword>b</meta:keyword><meta:creation-date>2026-01-02T03:04:05</meta:creation-date><dc:language>de</dc:language>"
        '<meta:document-statistic meta:page-count="3"/>'
    )

    assert convert(odf("text", "<text:p>x</text:p>", meta=meta)).metadata == {
        "title": "T",
        "author": "Ada",
        "last-author": "Eve",
        "created": "2026-01-02T03:04:05",
        "language": "de",
        "pages": "3",
        "keywords": "a, b",
    }


def test_a_sheet_with_names_repeated_cells_dates_and_formulas() -> None:
    def cell(text: str, attributes: str = "") -> str:
        return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"

    body = (
        '<table:table table:name="Budget"><table:table-row table:number-rows-repeated="1048576">'
        + cell("a", 'table:number-columns-repeated="16384"')
        + cell("02/14/07", 'office:value-type="date" office:date-value="2007-02-14"')
        + cell("go", 'table:formula="of:=HYPERLINK(&quot;http://a.example/&quot;)"')
        + "</table:table-row></table:table>"
    )

    converted = convert(odf("spreadsheet", body))

    assert converted.text.split("\n") == ["Budget", "a 02/14/07 2007-02-14 go"]
    assert converted.links == (("http://a.example/", ""),)


def test_slides_with_notes_and_alternative_texts() -> None:
    body = (
        '<draw:page draw:name="Opening"><draw:frame><draw:text-box><text:p>The slide</text:p></draw:text-box></draw:frame>'
        "<draw:frame><draw:image/><svg:title>door</svg:title><svg:desc>a red door</svg:desc></draw:frame>"
        "<presentation:notes><draw:frame><draw:text-box><text:p>speak slowly</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>"
    )

    assert convert(odf("presentation", body)).text.split("\n") == [
        "Opening",
        "The slide",
        "door",
        "a red door",
        "speak slowly",
    ]


def test_a_flat_document_is_read_like_a_packed_one() -> None:
    meta = "<dc:title>T</dc:title>"
    body = '<text:p>x <text:a xlink:href="http://a.example/">y</text:a></text:p>'

    packed, flat = convert(odf("text", body, meta=meta)), convert(odf("text", body, meta=meta, flat=True))

    assert (flat.text, flat.links, flat.metadata) == (packed.text, packed.links, packed.metadata)


def test_an_encrypted_document_says_so() -> None:
    document = zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": b"\x00garbage",
            "META-INF/manifest.xml": "<m:manifest xmlns:m='m'><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>",
        }
    )

    with pytest.raises(ExtractError) as caught:
        convert(document)

    assert caught.value.reason == "encrypted"


OLD = '<!DOCTYPE office:document-content PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "office.dtd">'
MATH = '<!DOCTYPE math:math PUBLIC "-//OpenOffice.org//DTD Modified W3C MathML 1.01//EN" "math.dtd">'
FORMULA = (
    f'<?xml version="1.0"?>{MATH}<math:math xmlns:math="http://www.w3.org/1998/Math/MathML"><math:semantics><math:mrow>'
    "<math:mi>E</math:mi><math:mo>=</math:mo><math:msup><math:mi>mc</math:mi><math:mn>2</math:mn></math:msup></math:mrow>"
    '<math:annotation math:encoding="StarMath 5.0">E = mc^2</math:annotation></math:semantics></math:math>'
)


@pytest.mark.parametrize("kind", ["writer", "impress", "calc", "draw", "writer.template"])
def test_documents_of_the_forerunner_name_their_document_type(kind: str) -> None:
    content = (
        f'<?xml version="1.0"?>{OLD}<office:document-content xmlns:office="http://openoffice.org/2000/office"'
        ' xmlns:text="http://openoffice.org/2000/text"><office:body><text:h text:level="1">Plan</text:h><text:p>of the house</text:p>'
        "</office:body></office:document-content>"
    )
    manifest = '<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd"><manifest:manifest xmlns:manifest="m"/>'
    body = zipped(
        {
            "mimetype": f"application/vnd.sun.xml.{kind}",
            "content.xml": content,
            "META-INF/manifest.xml": manifest,
        },
        stored=["mimetype"],
    )

    converted = convert(body)

    assert converted.text.split("\n") == ["Plan", "of the house"]
    assert converted.flags == ()


def test_a_formula_is_text_as_a_document_and_inside_one() -> None:
    alone = zipped(
        {"mimetype": "application/vnd.oasis.opendocument.formula", "content.xml": FORMULA},
        stored=["mimetype"],
    )
    inside = odf(
        "text",
        "<text:p>Energy<draw:object xlink:href='./Object 1'/></text:p>",
        parts={"Object 1/content.xml": FORMULA},
    )

    assert convert(alone).text.split("\n") == ["E = mc^2", "E = mc 2"]
    assert convert(inside).text.split("\n") == ["Energy", "E = mc^2", "E = mc 2"]
    assert convert(inside).flags == ()


@pytest.mark.parametrize(
    ("given", "title"),
    [("", "Roses"), ("<dc:title>plan.odt</dc:title>", "Roses"), ("<dc:title>Given</dc:title>", "Given")],
)
def test_the_first_heading_stands_in_for_a_title_that_is_none(given: str, title: str) -> None:
    body = '<text:p>before</text:p><text:h text:outline-level="1">Roses</text:h><text:h text:outline-level="1">Lilies</text:h>'

    assert convert(odf("text", body, meta=given)).metadata["title"] == title


@pytest.mark.parametrize("flat", [False, True])
def test_numbers_of_lists_and_headings_are_text(*, flat: bool) -> None:
    def level(depth: int, form: str, more: str = "") -> str:
        return f'<text:list-level-style-number text:level="{depth}" style:num-format="{form}" style:num-suffix="." {more}/>'

    def listed(*items: str, more: str = "") -> str:
        inner = "".join(f"<text:list-item>{item}</text:list-item>" for item in items)
        return f"<text:list {more}>{inner}</text:list>"

    shown = 'text:display-levels="2"'
    styles = (
        f'<text:list-style style:name="L1">{level(1, "1")}{level(2, "a", shown)}</text:list-style>'
        '<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/></text:list-style>'
        '<text:outline-style style:name="Outline"><text:outline-level-style text:level="1" style:num-format="I" style:num-prefix="Part "/></text:outline-style>'
    )
    one = 'text:style-name="L1"'
    body = (
        '<text:h text:outline-level="1">Soil</text:h>'
        + listed("<text:p>one</text:p><text:p>more</text:p>", "<text:p>two</text:p>" + listed("<text:p>under</text:p>", "<text:p>next</text:p>"), more=one)
        + listed("<text:p>dot</text:p>", more='text:style-name="L2"')
        + listed("<text:p>three</text:p>", more=one + ' text:continue-numbering="true"')
        + listed("<text:p>anew</text:p>", more=one)
        + '<text:h text:outline-level="1">Water</text:h><text:h text:outline-level="2">Rain</text:h>'
    )  # fmt: skip
    document = odf("text", body, styles=styles, flat=flat)

    assert convert(document).text.split("\n") == [
        "Part I Soil", "1. one", "more", "2. two", "2.a. under", "2.b. next", "dot", "3. three", "1. anew", "Part II Water", "Rain",
    ]  # fmt: skip


def test_styles_of_lists_are_read_without_unpacking_the_text_twice() -> None:
    body = "<text:p>kept</text:p>" + "<text:p>" + "x" * 1_000_000 + "</text:p>"

    for limit, flags in ((1_200_000, ()), (500_000, ("cut",))):
        converted = convert(odf("text", body), limits=ConversionLimits(unpacked_bytes=limit))
        assert converted.text.startswith("kept")
        assert converted.flags == flags
