"""How many documents a site has."""

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.conf.sites.rules import Site
from ingather.conf.sites.sitebook import SiteBook
from ingather.errors import UrlError
from ingather.model.urlparts import split

__all__ = ["documents_by_host", "documents_of_sites", "uncovered"]

_BY_ORIGIN = (
    "select h.origin, n from (select host, count(*) as n from url where version is not null group by host) u "
    "join host h on h.id = u.host"
)
"""Over the index of described URLs by host."""


def documents_by_host(home: Home) -> Counter[str]:
    """Return host, as URLs carry it -> described documents."""
    counted: Counter[str] = Counter()
    path = database_of(home)
    if not path.exists():
        return counted
    db = open_reader(path)
    try:
        for origin, number in Rows(db, path).all(_BY_ORIGIN):
            with suppress(UrlError):  # pushed content may have no host
                counted[split(f"{origin}/").host] += number
    finally:
        db.close()
    return counted


def documents_of_sites(counted: Mapping[str, int], sites: Iterable[Site]) -> Counter[str]:
    """Return name of the site -> documents on its hosts; the most specific site of a host has them, an enabled one first."""
    book, found = SiteBook(sites), Counter[str]()
    for host, number in counted.items():
        site = book.covering(host)
        if site is not None:
            found[site.name] += number
    return found


def uncovered(counted: Mapping[str, int], sites: Iterable[Site]) -> int:
    """Return how many documents are on hosts that no enabled site covers."""
    book = SiteBook(sites)
    return sum(number for host, number in counted.items() if book.of_host(host) is None)
