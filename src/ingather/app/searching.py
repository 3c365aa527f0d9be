"""A search service over a home's index; texts for excerpts from the catalog's WARC segments."""

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from ingather.access import ANONYMOUS, Rights, Visible, principal
from ingather.access.groups import GroupExpander
from ingather.app.access.accounts import folded_name, principal_of
from ingather.app.access.directory import GroupLookup, KnownPeople, people_of
from ingather.app.clock import SystemClock
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.overlay.withheld import Withheld
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.access.sqlite_groups_reader import GroupReader
from ingather.catalog.access.sqlite_users import PeopleReader
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.conf.settings.values import Settings
from ingather.errors import CatalogError, UsageError
from ingather.index import IndexFolder, QueryLimits, TantivyReader
from ingather.log import get
from ingather.model.acl import PrincipalScope
from ingather.model.viewer import Viewer
from ingather.search import SearchService

__all__ = ["Seeing", "Texts", "gathered", "query_limits", "search_service", "seen_by"]

_log = get("search")


class Texts:
    """Kept texts for excerpts: a catalog reader for each thread that asks. What *beside* names is closed with them."""

    def __init__(self, home: Home, *, beside: Iterable[Callable[[], None]] = ()) -> None:
        self._home = home
        self._beside = tuple(beside)
        self._own = threading.local()
        self._all: list[SqliteReader] = []
        self._lock = threading.Lock()

    def __call__(self, ids: Sequence[int]) -> Mapping[int, str]:
        """Return the texts of rows; those that are not kept or damaged are left out."""
        return self._reader().texts(ids)

    def openings(self, ids: Sequence[int], most_bytes: int) -> Mapping[int, tuple[str, bool]]:
        """Return the beginnings of the texts of rows, about so many bytes of each, and whether that is all of it."""
        return self._reader().openings(ids, most_bytes)

    def _reader(self) -> SqliteReader:
        reader: SqliteReader | None = getattr(self._own, "reader", None)
        if reader is None:
            reader = self._own.reader = SqliteReader(database_of(self._home), self._home.bodies)
            with self._lock:
                self._all.append(reader)
        return reader

    def close(self) -> None:
        """Close the readers; nobody asks any more."""
        with self._lock:
            for reader in self._all:
                reader.close()
            self._all.clear()
        for close in self._beside:
            close()


class Seeing:
    """From somebody to what he may see now: his groups, as directory and memberships are, then the chains. Any thread may ask."""

    def __init__(self, home: Home, service: SearchService, *, directory: KnownPeople | None = None) -> None:
        self._groups = GroupReader(database_of(home))
        self._expander = GroupExpander(self._groups, cut_domains=service.cut_domains)
        self._service = service
        self._lookup = GroupLookup(database_of(home), directory)

    def __call__(self, viewer: Viewer) -> Visible:
        """Return what *viewer* may see.

        Raises:
            CatalogError: groups or rights could not be read: show nothing.
            DirectoryError: the directory cannot say what groups he is in: show nothing.
        """
        viewer = self._lookup(viewer)
        if not viewer.known:
            return ANONYMOUS
        found = self._expander.expand(viewer.users, viewer.groups)
        return self._service.viewer(found.users, found.groups)

    def close(self) -> None:
        """Close the reader; nobody asks any more."""
        self._groups.close()


def seen_by(home: Home, service: SearchService, name: str, settings: Settings | None = None) -> Visible:
    """Return what the user *name* may see: a local one, or one as access lists spell him.

    Raises:
        UsageError: the home belongs to somebody else, the user is disabled, or that is no name.
    """
    owner = home.path.stat().st_uid
    if os.geteuid() not in {0, owner}:
        raise UsageError(
            "only the owner of the home may search as somebody", hint="log in to the search page instead"
        )
    reader = PeopleReader(database_of(home))
    try:
        local = reader.user(folded_name(name))
    finally:
        reader.close()
    if local is not None and local.disabled:
        raise UsageError(f"the user {local.name!r} is disabled", hint="ingather user enable lets him in")
    who = principal(name, PrincipalScope.USER) if local is None else principal_of(local)
    if who is None:
        raise UsageError(f"{name!r} names nobody", hint="write it as access lists do")
    directory = None if settings is None else people_of(home, settings, SystemClock())
    seeing = Seeing(home, service, directory=directory)
    try:
        return seeing(Viewer((who,)))
    finally:
        seeing.close()


def gathered(home: Home) -> bool:
    """Return whether there is a catalog: nothing was crawled, pushed or imported before there is one."""
    return database_of(home).exists()


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


def _strictness(ranking: str, rights: Rights) -> Callable[[], bool]:
    """Return whether ranking is strict by now; ``auto``: once any source is secured or any ACL is known."""
    return rights.anything_secured if ranking == "auto" else lambda: ranking == "strict"


def search_service(home: Home, settings: Settings) -> tuple[SearchService, TantivyReader, Texts]:
    """Return (service, index reader to reload, texts to close).

    When the catalog cannot be opened the index answers alone: with what was public when it was last written.

    Raises:
        IndexDamagedError: the index does not read as written.
    """
    reader, table = IndexFolder(home.index).reader(), home.settings().classes
    try:
        access = AccessReader(database_of(home))
        withheld = Withheld(database_of(home))
    except CatalogError as error:
        if gathered(home):
            _log.warning("rights cannot be read: public documents only", error=str(error))
        texts = Texts(home)
        service = SearchService(
            reader,
            texts,
            SystemClock(),
            limits=query_limits(settings),
            classes=table.kind,
            labels=table.label,
            openings=texts.openings,
        )
        return service, reader, texts
    texts = Texts(home, beside=(access.close, withheld.close))
    rights = Rights(access, cut_domains=settings.flag("access.cut-domains"))
    service = SearchService(
        reader, texts, SystemClock(), limits=query_limits(settings), rights=rights,
        strict=_strictness(settings.text("search.ranking"), rights), classes=table.kind, labels=table.label,
        withheld=withheld, openings=texts.openings,
    )  # fmt: skip
    return service, reader, texts
