"""Word documents: every story, every kind of link, nothing that was deleted."""

from ingather.extract.conversion import convert
from ingather.testing.documents import NAMESPACES, docx, relationships, zipped


def paragraph(text: str, *, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


def lines(body: str, **parts: object) -> list[str]:
    return convert(docx(body, **parts)).text.split("\n")  # type: ignore[arg-type]


def test_paragraphs_tabs_breaks_and_hyphens() -> None:
    body = (
        "<w:p><w:pPr><w:tabs><w:tab w:val='left' w:pos='1'/></w:tabs></w:pPr>"
        "<w:r><w:t>one</w:t><w:tab/><w:t xml:space='preserve'> two</w:t></w:r></w:p>"
        "<w:p><w:r><w:t>three</w:t><w:br/><w:t>four</w:t></w:r></w:p>"
        "<w:p><w:r><w:t>non</w:t><w:noBreakHyphen/><w:t>breaking, soft</w:t><w:softHyphen/><w:t>ened</w:t></w:r></w:p>"
    )

    assert lines(body) == ["one two", "three", "four", "non-breaking, softened"]


def test_headers_come_first_then_notes_comments_and_footers() -> None:
    def part(element: str, text: str) -> str:
        return f"<w:{element} {NAMESPACES}>{paragraph(text)}</w:{element}>"

    def note(element: str, text: str) -> str:
        return f"<w:{element}s {NAMESPACES}><w:{element} w:id='1' w:author='Ada'>{paragraph(text)}</w:{element}></w:{element}s>"

    found = lines(
        paragraph("body"),
        parts={
            "word/header1.xml": part("hdr", "the header"),
            "word/footer1.xml": part("ftr", "the footer"),
            "word/footnotes.xml": note("footnote", "a footnote"),
            "word/endnotes.xml": note("endnote", "an endnote"),
            "word/comments.xml": note("comment", "a comment"),
        },
        rels=[
            ("r1", "footer", "footer1.xml"),
            ("r2", "header", "header1.xml"),
            ("r3", "footnotes", "footnotes.xml"),
            ("r4", "endnotes", "endnotes.xml"),
            ("r5", "comments", "comments.xml"),
        ],
    )

    assert found[0] == "the header"
    assert found[1] == "body"
    assert set(found[2:]) == {"a footnote", "an endnote", "Ada: a comment", "the footer"}


def test_deleted_and_moved_text_is_left_out_inserted_text_is_not() -> None:
    body = (
        "<w:p><w:ins><w:r><w:t>inserted </w:t></w:r></w:ins><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t>from here</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>to here</w:t></w:r></w:moveTo></w:p>"
    )

    assert lines(body) == ["inserted to here"]


def test_the_choice_is_read_or_else_the_fallback_never_both() -> None:
    def box(text: str) -> str:
        return f"<w:txbxContent>{paragraph(text)}</w:txbxContent>"

    body = (
        "<w:p><w:r><w:t>before </w:t></w:r><w:r><mc:AlternateContent>"
        f"<mc:Choice Requires='wps'><wps:txbx>{box('boxed')}</wps:txbx></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{box('boxed')}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
        "<w:r><w:t>after</w:t></w:r></w:p>"
        f"<w:p><w:r><mc:AlternateContent><mc:Fallback>{box('only fallback')}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )

    assert lines(body) == ["boxed", "before after", "only fallback"]


def test_alternative_text_and_word_art_are_text() -> None:
    body = (
        "<w:p><w:r><w:drawing><wp:docPr id='1' name='Picture 1' descr='a red door' title='door'/></w:drawing></w:r></w:p>"
        "<w:p><w:r><w:pict><v:shape alt='legacy'><v:textpath string='CONFIDENTIAL'/></v:shape></w:pict></w:r></w:p>"
    )

    assert lines(body) == ["door", "a red door", "legacy", "CONFIDENTIAL"]


def test_a_table_row_is_a_line() -> None:
    cell = "<w:tc>{}</w:tc>".format
    row = f"<w:tr>{cell(paragraph('a'))}{cell(paragraph('b') + paragraph('c'))}</w:tr>"

    assert lines(f"<w:tbl>{row}{row}</w:tbl>{paragraph('after')}") == ["a b c", "a b c", "after"]


def test_headings_by_style_name_and_by_outline_level() -> None:
    styles = (
        f"<w:styles {NAMESPACES}><w:style w:type='paragraph' w:styleId='X1'><w:name w:val='heading 2'/></w:style>"
        "<w:style w:type='paragraph' w:styleId='X2'><w:name w:val='Mine'/><w:pPr><w:outlineLvl w:val='2'/></w:pPr></w:style></w:styles>"
    )
    document = docx(
        paragraph("second", style="X1") + paragraph("third", style="X2") + paragraph("text", style="X3"),
        {"word/styles.xml": styles},
        rels=[("r1", "styles", "styles.xml")],
    )

    html = convert(document).html

    assert "<h2>second</h2>" in html
    assert "<h3>third</h3>" in html
    assert "<p>text</p>" in html


def test_links_by_element_with_anchor_and_place() -> None:
    run = "<w:r><w:t>{}</w:t></w:r>".format
    document = docx(
        f"<w:p><w:hyperlink r:id='r1' w:anchor='part'>{run('the ')}{run('manual')}</w:hyperlink>"
        f"<w:hyperlink w:anchor='here'>{run('inside')}</w:hyperlink></w:p>",
        rels=[("r1", "hyperlink", "http://manual.example/")],
    )

    assert convert(document).links == (("http://manual.example/#part", "the manual"),)


def test_links_by_field_codes_simple_and_complex() -> None:
    mark = "<w:r><w:fldChar w:fldCharType='{}'/></w:r>".format
    body = (
        """<w:p><w:fldSimple w:instr=' HYPERLINK "http://simple.example/" '><w:r><w:t>simple</w:t></w:r></w:fldSimple></w:p>"""
        f"<w:p>{mark('begin')}<w:r><w:instrText> HYPERLINK </w:instrText></w:r>"
        """<w:r><w:instrText>"http://complex.example/" \\l "place" \\o "tip"</w:instrText></w:r>"""
        f"{mark('separate')}<w:r><w:t>complex</w:t></w:r>{mark('end')}"
        f"{mark('begin')}<w:r><w:instrText>PAGE</w:instrText></w:r>{mark('separate')}<w:r><w:t>7</w:t></w:r>{mark('end')}</w:p>"
    )

    converted = convert(docx(body))

    assert converted.links == (
        ("http://simple.example/", "simple"),
        ("http://complex.example/#place", "complex"),
    )
    assert "HYPERLINK" not in converted.text


def test_links_that_only_relationships_know() -> None:
    document = docx(
        paragraph("x"),
        {
            "word/_rels/settings.xml.rels": relationships(
                ("t", "attachedTemplate", "http://template.example/t.dotx")
            )
        },
        rels=[
            ("r1", "hyperlink", "http://shape.example/"),
            ("r2", "subDocument", "http://sub.example/a.docx"),
        ],
    )

    assert {url for url, _ in convert(document).links} == {
        "http://shape.example/",
        "http://sub.example/a.docx",
        "http://template.example/t.dotx",
    }


def test_charts_and_diagrams_give_their_words_but_not_the_cached_numbers() -> None:
    chart = (
        f"<c:chartSpace {NAMESPACES}><c:title><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:title>"
        "<c:ser><c:tx><c:strRef><c:strCache><c:pt><c:v>North</c:v></c:pt></c:strCache></c:strRef></c:tx>"
        "<c:cat><c:strRef><c:strCache><c:pt><c:v>May</c:v></c:pt></c:strCache></c:strRef></c:cat>"
        "<c:val><c:numRef><c:numCache><c:pt><c:v>4711</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:chartSpace>"
    )
    diagram = f"<d:dataModel xmlns:d='x' {NAMESPACES}><d:pt><d:t><a:p><a:r><a:t>step</a:t></a:r></a:p></d:t></d:pt></d:dataModel>"

    found = lines(
        paragraph("x"),
        parts={"word/charts/chart1.xml": chart, "word/diagrams/data1.xml": diagram},
        rels=[("r1", "chart", "charts/chart1.xml"), ("r2", "diagramData", "diagrams/data1.xml")],
    )

    assert found == ["x", "Sales", "North", "May", "step"]


def test_embedded_documents_are_read_and_handed_on() -> None:
    inner = docx(paragraph("inner text"))

    converted = convert(
        docx(
            paragraph("outer"),
            {"word/embeddings/inner.docx": inner},
            rels=[("r1", "package", "embeddings/inner.docx")],
        )
    )

    assert converted.text.split("\n") == ["outer", "inner.docx", "inner text"]
    assert converted.parts == (("inner.docx", inner),)


def test_metadata_of_the_document_not_of_what_is_embedded() -> None:
    core = (
        "<cp:coreProperties xmlns:cp='cp' xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:dcterms='http://purl.org/dc/terms/'>"
        "<dc:title>{}</dc:title><dc:creator>Ada Lovelace</dc:creator><cp:keywords>a, b</cp:keywords>"
        "<dcterms:created>2026-01-02T03:04:05Z</dcterms:created><dc:language>de-AT</dc:language></cp:coreProperties>"
    )
    app = "<Properties xmlns='x'><Pages>3</Pages><Company>Analytical</Company></Properties>"
    inner = docx(paragraph("inner"), {"docProps/core.xml": core.format("Inner")})

    metadata = convert(
        docx(
            paragraph("outer"),
            {
                "docProps/core.xml": core.format("Outer"),
                "docProps/app.xml": app,
                "word/embeddings/i.docx": inner,
            },
            rels=[("r1", "package", "embeddings/i.docx")],
        )
    ).metadata

    assert metadata == {
        "title": "Outer",
        "author": "Ada Lovelace",
        "keywords": "a, b",
        "created": "2026-01-02T03:04:05Z",
        "language": "de-AT",
        "pages": "3",
        "company": "Analytical",
    }


def test_strict_documents_and_other_prefixes_are_read_by_local_name() -> None:
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    document = docx(
        "",
        {
            "word/document.xml": f"<q:document xmlns:q='{strict}' xmlns:z='http://purl.oclc.org/ooxml/officeDocument/relationships'>"
            "<q:body><q:p><q:hyperlink z:id='r1'><q:r><q:t>strict</q:t></q:r></q:hyperlink></q:p></q:body></q:document>"
        },
        rels=[("r1", "hyperlink", "http://strict.example/")],
    )

    converted = convert(document)

    assert converted.text == "strict"
    assert converted.links == (("http://strict.example/", "strict"),)


def test_names_in_the_package_may_be_of_any_case_and_with_back_slashes() -> None:
    document = zipped(
        {
            "_RELS\\.RELS": relationships(("m", "officeDocument", "/Word/Document.XML")),
            "WORD\\document.xml": f"<w:document {NAMESPACES}><w:body>{paragraph('found')}</w:body></w:document>",
        }
    )

    assert convert(document).text == "found"


def test_flat_documents_are_read() -> None:
    flat = (
        "<?xml version='1.0'?><?mso-application progid='Word.Document'?>"
        "<pkg:package xmlns:pkg='http://schemas.microsoft.com/office/2006/xmlPackage'>"
        f"<pkg:part pkg:name='/_rels/.rels'><pkg:xmlData>{relationships(('m', 'officeDocument', 'word/document.xml'))}</pkg:xmlData></pkg:part>"
        f"<pkg:part pkg:name='/word/_rels/document.xml.rels'><pkg:xmlData>{relationships(('r1', 'hyperlink', 'http://flat.example/'))}"
        "</pkg:xmlData></pkg:part>"
        f"<pkg:part pkg:name='/word/document.xml'><pkg:xmlData><w:document {NAMESPACES}><w:body><w:p><w:hyperlink r:id='r1'>"
        "<w:r><w:t>flät</w:t></w:r></w:hyperlink></w:p></w:body></w:document></pkg:xmlData></pkg:part></pkg:package>"
    )

    converted = convert(flat.encode())

    assert converted.text == "flät"
    assert converted.links == (("http://flat.example/", "flät"),)


def test_word_2003_xml_is_read() -> None:
    body = (
        "<w:wordDocument xmlns:w='http://schemas.microsoft.com/office/word/2003/wordml'><w:body>"
        "<w:p><w:hlink w:dest='http://old.example/'><w:r><w:t>old</w:t></w:r></w:hlink></w:p></w:body></w:wordDocument>"
    )

    converted = convert(b"<?xml version='1.0'?>" + body.encode())

    assert converted.text == "old"
    assert converted.links == (("http://old.example/", "old"),)


def test_foreign_content_in_the_middle_is_read_in_its_place() -> None:
    document = docx(
        paragraph("before") + "<w:altChunk r:id='r1'/>" + paragraph("after"),
        {"word/afchunk.rtf": rb"{\rtf1 between}"},
        rels=[("r1", "aFChunk", "afchunk.rtf")],
    )

    assert convert(document).text.split("\n") == ["before", "between", "after"]


def test_unbalanced_fields_do_not_swallow_what_follows() -> None:
    mark = "<w:r><w:fldChar w:fldCharType='{}'/></w:r>".format

    assert lines(
        f"<w:p>{mark('end')}{mark('separate')}{mark('begin')}</w:p>{paragraph('x')}{mark('separate')}"
    ) == ["x"]


def _level(depth: int, form: str, text: str, start: int = 1) -> str:
    return f'<w:lvl w:ilvl="{depth}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'


def _item(words: str, properties: str) -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>"


def _in_list(number: int, depth: int = 0) -> str:
    return f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'


def test_numbers_of_numbered_paragraphs_are_text() -> None:
    numbering = (
        f'<w:numbering {NAMESPACES}><w:abstractNum w:abstractNumId="0">{_level(0, "decimal", "%1.", 3)}{_level(1, "lowerLetter", "%1.%2)")}</w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="1">{_level(0, "bullet", "*")}</w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="2">{_level(0, "upperRoman", "Article %1:")}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
        '<w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num><w:num w:numId="4"><w:abstractNumId w:val="0"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num></w:numbering>'
    )
    styles = f'<w:styles {NAMESPACES}><w:style w:type="paragraph" w:styleId="A"><w:name w:val="Articles"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style></w:styles>'
    body = (
        _item("one", _in_list(1))
        + _item("under", _in_list(1, 1))
        + _item("again", _in_list(1, 1))
        + _item("two", _in_list(1))
        + _item("anew", _in_list(1, 1))
        + _item("dot", _in_list(2))
        + _item("law", '<w:pStyle w:val="A"/>')
        + _item("law", '<w:pStyle w:val="A"/>')
        + _item("none", '<w:pStyle w:val="A"/><w:numPr><w:numId w:val="0"/></w:numPr>')
        + _item("seventh", _in_list(4))
    )
    document = docx(
        body,
        {"word/numbering.xml": numbering, "word/styles.xml": styles},
        rels=[("n", "numbering", "numbering.xml"), ("s", "styles", "styles.xml")],
    )

    assert convert(document).text.split("\n") == [
        "3. one",
        "3.a) under",
        "3.b) again",
        "4. two",
        "4.a) anew",
        "dot",
        "Article I: law",
        "Article II: law",
        "none",
        "7. seventh",
    ]
