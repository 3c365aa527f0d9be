"""Sitemaps in every shape, and what becomes of broken ones."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.extract import Sitemap, SitemapEntry, read_sitemap
from ingather.extract.sitemap import SitemapLimits

URL = "http://h/sitemap.xml"
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def read(text: str | bytes, **options: object) -> Sitemap:
    body = text.encode() if isinstance(text, str) else text
    return read_sitemap(body, url=URL, content_type=None, **options)  # type: ignore[arg-type]


def urls(sitemap: Sitemap) -> list[str]:
    return [entry.url for entry in sitemap.entries]


def test_a_urlset_tells_all_about_its_urls() -> None:
    found = read(
        f"""<?xml version="1.0" encoding="UTF-8"?>
        <urlset {NS} xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
        <url><loc> http://H/a?x=1&amp;y=2 </loc><lastmod>2024-05-01</lastmod><changefreq>Daily</changefreq><priority>0.8</priority>
        <xhtml:link rel="alternate" hreflang="de" href="http://h/de"/><image:image><image:loc>http://h/i.png</image:loc></image:image></url>
        <url><loc>http://h/b</loc><lastmod>soon</lastmod><priority>9</priority></url></urlset>"""
    )
    assert found == Sitemap(
        "urls",
        (
            SitemapEntry(
                "http://h/a?x=1&y=2", "2024-05-01T00:00:00Z", "daily", 0.8, "", "", (("de", "http://h/de"),)
            ),
            SitemapEntry("http://h/b"),
        ),
    )


def test_an_index_names_sitemaps() -> None:
    found = read(
        f"<sitemapindex {NS}><sitemap><loc>http://h/1.xml</loc><lastmod>2024</lastmod></sitemap></sitemapindex>"
    )
    assert found.kind == "index"
    assert found.entries == (SitemapEntry("http://h/1.xml", "2024-01-01T00:00:00Z"),)


def test_news_entries_have_a_date_and_a_title() -> None:
    found = read(
        f"""<urlset {NS} xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"><url><loc>http://h/a</loc><n:news><n:publication>
        <n:name>N</n:name></n:publication><n:publication_date>2024-05-01T10:00+02:00</n:publication_date><n:title>Title
        here</n:title></n:news></url></urlset>"""
    )
    assert (found.entries[0].news_date, found.entries[0].news_title) == ("2024-05-01T08:00:00Z", "Title here")


def test_text_has_a_url_a_line() -> None:
    found = read("\ufeffhttp://h/a\r\n\r\n  http://h/b  \nnot a url\n# comment\n")
    assert urls(found) == ["http://h/a", "http://h/b"]
    assert found.remarks == ("line 4 is not a URL",)


def test_gzip_is_undone_also_in_members() -> None:
    assert urls(read(gzip.compress(b"http://h/a\n") + gzip.compress(b"http://h/b\n"))) == [
        "http://h/a",
        "http://h/b",
    ]


def test_truncated_gzip_gives_what_was_there_and_says_so() -> None:
    body = gzip.compress(b"".join(b"http://h/%d\n" % n for n in range(20_000)))
    found = read(body[: len(body) // 2])
    assert found.malformed
    assert 0 < len(found.entries) < 20_000
    assert urls(found) == [f"http://h/{n}" for n in range(len(found.entries))]
    assert read(b"\x1f\x8bgarbage").malformed


@pytest.mark.parametrize(
    "feed",
    [
        (
            "<rss version='2.0'><channel><link>http://h/</link><item><link>http://h/a</link>"
            "<pubDate>Thu, 05 Jan 2017 13:34:51 +0100</pubDate></item></channel></rss>"
        ),
        (
            "<feed xmlns='http://www.w3.org/2005/Atom'><link href='http://h/'/><entry><link rel='self' href='http://h/s'/>"
            "<link href='http://h/a'/><updated>2017-01-05T12:34:51Z</updated></entry></feed>"
        ),
        (
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:dc='http://purl.org/dc/elements/1.1/'>"
            "<item><link>http://h/a</link><dc:date>2017-01-05T12:34:51Z</dc:date></item></rdf:RDF>"
        ),
    ],
)
def test_feeds_serve_as_sitemaps(feed: str) -> None:
    assert read(feed).entries == (SitemapEntry("http://h/a", "2017-01-05T12:34:51Z"),)


def test_a_forgotten_end_tag_begins_a_new_entry() -> None:
    found = read(
        f"<urlset {NS}><url><loc>http://h/a</loc><lastmod>2024</lastmod><loc>http://h/b</loc></url></urlset>"
    )
    assert found.entries == (SitemapEntry("http://h/a", "2024-01-01T00:00:00Z"), SitemapEntry("http://h/b"))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"<urlset {NS}><url><loc>http://h/a?x=1&y=2</loc></url></urlset>", ["http://h/a?x=1&y=2"]),
        (
            f"<urlset {NS}><url><loc>http://h/a</loc></url><url><loc>http://h/b</loc>",
            ["http://h/a", "http://h/b"],
        ),
        (
            f"<urlset {NS}><url><loc>http://h/a</loc><x y='1></x></url><url><loc>http://h/b</loc></url></urlset>",
            ["http://h/a"],
        ),
    ],
)
def test_broken_xml_gives_what_can_be_saved(body: str, expected: list[str]) -> None:
    found = read(body)
    assert found.malformed
    assert found.remarks[0].startswith("not well-formed")
    assert urls(found)[: len(expected)] == expected


@pytest.mark.parametrize(
    "body",
    [
        '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>http://h/&x;</loc></url></urlset>',
        "<!DOCTYPE a [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]><urlset><url><loc>http://h/&b;</loc></url></urlset>",
    ],
)
def test_entities_are_refused(body: str) -> None:
    for encoding in ("utf-8", "utf-16"):
        found = read(body.encode(encoding))
        assert found.entries == ()
        assert found.malformed


def test_another_document_in_place_of_a_sitemap_is_named() -> None:
    found = read("<html><body>404</body></html>")
    assert (found.kind, found.entries, found.malformed) == ("urls", (), True)
    assert "<html>" in found.remarks[0]


def test_entries_without_a_usable_url_are_remarks() -> None:
    found = read(
        f"<urlset {NS}><url><lastmod>2024</lastmod></url><url><loc>javascript:x</loc></url><url><loc>/rel</loc></url></urlset>"
    )
    assert urls(found) == ["http://h/rel"]
    assert len(found.remarks) == 2


@pytest.mark.parametrize("form", ["xml", "text"])
def test_more_entries_than_allowed_are_not_read(form: str) -> None:
    lines = [f"http://h/{n}" for n in range(20)]
    xml = f"<urlset {NS}>" + "".join(f"<url><loc>{line}</loc></url>" for line in lines) + "</urlset>"
    found = read(xml if form == "xml" else "\n".join(lines), limits=SitemapLimits(entries=5))
    assert len(found.entries) == 5
    assert found.truncated


def test_more_bytes_than_allowed_are_not_read() -> None:
    body = b"".join(b"http://h/%d\n" % n for n in range(10_000))
    for packed in (body, gzip.compress(body)):
        found = read(packed, limits=SitemapLimits(decoded_bytes=1000))
        assert found.truncated
        assert 10 < len(found.entries) < 100


def test_a_million_bad_lines_make_few_remarks() -> None:
    assert len(read("bad\n" * 10_000).remarks) == 51


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"<urlset>", b"<urlset><url><loc>", b"\x1f\x8b\x08\x00", b"http://h/"]),
)
def test_nothing_raises(body: bytes, start: bytes) -> None:
    read(start + body)


CUT = f"<urlset {NS}><url><loc>http://h/article-1</loc><lastmod>2018-03-20</lastmod></url><url><loc>http://h/article-2</loc><lastmod>2018-03-21</lastmod></url></urlset>"


def test_a_cut_never_shortens_a_url_or_a_date() -> None:
    whole = read(CUT).entries
    for at in range(CUT.index("article-2"), len(CUT) - 1):
        found = read(CUT[:at])
        assert found.malformed
        assert found.entries in (whole, whole[:1], (whole[0], SitemapEntry("http://h/article-2"))), CUT[:at]


@pytest.mark.parametrize("head", ["", '<!DOCTYPE urlset SYSTEM "http://h/sitemap.dtd">'])
def test_names_of_html_characters_keep_their_letter(head: str) -> None:
    found = read(f"{head}<urlset><url><loc>http://h/caf&eacute;?a=1&copy=2</loc></url></urlset>")
    assert urls(found) == ["http://h/caf%C3%A9?a=1&copy=2"]
    assert found.malformed


def test_a_lastmod_that_cannot_be_read_is_kept_as_text() -> None:
    (entry,) = read(
        f"<urlset {NS}><url><loc>http://h/a</loc><lastmod>last  week</lastmod></url></urlset>"
    ).entries
    assert (entry.lastmod, entry.lastmod_text) == ("", "last week")


@pytest.mark.parametrize(
    ("item", "url"),
    [
        ("<guid>http://h.test/1</guid>", "http://h.test/1"),
        ('<guid isPermaLink="TRUE">http://h.test/1</guid>', "http://h.test/1"),
        ('<guid ispermalink=" true ">http://h.test/1</guid>', "http://h.test/1"),
        ("<link>n/a</link><guid>http://h.test/1</guid>", "http://h.test/1"),
        ("<link/><guid>http://h.test/1</guid>", "http://h.test/1"),
        ('<guid isPermaLink="False">http://h.test/1</guid>', ""),
        ("<guid>a-name</guid>", ""),
    ],
)
def test_a_permalink_of_rss_is_an_address(item: str, url: str) -> None:
    body = f"<rss><channel><item>{item}</item></channel></rss>".encode()

    assert [entry.url for entry in read_sitemap(body, url=URL, content_type=None).entries] == (
        [url] if url else []
    )


def test_rss_1_1_and_entries_that_are_their_own_text() -> None:
    rss = (
        b'<Channel xmlns="http://purl.org/net/rss1.1#"><link>http://h.test/</link><items><item><link>http://h.test/1</link></item>'
        b"</items></Channel>"
    )
    bare = b"<sitemapindex><sitemap> http://h.test/a.xml </sitemap><sitemap><loc>http://h.test/b.xml</loc></sitemap><sitemap>x</sitemap></sitemapindex>"

    found = read_sitemap(bare, url=URL, content_type=None)

    assert [entry.url for entry in read_sitemap(rss, url=URL, content_type=None).entries] == [
        "http://h.test/1"
    ]
    assert [entry.url for entry in found.entries] == ["http://h.test/a.xml", "http://h.test/b.xml"]
    assert found.remarks == ("entry 3 has no URL",)


def test_a_sitemap_that_lists_nothing_says_so_and_is_no_error() -> None:
    found = read_sitemap(b"<urlset/>", url=URL, content_type=None)

    assert (found.entries, found.malformed, found.remarks) == (
        (),
        False,
        ("lists nothing: no entry was found in it",),
    )
