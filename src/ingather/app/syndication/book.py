"""What the decider asks the catalog, answered inside the transaction that carries out its ruling."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

from ingather.app.syndication.records import listed_dates, registration
from ingather.catalog.syndication.sqlite_syndication import SyndicationStore
from ingather.errors import UrlError
from ingather.syndication.facts import ListedDates, Registration

__all__ = ["CatalogBook"]


class CatalogBook:
    """One source's registrations and listings (:class:`ingather.syndication.rulings.Book`).

    Args:
        store: the writer's statements.
        source: whose.
        key_of: link to the canonical URL that is its document's key.
    """

    def __init__(self, store: SyndicationStore, source: int, key_of: Callable[[str], str]) -> None:
        self._store, self._source, self._key_of = store, source, key_of

    def listings(self, feed: int) -> Collection[ListedDates]:
        """Return what *feed* lists now."""
        return [listed_dates(row) for row in self._store.listed_by(feed)]

    def listings_among(self, feed: int, keys: Sequence[int]) -> Mapping[int, ListedDates]:
        """Return what *feed* says or said of *keys*."""
        return {key: listed_dates(row) for key, row in self._store.listings_among(feed, keys).items()}

    def registrations(self, keys: Sequence[int]) -> Mapping[int, Registration]:
        """Return the registrations of *keys* that are this source's."""
        return {
            key: registration(row)
            for key, row in self._store.documents(keys).items()
            if row.source == self._source
        }

    def listings_of(self, key: int) -> Collection[ListedDates]:
        """Return what all feeds of the source say or said of *key*."""
        return [
            listed_dates(row)
            for row in self._store.listings_of([key]).get(key, ())
            if (feed := self._store.feed(row.feed)) is not None and feed.source == self._source
        ]

    def named(self, feed: int, guids: Sequence[str]) -> Mapping[str, int]:
        """Return the keys of items that *feed* calls *guids*."""
        return self._store.named(feed, guids)

    def linked(self, links: Sequence[str]) -> Mapping[str, int]:
        """Return the keys of *links*, as far as they are registered."""
        urls: dict[str, str] = {}
        for link in links:
            with suppress(UrlError):
                urls[link] = self._key_of(link)
        rows = self._store.meant(list(dict.fromkeys(urls.values())))
        mine = self.registrations(list(rows.values()))
        return {link: rows[url] for link, url in urls.items() if url in rows and rows[url] in mine}

    def leading_to(self, key: int) -> Collection[Registration]:
        """Return the other registrations whose ``final`` is the URL of *key*, or whose ``alias`` is *key*."""
        return [
            registration(row)
            for row in self._store.leading_to(key, self._store.url(key))
            if row.source == self._source
        ]
