"""RTF: code pages, Unicode, stories, fields, objects."""

import pytest

from ingather.extract.conversion import convert


def text(body: bytes) -> str:
    return convert(b"{\\rtf1\\ansi\\ansicpg1252 " + body + b"}").text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (rb"one\par two\line three\tab four", "one\ntwo\nthree four"),
        (rb"Caf\'e9 \emdash\ldblquote q\rdblquote", "Café —\u201cq\u201d"),
        (rb"a\~b\_c\-d \{\}\\", "a b-cd {}\\"),
        (rb"\u8364?5", "€5"),
        (rb"\u-10179?\u-8704?!", "\U0001f600!"),
        (rb"\uc2\u8364\'80\'80x", "€x"),
        (rb"\uc0\u8364 x", "€x"),
        (
            rb"{\fonttbl{\f0\fcharset204 A;}{\f1\fcharset128 B;}}\f0 \'ef\'f0\'e8 \f1 \'93\'fa\'96\'7b",
            "при 日本",
        ),
        (rb"{\fonttbl{\f0\fcharset204 A;}}{\f0 \'ef}\'ef", "пï"),
        (rb"{\deleted gone}kept{\deleted0 kept too}", "keptkept too"),
        (rb"{\*\unknown hidden}shown{\*\bkmkstart x}", "shown"),
        (rb"{\upr{ansi}{\*\ud{\u8364?}}}", "€"),
        (rb"\trowd\intbl a\cell b\par c\cell\row\pard d", "a b c\nd"),
        (rb"{\pict\pngblip 89504e47}x{\pict\bin4 }{}\}y", "xy"),
        (rb"{\info{\title T}}x", "x"),
        (rb"unclosed {\b bold", "unclosed bold"),
        (rb"too many}}}} closed", "too many closed"),
    ],
)
def test_running_text(body: bytes, expected: str) -> None:
    assert text(body) == expected


def test_headers_notes_comments_and_shapes_are_read() -> None:
    found = text(
        rb"{\header the header\par}body{\footnote a note}{\*\atnauthor Ada}{\*\annotation a remark}"
        rb"{\shp{\*\shpinst{\sp{\sn wzDescription}{\sv a red door}}{\shptxt boxed}}}\par{\footer the footer}"
    ).split("\n")

    assert found == ["the header", "a note", "Ada", "a remark", "a red door", "boxed", "body", "the footer"]


def test_links_of_fields_with_their_anchors() -> None:
    body = (
        rb'{\field{\*\fldinst {HYPERLINK "http://a.example/" \\l "part"}}{\fldrslt {\ul the manual}}}'
        rb'{\field{\*\fldinst PAGE}{\fldrslt 7}}{\field{\*\fldinst HYPERLINK "http://b.example/"}}'
    )

    converted = convert(b"{\\rtf1 " + body + b"}")

    assert converted.text == "the manual7"
    assert converted.links == (("http://a.example/#part", "the manual"), ("http://b.example/", ""))


def test_document_information() -> None:
    info = (
        rb"{\info{\title Caf\'e9}{\author Ada}{\keywords a, b}{\creatim\yr2026\mo1\dy2\hr3\min4}"
        rb"{\revtim\yr1601\mo1\dy1}{\nofpages3}{\*\company Analytical}}x"
    )

    assert convert(b"{\\rtf1 " + info + b"}").metadata == {
        "title": "Café",
        "author": "Ada",
        "keywords": "a, b",
        "created": "2026-01-02T03:04:00Z",
        "pages": "3",
        "company": "Analytical",
    }


def test_headings_by_outline_level() -> None:
    assert "<h2>Part</h2>" in convert(rb"{\rtf1\pard\outlinelevel1 Part\par\pard text\par}").html


def test_embedded_objects_are_read_and_handed_on() -> None:
    inner = b"plain inner text"
    native = (
        b"\x02\x00note.txt\x00C:\\note.txt\x00\x00\x00\x03\x00"
        + (12).to_bytes(4, "little")
        + b"C:\\note.txt\x00"
    )
    native += len(inner).to_bytes(4, "little") + inner

    def string(value: bytes) -> bytes:
        return (len(value) + 1).to_bytes(4, "little") + value + b"\x00" if value else bytes(4)

    ole = (
        (0x0501).to_bytes(4, "little")
        + (2).to_bytes(4, "little")
        + string(b"Package")
        + string(b"")
        + string(b"")
    )
    ole += len(native).to_bytes(4, "little") + native
    document = (
        b"{\\rtf1 outer{\\object\\objemb{\\*\\objclass Package}{\\*\\objdata "
        + ole.hex().encode()
        + b"}{\\result seen}}}"
    )

    converted = convert(document)

    assert converted.parts == (("note.txt", inner),)
    assert "plain inner text" in converted.text
    assert "seen" in converted.text


def test_links_of_html_that_a_mail_program_encapsulated() -> None:
    body = rb'{\rtf1\fromhtml1{\*\htmltag84 <a href="http://a.example/?x=1&amp;y=2">}\htmlrtf{\b\htmlrtf0 here\htmlrtf}\htmlrtf0{\*\htmltag92 </a>}}'

    converted = convert(body)

    assert converted.text == "here"
    assert converted.links == (("http://a.example/?x=1&y=2", ""),)


def test_deep_nesting_is_cut_not_fatal() -> None:
    converted = convert(b"{\\rtf1 text " + b"{" * 100_000)

    assert converted.text == "text"
    assert converted.flags == ("cut",)


def test_the_author_of_a_comment_does_not_stand_in_a_word() -> None:
    assert text(rb"re{\*\atnid A}{\*\atnauthor Ada}\chatn{\*\annotation why?}mark\par").split("\n") == [
        "Ada",
        "why?",
        "remark",
    ]


def test_a_phonetic_guide_gives_base_and_reading() -> None:
    assert (
        text(
            rb'a {\field{\*\fldinst EQ \\* jc2 \\* "Font:x" \\* hps10 \\o\\ad(\\s\\up 9(reading),base)}{\fldrslt }} b'
        )
        == "a base reading b"
    )


def test_numbers_of_lists_are_text() -> None:
    assert text(rb"{\listtext\f0 1.\tab}one\par{\pntext b)\tab}two\par").split("\n") == ["1. one", "b) two"]
