"""Which encoding, in the HTML standard's order, and what its bytes then mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.extract import decode
from ingather.extract.charset import choose_encoding, header_charset
from ingather.extract.labels import decode_as, encoding_of

HTML = "text/html"


def test_a_byte_order_mark_wins_over_header_and_meta() -> None:
    body = b"\xef\xbb\xbf<meta charset=koi8-r>\xc3\xa4"
    assert decode(body, content_type="text/html; charset=windows-1251") == ("<meta charset=koi8-r>ä", "utf-8")
    assert decode("\ufeffä".encode("utf-16-le"), content_type=HTML) == ("ä", "utf-16le")
    assert decode("\ufeffä".encode("utf-16-be"), content_type=None) == ("ä", "utf-16be")


def test_the_header_wins_over_meta() -> None:
    body = b"<meta charset=utf-8>\xe4"
    assert decode(body, content_type='text/html; Charset="ISO-8859-1"') == (
        "<meta charset=utf-8>ä",
        "windows-1252",
    )
    assert decode(body, content_type="text/html; charset=nonsense")[1] == "utf-8"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('<meta charset="koi8-r">', "koi8-r"),
        ("<META CHARSET=koi8-r>", "koi8-r"),
        ("<meta\ncharset = 'koi8-r' >", "koi8-r"),
        ("<meta/charset=koi8-r/>", None),
        ('<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', "koi8-r"),
        ('<meta content="text/html; charset=koi8-r" http-equiv=content-type>', "koi8-r"),
        ('<meta content="text/html; charset=koi8-r">', None),
        ('<meta name=charset content="koi8-r">', None),
        ("<!-- <meta charset=koi8-r> --><meta charset=big5>", "big5"),
        ("<!--><meta charset=big5>", "big5"),
        ("<a title='<meta charset=koi8-r>'><meta charset=big5>", "big5"),
        ("</p x='<meta charset=koi8-r>'><!x><?y><meta charset=big5>", "big5"),
        ("<metadata charset=koi8-r>", None),
        ("<meta charset=unknown><meta charset=big5>", "big5"),
        ("<meta charset=utf-16>", "utf-8"),
        ("<meta charset=x-user-defined>", "windows-1252"),
        ("<meta charset=koi8-r", None),
        ('<?xml version="1.0" encoding="koi8-r"?><html>', "koi8-r"),
        ('<?xml version="1.0" encoding="koi8-r"?><meta charset=big5>', "big5"),
        ("<meta charset=koi8-r charset=big5>", "koi8-r"),
    ],
)
def test_whatwg_prescan(head: str, expected: str | None) -> None:
    found = choose_encoding(head.encode(), content_type=HTML, markup=True)
    assert (found.name if found.source != "guess" else None) == expected


def test_a_meta_beyond_the_prescan_still_counts_but_not_inside_a_script() -> None:
    late = b"<!-- " + b"x" * 2000 + b" --><script>'<meta charset=big5>'</script><meta charset=koi8-r>"
    assert choose_encoding(late, content_type=HTML, markup=True)[:2] == ("koi8-r", "meta")


def test_text_is_not_searched_for_markup() -> None:
    assert decode(b"<meta charset=koi8-r>", content_type="text/plain")[1] == "windows-1252"
    assert decode(b"<meta charset=koi8-r>", content_type=None)[1] == "koi8-r"


def test_undeclared_utf_8_is_seen_and_ascii_falls_back_to_the_standard_default() -> None:
    assert decode("<p>Grüße".encode(), content_type=HTML) == ("<p>Grüße", "utf-8")
    assert decode("<p>Grüße".encode()[:-2], content_type=HTML)[1] == "utf-8"
    assert decode(b"plain", content_type=HTML) == ("plain", "windows-1252")


@pytest.mark.parametrize(
    ("label", "name"),
    [
        (" Latin1 ", "windows-1252"),
        ("ascii", "windows-1252"),
        ("UTF8", "utf-8"),
        ("gb2312", "gbk"),
        ("sjis", "shift_jis"),
        ("x-x-big5", "big5"),
        ("unicode", "utf-16le"),
        ("hz-gb-2312", "replacement"),
        ("utf-7", None),
        ("", None),
    ],
)
def test_whatwg_labels(label: str, name: str | None) -> None:
    assert encoding_of(label) == name


def test_header_charset_reads_what_servers_write() -> None:
    assert header_charset("text/html; charset=UTF-8") == "utf-8"
    assert header_charset("text/html;charset='utf-8'") == "utf-8"
    assert header_charset('text/html; x=y; CHARSET = "utf-8"; z') == "utf-8"
    assert header_charset("text/html") is None


def test_undefined_bytes_of_a_code_page_are_controls_or_replacements_never_errors() -> None:
    assert decode_as(b"\x80\x81\xe4", "windows-1252") == "€\x81ä"
    assert decode_as(b"\xaa\xd2", "windows-1253") == "\ufffd\ufffd"
    assert decode_as(b"\xe1", "iso-8859-8-i") == "ב"
    assert decode_as(b"a\x80", "x-user-defined") == "a\uf780"
    assert decode_as(b"anything", "replacement") == "\ufffd"
    assert decode_as("①".encode("euc_jis_2004"), "euc-jp") == "①"
    assert decode_as(b"\x87\x40", "shift_jis") == "①"


def test_utf_7_is_no_encoding_of_the_web() -> None:
    assert decode(b"+ADw-script+AD4-", content_type="text/html; charset=utf-7") == (
        "+ADw-script+AD4-",
        "windows-1252",
    )


@given(
    st.binary(max_size=300),
    st.sampled_from([None, "text/html", "text/plain; charset=big5", "x; charset=utf-16"]),
)
def test_any_bytes_give_text_that_can_be_written_as_utf_8(body: bytes, content_type: str | None) -> None:
    text, name = decode(body, content_type=content_type)
    assert text.encode("utf-8").decode("utf-8") == text
    assert encoding_of(name) == name
