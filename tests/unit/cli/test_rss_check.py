"""``ingather rss check``: what people see of a feed, from a file and from a server; no home."""

import io
import json
import threading
from base64 import b64encode
from contextlib import redirect_stderr, redirect_stdout
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ingather.cli import run
from ingather.testing.running import Ran
from ingather.testing.server import SyntheticServer
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

FEED = (
    '<rss version="2.0"><channel><title>News</title><ttl>60</ttl><skipHours><hour>3</hour></skipHours>'
    "<item><title>One\x1b[31m</title><link>/1?a=1&copy=2</link><pubDate>Tue, 20 Mar 2018 08:33:00 GMT</pubDate></item>"
    "<item><link>http://n.test/2</link><pubDate>soon</pubDate></item><item><link>file:///etc/passwd</link></item></channel></rss>"
)


def call(*arguments: str) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = run(["rss", "check", *arguments])
    return Ran(status, out.getvalue(), err.getvalue())


def test_items_are_shown_as_they_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "feed.xml"
    file.write_text(FEED)
    ran = call(str(file), "--url", "http://n.test/feed")
    assert ran.status == 0
    lines = ran.out.splitlines()
    assert lines[:4] == [
        "http://n.test/feed: rss 2.0, malformed",
        "  title: News",
        "  ttl: 60 min",
        "  skip hours (GMT): 3",
    ]
    assert lines[4].startswith("  remark: not well-formed")
    assert lines[5:] == [
        "  http://n.test/1?a=1&copy=2",
        "      published 2018-03-20T08:33:00Z; One[31m",
        "  http://n.test/2",
        "      published soon",
        "  rejected: item 3: no http(s) link: file:///etc/passwd",
        "  2 items, 1 rejected",
    ]


def test_json_has_everything(tmp_path: Path) -> None:
    file = tmp_path / "feed.xml"
    file.write_text(FEED)
    report = json.loads(call(str(file), "--url", "http://n.test/feed", "--json").out)
    assert (report["kind"], report["malformed"], report["rejected_count"], report["error"]) == (
        "rss",
        True,
        1,
        "",
    )
    assert [item["published"] for item in report["items"]] == ["2018-03-20T08:33:00Z", "soon"]
    assert report["hints"]["skip_hours"] == [3]


@pytest.mark.parametrize(
    ("body", "kind", "text", "status"),
    [
        ("<urlset><url><loc>http://n.test/a</loc><lastmod>2018</lastmod></url></urlset>", "sitemap", "modified 2018-01-01T00:00:00Z", 0),
        ("<sitemapindex><sitemap><loc>http://n.test/1</loc></sitemap></sitemapindex>", "sitemap-index", "http://n.test/1", 0),
        ("<html><head><link rel=feed href=/feed></head>", "html", "names the feed http://n.test/feed", 1),
        ("<!DOCTYPE r [<!ENTITY a 'b'>]><rss/>", "", "error: refused: declares entities", 1),
        ("", "", "error: empty", 1),
    ],
)  # fmt: skip
def test_what_is_no_feed(tmp_path: Path, body: str, kind: str, text: str, status: int) -> None:
    file = tmp_path / "document"
    file.write_text(body)
    ran = call(str(file), "--url", "http://n.test/x")
    assert (ran.status, text in ran.out) == (status, True), ran.out
    assert ran.out.splitlines()[0] == f"http://n.test/x: {kind or 'no feed'}"


@pytest.mark.parametrize(
    "arguments",
    [(), ("no-such-file.xml",), ("http://h/", "--url", "http://h/"), ("http://h/", "--address", "x"), (".",)],
)
def test_called_wrongly(arguments: tuple[str, ...]) -> None:
    wrong = call(*arguments)
    assert wrong.status == 2
    assert len(wrong.err.splitlines()) == 1


def test_a_private_address_is_not_asked_unless_allowed() -> None:
    ran = call("http://127.0.0.1:9/feed")
    assert ran.status == 1
    assert "127.0.0.1" in ran.err
    assert "Traceback" not in ran.err


def test_a_url_is_asked_for_and_redirects_are_followed() -> None:
    with SyntheticServer(SyntheticWeb(1, WebShape())) as server:
        feed = f"{server.origins[0]}/news/feed"
        server.override(f"{server.origins[0]}/old", Answer(301, (("Location", "/news/feed"),)))
        server.override(feed, Answer(200, (("Content-Type", "text/xml; charset=koi8-r"),), FEED.encode()))
        ran = call(f"{server.origins[0]}/old", "--address", "127.0.0.0/8", "--limit", "1")
        server.override(feed, Answer(410))
        gone = call(feed, "--address", "127.0.0.0/8")
    assert ran.out.startswith(f"{feed}: rss 2.0")
    assert f"  {server.origins[0]}/1?a=1&copy=2" in ran.out
    assert "  and 1 more" in ran.out
    assert (ran.status, gone.status) == (0, 1)
    assert "answers 410" in gone.err


def test_as_a_source_it_is_asked_for_with_its_login_and_by_its_proxy(home: Path) -> None:
    asked: list[str] = []

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers.get("Authorization", ""))
            self.send_response(200)
            self.send_header("Content-Length", str(len(FEED)))
            self.end_headers()
            self.wfile.write(FEED.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing."""

    assert run(["init", str(home)]) == 0
    with HTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            feed = f"http://127.0.0.1:{server.server_address[1]}/feed"
            with (home / "ingather.toml").open("a") as settings:
                settings.write(
                    '\n[source.inside]\naddresses = ["127.0.0.0/8"]\n'
                    '[source.far]\naddresses = ["127.0.0.0/8"]\nproxy = ["http://127.0.0.1:1"]\n'
                )
            keys = home / "credentials.toml"
            keys.write_text(f'[[credential]]\nurl = "{feed}"\nuser = "u"\npassword = "right one"\n')
            keys.chmod(0o600)
            ran = call(feed, "--source", "inside", "--home", str(home))
            far = call(feed, "--source", "far", "--home", str(home))
            nobody = call(feed, "--source", "nobody", "--home", str(home))
        finally:
            server.shutdown()
            thread.join(60)
    assert (ran.status, far.status, nobody.status) == (0, 1, 2)
    assert ran.out.startswith(f"{feed}: rss 2.0")
    assert asked == ["Basic " + b64encode(b"u:right one").decode()]
    assert "proxy http://127.0.0.1:1 (source.far.proxy" in far.err
    assert "there is no source 'nobody'" in nobody.err
