"""What a document is: its bytes decide."""

import pytest

from ingather.extract.documents.kinds import Kind, kind_of


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"PK\x03\x04", Kind.ZIP),
        (b"PK\x05\x06" + bytes(18), Kind.ZIP),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind.COMPOUND),
        (b"%PDF-1.7", Kind.PDF),
        (b"junk in front\n%PDF-1.7", Kind.PDF),
        (b"{\\rtf1", Kind.RTF),
        (b"\xef\xbb\xbf\r\n {\\rtf1", Kind.RTF),
        (b"<MIFFile 7.00>", Kind.MIF),
        (b"\x1f\x8b\x08", Kind.GZIP),
        (b"BZh91AY", Kind.BZIP2),
        (b"\xfd7zXZ\x00", Kind.XZ),
        (b"7z\xbc\xaf\x27\x1c", Kind.FOREIGN),
        (bytes(257) + b"ustar\x0000", Kind.TAR),
        (b"<!DOCTYPE html><p>", Kind.HTML),
        (b"  <HTML>", Kind.HTML),
        (b"<?xml version='1.0'?><!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0'><html>", Kind.HTML),
        (b"<?xml version='1.0'?><note/>", Kind.XML),
        ("<?xml version='1.0' encoding='utf-16'?><note/>".encode("utf-16"), Kind.XML),
        (b"From ada@example.org Fri Jan  2 03:04:05 2026\nSubject: x\n", Kind.MBOX),
        (b"Received: from x\r\n by y\r\nSubject: z\r\n\r\ntext", Kind.MAIL),
        (b"Subject: only a heading of a text\n\ntext", Kind.TEXT),
        (b"plain words", Kind.TEXT),
        ("Wörter".encode("utf-16"), Kind.TEXT),
        (b"\x89PNG\r\n", Kind.UNREADABLE),
        (b"\x00\x00\x00\x18ftypmp42", Kind.UNREADABLE),
        (b"\x7fELF", Kind.UNREADABLE),
        (b"words \x00\x01 and bytes", Kind.UNREADABLE),
    ],
)
def test_bytes_decide(body: bytes, kind: Kind) -> None:
    assert kind_of(body) is kind
    assert kind_of(body, name="misleading.exe", content_type="application/octet-stream") is kind


@pytest.mark.parametrize(
    ("name", "content_type", "kind"),
    [
        ("t.csv", None, Kind.CSV),
        ("t", "text/csv; charset=utf-8", Kind.CSV),
        ("t.html", None, Kind.HTML),
        ("t", "text/html", Kind.HTML),
        ("t.txt", None, Kind.TEXT),
        ("t.ipynb", None, Kind.FOREIGN),
    ],
)
def test_name_and_type_settle_what_bytes_leave_open(name: str, content_type: str | None, kind: Kind) -> None:
    assert kind_of(b"a,b\nc,d\n", name=name, content_type=content_type) is kind


def test_a_declared_message_needs_one_header_only() -> None:
    assert kind_of(b"X-Note: y\n\ntext", content_type="message/rfc822") is Kind.MAIL


@pytest.mark.parametrize(
    "text",
    ["MZ begins", "RIFF raff", "ID3 tags", "OggS", "wOFF", "abcdftyp", "The mark is %PDF-1.7, say"],
)
def test_words_that_are_marks_too_stay_text(text: str) -> None:
    assert kind_of(f"{text}, said Ann.\n".encode()) is Kind.TEXT
    assert kind_of(b"ID3\x04\x00\x00") is Kind.UNREADABLE
