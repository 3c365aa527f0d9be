"""The second look: what is unchanged costs little, what changed is renewed, what is gone goes in order."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ingather.model.lifecycle import Outcome, State
from ingather.testing.rig import Rig
from ingather.testing.site import Site

AN_HOUR_S = 3700
QUICK = {"catalog.outcome-wait": "0.02s", "gather.batch-wait": "0.02s"}


def pass_time(rig: Rig) -> None:
    """Let more than an hour pass: what was remembered lies back, what was planned is due."""
    rig.alter(
        "update url set missing = missing - ?, fetched = fetched - ?, due = due - ?",
        AN_HOUR_S,
        AN_HOUR_S,
        AN_HOUR_S,
    )
    rig.alter("update url set due = 0 where due is not null")
    rig.alter("update run set started = started - ?, ended = ended - ?", AN_HOUR_S, AN_HOUR_S)


def serve_once(rig: Rig, visits: int) -> dict[str, Any]:
    """Let ``serve`` look again at everything that is due."""
    with rig.serving() as served:
        return served.rest(visits)


def birds(site: Site, count: int) -> list[str]:
    """Put *count* pages and a start page that links to them."""
    paths = [f"/bird{n}" for n in range(count)]
    site.page("/", "All birds", *paths)
    for n, path in enumerate(paths):
        site.page(path, f"Bird number {n}", text=f"quetzal{n}")
    return paths


def test_unchanged_pages_answer_304_and_stay(rig: Rig, site: Site) -> None:
    birds(site, 3)
    site.page("/no-tag", "Without a validator")
    rig.crawl(site.url("/"))
    before = rig.known()
    site.forget()
    again = rig.crawl(site.url("/")).json
    assert Counter(seen.status for seen in site.server.requests if seen.path != "/robots.txt") == {304: 4}
    assert again["outcomes"] == {"unchanged": 4}
    assert {url: page.described for url, page in rig.known().items()} == {
        url: page.described for url, page in before.items()
    }
    assert all(page.outcome is Outcome.UNCHANGED and page.visits == 2 for page in rig.known().values())
    assert rig.complaints() == []


def test_a_sitemap_brings_pages_and_what_only_looks_changed_costs_no_change(rig: Rig, site: Site) -> None:
    site.robots(f"User-agent: *\nSitemap: {site.url('/maps/list.txt')}\n")
    site.put("/maps/list.txt", f"{site.url('/one')}\n{site.url('/two')}\n", kind="text/plain")
    for token in ("first", "second"):  # another body in each run, with other bytes in a comment alone
        for path in ("/", "/one", "/two"):
            site.page(path, f"Page {path}", text=f"text of {path}", head=f"<!-- {token} -->")
        rig.crawl(site.url("/"))
    assert rig.shown() == {site.url(path) for path in ("/", "/one", "/two")}
    assert site.asked("/maps/list.txt") == 2  # 200, then 304
    assert rig.rows("select count(*) from change") == [(3,)]
    assert {page.outcome for url, page in rig.known().items() if url in rig.shown()} == {Outcome.UNCHANGED}
    assert rig.complaints() == []


def test_changed_pages_are_renewed_with_their_links(rig: Rig, site: Site) -> None:
    birds(site, 2)
    rig.crawl(site.url("/"))
    site.page("/bird0", "Another bird", "/new", text="toucan")
    site.page("/new", "New page", text="hoatzin")
    assert rig.crawl(site.url("/")).status == 0
    with rig.searching() as found:
        assert found("quetzal0") == []
        assert found("toucan") == [site.url("/bird0")]
        assert found("hoatzin") == [site.url("/new")]
    assert rig.complaints() == []


def test_a_crawl_deletes_nothing_however_often_it_finds_a_page_gone(rig: Rig, site: Site) -> None:
    birds(site, 3)
    rig.crawl(site.url("/"))
    site.status("/bird0", 404)
    site.status("/bird1", 410)
    for _ in range(2):
        assert rig.crawl(site.url("/")).status == 0
        pass_time(rig)
    assert rig.known()[site.url("/bird0")].outcome is Outcome.NOT_FOUND
    with rig.searching() as found:
        assert found("quetzal0") == [site.url("/bird0")]
        assert found("quetzal1") == [site.url("/bird1")]
    assert rig.complaints() == []


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rig, Site]]:
    """A home that serves a site, gathered once."""
    rig = Rig(tmp_path_factory.mktemp("again") / "home", **QUICK).init()
    with Site() as site:
        rig.site(site.origin)
        birds(site, 12)
        assert rig.crawl().status == 0
        yield rig, site


@pytest.fixture
def aviary(gathered: tuple[Rig, Site]) -> Site:
    """The site of the home that was gathered, as it was then."""
    _, site = gathered
    birds(site, 12)
    site.forget()
    return site


@pytest.fixture
def watched(gathered: tuple[Rig, Site], home: Path) -> Rig:
    """A home of its own that gathered this site once."""
    return gathered[0].copy(home)


def test_serve_deletes_at_the_second_look_and_not_at_the_first(watched: Rig, aviary: Site) -> None:
    url = aviary.url("/bird0")
    aviary.status("/bird0", 404)
    pass_time(watched)
    serve_once(watched, 13)
    first = watched.known()[url]
    assert (first.outcome, first.state, first.described) == (Outcome.NOT_FOUND, State.DONE, True)
    assert watched.found("quetzal0") == [url]

    pass_time(watched)
    serve_once(watched, 13)
    second = watched.known()[url]
    assert (second.state, second.described) == (State.GONE, False)
    assert watched.found("quetzal0") == []
    said = watched.explained(url).partition("\n")[0]
    assert "404" in said or "not found" in said
    assert watched.complaints() == []

    assert watched.call("undelete", url).status == 0
    assert watched.found("quetzal0") == [url]
    assert watched.complaints() == []


def test_a_second_look_within_the_hour_confirms_nothing(watched: Rig, aviary: Site) -> None:
    aviary.status("/bird0", 404)
    pass_time(watched)
    serve_once(watched, 13)
    watched.alter("update url set due = 0 where due is not null")
    serve_once(watched, 13)
    assert watched.known()[aviary.url("/bird0")].visits == 3
    assert watched.found("quetzal0") == [aviary.url("/bird0")]


def test_refusals_and_errors_never_delete(rig: Rig) -> None:
    with ExitStack() as stack:
        sites = {status: stack.enter_context(Site()) for status in (500, 503, 429, 403, 401)}
        for status, site in sites.items():
            site.page("/", "Start", f"/bird{status}")
            site.page(f"/bird{status}", "Bird", text=f"quetzal{status}")
        starts = [site.url("/") for site in sites.values()]
        rig.crawl(*starts)
        for status, site in sites.items():
            site.status(f"/bird{status}", status, ("Retry-After", "100"))
            site.forget()
        rig.crawl(*starts)
        with rig.searching() as found:
            for status, site in sites.items():
                assert site.asked(f"/bird{status}"), status
                assert found(f"quetzal{status}") == [site.url(f"/bird{status}")]


def test_a_page_that_says_noindex_now_goes_at_that_visit(watched: Rig, aviary: Site) -> None:
    aviary.page("/bird0", "Bird", text="quetzal0", head='<meta name="robots" content="noindex">')
    assert watched.crawl().status == 0
    assert watched.found("quetzal0") == []
    assert watched.known()[aviary.url("/bird0")].outcome is Outcome.NOINDEX
    assert watched.complaints() == []


def test_a_page_that_new_rules_exclude_goes_at_its_next_visit_and_comes_back_with_them(
    watched: Rig, aviary: Site
) -> None:
    rules = watched.path / "config" / "filterrules.conf"
    before = rules.read_text()
    rule = (
        '<Rule name="No bird" enable=true action=exclude>\nMatch src=path method=is value="/bird0"\n</Rule>\n'
    )
    rules.write_text(before.replace("</Site>", 'Use rule="No bird"\n</Site>', 1) + rule)
    assert watched.crawl().status == 0
    assert watched.found("quetzal0") == []
    assert "filterrules.conf:" in watched.explained(aviary.url("/bird0"))
    rules.write_text(before)
    assert watched.crawl().status == 0
    assert watched.found("quetzal0") == [aviary.url("/bird0")]
    assert watched.complaints() == []


def test_too_many_deletions_are_held_until_somebody_decides(watched: Rig, aviary: Site) -> None:
    watched.tune("deletion.half-share", "5%")  # one is too many: they may come in several commits
    for n in range(8):
        aviary.page(f"/bird{n}", "Bird", text=f"quetzal{n}", head='<meta name="robots" content="noindex">')
    assert watched.crawl().status == 0
    held = watched.call("holds", "list", "--json").json
    assert [(hold["source"], hold["documents"]) for hold in held] == [("web", 8)]
    with watched.searching() as found:
        assert all(found(f"quetzal{n}") for n in range(8))
    assert watched.complaints() == []
    assert "held" in watched.explained(aviary.url("/bird3"))

    assert watched.call("holds", "release", str(held[0]["id"])).status == 0
    with watched.searching() as found:
        assert not any(found(f"quetzal{n}") for n in range(8))
        assert all(found(f"quetzal{n}") for n in range(8, 12))
    assert watched.call("holds", "list", "--json").json == []
    assert watched.complaints() == []


def test_a_discarded_hold_keeps_its_documents(watched: Rig, aviary: Site) -> None:
    watched.tune("deletion.half-share", "5%")
    for n in range(8):
        aviary.page(f"/bird{n}", "Bird", text=f"quetzal{n}", head='<meta name="robots" content="noindex">')
    watched.crawl()
    (held,) = watched.call("holds", "list", "--json").json
    assert watched.call("holds", "discard", str(held["id"])).status == 0
    with watched.searching() as found:
        assert all(found(f"quetzal{n}") for n in range(12))
    assert watched.call("holds", "discard", str(held["id"])).status == 2
    assert watched.complaints() == []


def test_removed_documents_are_gone_at_once_stay_gone_and_come_back(rig: Rig, site: Site) -> None:
    birds(site, 3)
    site.page("/bird0", "Bird", "/sub/one", "/sub/two", text="quetzal0")
    site.page("/sub/one", "One", text="toucan")
    site.page("/sub/two", "Two", text="hoatzin")
    rig.crawl(site.url("/"))
    assert rig.call("remove", site.url("/sub/*")).status == 0
    assert rig.call("remove", site.url("/bird1")).status == 0
    assert rig.call("remove", site.url("/nothing/here")).status == 1
    with rig.searching() as found:
        assert [found(word) for word in ("toucan", "hoatzin", "quetzal1")] == [[], [], []]
    site.forget()
    rig.crawl(site.url("/"))
    assert site.asked("/sub/one") == site.asked("/bird1") == 0
    assert rig.found("toucan") == []
    assert "removed" in rig.explained(site.url("/sub/one")).partition("\n")[0]
    assert rig.complaints() == []

    assert rig.call("undelete", site.url("/sub/")).status == 0
    assert rig.call("undelete", site.url("/bird1")).status == 0
    with rig.searching() as found:
        assert found("toucan") == [site.url("/sub/one")]
        assert found("quetzal1") == [site.url("/bird1")]
    assert rig.complaints() == []


def test_documents_of_a_secure_source_are_shown_to_nobody(rig: Rig, site: Site) -> None:
    birds(site, 2)
    rig.site(site.origin, source="staff", keys='access = "secure"\n')
    ran = rig.crawl()
    assert (ran.status, ran.json["documents"]) == (0, 3)
    assert rig.found("quetzal0") == []
    assert rig.call("search", "bird").status == 1
    assert "secure" in rig.explained(site.url("/bird0")).partition("\n")[0]
    assert rig.complaints() == []
