"""A URL that is a document and that somebody calls a sitemap: neither role takes anything from the other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.conf.sources.revisits import RevisitConf
from ingather.conf.sources.source import SourceConf
from ingather.model.intent import Intent
from ingather.testing.fedhome import Said
from ingather.testing.sitehome import SiteHome

A, B = "http://a.test", "http://b.test"
MAP = f"{A}/map.xml"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[SiteHome]:
    made = SiteHome(
        tmp_path / "catalog.db", {"web": SourceConf(revisits=RevisitConf())}, sites=("a.test", "b.test")
    )
    yield made
    made.close()


def urlset(*urls: str) -> str:
    rows = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'


def test_a_document_that_another_hosts_robots_txt_calls_a_sitemap_stays_a_document(home: SiteHome) -> None:
    page = f"{B}/news"
    home.web = {page: Said(body="<p>old news</p>")}
    home.start(page)
    home.rest()
    assert home.documents() == {page}
    before = home.rows("select outcome, status, fails, fetched, due, detail from url where path = '/news'")
    home.robots(A, f"Sitemap: {page}\n")
    home.rest()
    assert [one.intent for one in home.of(page)] == [Intent.NONE, Intent.SITEMAP]
    assert (
        home.rows("select outcome, status, fails, fetched, due, detail from url where path = '/news'")
        == before
    )
    home.web[page] = Said(body="<p>other news</p>")
    for _ in range(30):  # it is polled in vain again and again
        home.later(5)
    visits = [one.intent for one in home.of(page)]
    assert visits.count(Intent.SITEMAP) > 5
    assert visits.count(Intent.NONE) > 2
    assert home.documents() == {page}


def test_a_sitemap_that_was_gathered_as_a_page_first_is_read_all_the_same(home: SiteHome) -> None:
    home.web = {MAP: Said(body=urlset(f"{A}/1"), etag="m1"), f"{A}/1": Said(body="<p>page</p>")}
    home.start(MAP)
    home.rest()
    assert home.documents() == {MAP}
    home.robots(A, f"Sitemap: {MAP}\n")
    home.rest()
    assert home.documents() == {MAP, f"{A}/1"}
    home.web |= {MAP: Said(body=urlset(f"{A}/1", f"{A}/2"), etag="m2"), f"{A}/2": Said(body="<p>two</p>")}
    for _ in range(10):
        home.later(12)
    assert home.documents() == {MAP, f"{A}/1", f"{A}/2"}
