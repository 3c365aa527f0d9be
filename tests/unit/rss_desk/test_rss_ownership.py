"""Who has a URL: pushed content over web feeds over sitemaps over sites; and what becomes of feeds and sources that end."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ingather.catalog.feeds.sqlite_feeds import Listing
from ingather.catalog.sqlite_changes import Applied
from ingather.conf.sources.syndication import SyndicationConf
from ingather.model.intent import Intent
from ingather.model.report import Discovery
from ingather.model.urlparts import key, split
from ingather.testing.fedhome import FedHome, Said, fed, rss

FEED, MAP = "https://n.test/feed.xml", "https://n.test/sitemap.xml"
A, B = "https://n.test/a", "https://n.test/b"
D = "Tue, 20 Mar 2018 08:33:00 GMT"
HomeOf = Callable[..., FedHome]


def sitemap(*links: str, index: bool = False) -> str:
    """Return a sitemap, or an index of sitemaps."""
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "".join(f"<{inner}><loc>{link}</loc></{inner}>" for link in links)
    return f'<?xml version="1.0"?><{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{outer}>'


def discovered(home: FedHome, url: str, source: str = "web") -> None:
    """A crawled page links to *url*."""
    parts = split(url)
    found = Discovery(key(url, home.writer.seed), parts.origin, parts.path, 1, source=source)
    home.job(lambda writer, applied: writer.applier.discover(found, 1, applied))


def owner(home: FedHome, url: str) -> str:
    """Return the name of the source that owns a URL."""
    return str(
        home.rows(
            "select s.name from url u join source s on s.id = u.source where u.id = ?", home.id_of(url)
        )[0][0]
    )


def test_what_a_site_crawled_becomes_the_feeds_and_stays_so(home: FedHome) -> None:
    home.web |= {A: Said(body="Alpha"), FEED: Said(body=rss((A, D)))}
    discovered(home, A)
    home.visit()
    assert owner(home, A) == "web"
    home.cycle()
    assert (owner(home, A), home.state(A)) == ("news", "live")
    assert home.rows("select due from url where id = ?", home.id_of(A)) == [(None,)]
    discovered(home, A)
    assert (owner(home, A), home.waiting()) == ("news", [])
    assert home.documents() == {A}


def test_a_link_on_a_page_does_not_bring_back_what_the_feed_deleted(home: FedHome) -> None:
    home.web |= {A: Said(410), FEED: Said(body=rss((A, D)))}
    home.cycle()
    assert home.state(A) == "deleted"
    home.now_s += 5 * 86_400
    discovered(home, A)
    assert home.waiting() == []


def test_a_feed_comes_before_a_sitemap_whichever_lists_first(home_of: HomeOf) -> None:
    home = home_of(fed("sitemap", "map", feeds=(MAP,)), fed("rss", "news", feeds=(FEED,)))
    home.web |= {
        A: Said(body="Alpha"),
        MAP: Said(body=sitemap(A, B)),
        FEED: Said(body=rss("https://n.test/other")),
    }
    home.web |= {B: Said(body="Beta"), "https://n.test/other": Said(body="Other")}
    home.cycle()
    assert (owner(home, A), owner(home, B)) == ("map", "map")
    home.web[FEED] = Said(body=rss((A, D)))
    home.cycle()
    assert (owner(home, A), owner(home, B), home.state(A)) == ("news", "map", "live")
    home.until(12)
    assert (owner(home, A), len(home.documents())) == ("news", 3)
    both = home.rows("select count(*) from rss_listing where id = ?", home.id_of(A))
    assert both == [(2,)]


def test_of_two_feed_sources_the_first_has_it_and_the_other_when_it_ends(home_of: HomeOf) -> None:
    other = "https://n.test/other.xml"
    first, second = fed("rss", "one", feeds=(FEED,)), fed("rss", "two", feeds=(other,))
    home = home_of(first, second)
    home.web |= {
        A: Said(body="Alpha"),
        FEED: Said(body=rss((A, D)), etag='"f"'),
        other: Said(body=rss((A, D)), etag='"o"'),
    }
    home.cycle()
    assert owner(home, A) == "one"
    home.configure(two=second)
    assert home.documents() == {A}
    (held,) = home.writer.deletions.holds()
    assert (held.reason, held.sample) == ("its source was removed from the settings", (A,))
    home.cycle()
    assert (owner(home, A), home.documents(), home.writer.deletions.holds()) == ("two", {A}, [])


def test_a_source_that_was_taken_out_by_mistake_finds_its_documents_again(home_of: HomeOf) -> None:
    home = home_of(fed(feeds=(FEED,)))
    home.web |= {A: Said(body="Alpha"), FEED: Said(body=rss((A, D)))}
    home.cycle()
    home.configure()
    assert home.documents() == {A}
    assert len(home.writer.deletions.holds()) == 1
    home.configure(news=fed(feeds=(FEED,)))
    home.cycle()
    assert (owner(home, A), home.documents(), home.writer.deletions.holds()) == ("news", {A}, [])


def test_a_feed_opens_nothing_that_a_closed_source_has(home_of: HomeOf) -> None:
    home = home_of(fed(feeds=(FEED,)))
    home.job(lambda writer, _: writer.registry.put_source("vault", "site", "secure"))
    discovered(home, A, "vault")
    home.web |= {A: Said(body="secret"), FEED: Said(body=rss((A, D)))}
    home.visit()
    home.cycle()
    assert owner(home, A) == "vault"
    assert home.writer.syndication.document(home.id_of(A)) is None


def test_what_was_removed_by_hand_stays_away(home: FedHome) -> None:
    home.web |= {A: Said(body="Alpha"), B: Said(body="Beta"), FEED: Said(body=rss((A, D), (B, D)))}
    home.cycle()
    home.job(lambda writer, applied: writer.deletions.remove(A, home.now_s, applied, exact=True))
    home.web[FEED] = Said(body=rss((A, "Wed, 21 Mar 2018 08:33:00 GMT"), (B, D)))
    home.asked.clear()
    home.until(24 * 10, every=4)
    assert home.of(A) == []
    assert home.documents() == {B}


def test_a_feed_that_is_taken_out_leaves_its_documents_under_the_check(home_of: HomeOf) -> None:
    home = home_of()
    home.web |= {A: Said(body="Alpha", etag='"1"'), FEED: Said(body=rss((A, D)))}
    home.cycle()
    home.configure(news=fed(feeds=()))
    home.asked.clear()
    home.until(52)
    assert home.of(FEED) == []
    assert [(one.intent, one.status) for one in home.of(A)] == [(Intent.CHECK, 304)]
    assert home.documents() == {A}
    home.web[A] = Said(404)
    home.until(52)
    assert home.documents() == set()
    home.configure(news=fed(feeds=(FEED,)))
    home.web[A] = Said(body="Alpha again")
    home.until(26)
    assert home.documents() == {A}


def test_a_feed_that_changes_its_source_takes_along_what_it_lists(home_of: HomeOf) -> None:
    other, gone = "https://n.test/other.xml", "https://n.test/gone"
    pages = {
        A: Said(body="Alpha"),
        B: Said(body="Beta"),
        gone: Said(body="Gone"),
        other: Said(body=rss((B, D))),
    }
    home = home_of(fed("rss", "one", feeds=(FEED, other)), fed("rss", "two", feeds=()))
    home.web |= pages | {FEED: Said(body=rss((A, D), (gone, D)))}
    home.cycle()
    assert (owner(home, A), owner(home, gone)) == ("one", "one")
    home.configure(two=fed("rss", "two", feeds=(FEED, other)), one=fed("rss", "one", feeds=(other,)))
    home.web[FEED] = Said(body=rss((A, D)))
    home.cycle()
    assert (owner(home, A), home.state(A), owner(home, gone)) == ("two", "live", "one")
    assert owner(home, B) == "one"
    assert owner(home, other) == "one"
    assert home.rows(
        "select count(*) from rss_event where cause like '%is a feed of the source one already'"
    ) == [(1,)]
    home.configure(new=fed("rss", "new", feeds=(FEED,)), one=fed("rss", "one", feeds=(other,)))
    home.cycle()
    assert (owner(home, A), home.state(A)) == ("new", "live")
    assert home.documents() == {A, B, gone}


def test_a_feed_that_is_taken_out_takes_its_documents_with_it_if_the_source_says_so(home_of: HomeOf) -> None:
    home = home_of(on_feed_removed="delete")
    home.web |= {A: Said(body="Alpha"), FEED: Said(body=rss((A, D)))}
    home.cycle()
    home.configure(news=fed(feeds=(), on_feed_removed="delete"))
    home.until(2)
    assert home.documents() == set()
    assert "feed was removed" in home.tombstone(A)


def test_a_source_that_is_off_keeps_its_documents_and_asks_for_nothing(home: FedHome) -> None:
    home.web |= {A: Said(body="Alpha"), FEED: Said(body=rss((A, D)))}
    home.cycle()
    home.configure(news=fed(feeds=(FEED,), enable_indexer=False))
    home.asked.clear()
    home.until(24 * 20, every=6)
    assert home.asked == []
    assert home.documents() == {A}
    home.configure(news=fed(feeds=(FEED,)))
    home.until(2)
    assert home.of(FEED)


def test_a_sitemap_index_is_followed_and_its_parts_end_with_it(home_of: HomeOf) -> None:
    one, two = "https://n.test/one.xml", "https://n.test/two.xml"
    home = home_of(fed("sitemap", feeds=(MAP,)))
    home.web |= {
        MAP: Said(body=sitemap(one, two, index=True)),
        one: Said(body=sitemap(A)),
        two: Said(body=sitemap(B)),
    }
    home.web |= {A: Said(body="Alpha", etag='"1"'), B: Said(body="Beta", etag='"1"')}
    home.cycle()
    assert home.documents() == {A, B}
    assert home.feed(two).parent == home.feed(MAP).id
    home.web[MAP] = Said(body=sitemap(one, index=True))
    home.cycle()
    home.asked.clear()
    home.until(50)
    assert home.of(two) == []
    assert home.of(one)
    assert home.documents() == {A, B}
    assert [one.intent for one in home.of(B)] == [Intent.CHECK]


def test_code_and_listing_date_stand_on_the_document(home_of: HomeOf) -> None:
    conf = fed(feeds=(FEED,))
    home = home_of(replace(conf, syndication=SyndicationConf(feeds=(FEED,), code="NEWS")))
    home.web |= {A: Said(body="Alpha", etag='"1"'), FEED: Said(body=rss((A, D)))}
    home.cycle()
    ((layer,),) = home.rows("select attrs from layer where id = ? and name = 'listing'", home.id_of(A))
    assert b"system_source_code\x91\xa4NEWS" in layer
    assert b"2018-03-20T08:33:00Z" in layer
    home.web[FEED] = Said(body=rss((A, "Tue, 20 Mar 2018 09:33:00 GMT")))
    home.cycle()
    ((layer,),) = home.rows("select attrs from layer where id = ? and name = 'listing'", home.id_of(A))
    assert b"2018-03-20T09:33:00Z" in layer


def test_honoured_parameters_are_the_key(home_of: HomeOf) -> None:
    home = home_of(honoured_query_parameters=("id",))
    home.web |= {f"{A}?id=1": Said(body="One"), f"{A}?id=2": Said(body="Two")}
    home.web[FEED] = Said(body=rss((f"{A}?id=1&amp;day=3", D), (f"{A}?id=2&amp;day=4", D)))
    home.cycle()
    assert home.documents() == {f"{A}?id=1", f"{A}?id=2"}


def test_same_host_rejects_links_elsewhere(home_of: HomeOf) -> None:
    home = home_of(link_scope="same-host")
    home.web |= {
        A: Said(body="Alpha"),
        FEED: Said(body=rss((A, D), ("https://other.test/x", D), ("http://n.test/y", D))),
    }
    home.cycle()
    assert {one.url for one in home.asked} == {FEED, A}
    assert home.feed().rejected == 2


def test_an_item_lends_its_title_where_the_page_has_none(home_of: HomeOf) -> None:
    home = home_of(item_metadata="fallback")
    home.web[A] = Said(body="Alpha")
    item = f"<item><link>{B}</link><title>From the item</title><pubDate>{D}</pubDate></item>"
    home.web[B] = Said(body=" ")
    home.web[FEED] = Said(body=rss((A, D), after=item))
    plain = home.report

    def report(row: object) -> object:
        made = plain(row)  # type: ignore[arg-type]
        made.title = made.title.strip()
        return made

    home.report = report  # type: ignore[assignment,method-assign]
    home.cycle()
    titles = dict(
        home.rows(
            "select h.origin || u.path, p.title from page p join url u on u.id = p.id join host h on h.id = u.host"
        )
    )
    assert titles == {A: "Alpha", B: "From the item"}


def test_a_clock_that_jumps_back_does_not_stop_polling(home: FedHome) -> None:
    home.web |= {A: Said(body="Alpha"), FEED: Said(body=rss((A, D)))}
    home.cycle()
    home.now_s -= 400 * 86_400
    home.asked.clear()
    home.until(3)
    assert home.of(FEED)
    assert home.documents() == {A}


def test_the_budget_spreads_checks_oldest_first(home_of: HomeOf) -> None:
    home = home_of(max_checks_per_cycle=10)
    links = [f"https://n.test/d{n:02}" for n in range(30)]
    for link in links:
        home.web[link] = Said(body=f"Document {link}", etag='"1"')
    home.web[FEED] = Said(body=rss(*((link, D) for link in links)))
    home.cycle()
    home.web[FEED] = Said(body=rss((A, D)))
    home.web[A] = Said(body="Alpha")
    home.cycle()
    home.cycle(hours=49)
    counts = []
    for _ in range(4):
        asked = home.cycle()
        counts.append(sum(one.intent is Intent.CHECK for one in asked))
    assert max(counts) <= 10
    assert {one.url for one in home.asked if one.intent is Intent.CHECK} == set(links)


def test_an_item_whose_link_is_cut_means_the_pushed_url_it_is_cut_from(home: FedHome) -> None:
    """Its content came with a feed, so the web feed takes nothing and makes no second document."""
    pushed, item = "https://n.test/a?utm_source=connector", "https://n.test/a?utm_source=rss"

    def push(writer: Any, applied: Applied) -> None:
        source = writer.feeds.make_source("pushed")
        row = writer.feeds.make(pushed, source, applied)
        writer.feeds.put_listing(row.id, Listing(source, web=False, content=True))
        writer.feeds.note_short(row.id, A)

    home.job(push)
    home.web |= {item: Said(body="Alpha"), A: Said(body="Alpha"), FEED: Said(body=rss((item, D)))}
    home.cycle()
    assert owner(home, pushed) == "pushed"
    assert home.writer.syndication.known([A, item]) == {}
    assert home.of(A) == home.of(pushed) == []
