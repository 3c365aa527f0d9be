"""The header is believed, unless it says nothing or cannot be right."""

import zipfile
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.extract import sniff

PDF = b"%PDF-1.7\n%\xe2\xe3"


def packed(**members: bytes) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


@pytest.mark.parametrize(
    "declared",
    ["text/html", "Text/HTML; charset=x", "text/html, text/html", "image/svg+xml", "application/msword"],
)
def test_a_header_that_says_something_is_believed(declared: str) -> None:
    assert sniff(PDF, content_type=declared) == declared.lower().partition(";")[0].partition(",")[0]


@pytest.mark.parametrize("declared", [None, "", "nonsense", "/", "application/octet-stream", "unknown/unknown", "*/*",
                                      "binary/octet-stream", "application/x-unknown; x=y"])  # fmt: skip
def test_an_absent_or_generic_header_leaves_it_to_the_bytes(declared: str | None) -> None:
    assert sniff(PDF, content_type=declared) == "application/pdf"
    assert sniff(b"\n <!DOCTYPE html><p>", content_type=declared) == "text/html"
    assert sniff(b"\x00\x01\x02", content_type=declared) == "application/octet-stream"


@pytest.mark.parametrize(
    "text",
    [
        "BM",
        "MZ begins words",
        "OTTO",
        "OggS",
        "8BPS",
        "wOFF",
        "ID3 tags",
        "fLaC",
        "RIFF raff",
        "abcdftyp",
    ],
)
@pytest.mark.parametrize("declared", [None, "text/plain"])
def test_words_that_are_marks_too_stay_text(text: str, declared: str | None) -> None:
    assert sniff(f"{text}, said Ann.\n".encode(), content_type=declared) == "text/plain"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"BM\x36\x10\x00\x00", "image/bmp"),
        (b"OTTO\x00\x0b\x00\x80", "font/otf"),
        (b"ID3\x04\x00\x00", "audio/mpeg"),
        (b"RIFF\x24\x00\x00\x00WAVE", "audio/wav"),
        (b"\x00\x00\x00\x18ftypmp42", "video/mp4"),
    ],
)
def test_marks_that_are_words_too_count_in_what_is_no_text(body: bytes, expected: str) -> None:
    assert sniff(body, content_type=None) == expected
    assert sniff(body, content_type="text/plain") == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (PDF, "application/pdf"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"{\\rtf1", "application/rtf"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b\x08", "application/gzip"),
        (b"abc\x00def", "application/octet-stream"),
        (b"abc", "text/plain"),
        (b"<!doctype html><p>", "text/plain"),
        (b"BM and MZ begin words", "text/plain"),
        (b"OTTO asks: is this a font?", "text/plain"),
        (b"\xff\xfea\x00", "text/plain"),
        (b"", "text/plain"),
    ],
)
def test_plain_text_is_doubted_only_when_the_bytes_contradict(body: bytes, expected: str) -> None:
    assert sniff(body, content_type="text/plain; charset=utf-8") == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<html>", "text/html"),
        (b"\xef\xbb\xbf<HTML lang=de>", "text/html"),
        (b"<!-- x --><p>", "text/html"),
        (b"<b>x", "text/html"),
        (b"<bogus>x", "text/plain"),
        (b'<?xml version="1.0"?><rss version="2.0">', "application/rss+xml"),
        (b'<?xml version="1.0"?>\n<!-- c --><feed xmlns="x">', "application/atom+xml"),
        (b'<?xml version="1.0"?><html xmlns="x">', "application/xhtml+xml"),
        (b'<?xml version="1.0"?><note>', "application/xml"),
        (b"<rss>", "application/rss+xml"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"\x00\x00\x00\x18ftypmp42", "video/mp4"),
        (b"\x00" * 257 + b"ustar", "application/x-tar"),
        (b"\r\n%PDF-1.4", "application/pdf"),
        (b"From: a@b\nTo: c@d\nSubject: x\n\nHi", "message/rfc822"),
        (b"just words", "text/plain"),
        (b"<MIFFile 7.00>", "application/vnd.mif"),
        (
            "WordDocument".encode("utf-16-le").join(
                [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, b""]
            ),
            "application/msword",
        ),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, "application/x-ole-storage"),
    ],
)
def test_bytes_tell(body: bytes, expected: str) -> None:
    assert sniff(body, name=None, content_type=None) == expected


def test_members_tell_the_kin_of_zip_apart() -> None:
    ooxml = "application/vnd.openxmlformats-officedocument"
    assert (
        sniff(packed(**{"[Content_Types].xml": b"", "word/document.xml": b""}))
        == f"{ooxml}.wordprocessingml.document"
    )
    assert sniff(packed(**{"xl/workbook.xml": b""})) == f"{ooxml}.spreadsheetml.sheet"
    assert sniff(packed(**{"ppt/presentation.xml": b""})) == f"{ooxml}.presentationml.presentation"
    assert sniff(packed(mimetype=b"application/epub+zip", x=b"")) == "application/epub+zip"
    odp = "application/vnd.oasis.opendocument.presentation"
    assert sniff(packed(mimetype=odp.encode())) == odp
    assert sniff(packed(x=b"")) == "application/zip"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("http://h/a/data.CSV?x=1", "text/csv"),
        ("notes.md", "text/markdown"),
        ("http://h/", "text/plain"),
        (".html", "text/plain"),
        ("x.unheard-of", "text/plain"),
    ],
)
def test_the_name_decides_between_kinds_of_text(name: str, expected: str) -> None:
    assert sniff(b"a,b\n", name=name) == expected


def test_the_name_does_not_make_a_binary_of_markup() -> None:
    assert sniff(b"<!doctype html>404", name="report.pdf") == "text/html"
    assert sniff(b"\x00\x01", name="report.doc") == "application/msword"


@given(st.binary(max_size=400), st.none() | st.text(max_size=30), st.none() | st.text(max_size=30))
def test_any_bytes_get_a_type(body: bytes, name: str | None, content_type: str | None) -> None:
    assert "/" in sniff(body, name=name, content_type=content_type)
