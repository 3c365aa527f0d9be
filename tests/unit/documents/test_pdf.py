"""PDF: text, links, form values, comments, outline, attachments, metadata."""

import pytest

from ingather.errors import ExtractError
from ingather.extract.conversion import ConversionLimits, convert
from ingather.extract.documents.pdf import pdf_date
from ingather.testing.documents import pdf


def test_text_of_all_pages_and_how_many() -> None:
    converted = convert(pdf(["first page", "second page"]))

    assert converted.text.split("\n") == ["first page", "second page"]
    assert converted.metadata == {"pages": "2"}


def test_links_of_annotations_with_the_words_under_them_and_addresses_in_the_text() -> None:
    document = pdf(
        ["manual at http://text.example/page"],
        annotations=[
            "<</Type/Annot/Subtype/Link/Rect[70 715 115 735]/A<</S/URI/URI(http://annotation.example/)>>>>",
            "<</Type/Annot/Subtype/Link/Rect[0 0 1 1]/Contents(a hint)/A<</S/URI/URI(http://elsewhere.example/)>>>>",
            "<</Type/Annot/Subtype/Link/Rect[0 0 1 1]/A<</S/JavaScript/JS(x)>>>>",
        ],
    )

    assert convert(document).links == (
        ("http://annotation.example/", "manual"),
        ("http://elsewhere.example/", "a hint"),
        ("http://text.example/page", ""),
    )


def test_form_values_and_comments() -> None:
    document = pdf(
        ["form"],
        annotations=[
            "100 0 R",
            "101 0 R",
            "102 0 R",
            "<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/Contents(a remark)>>",
        ],
        catalog="/AcroForm<</Fields[100 0 R 101 0 R 102 0 R]>>",
        objects={
            100: "<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/TU(Your name)/V(Ada)/Rect[0 0 9 9]>>",
            101: "<</Type/Annot/Subtype/Widget/FT/Btn/T(box)/V/Off/Rect[0 0 9 9]>>",
            102: "<</Type/Annot/Subtype/Widget/FT/Ch/T(choice)/Opt[(red)(blue)]/V(blue)/Rect[0 0 9 9]>>",
        },
    )

    assert convert(document).text.split("\n") == ["form", "Your name: Ada", "choice: blue", "a remark"]


def test_the_outline_and_where_it_leads() -> None:
    document = pdf(
        ["page"],
        catalog="/Outlines 100 0 R",
        objects={
            100: "<</Type/Outlines/First 101 0 R/Last 102 0 R/Count 2>>",
            101: "<</Title(Chapter)/Parent 100 0 R/Next 102 0 R/First 103 0 R/Last 103 0 R/Count 1>>",
            102: "<</Title(Web)/Parent 100 0 R/Next 101 0 R/A<</S/URI/URI(http://outline.example/)>>>>",
            103: "<</Title(Section)/Parent 101 0 R>>",
        },
    )

    converted = convert(document)

    assert converted.text.split("\n") == ["page", "Chapter", "Section", "Web"]
    assert converted.links == (("http://outline.example/", "Web"),)


def test_attached_files_are_read_and_handed_on_wherever_they_hang() -> None:
    stream = "<</Type/EmbeddedFile/Length {}>>stream\n{}\nendstream".format
    document = pdf(
        ["page"],
        annotations=["<</Type/Annot/Subtype/FileAttachment/Rect[0 0 9 9]/FS 103 0 R/Contents(see there)>>"],
        catalog="/Names<</EmbeddedFiles<</Names[(a.txt) 101 0 R]>>>>",
        objects={
            100: stream(9, "the names"),
            101: "<</Type/Filespec/F(a.txt)/UF(a.txt)/EF<</F 100 0 R>>>>",
            102: stream(8, "the note"),
            103: "<</Type/Filespec/F(b.txt)/UF(b.txt)/EF<</F 102 0 R>>>>",
        },
    )

    converted = convert(document)

    assert sorted(converted.parts) == [("a.txt", b"the names"), ("b.txt", b"the note")]
    assert {"the names", "the note", "see there"} <= set(converted.text.split("\n"))


def test_metadata() -> None:
    document = pdf(
        ["page"],
        information="/Title(A title)/Author(Ada)/Subject(S)/Keywords(a, b)/CreationDate(D:20260102030405+01'00')",
        catalog="/Lang(de-AT)",
    )

    assert convert(document).metadata == {
        "title": "A title",
        "author": "Ada",
        "subject": "S",
        "keywords": "a, b",
        "created": "2026-01-02T02:04:05Z",
        "pages": "1",
        "language": "de-AT",
    }


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("D:20070214130500+01'00'", "2007-02-14T12:05:00Z"),
        ("D:20070214130500-0530", "2007-02-14T18:35:00Z"),
        ("D:20070214130500Z", "2007-02-14T13:05:00Z"),
        ("D:2007", "2007-01-01T00:00:00Z"),
        ("20070214", "2007-02-14T00:00:00Z"),
        ("D:20071399", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_dates(written: str, expected: str) -> None:
    assert pdf_date(written) == expected


def test_pages_beyond_the_limit_are_cut() -> None:
    converted = convert(pdf(["one", "two", "three"]), limits=ConversionLimits(pages=2))

    assert converted.text.split("\n") == ["one", "two"]
    assert converted.flags == ("cut",)


def test_pictures_of_text_are_told() -> None:
    assert convert(pdf([""])).flags == ("no-text",)


def test_a_document_behind_a_password_says_so() -> None:
    document = pdf(
        ["x"],
        objects={
            100: "<</Filter/Standard/V 1/R 2/P -4/Length 40"
            "/O<0000000000000000000000000000000000000000000000000000000000000000>"
            "/U<0000000000000000000000000000000000000000000000000000000000000000>>>"
        },
    ).replace(b"/Root 1 0 R", b"/Root 1 0 R/Encrypt 100 0 R/ID[<00><00>]")

    with pytest.raises(ExtractError) as caught:
        convert(document)

    assert caught.value.reason == "encrypted"


def test_what_is_only_called_a_pdf_is_damaged() -> None:
    with pytest.raises(ExtractError) as caught:
        convert(b"%PDF-1.7 nothing follows")

    assert caught.value.reason == "damaged"


def test_xfa_forms_give_template_and_data() -> None:
    template = "<template xmlns='http://www.xfa.org/schema/xfa-template/3.0/'><draw><value><text>Label</text></value></draw><script>no</script></template>"
    data = "<xfa:datasets xmlns:xfa='http://www.xfa.org/schema/xfa-data/1.0/'><xfa:data><name>Ada</name></xfa:data></xfa:datasets>"
    stream = "<</Length {}>>stream\n{}\nendstream".format
    document = pdf(
        ["please wait"],
        catalog="/AcroForm<</Fields[]/XFA[(template) 100 0 R(datasets) 101 0 R]>>",
        objects={100: stream(len(template), template), 101: stream(len(data), data)},
    )

    assert convert(document).text.split("\n") == ["please wait", "Label", "Ada"]


BIG = "small print) Tj 0 -40 Td /F1 24 Tf (The Big) Tj 0 -30 Td (Heading) Tj /F1 12 Tf 0 -40 Td (body text of the page that goes on"
SCALED = "small print) Tj 24 0 0 24 72 600 Tm /F1 1 Tf (The Big Heading) Tj /F1 12 Tf 1 0 0 1 72 500 Tm (body text of the page that goes on"


@pytest.mark.parametrize("page", [BIG, SCALED], ids=["by-font", "by-matrix"])
@pytest.mark.parametrize(
    "given", ["", "report.doc", "Microsoft Word - final v2", "untitled", "C:\\\\Temp\\\\A b.indd"]
)
def test_what_stands_largest_is_the_title_of_a_document_that_has_none(page: str, given: str) -> None:
    assert convert(pdf([page, "x"], information=f"/Title({given})")).metadata["title"] == "The Big Heading"


def test_a_title_that_is_given_stays_and_nothing_is_made_up() -> None:
    assert convert(pdf([BIG], information="/Title(Given)")).metadata["title"] == "Given"
    assert "title" not in convert(pdf(["all of one size"])).metadata
