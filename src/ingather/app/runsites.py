"""Sites that a command line added for one run, remembered so that explain judges as the run did."""

from collections.abc import Iterable

import msgspec

from ingather.app.home import Home
from ingather.catalog.sqlite_memory import Memory
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.conf import Site, Start
from ingather.errors import CatalogError

__all__ = ["RUN_SITES", "pack_sites", "remembered_sites", "unpack_sites"]

RUN_SITES = "run-sites"


class _Kept(msgspec.Struct, array_like=True):
    name: str
    host: str
    depth: int | None
    source: str
    starts: list[str]
    protocols: list[str]
    ports: list[int]


def pack_sites(sites: Iterable[Site]) -> bytes:
    """Return *sites* in the form that is kept."""
    return msgspec.msgpack.encode(
        [
            _Kept(
                s.name,
                s.host,
                s.depth,
                s.source,
                [start.url for start in s.starts],
                sorted(s.protocols),
                sorted(s.ports),
            )
            for s in sites
        ]
    )


def unpack_sites(packed: bytes) -> tuple[Site, ...]:
    """Return the sites that :func:`pack_sites` kept."""
    if not packed:
        return ()
    return tuple(
        Site(
            name=k.name, host=k.host, depth=k.depth, source=k.source, starts=tuple(Start(url, k.depth) for url in k.starts),
            protocols=frozenset(k.protocols), ports=frozenset(k.ports),
        )
        for k in msgspec.msgpack.decode(packed, type=list[_Kept])
    )  # fmt: skip


def remembered_sites(home: Home, database_name: str = "catalog.db") -> tuple[Site, ...]:
    """Return the sites of the home's crawls, none when there is no catalog yet."""
    path = home.catalog / database_name
    if not path.exists():
        return ()
    try:
        db = open_reader(path)
    except CatalogError:
        return ()
    try:
        return unpack_sites(Memory(db, Rows(db, path)).recall(RUN_SITES))
    finally:
        db.close()
