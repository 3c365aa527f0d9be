"""``ingather rss add``: a URL is looked at, a plan is shown, and with --yes the settings have the feed."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.testing.rig import Rig
from ingather.testing.server import SyntheticServer
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

HERE = "addresses=127.0.0.0/8"


def feed(*links: str) -> Answer:
    items = "".join(
        f"<item><link>{link}</link><pubDate>Tue, 20 Mar 2018 08:33:00 GMT</pubDate></item>" for link in links
    )
    body = f'<rss version="2.0"><channel><title>News</title><ttl>180</ttl>{items}</channel></rss>'
    return Answer(200, (("Content-Type", "application/rss+xml"),), body.encode())


def page(*links: str) -> Answer:
    body = f"<html><head><base href='/x/'>{''.join(links)}</head><body>Hello</body></html>"
    return Answer(200, (("Content-Type", "text/html"),), body.encode())


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "home").init()


@pytest.fixture
def server() -> Iterator[SyntheticServer]:
    with SyntheticServer(SyntheticWeb(1, WebShape())) as server:
        yield server


def settings(rig: Rig) -> dict[str, dict[str, dict[str, object]]]:
    return tomllib.loads((rig.path / "ingather.toml").read_text())


def test_a_feed_is_shown_and_nothing_is_written_without_yes(rig: Rig, server: SyntheticServer) -> None:
    origin = server.origins[0]
    server.override(f"{origin}/feed", feed("/a", "/b", "http://other.test/c"))
    before = (rig.path / "ingather.toml").read_bytes()
    ran = rig.call("rss", "add", f"{origin}/feed", HERE, "--source", "news")
    assert ran.status == 0, ran.err
    host = origin.removeprefix("http://").partition(":")[0]
    assert f"{origin}/feed: rss 2.0" in ran.out
    assert "published 2018-03-20T08:33:00Z" in ran.out
    assert (
        f"a new source news of kind rss gets\n    {origin}/feed, polled every 3h (its ttl)\n  3 documents to fetch: 2 of {host}, 1 of other.test"
        in ran.out
    )
    assert ran.out.endswith("nothing is written; write it with --yes\n")
    narrow = rig.call("rss", "add", f"{origin}/feed", HERE, "link-scope=same-host")
    assert f"2 documents to fetch: 2 of {host}\n  1 link left out: beyond the source's scope" in narrow.out
    assert (rig.path / "ingather.toml").read_bytes() == before


def test_a_new_source_is_written_and_then_gets_a_second_feed(rig: Rig, server: SyntheticServer) -> None:
    origin = server.origins[0]
    server.override(f"{origin}/feed", feed("/a"))
    server.override(f"{origin}/more?a=1,2", feed("/b"))
    before = (rig.path / "ingather.toml").read_text()
    ran = rig.call(
        "rss", "add", f"{origin}/feed", HERE, "discovery-interval=30m", "--source", "news", "--yes"
    )
    assert (ran.status, "has it" in ran.out) == (0, True), ran.err
    text = (rig.path / "ingather.toml").read_text()
    assert text.startswith(before.rstrip("\n"))
    again = rig.call("rss", "add", f"{origin}/feed", "--source", "news", "--yes")
    assert (again.status, "is a feed of the source news already" in again.out) == (0, True)
    assert (rig.path / "ingather.toml").read_text() == text
    more = rig.call("rss", "add", f"{origin}/more?a=1,2", "--source", "news", "--yes", "--json")
    assert json.loads(more.out)["plan"]["new"] is False
    assert settings(rig)["source"]["news"] == {
        "kind": "rss", "addresses": ["127.0.0.0/8"], "discovery-interval": "30m", "feeds": [f"{origin}/feed", f"{origin}/more?a=1,2"],
    }  # fmt: skip
    assert rig.call("config", "check").status == 0


@pytest.mark.parametrize(
    "link",
    ["<link rel=alternate type=application/rss+xml href=../feed>", "<LINK REL='Home ALTERNATE' TYPE='Application/Atom+XML' HREF='/feed'>",
     '<link rel="feed" href="../feed">'],
)  # fmt: skip
def test_a_page_leads_to_its_feed(rig: Rig, server: SyntheticServer, link: str) -> None:
    origin = server.origins[0]
    server.override(f"{origin}/home", page(link))
    server.override(f"{origin}/feed", feed("/a"))
    ran = rig.call("rss", "add", f"{origin}/home", HERE, "--source", "news", "--yes")
    assert ran.status == 0, ran.err
    assert f"{origin}/home: a web page that names 1 feed" in ran.out
    assert settings(rig)["source"]["news"]["feeds"] == [f"{origin}/feed"]


def test_of_several_feeds_one_is_chosen_or_all_are(rig: Rig, server: SyntheticServer) -> None:
    origin = server.origins[0]
    server.override(
        f"{origin}/home",
        page("<link rel=feed href=/feed>", "<link rel=feed href=/gone>", "<link rel=feed href=/two>"),
    )
    server.override(f"{origin}/feed", feed("/a"))
    server.override(f"{origin}/two", feed("/a", "/b"))
    server.override(f"{origin}/gone", Answer(410))
    ran = rig.call("rss", "add", f"{origin}/home", HERE, "--source", "news", "--yes")
    assert (ran.status, "the page names 2 feeds" in ran.out) == (1, True)
    assert "news" not in settings(rig).get("source", {})
    both = rig.call("rss", "add", f"{origin}/home", HERE, "--source", "news", "--yes", "--all")
    assert (both.status, f"left out: {origin}/gone: {origin}/gone: answers 410" in both.out) == (0, True)
    assert settings(rig)["source"]["news"]["feeds"] == [f"{origin}/feed", f"{origin}/two"]


def test_a_sitemap_makes_a_source_of_its_kind(rig: Rig, server: SyntheticServer) -> None:
    origin = server.origins[0]
    body = b"<urlset><url><loc>/a</loc><lastmod>2018</lastmod></url></urlset>"
    server.override(
        f"{origin}/map.xml",
        Answer(200, (("Content-Type", "text/xml"),), body.replace(b"/a", f"{origin}/a".encode())),
    )
    assert rig.call("rss", "add", f"{origin}/map.xml", HERE, "--source", "map", "--yes").status == 0
    assert settings(rig)["source"]["map"]["kind"] == "sitemap"
    server.override(f"{origin}/feed", feed("/a"))
    assert rig.call("rss", "add", f"{origin}/feed", HERE, "--source", "news", "--yes").status == 0
    wrong = rig.call("rss", "add", f"{origin}/map.xml", "--source", "news")
    assert wrong.status == 0, "it is known already"
    assert "is a feed of the source map already" in wrong.out


def test_what_is_no_feed_and_what_robots_txt_forbids(rig: Rig, server: SyntheticServer) -> None:
    origin = server.origins[0]
    server.override(f"{origin}/home", page())
    ran = rig.call("rss", "add", f"{origin}/home", HERE, "--yes")
    assert (ran.status, ran.out.splitlines()[-1].startswith("no feed can be added")) == (1, True), ran.out
    server.override(
        f"{origin}/robots.txt",
        Answer(200, (("Content-Type", "text/plain"),), b"User-agent: *\nDisallow: /feed\n"),
    )
    server.override(f"{origin}/feed", feed("/a"))
    assert "robots.txt forbids it: Disallow: /feed" in rig.call("rss", "add", f"{origin}/feed", HERE).out
    private = rig.call("rss", "add", f"{origin}/feed")
    assert (private.status, "127.0.0.1" in private.err) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [(), ("ftp://h/f",), ("feed.xml",), ("http://h/", "--source", "No Name"), ("http://h/", "nonsense=1"), ("http://h/", "x"),
     ("http://h/", "discovery-interval=soon"), ("http://h/", "--source", "site1")],
)  # fmt: skip
def test_called_wrongly(rig: Rig, arguments: tuple[str, ...]) -> None:
    rig.call("source", "add", "site1", "access=secure")
    wrong = rig.call("rss", "add", *arguments)
    assert wrong.status == 2, wrong.err
    assert len(wrong.err.splitlines()) == 1


def test_a_private_address_is_refused_with_what_opens_it(rig: Rig, server: SyntheticServer) -> None:
    origin = server.origins[0]
    server.override(f"{origin}/feed", feed("/a"))
    ran = rig.call("rss", "add", f"{origin}/feed", "--source", "news")
    assert ran.status == 1
    assert "refused-address" in ran.err
    assert "ingather rss add URL addresses=ADDRESS" in ran.err
    assert len(ran.err.splitlines()) == 1
