"""Sitemaps of sites: who may name them, what they may list, and what becomes of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.app.reports import documents
from ingather.app.reports.table import Ask, Context
from ingather.app.sitemaps.limits import SitemapLimits
from ingather.catalog.feeds.sqlite_feeds import Listing
from ingather.catalog.reports.sqlite_reports import ReportReader
from ingather.catalog.sqlite_changes import Applied
from ingather.conf.sources.revisits import RevisitConf
from ingather.conf.sources.source import SourceConf
from ingather.errors import UsageError
from ingather.model.intent import Intent
from ingather.robot.settling.hints import Hint
from ingather.robot.settling.sitemaps import entries_of, may_list, priority_of
from ingather.syndication.sitemaps import list_sitemap
from ingather.testing.fedhome import Said
from ingather.testing.sitehome import SiteHome

A, MAP = "http://a.test", "http://a.test/maps/sitemap.xml"
PAGE = Said(body="<p>page</p>")
Make = Callable[..., SiteHome]


def urlset(*entries: str | tuple[str, str]) -> str:
    rows = "".join(
        f"<url><loc>{entry}</loc></url>"
        if isinstance(entry, str)
        else f"<url><loc>{entry[0]}</loc>{entry[1]}</url>"
        for entry in entries
    )
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'


def index(*sitemaps: str) -> str:
    rows = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in sitemaps)
    return f'<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</sitemapindex>'


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[SiteHome] = []

    def home(*sites: str, limits: SitemapLimits | None = None, **revisits: Any) -> SiteHome:
        sources = {"web": SourceConf(revisits=RevisitConf(**revisits))}
        made.append(
            SiteHome(
                tmp_path / f"{len(made)}.db",
                sources,
                sites=sites or ("a.test",),
                limits=limits or SitemapLimits(),
            )
        )
        return made[-1]

    yield home
    for each in made:
        each.close()


def listed(home: SiteHome) -> dict[str, int]:
    return dict(home.rows("select url, state from sitemap_entry"))


def asked_for(home: SiteHome, url: str) -> list[Intent]:
    return [one.intent for one in home.of(url)]


def test_what_the_sitemap_of_a_robots_txt_lists_is_gathered(make: Make) -> None:
    home = make()
    home.web = {
        MAP: Said(body=urlset(f"{A}/1", f"{A}/2"), etag="m1"),
        f"{A}/1": PAGE,
        f"{A}/2": Said(body="<p>two</p>"),
    }
    home.robots(A, f"User-agent: *\nDisallow:\nSitemap: {MAP}\n")
    home.rest()
    assert home.documents() == {f"{A}/1", f"{A}/2"}
    assert asked_for(home, MAP) == [Intent.SITEMAP]
    assert home.rows("select depth from url where path in ('/1', '/2')") == [(1,), (1,)]
    home.later(25)  # asked again, conditionally, by its own clock: 304
    assert [one.status for one in home.of(MAP)] == [200, 304]
    assert len(listed(home)) == 2


def test_a_sitemap_is_no_document_and_its_filters_are_those_of_links(make: Make) -> None:
    home = make()
    home.web = {MAP: Said(body=urlset(f"{A}/1", "http://elsewhere.test/2", f"{A}/x.zip")), f"{A}/1": PAGE}
    home.robots(A, f"Sitemap: {MAP}\n")
    home.rest()
    assert home.documents() == {f"{A}/1"}
    assert listed(home) == {f"{A}/1": 1, "http://elsewhere.test/2": 2, f"{A}/x.zip": 1}
    assert home.rows("select state from url where path = '/x.zip'") == [
        (1,)
    ]  # excluded by a rule, never asked for
    assert not home.of(f"{A}/x.zip")


def test_an_entry_that_is_cut_means_the_pushed_url_it_is_cut_from(make: Make) -> None:
    home = make()
    pushed = f"{A}/maps/view?utm_source=connector"

    def push(writer: Any, applied: Applied) -> None:
        source = writer.feeds.make_source("pushed")
        row = writer.feeds.make(pushed, source, applied)
        writer.feeds.put_listing(row.id, Listing(source, web=False, content=True))
        writer.feeds.note_short(row.id, f"{A}/maps/view")

    home.job(push)
    home.web |= {f"{A}/": PAGE, MAP: Said(body=urlset(f"{A}/maps/view?utm_source=map"))}
    home.start(f"{A}/")
    home.robots(A, f"Sitemap: {MAP}")
    home.rest()
    assert listed(home) == {f"{A}/maps/view": 1}
    assert home.rows("select id from sitemap_entry") == [(home.id_of(pushed),)]
    assert home.writer.syndication.known([f"{A}/maps/view"]) == {}


def test_a_host_that_is_not_gathered_brings_no_sitemaps(make: Make) -> None:
    home = make()
    home.robots("http://elsewhere.test", "Sitemap: http://elsewhere.test/sitemap.xml\n")
    home.rest()
    assert not home.asked


def test_the_sitemap_of_one_host_lists_another_ones_urls_only_if_that_ones_robots_txt_names_it(
    make: Make,
) -> None:
    home = make("a.test", "b.test")
    page_b = "http://b.test/1"
    home.web = {MAP: Said(body=urlset(f"{A}/1", page_b)), f"{A}/1": PAGE, page_b: Said(body="<p>b</p>")}
    home.robots(A, f"Sitemap: {MAP}\n")
    home.rest()
    assert home.documents() == {f"{A}/1"}
    assert listed(home)[page_b] == 2
    home.robots("http://b.test", f"Sitemap: {MAP}\n")
    home.rest()  # nobody asks the sitemap again for that
    assert page_b in home.documents()
    assert len(home.of(MAP)) == 1


def test_the_robots_txt_of_http_and_of_https_take_nothing_back_from_each_other(make: Make) -> None:
    home = make()
    home.web = {MAP: Said(body=urlset(f"{A}/1")), f"{A}/1": PAGE}
    home.robots(A, f"Sitemap: {MAP}\n")
    home.robots("https://a.test", None)
    home.rest()
    assert home.documents() == {f"{A}/1"}


def test_settings_name_sitemaps_that_may_list_whatever_the_filters_let_in(make: Make) -> None:
    home = make("a.test", "b.test", sitemaps=("http://maps.test/all.txt",), use_sitemaps=False)
    home.web = {
        "http://maps.test/all.txt": Said(body=f"{A}/1\nhttp://b.test/2\nhttp://c.test/3\n"),
        f"{A}/1": PAGE, "http://b.test/2": Said(body="<p>b</p>"),
    }  # fmt: skip
    home.rest()
    assert home.documents() == {f"{A}/1", "http://b.test/2"}
    home.robots(A, f"Sitemap: {MAP}\n")  # use-sitemaps = false
    home.rest()
    assert not home.of(MAP)


def test_an_index_leads_to_its_sitemaps_and_no_deeper_than_three(make: Make) -> None:
    home = make()
    home.web = {MAP: Said(body=index(f"{A}/maps/i1.xml", "http://elsewhere.test/maps.xml"))}
    for depth in range(1, 6):
        home.web[f"{A}/maps/i{depth}.xml"] = Said(
            body=index(f"{A}/maps/i{depth + 1}.xml", f"{A}/maps/leaf{depth}.txt")
        )
        home.web[f"{A}/maps/leaf{depth}.txt"] = Said(body=f"{A}/leaf{depth}\n")
        home.web[f"{A}/leaf{depth}"] = Said(body=f"<p>{depth}</p>")
    home.robots(A, f"Sitemap: {MAP}\n")
    home.rest()
    assert home.documents() == {f"{A}/leaf1", f"{A}/leaf2"}
    assert not home.of("http://elsewhere.test/maps.xml")
    assert home.rows("select count(*) from sitemap where error like 'an index below%'") == [(1,)]


def test_what_goes_from_its_sitemap_is_never_deleted_for_it(make: Make) -> None:
    home = make()
    bodies = [urlset(f"{A}/1", f"{A}/2"), urlset(f"{A}/2")]
    home.web = {
        MAP: lambda n: Said(body=bodies[min(n, 1)]),
        f"{A}/1": PAGE,
        f"{A}/2": Said(body="<p>two</p>"),
    }
    home.robots(A, f"Sitemap: {MAP}\n")
    home.rest()
    home.later(25)
    assert set(listed(home)) == {f"{A}/2"}
    assert home.documents() == {f"{A}/1", f"{A}/2"}
    home.robots(A, "User-agent: *\nDisallow:\n")  # names none any more
    home.later(24 * 9)
    assert listed(home) == {}
    assert home.documents() == {f"{A}/1", f"{A}/2"}
    assert home.rows("select count(*) from tombstone") == [(0,)]


def test_a_sitemap_that_fails_keeps_what_it_listed_and_is_asked_again(make: Make) -> None:
    home = make()
    answers = [Said(body=urlset(f"{A}/1")), Said(503), Said(body="<html>login</html>"), Said(404)]
    home.web = {MAP: lambda n: answers[min(n, 3)], f"{A}/1": PAGE}
    home.robots(A, f"Sitemap: {MAP}\n")
    home.rest()
    home.later(25)
    for error in ("back-off", "not-a-feed", "missing"):
        assert home.rows("select error from sitemap")[0][0].startswith(error)
        assert set(listed(home)) == {f"{A}/1"}
        home.later(7)
    assert len(home.of(MAP)) >= 4


def test_an_unreachable_robots_txt_takes_nothing_back(make: Make) -> None:
    home = make()
    home.web = {MAP: Said(body=urlset(f"{A}/1")), f"{A}/1": PAGE}
    home.robots(A, f"Sitemap: {MAP}\n")
    home.rest()
    home.crash()
    home.robots(A, f"Sitemap: {MAP}\n")
    assert home.rows("select named from sitemap") == [(1,)]
    assert set(listed(home)) == {f"{A}/1"}
    home.robots(A, None)
    assert home.rows("select named from sitemap") == [(0,)]


def test_translations_are_gathered_and_other_extensions_ignored_in_peace(make: Make) -> None:
    home = make()
    more = (
        f'<xhtml:link xmlns:xhtml="http://www.w3.org/1999/xhtml" rel="alternate" hreflang="de" href="{A}/de"/>'
        '<image:image xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><image:loc>http://a.test/i.png</image:loc></image:image>'
        '<video:video xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"><video:title>v</video:title></video:video>'
    )
    home.web = {
        MAP: Said(body=urlset((f"{A}/1", more))),
        f"{A}/1": PAGE,
        f"{A}/de": Said(body="<p>Seite</p>"),
    }
    home.robots(A, f"Sitemap: {MAP}\n")
    home.rest()
    assert home.documents() == {f"{A}/1", f"{A}/de"}
    assert set(listed(home)) == {f"{A}/1", f"{A}/de"}


def test_urls_and_sitemaps_of_a_host_are_bounded(make: Make) -> None:
    home = make(limits=SitemapLimits(files=2, urls=3))
    home.web = {
        MAP: Said(body=index(*(f"{A}/maps/{n}.txt" for n in range(5)))),
        **{f"{A}/maps/{n}.txt": Said(body="\n".join(f"{A}/{n}{m}" for m in range(5))) for n in range(5)},
    }
    home.robots(A, f"Sitemap: {MAP}\n")
    home.rest()
    assert len(listed(home)) == 3
    assert home.rows("select count(*) from sitemap") == [(2,)]
    assert home.rows("select count(*) from sitemap where error like 'more than%'") == [(2,)]


def test_a_date_that_moves_brings_a_visit_until_it_was_wrong_too_often(make: Make) -> None:
    """The site says each day that all its pages changed; none ever does. It is believed a little, then no more."""
    home = make()

    def daily(asked: int) -> Said:
        date = f"<lastmod>2018-03-{20 + asked:02d}T12:00:00Z</lastmod>"
        return Said(body=urlset(*((f"{A}/{n}", date) for n in range(30))))

    home.web = {MAP: daily, **{f"{A}/{n}": Said(body=f"<p>{n}</p>", etag=f"e{n}") for n in range(30)}}
    home.robots(A, f"Sitemap: {MAP}\n")
    home.rest()
    counts = []
    for _ in range(4):
        before = len(home.asked)
        home.now_s += 25 * 3600  # nothing is promoted: only what the sitemap says brings visits
        home.job(lambda writer, _: writer.sitemaps.force(home.now_s, None))
        home.rest()
        counts.append(len(home.asked) - before - 1)
    assert counts[0] == 10
    assert counts[-1] == 0
    right, wrong = home.rows("select right, wrong from hint_score where hint = ?", int(Hint.LASTMOD))[0]
    assert wrong > right


def test_a_date_that_is_right_is_believed_for_every_page(make: Make) -> None:
    home = make()
    versions = dict.fromkeys(range(30), 0)

    def honest(_: int) -> Said:
        rows = (
            (f"{A}/{n}", f"<lastmod>2018-03-{20 + version:02d}T12:00:00Z</lastmod>")
            for n, version in versions.items()
        )
        return Said(body=urlset(*rows))

    def page(number: int) -> Callable[[int], Said]:
        return lambda _: Said(
            body=f"<p>{number} version {versions[number]}</p>", etag=f"e{number}-{versions[number]}"
        )

    home.web = {MAP: honest, **{f"{A}/{n}": page(n) for n in range(30)}}
    home.robots(A, f"Sitemap: {MAP}\n")
    home.rest()
    counts = []
    for day in range(1, 4):
        for number in versions:
            versions[number] = day
        before = len(home.asked)
        home.now_s += 25 * 3600
        home.job(lambda writer, _: writer.sitemaps.force(home.now_s, None))
        home.rest()
        counts.append(len(home.asked) - before - 1)
    assert counts[0] == 10  # unproved: a sample
    assert counts[-1] == 30  # proved: all of them


def test_the_report_tells_what_is_listed_and_not_indexed_and_the_opposite(make: Make) -> None:
    home = make()
    other = f"{A}/other"
    home.web = {
        MAP: Said(body=urlset(f"{A}/1", f"{A}/gone", "http://elsewhere.test/2", f"{A}/x.zip")), f"{A}/1": PAGE, other: Said(body="<p>o</p>"),
    }  # fmt: skip
    home.start(other)
    home.robots(A, f"Sitemap: {MAP}\n")
    home.rest()
    reader = ReportReader(home.path)
    try:
        context = Context(None, None, reader, home.now_s, dict)  # type: ignore[arg-type]

        def rows(what: str = "") -> dict[str, str]:
            return {
                row[0]: str(row[2]) for row in documents.listed(context, Ask(options={"what": what})).rows
            }

        why = rows()
        assert set(why) == {f"{A}/gone", "http://elsewhere.test/2", f"{A}/x.zip"}
        assert why[f"{A}/gone"].startswith("not found")
        assert "robots.txt of its host" in why["http://elsewhere.test/2"]
        assert why[f"{A}/x.zip"].startswith("excluded")
        assert list(rows("unlisted")) == [other]
        assert rows("files") == {MAP: "urls"}
        with pytest.raises(UsageError):
            rows("more")
    finally:
        reader.close()


@given(st.sampled_from(["", "/x", "/x/y", "/maps/a", "/maps/b/c", "/mapsa"]))
def test_without_a_voucher_a_sitemap_counts_for_its_own_folder(path: str) -> None:
    url = f"{A}{path or '/'}"
    assert may_list(url, MAP, vouched=(), configured=False) is path.startswith("/maps/")
    assert may_list(url, MAP, vouched=("a.test",), configured=False)
    assert may_list(url, MAP, vouched=(), configured=True)
    assert not may_list(url, MAP.replace("a.test", "b.test"), vouched=("b.test",), configured=False)
    assert not may_list(url, MAP.replace("http:", "https:"), vouched=(), configured=False)


def test_what_an_entry_says() -> None:
    body = urlset(
        (f"{A}/1", "<lastmod>2018-03-20</lastmod><changefreq>Weekly</changefreq><priority>0.9</priority>"),
        (f"{A}/2", "<changefreq>now and then</changefreq><priority>0.1</priority>"),
        f"{A}/1",
    )  # fmt: skip
    one, two = entries_of(list_sitemap(body.encode(), url=MAP))
    assert one.every_s == 7 * 86_400.0
    assert one.lastmod_s == 1_521_504_000.0 + 86_399.0  # a day ends with the day
    assert (two.lastmod_s, two.every_s) == (None, None)
    assert priority_of(one) < priority_of(two)
