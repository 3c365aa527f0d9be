"""A whole synthetic web is gathered: every page once, everything findable, every question answered."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ingather.catalog.packing import unpack_attributes, unpack_keys
from ingather.model.lifecycle import Outcome, State
from ingather.testing.reach import Expected, reachable
from ingather.testing.rig import Rig
from ingather.testing.server import SyntheticServer
from ingather.testing.web import SyntheticWeb
from ingather.testing.webshape import WebShape

SHAPE = WebShape(sites=3, pages=60, depth=4)
OUTCOMES = {
    "page": {Outcome.INDEXED, Outcome.NOINDEX, Outcome.DUPLICATE},
    "text": {Outcome.INDEXED, Outcome.DUPLICATE},
    "copy": {Outcome.INDEXED, Outcome.NOINDEX, Outcome.DUPLICATE},
    "redirect": {Outcome.REDIRECTED},
    "missing": {Outcome.NOT_FOUND},
    "forbidden": {Outcome.ROBOTS},
}


@dataclass
class Gathered:
    """A crawl that is over: what served it, what came of it, what should have."""

    rig: Rig
    server: SyntheticServer
    summary: dict[str, Any]
    expected: dict[str, Expected]
    asked: Counter[str]

    def some(self, kind: str) -> str:
        """Return a URL of *kind*."""
        return next(url for url, met in sorted(self.expected.items()) if met.kind == kind)


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gathered]:
    rig = Rig(tmp_path_factory.mktemp("web") / "home").init()
    with SyntheticServer(SyntheticWeb(7, SHAPE)) as server:
        ran = rig.crawl(*server.origins)
        assert ran.status == 0, ran.err
        yield Gathered(rig, server, ran.json, reachable(server.web), Counter(server.paths()))


def test_every_url_is_asked_for_exactly_once(gathered: Gathered) -> None:
    asked = gathered.asked
    robots = {f"{origin}/robots.txt" for origin in gathered.server.origins}
    fetched = {url for url, met in gathered.expected.items() if met.kind != "forbidden"}
    assert {url: n for url, n in asked.items() if n != 1 and url not in robots} == {}
    assert set(asked) - robots == fetched
    assert all(asked[url] == 1 for url in robots)


def test_every_url_has_its_smallest_depth_and_its_outcome(gathered: Gathered) -> None:
    known = gathered.rig.known()
    inside = {url: page for url, page in known.items() if url in gathered.expected}
    assert set(inside) == set(gathered.expected)
    assert {u: p.depth for u, p in inside.items()} == {u: e.depth for u, e in gathered.expected.items()}
    wrong = {
        url: (met.kind, inside[url].outcome)
        for url, met in gathered.expected.items()
        if inside[url].outcome not in OUTCOMES[met.kind]
    }
    assert wrong == {}
    assert {page.state for url, page in known.items() if url not in inside} <= {State.EXCLUDED}


def test_what_belongs_into_the_index_is_in_it_and_nothing_else(gathered: Gathered) -> None:
    wanted = {met.group for met in gathered.expected.values() if met.indexed}
    shown = gathered.rig.shown()
    assert {gathered.expected[url].group for url in shown} == wanted
    assert len(shown) == len(wanted)
    assert gathered.rig.complaints() == []
    assert gathered.rig.call("index", "check").status == 0


def test_each_page_is_found_by_the_word_that_only_it_has(gathered: Gathered) -> None:
    shown = gathered.rig.shown()
    with gathered.rig.searching() as found:
        for met in gathered.expected.values():
            if met.word and met.kind in {"page", "text"}:
                urls = found(met.word)
                if met.indexed:
                    assert len(urls) == 1
                    assert urls[0] in shown
                    assert gathered.expected[urls[0]].group == met.group
                else:
                    assert urls == [], f"{met.url} must not be found"


def test_the_command_line_finds_a_page_and_says_when_there_is_none(gathered: Gathered) -> None:
    met = next(m for m in gathered.expected.values() if m.kind == "page" and m.indexed and m.depth == 2)
    found = gathered.rig.run("search", "--json", met.word)
    assert found.status == 0
    assert [result["url"] for result in found.json["results"]] == [met.url]
    assert gathered.rig.call("search", "zzzzqqqq").status == 1


def test_the_summary_counts_what_happened(gathered: Gathered) -> None:
    summary, kinds = gathered.summary, Counter(met.kind for met in gathered.expected.values())
    assert summary["visited"] == len(gathered.expected)
    assert summary["outcomes"]["redirected"] == kinds["redirect"]
    assert summary["outcomes"]["not_found"] == kinds["missing"]
    assert summary["outcomes"]["robots"] == kinds["forbidden"]
    assert summary["waiting"] == summary["gatherer_deaths"] == summary["holds"] == 0
    assert (summary["index"], summary["interrupted"], summary["why_nothing"]) == ("ok", False, "")
    assert summary["failed_starts"] == []
    assert summary["documents"] == sum(page.described for page in gathered.rig.known().values())


def test_the_reports_count_and_list_what_the_web_is(gathered: Gathered) -> None:
    """Figures that were counted in transactions, walks over rows and the web's own account agree."""

    def report(name: str, *words: str) -> dict[str, Any]:
        ran = gathered.rig.call("report", name, "--json", "--limit", "0", *words)
        assert ran.status == 0, ran.err
        found: dict[str, Any] = ran.json
        return found

    by_kind: dict[str, set[str]] = {}
    for url, met in gathered.expected.items():
        by_kind.setdefault(met.kind, set()).add(url)
    run = gathered.rig.call("runs", "show", "last", "--json").json
    assert run["figures"]["visits"]["all"] == gathered.summary["visited"]
    assert run["figures"]["visits"]["bytes"] == gathered.summary["bytes"]
    described = sum(page.described for page in gathered.rig.known().values())
    assert run["figures"]["rds"] == {"new": described}
    new = report("rds", "--what", "new")
    assert {row["url"] for row in new["rows"]} == {u for u, p in gathered.rig.known().items() if p.described}
    assert {row["url"] for row in report("errors", "--class", "http-404")["rows"]} == by_kind["missing"]
    assert report("errors")["urls"] == len(by_kind["missing"])
    assert report("robots")["urls"] == len(by_kind["forbidden"])
    robots = report("excluded", "--reason", "robots")["rows"]  # of the page itself, too
    assert {row["url"] for row in robots if row["where"].startswith("robots.txt:")} == by_kind["forbidden"]
    copies = sum(row["urls"] - 1 for row in report("duplicates")["rows"])
    assert copies == sum(page.outcome is Outcome.DUPLICATE for page in gathered.rig.known().values())
    assert report("orphans")["rows"] == []
    assert report("queue")["waiting"] == 0
    assert {row["server"] for row in report("servers")["rows"] if row["visits"]} == set(
        gathered.server.origins
    )


def test_the_access_log_has_a_line_for_each_visit(gathered: Gathered) -> None:
    lines = gathered.rig.access_log()
    assert sorted(line["url"] for line in lines) == sorted(gathered.expected)
    for line in lines:
        if gathered.expected[line["url"]].kind == "forbidden":
            assert line["rule"].startswith("robots.txt:"), line


def test_explain_tells_why_each_kind_of_url_is_or_is_not_in_search(gathered: Gathered) -> None:
    noindex = next(
        u for u, m in gathered.expected.items() if m.kind == "page" and not m.indexed and "/copy/" not in u
    )
    duplicate = next(u for u, page in gathered.rig.known().items() if page.duplicate)
    for url, words in (
        (gathered.server.origins[0] + "/", ("in search",)),
        (gathered.some("forbidden"), ("robots.txt",)),
        (gathered.some("missing"), ("not found", "404", "410")),
        (gathered.some("redirect"), ("redirect",)),
        (noindex, ("noindex", "not to be indexed")),
        (duplicate, ("same", "duplicate", "equal")),
        ("http://elsewhere.example/page", ("never", "no site", "not belong")),
    ):
        line = gathered.rig.explained(url).partition("\n")[0].lower()
        assert any(word in line for word in words), (url, line)


def test_explain_exits_with_whether_it_is_in_search(gathered: Gathered) -> None:
    assert gathered.rig.call("explain", gathered.server.origins[0] + "/").status == 0
    assert gathered.rig.call("explain", gathered.some("missing")).status == 1


def test_explain_follows_the_referrers_back_to_the_starting_point(gathered: Gathered) -> None:
    deep = max(
        (m for m in gathered.expected.values() if m.kind == "page" and m.indexed), key=lambda m: m.depth
    )
    answer = gathered.rig.call("explain", "--json", deep.url).json
    text = str(answer)
    assert gathered.server.origins[0] in text or gathered.server.origins[1] in text
    assert answer["index"]["indexed"] is True


def test_explain_stores_nothing(gathered: Gathered) -> None:
    before = gathered.rig.known()
    gathered.rig.explained(f"{gathered.server.origins[0]}/never/seen.html")
    assert gathered.rig.known() == before


def test_explain_asks_a_host_that_a_crawl_was_given_as_that_crawl_did(gathered: Gathered) -> None:
    origin = gathered.server.origins[0]
    answer = gathered.rig.run("explain", "--fetch", "--json", f"{origin}/never/seen.html").json
    assert answer["fetched"]["status"] == 404
    answer = gathered.rig.run("explain", "--fetch", "--json", "http://127.0.0.99:9/").json
    assert "127.0.0.99 is a loopback address that the source does not name" in answer["fetched"]["detail"]


def test_two_gatherers_and_another_home_give_the_same_catalog(gathered: Gathered, tmp_path: Path) -> None:
    other = Rig(tmp_path / "home", **{"gather.gatherers": "2"}).init()
    assert other.crawl(*gathered.server.origins).status == 0
    assert content(other) == content(gathered.rig)


def content(rig: Rig) -> dict[str, Any]:
    """Return a catalog without times, ids and order, and without what a visit may meet in another order.

    ``depth`` of a description is that of the path by which the visit came; a shorter one may be found later, which its row knows.
    """
    names = {page.id: url for url, page in rig.known().items()}
    keys = {key: names[number] for number, key in rig.rows("select id, key from url")}
    pages = {}
    for number, title, attributes, out in rig.rows("select id, title, attrs, out from page"):
        kept = unpack_attributes(attributes, None).items()
        undated = {name: value for name, value in kept if not name.startswith("rd-") and name != "depth"}
        pages[names[number]] = (title, undated, [keys[k] for k in unpack_keys(out)])
    heads = {
        (md5, group): names.get(head) for md5, group, head in rig.rows("select md5, class, head from digest")
    }
    inlinks = {names[number]: rest for number, *rest in rig.rows("select id, n, anchors from inlink")}
    rows = {url: page._replace(id=0) for url, page in rig.known().items()}
    return {"urls": rows, "pages": pages, "heads": heads, "inlinks": inlinks}
