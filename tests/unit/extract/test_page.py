"""Headers and body together: type, charset, robots rules, language, date, flags."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.extract import Limits, read_converted, read_page
from ingather.model.page import Converted, Link, Page, PageDate
from ingather.model.url import Canonicaliser

URL = "http://h/a/"
GERMAN = "<p>Die Antwort auf diese Frage findet sich in den Unterlagen, die wir gestern erhalten haben.</p>"


def page(html: str, headers: object = (), **options: object) -> Page:
    return read_page(html.encode(), url=URL, content_type="text/html", headers=headers, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("html", "headers", "rules"),
    [
        ("<meta name=robots content='NoIndex, NOFOLLOW'>", {}, {"noindex", "nofollow"}),
        ("<meta name=ROBOTS content=none>", {}, {"noindex", "nofollow"}),
        ("<meta name=robots content='noarchive;nosnippet'>", {}, {"noarchive", "nosnippet"}),
        ("<meta name=robots content='max-snippet: 0'>", {}, {"nosnippet"}),
        ("<meta name=robots content='index,follow,all'>", {}, set()),
        (
            "<meta name=robots content=noindex><meta name=robots content=nofollow>",
            {},
            {"noindex", "nofollow"},
        ),
        ("<meta name=ingather content=noindex>", {}, {"noindex"}),
        ("<meta name=otherbot content=noindex>", {}, set()),
        ("", {"X-Robots-Tag": "noindex"}, {"noindex"}),
        ("", {"x-robots-tag": "otherbot: noindex, nofollow"}, set()),
        ("", {"x-robots-tag": "otherbot: noindex, Ingather: nofollow"}, {"nofollow"}),
        ("", {"x-robots-tag": "noarchive, otherbot: noindex"}, {"noarchive"}),
        ("", {"x-robots-tag": "unavailable_after: 25 Jun 2010 15:00:00 PST, nosnippet"}, {"nosnippet"}),
        ("", [("X-Robots-Tag", "otherbot: noindex"), ("X-Robots-Tag", "nofollow")], {"nofollow"}),
        ("<meta name=robots content=noindex>", {"x-robots-tag": "nofollow"}, {"noindex", "nofollow"}),
        ("<body><meta name=robots content=noindex>", {}, {"noindex"}),
    ],
)
def test_robots_rules_of_page_and_header_add_up(html: str, headers: object, rules: set[str]) -> None:
    assert page(html, headers, agent="Ingather/1.0 (+http://x)").robots == rules


def test_robots_rules_in_the_header_hold_for_any_type() -> None:
    read = read_page(
        b"%PDF-1.4", url=URL, content_type="application/pdf", headers={"X-Robots-Tag": "noindex"}
    )
    assert read.robots == {"noindex"}
    assert read.flags == ["unread"]
    assert read.media_type == "application/pdf"


@pytest.mark.parametrize(
    ("html", "headers", "language", "source"),
    [
        ("<html lang=en_us>", {}, "en-US", "html"),
        ("<html lang=de-at>", {"Content-Language": "fr"}, "de-AT", "html"),
        ("<html xml:lang=zh-hant-tw>", {}, "zh-Hant-TW", "html"),
        ("", {"content-language": "fr, en"}, "fr", "header"),
        ("<meta http-equiv=Content-Language content=IT>", {}, "it", "meta"),
        ("<meta name=language content=German>", {}, "de", "meta"),
        ("<meta property='og:locale' content=pt_BR>", {"content-language": "?"}, "pt-BR", "meta"),
        ("<html lang='{{ lang }}'>" + GERMAN, {}, "de", "detected"),
        ("<html lang=und>" + GERMAN, {}, "de", "detected"),
        (GERMAN, {}, "de", "detected"),
        ("<p>12 34", {}, "", ""),
        ("", {}, "", ""),
    ],
)
def test_language_is_what_is_declared_else_detected(
    html: str, headers: object, language: str, source: str
) -> None:
    read = page(html, headers)
    assert (read.language, read.language_source) == (language, source)


@pytest.mark.parametrize(
    ("html", "headers", "date"),
    [
        ("<meta name=date content=2024-05-01>", {}, PageDate("2024-05-01T00:00:00Z", "meta:date")),
        (
            "<meta property='article:published_time' content=2020-01-01><meta property='article:modified_time' content=2021-01-01T01:00+01:00>",
            {},
            PageDate("2021-01-01T00:00:00Z", "meta:article:modified_time"),
        ),
        (
            "<meta name=date content=yesterday><time datetime=2024-05-02>x</time>",
            {},
            PageDate("2024-05-02T00:00:00Z", "time"),
        ),
        ("<time>1 May 2024</time>", {}, PageDate("2024-05-01T00:00:00Z", "time")),
        (
            (
                '<script type="application/ld+json">{"@graph":[{"datePublished":"2020-01-01"},{"a":{"dateModified":"2021-02-03"}}]}</script>'
                "<time datetime=2024></time>"
            ),
            {},
            PageDate("2021-02-03T00:00:00Z", "json-ld"),
        ),
        ('<script type="application/ld+json">{broken</script>', {}, None),
        (
            "",
            {"Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"},
            PageDate("1994-11-06T08:49:37Z", "last-modified"),
        ),
        ("", {"last-modified": "now", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"}, None),
        ("", {}, None),
    ],
)
def test_the_date_is_the_documents_own_and_never_now(
    html: str, headers: object, date: PageDate | None
) -> None:
    assert page(html, headers).date == date


def test_a_canonical_link_in_the_header_counts_when_the_page_has_none() -> None:
    headers = {"Link": '</style.css>; rel=preload, </c>; rel="canonical"'}
    assert page("", headers).canonical == "http://h/c"
    assert page("<link rel=canonical href=/d>", headers).canonical == "http://h/d"


def test_the_header_type_is_used_when_the_argument_is_absent() -> None:
    read = read_page(
        b"<p>x", url=URL, content_type=None, headers={"Content-Type": "text/html; charset=koi8-r"}
    )
    assert (read.media_type, read.charset, read.charset_source) == ("text/html", "koi8-r", "header")


def test_other_charsets_are_read_and_named() -> None:
    read = read_page(
        "<meta charset=windows-1251><p>Привет".encode("cp1251"), url=URL, content_type="text/html"
    )
    assert (read.text, read.charset, read.charset_source) == ("Привет", "windows-1251", "meta")


def test_broken_utf_8_becomes_replacement_characters() -> None:
    read = read_page(b"\xef\xbb\xbf<p>a\xffb", url=URL, content_type="text/html")
    assert (read.text, read.charset, read.charset_source) == ("a\ufffdb", "utf-8", "bom")


def test_plain_text_is_taken_line_by_line() -> None:
    read = read_page(
        "é\r\nURL:http://x/\n".encode(), url="http://h/a.txt", content_type="text/plain; charset=utf-8"
    )
    assert read.text == "é\nURL:http://x/"
    assert read.links == []
    assert read.media_type == "text/plain"
    assert read_page(b'{"a": 1}', url=URL, content_type="application/json").text == '{"a": 1}'


DOCBOOK = (
    b'<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "docbookx.dtd"><article>'
    b"<title>Growing Roses</title><section><title>Soil</title><para>Loam, see <ulink url='http://a.example/x'>there</ulink>"
    b"&nbsp;too.</para><script>kept</script></section></article>"
)
WORD_2003 = (
    b'<?xml version="1.0"?><?mso-application progid="Word.Document"?><w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml">'
    b"<w:body><w:p><w:r><w:t>one</w:t></w:r><w:r><w:t>word</w:t></w:r></w:p></w:body></w:wordDocument>"
)


@pytest.mark.parametrize("declared", ["text/xml", "application/xml", "application/docbook+xml"])
def test_xml_over_http_is_read_as_xml(declared: str) -> None:
    page = read_page(DOCBOOK, url=URL, content_type=declared)

    assert page.title == "Growing Roses"
    assert page.text.split() == ["Growing", "Roses", "Soil", "Loam,", "see", "there", "too.", "kept"]
    assert [link.url for link in page.links] == ["http://a.example/x"]
    assert read_page(WORD_2003, url=URL, content_type=declared).text == "oneword"


def test_the_charset_of_the_header_goes_before_that_of_the_xml_declaration() -> None:
    body = "<?xml version='1.0' encoding='utf-8'?><r>\u4e2d\u6587</r>".encode("gb18030")

    assert read_page(body, url=URL, content_type="text/xml; charset=gb18030").text == "\u4e2d\u6587"


def test_xhtml_stays_a_page_whatever_its_type_and_broken_xml_gives_what_it_has() -> None:
    xhtml = (
        b"<?xml version='1.0'?><!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' 'x.dtd'>"
        b"<html xmlns='http://www.w3.org/1999/xhtml'><head><title>T</title></head><body><a href='x'>y</a></body></html>"
    )
    page = read_page(xhtml, url=URL, content_type="text/xml")
    broken = read_page(b"<?xml version='1.0'?><r><a>left <b>open</a></r>", url=URL, content_type="text/xml")

    assert (page.title, page.text, [link.text for link in page.links]) == ("T", "y", ["y"])
    assert broken.text.split() == ["left", "open"]
    assert broken.flags == ["partial"]


def test_what_a_flat_package_holds_is_not_opened_in_the_process_that_reads_pages() -> None:
    space = "http://schemas.microsoft.com/office/2006/xmlPackage"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    rels = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
    main = rels.format(f'<Relationship Id="a" Type="{office}/officeDocument" Target="word/document.xml"/>')
    inner = rels.format(f'<Relationship Id="b" Type="{office}/package" Target="embeddings/x.csv"/>')
    parts = {
        "/_rels/.rels": f"<pkg:xmlData>{main}</pkg:xmlData>",
        "/word/_rels/document.xml.rels": f"<pkg:xmlData>{inner}</pkg:xmlData>",
        "/word/document.xml": "<pkg:xmlData><w:document xmlns:w='w'><w:p><w:r><w:t>words</w:t></w:r></w:p></w:document></pkg:xmlData>",
        "/word/embeddings/x.csv": "<pkg:binaryData>aGlkZGVu</pkg:binaryData>",
    }
    inside = "".join(f'<pkg:part pkg:name="{name}">{content}</pkg:part>' for name, content in parts.items())
    body = f'<?xml version="1.0"?><pkg:package xmlns:pkg="{space}">{inside}</pkg:package>'.encode()

    page = read_page(body, url=URL, content_type="application/xml")

    assert page.text == "words"
    assert "cut" in page.flags


def test_xml_without_text_says_so() -> None:
    assert read_page(
        b"<?xml version='1.0'?><svg><path d='M0'/></svg>", url=URL, content_type="image/svg+xml"
    ).flags == ["no-text"]


def test_xml_gives_its_character_data() -> None:
    read = read_page(
        b"<?xml version='1.0' encoding='iso-8859-1'?><r><a>caf\xe9</a></r>",
        url=URL,
        content_type="application/xml",
    )
    assert read.text == "café"


def test_xhtml_is_read_as_html() -> None:
    read = read_page(
        b"<html><body><a href='x'>y</a></body></html>", url=URL, content_type="application/xhtml+xml"
    )
    assert read.links == [Link("http://h/a/x", "y")]


def test_whatever_is_cut_is_flagged() -> None:
    html = "<p>" + "x" * 50 + "".join(f"<a href={n}>{n}</a>" for n in range(9))
    read = page(html, limits=Limits(text_chars=10, links=3))
    assert read.text == "x" * 10
    assert len(read.links) == 3
    assert read.flags == ["text-truncated", "links-truncated"]


def test_a_canonicaliser_of_the_callers_makes_the_keys() -> None:
    read = page("<a href='x?keep=1&gone=2'>", canonicaliser=Canonicaliser(["gone"]))
    assert read.links[0].url == "http://h/a/x?keep=1"


def test_a_page_of_no_url_keeps_its_absolute_links() -> None:
    read = read_page(b"<a href='http://x/'>x</a><a href=y>y</a>", url="nothing", content_type="text/html")
    assert read.url == "nothing"
    assert [link.url for link in read.links] == ["http://x/"]


def test_a_converted_document_becomes_a_page() -> None:
    converted = Converted(
        text="Words of the report, which was written in plain English for everybody to read.",
        links=(
            ("b.pdf", "next  report"),
            ("http://x/", ""),
            ("mailto:a@b", "mail"),
            ("b.pdf#page=2", "again"),
        ),
        metadata={
            "title": " The  report ",
            "author": "A. Author",
            "modified": "2024-05-01T10:00:00Z",
            "language": "en-gb",
        },
        flags=("cut",),
    )
    read = read_converted(
        converted, url="http://h/a/r.pdf", media_type="application/pdf", headers={"X-Robots-Tag": "noarchive"}
    )
    assert read.title == "The report"
    assert read.links == [
        Link("http://h/a/b.pdf", "next report", "", "document"),
        Link("http://x/", "", "", "document"),
    ]
    assert read.date == PageDate("2024-05-01T10:00:00Z", "meta:dcterms.modified")
    assert read.language == "en-GB"
    assert read.robots == {"noarchive"}
    assert read.flags == ["converted", "cut"]
    assert read.metas["author"] == ["A. Author"]


@given(
    st.binary(max_size=200),
    st.none()
    | st.sampled_from(
        ["text/html", "text/plain", "application/xml", "image/png", "text/html; charset=utf-16", "x"]
    ),
    st.dictionaries(
        st.sampled_from(["X-Robots-Tag", "Content-Language", "Last-Modified", "Link", "Content-Type"]),
        st.text(max_size=40),
    ),
)
def test_nothing_raises(body: bytes, content_type: str | None, headers: dict[str, str]) -> None:
    read = read_page(body, url=URL, content_type=content_type, headers=headers)
    assert read.url == URL
    read.text.encode("utf-8")
