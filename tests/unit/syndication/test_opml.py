"""OPML in and out, and sitemaps as listings."""

from hypothesis import given
from hypothesis import strategies as st

from ingather.syndication.opml import Subscription, read_opml, write_opml
from ingather.syndication.sitemaps import list_sitemap


def test_folders_titles_and_both_urls() -> None:
    found = read_opml(
        b'<opml version="1.0"><head><title>Mine</title></head><body><outline text="News"><outline text="A" title="B" type="rss" xmlUrl="http://n.test/a?x=1&y=2" '
        b'htmlUrl="http://n.test/"/></outline><outline xmlurl="http://n.test/b"/><outline xmlUrl="http://n.test/b"/><outline xmlUrl="file:///x" text="no"/></body></opml>'
    )
    assert found.title == "Mine"
    assert found.subscriptions == (
        Subscription("http://n.test/a?x=1&y=2", "B", "http://n.test/", ("News",)),
        Subscription("http://n.test/b"),
    )
    assert [remark.partition(":")[0] for remark in found.remarks] == ["not well-formed", "line 1"]


def test_what_is_listed_twice_is_named() -> None:
    found = read_opml(
        b'<opml><body><outline text="A"><outline text="one" xmlUrl="http://n.test/f"/></outline>'
        b'<outline text="B"><outline text="two" xmlUrl="http://N.test:80/f"/><outline text="three" xmlUrl="http://n.test/g"/></outline></body></opml>'
    )
    assert [feed.title for feed in found.subscriptions] == ["one", "three"]
    assert found.duplicates == (Subscription("http://n.test/f", "two", "", ("B",)),)


def test_what_is_no_opml() -> None:
    assert read_opml(b"<rss/>").error
    assert read_opml(b"").error
    assert read_opml(b'<!DOCTYPE opml [<!ENTITY a "b">]><opml/>').error
    assert read_opml(b"<opml>" + b"<outline>" * 100_000).error


NAMES = st.text(max_size=10).map(lambda text: " ".join(text.split())).filter(bool)
FEEDS = st.builds(
    Subscription,
    st.integers(0, 10**6).map(lambda n: f"http://n.test/{n}?a=1&b={n}"),
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8),
    st.sampled_from(["", "http://n.test/"]),
    st.lists(st.sampled_from(["a", "b & c", '"d"', "<e>"]), max_size=3).map(tuple),
)


@given(st.lists(FEEDS, max_size=8, unique_by=lambda feed: feed.url).map(tuple))
def test_what_is_written_is_read_back(feeds: tuple[Subscription, ...]) -> None:
    found = read_opml(write_opml("T & <t>", feeds))
    assert (found.title, found.subscriptions, found.remarks, found.error) == ("T & <t>", feeds, (), "")


@given(NAMES)
def test_any_title_gives_a_file_that_is_read(title: str) -> None:
    assert not read_opml(write_opml(title, (Subscription("http://n.test/", title, "", (title,)),))).error


def test_a_sitemap_is_a_listing() -> None:
    body = b"<urlset><url><loc>http://n.test/a</loc><lastmod>2018-03-20</lastmod></url><url><loc>http://n.test/b</loc><lastmod>last  week</lastmod></url></urlset>"
    found = list_sitemap(body, url="http://n.test/sitemap.xml")
    assert [(item.link, item.modified) for item in found.items] == [
        ("http://n.test/a", "2018-03-20T00:00:00Z"), ("http://n.test/b", "last week"),
    ]  # fmt: skip
    assert (found.kind, found.error) == ("sitemap", "")
    index = b"<sitemapindex><sitemap><loc>http://n.test/1</loc></sitemap></sitemapindex>"
    assert list_sitemap(index, url="http://n.test/").kind == "sitemap-index"


def test_what_is_no_sitemap_is_an_error() -> None:
    assert list_sitemap(b"<html>maintenance</html>", url="http://n.test/").error
    many = "".join(f"http://n.test/{n}\n" for n in range(50_001))
    assert list_sitemap(many.encode(), url="http://n.test/", content_type="text/plain").error
