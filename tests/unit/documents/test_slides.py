"""Presentations: slides in the order of the show, notes, comments, masters, links."""

from ingather.extract.conversion import convert
from ingather.testing.documents import NAMESPACES, pptx, relationships


def shape(text: str, *, placeholder: str = "", properties: str = "") -> str:
    ph = f"<p:nvPr><p:ph type='{placeholder}'/></p:nvPr>" if placeholder else "<p:nvPr/>"
    return (
        f"<p:sp><p:nvSpPr><p:cNvPr id='1' name='Shape 1'>{properties}</p:cNvPr>{ph}</p:nvSpPr>"
        f"<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def part(element: str, content: str) -> str:
    return f"<p:{element} {NAMESPACES}><p:cSld><p:spTree>{content}</p:spTree></p:cSld></p:{element}>"


def test_slides_come_in_the_order_of_the_show() -> None:
    document = pptx(
        [shape("shown second"), shape("shown first")],
        {
            "ppt/presentation.xml": f"<p:presentation {NAMESPACES}><p:sldIdLst><p:sldId id='257' r:id='s1'/>"
            "<p:sldId id='256' r:id='s0'/></p:sldIdLst></p:presentation>"
        },
    )

    assert convert(document).text.split("\n") == ["shown first", "shown second"]


def test_titles_are_headings_and_slide_numbers_are_not_text() -> None:
    converted = convert(
        pptx([shape("The title", placeholder="ctrTitle") + shape("1", placeholder="sldNum") + shape("body")])
    )

    assert "<h2>The title</h2>" in converted.html
    assert converted.text == "The title\nbody"


def test_notes_comments_tables_and_charts_belong_to_their_slide() -> None:
    table = (
        "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></a:txBody></a:tc>"
        "<a:tc><a:txBody><a:p><a:r><a:t>y</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )
    document = pptx(
        [table, shape("next slide")],
        {
            "ppt/notesSlides/notesSlide1.xml": part(
                "notes", shape("1", placeholder="sldImg") + shape("speak slowly", placeholder="body")
            ),
            "ppt/comments/comment1.xml": f"<p:cmLst {NAMESPACES}><p:cm><p:text>a remark</p:text></p:cm></p:cmLst>",
            "ppt/charts/chart1.xml": f"<c:chartSpace {NAMESPACES}><c:title><a:p><a:r><a:t>A chart</a:t></a:r></a:p></c:title></c:chartSpace>",
        },
        rels=[
            ("r1", "notesSlide", "../notesSlides/notesSlide1.xml"),
            ("r2", "comments", "../comments/comment1.xml"),
            ("r3", "chart", "../charts/chart1.xml"),
        ],
    )

    assert convert(document).text.split("\n") == ["x y", "A chart", "speak slowly", "a remark", "next slide"]


def test_masters_give_what_stands_outside_of_their_placeholders() -> None:
    document = pptx(
        [shape("slide")],
        {
            "ppt/_rels/presentation.xml.rels": relationships(
                ("s0", "slide", "slides/slide1.xml"), ("m", "slideMaster", "slideMasters/slideMaster1.xml")
            ),
            "ppt/slideMasters/slideMaster1.xml": part(
                "sldMaster", shape("Click to edit", placeholder="title") + shape("ACME Corp.")
            ),
            "ppt/slideMasters/_rels/slideMaster1.xml.rels": relationships(
                ("l", "slideLayout", "../slideLayouts/slideLayout1.xml")
            ),
            "ppt/slideLayouts/slideLayout1.xml": part(
                "sldLayout", shape("Click too", placeholder="body") + shape("internal use")
            ),
        },
    )

    assert convert(document).text.split("\n") == ["slide", "ACME Corp.", "internal use"]


def test_links_of_runs_shapes_and_hovering() -> None:
    run = (
        "<p:sp><p:txBody><a:p><a:r><a:rPr><a:hlinkClick r:id='r1'/></a:rPr><a:t>click me</a:t></a:r>"
        "<a:r><a:t> or not</a:t></a:r></a:p></p:txBody></p:sp>"
    )
    document = pptx(
        [run + shape("boxed", properties="<a:hlinkClick r:id='r2' tooltip='tip'/><a:hlinkHover r:id='r3'/>")],
        rels=[
            ("r1", "hyperlink", "http://run.example/"),
            ("r2", "hyperlink", "http://shape.example/"),
            ("r3", "hyperlink", "http://hover.example/"),
        ],
    )

    assert convert(document).links == (
        ("http://run.example/", "click me"),
        ("http://shape.example/", "tip"),
        ("http://hover.example/", ""),
    )
