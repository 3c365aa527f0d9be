"""The same cases with pages as the product reads them, not made by hand."""

from collections.abc import Callable

from ingather.extract import read_page
from ingather.filters import Decision, Engine
from ingather.model.candidate import Candidate
from ingather.model.page import Page
from ingather.model.resource import Response

Make = Callable[..., Engine]
NOW_S = 1_795_000_000.0


def read(got: Response) -> Page:
    return read_page(
        got.body, url=got.url, content_type=got.header("content-type") or None, headers=got.headers
    )


def judged(
    engine: Make, lines: str, html: str, *, content_type: str = "text/html; charset=utf-8"
) -> Decision:
    url = "http://a.example/dir/page.html"
    response = Response(url, 200, (("Content-Type", content_type),), html.encode())
    return engine(lines, robot="enable-ip=no").decide(Candidate(url), response, read_page=read, now_s=NOW_S)


def test_robot_case_59_title_in_bytes(engine: Make) -> None:
    decision = judged(
        engine, "Generate fn=extract-html-meta truncate=4 type=text/html", "<title>naïve café</title>"
    )
    assert decision.attributes == {"title": ("naï",)}


def test_robot_case_60_headings_are_skipped(engine: Make) -> None:
    lines = "Generate fn=extract-html-text truncate=255 skip-headings=true"
    assert judged(engine, lines, "<h1>Head</h1><p>Body</p>").attributes == {"partial-text": ("Body",)}


def test_robot_case_61_stopindex_and_unclosed_scripts(engine: Make) -> None:
    html = "<body>A<!--stopindex-->B<a href=next>x</a><!--startindex-->C<script>evil(</script>"
    decision = judged(engine, "Generate fn=extract-html-text\nEnumerate fn=enumerate-urls", html)
    (text,) = decision.attributes["partial-text"]
    assert "A" in text
    assert "C" in text
    assert "B" not in text
    assert [link.url for link in decision.links] == ["http://a.example/dir/next"]
    unclosed = judged(engine, "Generate fn=extract-html-text", "<p>A</p><p>C</p><script>var x = 1;")
    assert unclosed.attributes["partial-text"][0].split() == ["A", "C"]


def test_robot_case_62_headings(engine: Make) -> None:
    html = "<h1>One</h1><h2>Two</h2><h3>Three</h3>"
    assert judged(engine, "Generate fn=extract-html-toc truncate=255 level=2", html).attributes == {
        "toc": ("One\nTwo",)
    }


def test_robot_case_66_links_in_order(engine: Make) -> None:
    html = "<a href=a>1</a><a href=/b#f>2</a><a href=a>3</a><a href=c>4</a><img src=i.png>"
    decision = judged(engine, "Enumerate fn=enumerate-urls max=2 type=text/html", html)
    assert [link.url for link in decision.links] == ["http://a.example/dir/a", "http://a.example/b"]
    assert decision.over_max == 1


def test_robot_case_69_urls_in_plain_text(engine: Make) -> None:
    text = "URL:http://a/x\nsee <URL:http://b/y>.\nurl:http://c/\n"
    decision = judged(engine, "Enumerate fn=enumerate-urls-from-text", text, content_type="text/plain")
    assert [link.url for link in decision.links] == ["http://a/x", "http://b/y"]


def test_page_rules_of_meta_and_of_headers(engine: Make) -> None:
    lines = "Generate fn=extract-source src=depth\nEnumerate fn=enumerate-urls"
    decision = judged(engine, lines, '<meta name=robots content="noindex"><a href=x>x</a>')
    assert not decision.generation.allowed
    assert len(decision.links) == 1


def test_xhtml_counts_as_html(engine: Make) -> None:
    html = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><a href="x">x</a></body></html>'
    lines = "Enumerate fn=enumerate-urls type=text/html"
    assert len(judged(engine, lines, html, content_type="application/xhtml+xml").links) == 1


def test_a_page_without_a_type_is_followed_and_described(engine: Make) -> None:
    lines = "Data fn=convert-to-html type=unknown\nEnumerate fn=enumerate-urls type=text/html\nGenerate fn=extract-html-meta"
    url = "http://a.example/"
    response = Response(url, 200, (), b"<!doctype html><title>T</title><a href=x>x</a>")
    decision = engine(lines, robot="enable-ip=no").decide(
        Candidate(url), response, read_page=read, now_s=NOW_S
    )
    assert decision.attributes == {"title": ("T",)}
    assert len(decision.links) == 1
    assert decision.flags == ()
