"""A source that is crawled is deleted in two steps: its documents at a command, then what was listed for it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from ingather.app.feeds.emptying import REASON, delete_gathered, forget_gathered
from ingather.catalog.deletion import sqlite_source_rows
from ingather.catalog.feeds.sqlite_feeds import Listing
from ingather.catalog.sqlite_changes import Applied
from ingather.errors import UsageError
from ingather.model.decided import By, Undo
from ingather.model.report import Discovery
from ingather.model.urlparts import key, split
from ingather.testing.fedhome import FedHome, Said, fed, rss

FEED, OTHER = "https://n.test/feed.xml", "https://n.test/other.xml"
A, B = "https://n.test/a", "https://n.test/b"
D = "Tue, 20 Mar 2018 08:33:00 GMT"
HomeOf = Callable[..., FedHome]
BY = By("ann", "not ours")


def found(home: FedHome, name: str) -> dict[str, Any]:
    """Return a source as the list of sources has it."""
    [(number, kind, access)] = home.rows("select id, kind, access from source where name = ?", name)
    return {"name": name, "id": number, "kind": kind, "access": access}


def switch(home: FedHome, name: str, *, off: bool) -> None:
    """Disable or enable a source."""
    one = found(home, name)
    at_s = home.now_s if off else None
    home.job(lambda w, _: w.registry.disable_source(name, one["kind"], one["access"], at_s))


def run(home: FedHome) -> Callable[[Any], Any]:
    """Return what does a job in the home."""
    return lambda job: home.job(lambda w, a: job(w, a, home.now_s))


def delete(home: FedHome, name: str, *, pieces: int = 0) -> dict[str, Any]:
    """Disable a source and delete its documents; *pieces*: as many calls, a piece each, 0 = one call."""
    switch(home, name, off=True)
    return delete_gathered(run(home), found(home, name), BY, enough=lambda: bool(pieces))


def crawl(home: FedHome, *urls: str, source: str = "web") -> None:
    """Discover and visit URLs of a site."""
    for url in urls:
        parts = split(url)
        one = Discovery(key(url, home.writer.seed), parts.origin, parts.path, 1, source=source)
        home.job(partial(_discover, one))
    while home.visit():
        pass


def _discover(one: Discovery, writer: Any, applied: Applied) -> None:
    writer.applier.discover(one, None, applied)


def owner(home: FedHome, url: str) -> str:
    """Return the name of the source that owns a URL."""
    sql = "select s.name from url u join source s on s.id = u.source where u.id = ?"
    return str(home.rows(sql, home.id_of(url))[0][0])


@pytest.mark.parametrize("span", [3, 20_000])
def test_a_site_s_documents_go_at_once_and_stay_away_until_it_is_enabled(
    home: FedHome, span: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_source_rows, "_SPAN", span)  # many pieces, or one
    pages = {f"https://s.test/{n}": Said(body=f"Page {n}") for n in range(20)}
    home.web |= pages
    crawl(home, *pages)
    crawl(home, A, source="others")  # 404: no document
    home.web[B] = Said(body="Beta")
    crawl(home, B, source="others")
    assert delete(home, "web") == {"deleted": 20, "handed_over": 0, "done": True}
    assert (home.documents(), home.holds()) == ({B}, [])  # all of a source, and nothing is held
    assert {home.tombstone(url) for url in pages} == {REASON}
    assert all(home.removed(url) == 1 for url in pages)
    assert home.rows("select who, verb, target, note, documents from decision") == [
        ("ann", "delete", "source web", "not ours", 20)
    ]
    home.now_s += 400 * 86_400
    home.job(lambda w, _: w.registry.promote_due(home.now_s, 100))
    crawl(home, *pages)
    assert home.documents() == {B}
    switch(home, "web", off=False)
    while home.visit():
        pass
    assert home.documents() == {B, *pages}


def test_it_is_taken_back_by_undelete(home: FedHome) -> None:
    home.web |= {A: Said(body="Alpha"), B: Said(body="Beta")}
    crawl(home, A, B)
    delete(home, "web")
    assert home.documents() == set()
    wanted = Undo(source="web")
    home.job(lambda w, a: w.deletions.undo(wanted, 0, 100, a, by=BY, at_s=home.now_s))
    assert home.documents() == {A, B}


def test_it_goes_on_where_it_stopped_and_stops_when_somebody_enables_it(home: FedHome) -> None:
    pages = {f"https://s.test/{n}": Said(body=f"Page {n}") for n in range(501)}
    home.web |= pages
    crawl(home, *pages)
    assert delete(home, "web", pieces=1) == {"deleted": 500, "handed_over": 0, "done": False}
    assert len(home.documents()) == 1
    switch(home, "web", off=False)
    with pytest.raises(UsageError, match="was enabled meanwhile"):
        delete_gathered(run(home), found(home, "web"), BY, enough=lambda: False)
    assert delete(home, "web") == {"deleted": 1, "handed_over": 0, "done": True}
    assert delete(home, "web") == {"deleted": 0, "handed_over": 0, "done": True}


def test_a_feed_s_documents_go_and_come_with_its_next_list_when_it_is_enabled(home: FedHome) -> None:
    home.web |= {A: Said(body="Alpha", etag='"1"'), B: Said(404), FEED: Said(body=rss((A, D)), etag='"f"')}
    home.cycle()
    assert home.documents() == {A}
    assert delete(home, "news") == {"deleted": 1, "handed_over": 0, "done": True}
    home.until(48)
    assert home.documents() == set()
    switch(home, "news", off=False)
    home.until(48)
    assert (home.documents(), home.state(A), home.tombstone(A)) == ({A}, "live", "")


def test_what_another_source_lists_goes_to_that_one_without_a_hole(home_of: HomeOf) -> None:
    home = home_of(fed("rss", "one", feeds=(FEED,)), fed("rss", "two", feeds=(OTHER,)))
    home.web |= {A: Said(body="Alpha"), B: Said(body="Beta")}
    home.web |= {FEED: Said(body=rss((A, D), (B, D)), etag='"f"'), OTHER: Said(body=rss((A, D)), etag='"o"')}
    home.cycle()
    assert owner(home, A) == "one"
    assert delete(home, "one") == {"deleted": 1, "handed_over": 1, "done": True}
    assert (home.documents(), owner(home, A), home.removed(A)) == ({A}, "two", 0)
    home.until(48)
    assert (home.documents(), owner(home, A), home.state(A)) == ({A}, "two", "live")


def test_who_comes_first_of_several_that_name_a_document_has_it(home_of: HomeOf) -> None:
    """A pushed web feed before a feed, this before a site's sitemap; who is disabled names nothing."""
    home = home_of(fed("rss", "one", feeds=(FEED,)), fed("rss", "two", feeds=(OTHER,)))
    links = [f"https://n.test/{name}" for name in ("all", "feed-and-map", "map", "resting", "none")]
    home.web |= {link: Said(body=f"Page {link}") for link in links}
    home.web |= {FEED: Said(body=rss(*links)), OTHER: Said(body=rss(*links[:2]))}
    home.cycle()
    assert {owner(home, link) for link in links} == {"one"}
    row, web = {link: home.id_of(link) for link in links}, found(home, "web")["id"]

    def name_them(writer: Any, _applied: Any) -> None:
        pushed, rests = (writer.feeds.make_source(name) for name in ("lists", "rests"))
        writer.feeds.put_listing(row[links[0]], Listing(pushed, web=True))
        writer.feeds.put_listing(row[links[3]], Listing(rests, web=True))
        writer.registry.disable_source("rests", "gsa", "public", home.now_s)
        at = writer.syndication.make("https://n.test/map.xml", web, Applied())
        writer.syndication.query(
            "insert into sitemap (id, url, source, depth, configured, named) values (1, ?, ?, 0, 1, 1)",
            (at, web),
        )
        for link in links[:3]:
            writer.syndication.query(
                "insert into sitemap_entry (sitemap, url, id, state, turn) values (1, ?, ?, 1, 1)",
                (link, row[link]),
            )

    home.job(name_them)
    assert delete(home, "one") == {"deleted": 2, "handed_over": 3, "done": True}
    assert [owner(home, link) for link in links] == ["lists", "two", "web", "one", "one"]
    assert home.documents() == set(links[:3])
    assert forget_gathered(run(home), found(home, "web"), rests=True) == {
        "feeds": 0,
        "sitemaps": 1,
        "listed": 0,
    }
    assert home.rows("select count(*) from sitemap_entry") == [(0,)]


def test_what_a_secure_source_has_goes_to_nobody(home_of: HomeOf) -> None:
    """Whoever else lists it may show it to more people."""
    home = home_of(
        fed("rss", "vault", feeds=(FEED,), source_access="secure"), fed("rss", "two", feeds=(OTHER,))
    )
    home.web |= {
        A: Said(body="Alpha"),
        FEED: Said(body=rss((A, D)), etag='"f"'),
        OTHER: Said(body=rss((A, D)), etag='"o"'),
    }
    home.cycle()
    assert owner(home, A) == "vault"
    assert delete(home, "vault") == {"deleted": 1, "handed_over": 0, "done": True}
    home.until(48)
    assert home.documents() == set()


def test_what_was_listed_for_it_is_forgotten_and_the_source_ends(home: FedHome) -> None:
    home.web |= {A: Said(body="Alpha"), FEED: Said(body=rss((A, D), (B, D)))}
    home.cycle()
    delete(home, "news")
    assert forget_gathered(run(home), found(home, "news"), rests=True)["feeds"] == 1
    tables = ("rss_feed", "rss_document", "rss_listing", "rss_source")
    assert [home.rows(f"select count(*) from {table}")[0][0] for table in tables] == [0] * 4  # noqa: S608 - names above
    assert home.rows("select disabled is not null from source where name = 'news'") == [(1,)]
    forget_gathered(run(home), found(home, "news"), rests=False)
    assert home.rows("select disabled is not null from source where name = 'news'") == [(0,)]
    home.until(48)
    assert (home.documents(), home.tombstone(A)) == (set(), REASON)
