"""A search service over a home's index; texts for excerpts from the catalog's WARC segments."""

import threading
from collections.abc import Callable, Mapping, Sequence

from ingather.access import Rights
from ingather.app.clock import SystemClock
from ingather.app.home import Home
from ingather.app.keeper import database_of
from ingather.catalog.sqlite_access_reader import AccessReader
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.conf.settings import Settings
from ingather.index import IndexFolder, QueryLimits, TantivyReader
from ingather.search import SearchService

__all__ = ["Texts", "query_limits", "search_service"]


class Texts:
    """Kept texts for excerpts: a catalog reader for each thread that asks. *beside* is closed with them."""

    def __init__(self, home: Home, *, beside: Callable[[], None] = lambda: None) -> None:
        self._home = home
        self._beside = beside
        self._own = threading.local()
        self._all: list[SqliteReader] = []
        self._lock = threading.Lock()

    def __call__(self, ids: Sequence[int]) -> Mapping[int, str]:
        """Return the texts of rows; those that are not kept or damaged are left out."""
        reader: SqliteReader | None = getattr(self._own, "reader", None)
        if reader is None:
            reader = self._own.reader = SqliteReader(database_of(self._home), self._home.bodies)
            with self._lock:
                self._all.append(reader)
        return reader.texts(ids)

    def close(self) -> None:
        """Close the readers; nobody asks any more."""
        with self._lock:
            for reader in self._all:
                reader.close()
            self._all.clear()
        self._beside()


def query_limits(settings: Settings) -> QueryLimits:
    """Bounds of one query."""
    return QueryLimits(
        chars=settings.count("limits.query-length"),
        clauses=settings.count("limits.query-clauses"),
        expansions=settings.count("limits.query-expansions"),
        window=settings.count("limits.query-window"),
        time_s=settings.seconds("limits.query-time"),
        page=settings.count("search.page-size-max"),
    )


def search_service(home: Home, settings: Settings) -> tuple[SearchService, TantivyReader, Texts]:
    """Return (service, index reader to reload, texts to close).

    Raises:
        IndexDamagedError: the index does not read as written.
    """
    reader = IndexFolder(home.index).reader()
    access = AccessReader(database_of(home))
    texts = Texts(home, beside=access.close)
    service = SearchService(
        reader, texts, SystemClock(), limits=query_limits(settings), rights=Rights(access)
    )
    return service, reader, texts
