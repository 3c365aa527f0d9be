"""Feeds that a page names, in every way of writing it."""

import pytest

from ingather.syndication.discovery import find_feeds


@pytest.mark.parametrize(
    ("page", "feeds"),
    [
        ("<link rel=alternate type=application/rss+xml href=/a.xml>", ("http://h/a.xml",)),
        ("<LINK REL='Home ALTERNATE' TYPE='Application/Atom+XML' HREF='b?x=1&amp;y=2'>", ("http://h/d/b?x=1&y=2",)),
        ('<base href="/sub/"><link rel="alternate" type="application/rss+xml; charset=utf-8" href=f>', ("http://h/sub/f",)),
        ('<link rel="alternate" type="application/rss+xml" href="f"><base href="/later/">', ("http://h/later/f",)),
        ('<link rel="feed" href="f"><link rel="feed" href="f">', ("http://h/d/f",)),
        ('<body><link rel="alternate" type="application/feed+json" href="j"></body>', ("http://h/d/j",)),
        ('<link rel=stylesheet type="application/rss+xml" href=no><link rel="alternate" href="en">', ()),
        ("<!-- <link rel=alternate type=application/rss+xml href=/c> --><script>'<link rel=feed href=/c>'</script>", ()),
        ('<link rel=alternate type=application/rss+xml href="javascript:x"><link rel=feed href="">', ()),
    ],
)  # fmt: skip
def test_feeds_of_a_page(page: str, feeds: tuple[str, ...]) -> None:
    assert find_feeds(page.encode(), url="http://h/d/p", content_type="text/html") == feeds
