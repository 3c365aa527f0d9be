"""The synthetic web and its oracle."""

import re
from collections import Counter
from html import unescape
from urllib.parse import urljoin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingather.testing.reach import reachable
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import PLAIN_TREE, WebShape


def links_in(answer: Answer) -> list[str]:
    return [unescape(href) for href in re.findall(r'<a href="([^"]*)"', answer.body.decode())]


def fetch(web: SyntheticWeb, url: str) -> Answer:
    origin, _, path = url.removeprefix("http://").partition("/")
    return web.answer(web.origins.index(f"http://{origin}"), f"/{path}")


def crawl(web: SyntheticWeb, max_depth: int | None) -> dict[str, int]:
    """Crawl by hand: urljoin and regular expressions, robots.txt and META obeyed."""
    found: dict[str, int] = {}
    queue = [(f"{origin}/", 0) for origin in web.origins]
    for url, depth in queue:
        if url in found or (max_depth is not None and depth > max_depth):
            continue
        found[url] = depth
        if "/private/" in url:
            continue
        answer = fetch(web, url)
        if location := dict(answer.headers).get("Location"):
            # A redirect costs no depth: its target's turn is now.
            queue.insert(queue.index((url, depth)) + 1, (urljoin(url, location), depth))
        elif b'"robots" content="' not in answer.body or b"nofollow" not in answer.body:
            queue += [(urljoin(url, href).partition("#")[0], depth + 1) for href in links_in(answer)]
    return found


@pytest.mark.parametrize("max_depth", [0, 1, 2, None])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_oracle_finds_what_a_crawler_finds(seed: int, max_depth: int | None) -> None:
    web = SyntheticWeb(seed, WebShape(sites=3, pages=150, depth=4, decay=0.05))
    web.generation = 2
    expected = reachable(web, max_depth=max_depth)
    assert {url: met.depth for url, met in expected.items()} == crawl(web, max_depth)


def test_what_is_reached_answers_as_its_kind_says() -> None:
    web = SyntheticWeb(4, WebShape(pages=400))
    expected = reachable(web)
    kinds = Counter(met.kind for met in expected.values())
    assert set(kinds) == {"page", "text", "copy", "redirect", "missing", "forbidden"}
    for met in expected.values():
        answer = fetch(web, met.url)
        match met.kind:
            case "page":
                assert f"<title>{met.title}</title>" in answer.body.decode()
                assert met.indexed == ("noindex" not in answer.body.decode())
            case "copy":
                assert answer.body == fetch(web, met.group).body
            case "text":
                assert dict(answer.headers)["Content-Type"].startswith("text/plain")
            case "redirect":
                assert "Location" in dict(answer.headers)
            case "missing":
                assert answer.status in {404, 410}
            case _:
                assert "/private/" in met.url


def test_a_page_carries_a_word_of_its_own() -> None:
    web = SyntheticWeb(4, WebShape(pages=200, copies=0.0))
    bodies = {
        met.url: fetch(web, met.url).body.decode()
        for met in reachable(web).values()
        if met.kind in {"page", "text"}
    }
    for met in reachable(web).values():
        if met.kind in {"page", "text"}:
            assert [url for url, body in bodies.items() if met.word in body] == [met.url]


def test_a_plain_tree_is_as_deep_as_it_says() -> None:
    for depth in (1, 3, 6):
        web = SyntheticWeb(9, PLAIN_TREE).reshaped(sites=1, pages=300, depth=depth, degree=4)
        expected = reachable(web)
        assert len(expected) == 300
        assert {met.kind for met in expected.values()} == {"page"}
        assert max(met.depth for met in expected.values()) == depth


def test_the_same_seed_gives_the_same_web_and_another_seed_another() -> None:
    one, two, other = (SyntheticWeb(seed, WebShape(pages=30)) for seed in (1, 1, 2))
    paths = [one.path(0, n) for n in range(30)]
    assert [one.answer(0, p) for p in paths] == [two.answer(0, p) for p in paths]
    assert all(one.answer(0, p).body != other.answer(0, p).body for p in paths)


def test_pages_change_from_one_generation_to_the_next() -> None:
    web = SyntheticWeb(1, WebShape(pages=300, change=0.3))
    before = {n: web.answer(0, web.path(0, n)) for n in range(300)}
    web.generation = 1
    after = {n: web.answer(0, web.path(0, n)) for n in range(300)}
    changed = {n for n in before if before[n].body != after[n].body}
    assert 50 < len(changed) < 130
    assert changed == {n for n in before if dict(before[n].headers)["ETag"] != dict(after[n].headers)["ETag"]}


def test_pages_come_and_go() -> None:
    web = SyntheticWeb(1, PLAIN_TREE).reshaped(sites=1, pages=100, growth=0.1, decay=0.2)
    first = reachable(web)
    web.generation = 4
    later = reachable(web)
    assert len(first) == 100
    assert {met.kind for met in first.values()} == {"page"}
    assert any(met.kind == "missing" for met in later.values())
    assert set(later) - set(first)


def test_robots_and_sitemap_say_where_things_are() -> None:
    web = SyntheticWeb(1, WebShape(pages=50, crawl_delay_s=2.5, sitemaps=True))
    robots = web.answer(1, "/robots.txt").body.decode()
    assert "Disallow: /private/" in robots
    assert "Crawl-delay: 2.5" in robots
    assert f"Sitemap: {web.origins[1]}/sitemap.xml" in robots
    sitemap = web.answer(1, "/sitemap.xml").body.decode()
    assert re.findall("<loc>(.*?)</loc>", sitemap) == [web.url(1, n) for n in range(50)]


@settings(max_examples=100)
@given(st.text(max_size=40))
def test_any_path_has_an_answer(path: str) -> None:
    web = SyntheticWeb(1, WebShape(pages=10))
    assert web.answer(0, f"/{path}").status in {200, 301, 302, 303, 307, 308, 404, 410}


def test_only_the_pages_there_are_answer() -> None:
    web = SyntheticWeb(1, PLAIN_TREE)
    for path in (
        "/s0/p1.html",
        "/s1/p1",
        "/s1/p1000.html",
        "/copy/1.html",
        "/go/x",
        "/s1/p01.html",
        "/p1.html",
    ):
        assert web.answer(0, path).status == 404, path
