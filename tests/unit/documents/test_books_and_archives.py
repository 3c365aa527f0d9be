"""EPUB, archives, MIF, plain text, tables, HTML."""

import bz2
import gzip
import io
import lzma
import tarfile

import pytest

from ingather.errors import ExtractError
from ingather.extract.conversion import ConversionLimits, convert
from ingather.testing.documents import docx, epub, relationships, zipped


def words(text: str) -> bytes:
    return docx(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")


# --- EPUB -----------------------------------------------------------------------------------------


def test_a_book_is_read_in_the_order_of_its_spine() -> None:
    book = epub(
        {
            "b.xhtml": "<h1>First</h1><p>see <a href='http://a.example/'>there</a> and <a href='a.xhtml'>next</a></p>",
            "a.xhtml": "<p>last</p>",
        },
        metadata="<dc:title>T</dc:title><dc:creator>Ada</dc:creator><dc:language>de</dc:language>"
        "<meta property='dcterms:modified'>2026-01-02T03:04:05Z</meta>",
    )

    converted = convert(book)

    assert converted.text.split("\n") == ["First", "see there and next", "last"]
    assert converted.links == (("http://a.example/", "there"),)
    assert converted.metadata == {
        "title": "T",
        "author": "Ada",
        "language": "de",
        "modified": "2026-01-02T03:04:05Z",
    }
    assert "<h1>First</h1>" in converted.html


def test_a_book_without_a_usable_package_document_is_read_by_name() -> None:
    book = zipped(
        {
            "mimetype": "application/epub+zip",
            "2.xhtml": "<html><body>two</body></html>",
            "1.xhtml": "<html><body>one</body></html>",
        }
    )

    assert convert(book).text.split("\n") == ["one", "two"]


def test_a_book_without_pages_is_damaged() -> None:
    with pytest.raises(ExtractError) as caught:
        convert(zipped({"mimetype": "application/epub+zip", "x.txt": "x"}))

    assert caught.value.reason == "damaged"


# --- archives -------------------------------------------------------------------------------------


def test_members_of_an_archive_are_read_by_what_they_are_and_the_rest_handed_on() -> None:
    archive = zipped(
        {"docs/": b"", "docs/a.bin": words("hidden in bin"), "b.txt": "plain", "c.png": b"\x89PNG\r\n"}
    )

    converted = convert(archive)

    assert converted.text.split("\n") == ["docs/a.bin", "hidden in bin", "b.txt", "plain", "c.png"]
    assert converted.parts == (("c.png", b"\x89PNG\r\n"),)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"])
def test_a_compressed_file_is_what_is_inside(pack: "type[bytes]") -> None:
    assert convert(pack(words("inside")), name="a.docx.gz").text.endswith("inside")


def test_a_tar_archive_gives_its_files_and_not_its_links() -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        member = tarfile.TarInfo("a.docx")
        data = words("in the tar")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("passwd")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)

    assert convert(target.getvalue()).text.split("\n") == ["a.docx", "in the tar"]
    assert convert(gzip.compress(target.getvalue()), name="x.tgz").text.endswith("in the tar")


def test_archives_in_archives_end_at_the_depth_limit() -> None:
    body = words("deep")
    for _ in range(4):
        body = zipped({"inner.zip": body})

    assert convert(body).text.endswith("deep")
    cut = convert(body, limits=ConversionLimits(depth=2))
    assert "deep" not in cut.text
    assert cut.flags == ("cut",)


def test_an_archive_cut_off_gives_what_is_left() -> None:
    whole = zipped({"a.txt": "first member", "b.txt": "second member"})

    converted = convert(whole[: whole.index(b"b.txt") + 3])

    assert converted.text.split("\n")[:2] == ["a.txt", "first member"]
    assert "partial" in converted.flags


def test_something_in_front_of_an_archive_moves_its_offsets() -> None:
    from ingather.extract.documents.limits import Budget
    from ingather.extract.documents.package import Package

    package = Package(b"#!/bin/sh\n" + zipped({"a.txt": "found"}), Budget(ConversionLimits()))

    assert package.read("A.TXT") == b"found"


def test_encrypted_members_are_told() -> None:
    archive = bytearray(zipped({"a.txt": "secret", "b.txt": "open"}))
    for signature, flags_at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        archive[archive.index(signature) + flags_at] |= 1

    converted = convert(bytes(archive))

    assert "part-encrypted" in converted.flags
    assert "open" in converted.text


# --- MIF ------------------------------------------------------------------------------------------

MIF = rb"""<MIFFile 7.00> # Generated
<ColorCatalog <Color <ColorTag `Black'>>>
<PDFDocInfo <Key `Author'> <Value `Ada'> <Key `Title'> <Value `Engines'>>
<TextFlow <TFTag `A'>
 <Para <PgfTag `Heading1'> <PgfNumString `1.\t'>
  <ParaLine <String `First part'>>
 >
 <Para <PgfTag `Body'>
  <ParaLine <TextRectID 5> <String `It\xd5 s \> here'> <Char Tab> <String `Caf\x8e '> <Char EmDash>
   <Marker <MType 8> <MTypeName `Hypertext'> <MText `message URL http://mif.example/'>> >
  <ParaLine <String `and goes on'>>
 >
> # end
"""


def test_a_frame_maker_document_is_read() -> None:
    converted = convert(MIF)

    assert converted.text.split("\n") == ["1. First part", "It\u2019s > here Café\u2014 and goes on"]
    assert converted.links == (("http://mif.example/", ""),)
    assert converted.metadata == {"author": "Ada", "title": "Engines"}
    assert "<h1>1. First part</h1>" in converted.html


def test_a_recent_frame_maker_document_is_utf_8() -> None:
    body = "<MIFFile 2015>\n<Para <ParaLine <String `Größe 日本'>>>".encode()

    assert convert(body).text == "Größe 日本"


# --- text, tables, pages ------------------------------------------------------------------------


def test_plain_text_is_decoded_and_its_addresses_become_links() -> None:
    converted = convert(
        "Grüße\r\n\r\nsee (http://a.example/x_(y)), http://b.example/.".encode("utf-16"), name="a.txt"
    )

    assert converted.text.split("\n") == ["Grüße", "see (http://a.example/x_(y)), http://b.example/."]
    assert converted.links == (("http://a.example/x_(y)", ""), ("http://b.example/", ""))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_gives_its_fields(delimiter: str) -> None:
    body = (
        delimiter.join(["name", '"say ""hi"""', "x"])
        + "\r\n"
        + delimiter.join(["a", '"two\nlines"', "y"])
        + "\r\n"
    )

    assert convert(body.encode(), name="t.csv", content_type="text/csv").text.split("\n") == [
        'name say "hi" x',
        "a two",
        "lines y",
    ]


def test_html_is_read_by_the_page_reader() -> None:
    converted = convert(
        b"<!DOCTYPE html><html lang=de><title>T</title><h2>Kopf</h2><p>Text <a href='http://a.example/'>da</a>"
    )

    assert converted.text.split("\n") == ["Kopf", "Text da"]
    assert converted.metadata["title"] == "T"
    assert converted.metadata["language"] == "de"
    assert converted.links == (("http://a.example/", "da"),)


def test_xml_of_any_vocabulary_gives_its_words() -> None:
    assert convert(b"<?xml version='1.0'?><r><a>one</a><b x='no'>two</b></r>").text == "one two"


# --- drawn pages, the general library ---------------------------------------------------------------


def test_a_visio_drawing_gives_the_words_of_its_pages_in_order() -> None:
    def page(text: str) -> str:
        return f"<PageContents xmlns='v'><Shapes><Shape><Cell N='x'/><Text><cp IX='0'/>{text}</Text></Shape></Shapes></PageContents>"

    drawing = zipped(
        {
            "[Content_Types].xml": "<Types xmlns='x'><Override PartName='/visio/document.xml'"
            " ContentType='application/vnd.ms-visio.drawing.main+xml'/></Types>",
            "_rels/.rels": relationships(("m", "document", "visio/document.xml")),
            "visio/document.xml": "<VisioDocument xmlns='v'/>",
            "visio/pages/page10.xml": page("tenth"),
            "visio/pages/page2.xml": page("second"),
            "visio/masters/master1.xml": page("master"),
        }
    )

    assert convert(drawing).text.split("\n") == ["second", "tenth", "master"]


def test_an_xps_document_gives_its_glyphs() -> None:
    page = "<FixedPage xmlns='x'><Glyphs UnicodeString='{}{braced}'/><Glyphs UnicodeString='go' FixedPage.NavigateUri='http://a.example/'/></FixedPage>"
    document = zipped(
        {
            "[Content_Types].xml": "<Types xmlns='x'/>",
            "_rels/.rels": relationships(("m", "fixedrepresentation", "/FixedDocSeq.fdseq")),
            "FixedDocSeq.fdseq": "<FixedDocumentSequence xmlns='x'/>",
            "Documents/1/Pages/1.fpage": page,
        }
    )

    converted = convert(document)

    assert converted.text.split("\n") == ["{braced}", "go"]
    assert converted.links == (("http://a.example/", "go"),)


def test_what_no_reader_of_ours_takes_goes_to_the_general_library() -> None:
    notebook = b'{"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["words in a notebook"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'

    assert "words in a notebook" in convert(notebook, name="n.ipynb").text
