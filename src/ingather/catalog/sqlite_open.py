"""Opening the catalog's file: version guard, pragmas read back, migrations, tail check.

The writer's connection belongs to one thread, which also runs the checkpoints: with one
writer and one checkpointer the write-ahead log cannot be reset under somebody's feet. Readers
open connections of their own and never write.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from secrets import randbits
from typing import Any

import apsw

from ingather.catalog.sqlite_pagesums import PageSums
from ingather.catalog.sqlite_rows import trouble
from ingather.errors import CatalogDamagedError, CatalogError
from ingather.log import get

__all__ = [
    "MINIMUM_SQLITE",
    "guard_version",
    "migrate",
    "migrations",
    "open_reader",
    "open_writer",
    "schema_of",
    "schema_version",
]

MINIMUM_SQLITE = (3, 51, 3)
"""Older releases carry a race in the write-ahead log that can corrupt the file (https://sqlite.org/wal.html)."""

_log = get("catalog")
_BUSY_MS = 10_000
_STATEMENTS = 200
_TAIL = 200
_WHOLE_URLS = 28
"""Since this migration URLs of feeds keep all their parameters."""


def guard_version(found: str | None = None) -> None:
    """Refuse an SQLite older than :data:`MINIMUM_SQLITE`; *found* is its version, default the one in use.

    Raises:
        CatalogError: it is too old.
    """
    found = found or apsw.sqlite_lib_version()
    if tuple(int(part) for part in found.split(".")) < MINIMUM_SQLITE:
        least = ".".join(map(str, MINIMUM_SQLITE))
        raise CatalogError(
            f"SQLite {found} is too old for a catalog",
            hint=f"install apsw {least} or newer, which brings its own SQLite",
        )


def migrations() -> list[tuple[int, str]]:
    """Return (number, SQL) of every migration, ascending from 1 without gaps."""
    folder = files("ingather.catalog").joinpath("schema")
    found = [
        (int(item.name[:4]), item.read_text("utf-8"))
        for item in folder.iterdir()
        if item.name.endswith(".sql")
    ]
    return sorted(found)


def open_writer(path: Path, *, cache_bytes: int = 64 << 20, vfs: str | None = None) -> apsw.Connection:
    """Open the catalog for writing, create or migrate it, check its tail.

    Args:
        path: the file; its folder exists.
        cache_bytes: page cache.
        vfs: name of a registered SQLite file system, for tests that break it on purpose.

    Raises:
        CatalogError: SQLite is too old, the file belongs to a newer program, or the file system cannot do
            what durability needs.
        CatalogDamagedError: the file does not read as a catalog.
        DiskFullError: no space to create or migrate it.
    """
    guard_version()
    with _opening(path) as connect:
        db = connect(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, vfs)
        _pragma(db, "page_size=4096")
        _pragma(db, "journal_mode=wal", "wal")
        _pragma(db, "synchronous=full", 2)
        _pragma(db, "foreign_keys=off", 0)
        _pragma(db, f"cache_size=-{cache_bytes >> 10}")
        _pragma(
            db, "wal_autocheckpoint=0", 0
        )  # the writer does it, with the sums of the pages: nobody else may
        db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        _pragma(db, "temp_store=memory")
        db.transaction_mode = "IMMEDIATE"
        PageSums(db, path).begin()
        before = schema_version(db)
        migrate(db, migrations())
        if 0 < before < _WHOLE_URLS:
            _tell_whole_urls(db)
        _check_tail(db, path)
    return db


def open_reader(path: Path, *, cache_bytes: int = 8 << 20) -> apsw.Connection:
    """Open a read-only connection of one's own.

    No memory map: a disk error under one kills the process.

    Raises:
        CatalogError: there is no catalog yet, it cannot be opened, or its schema is not ours.
        CatalogDamagedError: the file does not read as a catalog.
    """
    guard_version()
    if not path.exists():
        raise CatalogError(f"there is no catalog {path}", hint="run: ingather crawl or ingather serve first")
    with _opening(path) as connect:
        db = connect(apsw.SQLITE_OPEN_READONLY, None)
        _pragma(db, "query_only=1", 1)
        _pragma(db, f"cache_size=-{cache_bytes >> 10}")
        _require_schema(schema_version(db), migrations()[-1][0])
    return db


@contextmanager
def _opening(path: Path) -> Iterator[Callable[[int, str | None], apsw.Connection]]:
    """Give a function that connects; whatever goes wrong inside closes the connection and is one of our errors."""
    made: list[apsw.Connection] = []

    def connect(flags: int, vfs: str | None) -> apsw.Connection:
        db = apsw.Connection(str(path), flags=flags, vfs=vfs, statementcachesize=_STATEMENTS)
        made.append(db)
        db.set_busy_timeout(_BUSY_MS)
        # Plans that hold for any values. Else a join is compiled anew whenever another value is bound to it (this SQLite looks
        # for statistics, which a catalog has none of): 60 microseconds in place of one for the row of a fed record.
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        return db

    try:
        yield connect
    except apsw.Error as error:
        raised = trouble(error, made[0] if made else None, path, "opened")
        _close(made)
        raise raised from error
    except CatalogError:
        _close(made)
        raise


def _close(connections: Sequence[apsw.Connection]) -> None:
    """Close what could not be opened whole; storage that fails may fail once more, which says nothing new."""
    for db in connections:
        with suppress(apsw.Error):
            db.close(force=True)


def _pragma(db: apsw.Connection, text: str, want: object = None) -> None:
    # One pragma a call: one that returns a row would end a script.
    db.execute(f"pragma {text}").fetchall()
    name = text.partition("=")[0]
    if want is not None and (got := db.execute(f"pragma {name}").get) != want:
        raise CatalogError(
            f"the catalog's file refuses 'pragma {text}' (it says {got!r})",
            hint="put the home on a local file system",
        )


def schema_version(db: apsw.Connection) -> int:
    """Return the number of the last migration that ran, 0 for an empty file."""
    return int(db.execute("pragma user_version").get)


def migrate(db: apsw.Connection, known: Sequence[tuple[int, str]]) -> None:
    """Run what of the migrations *known* has not run yet, each in a transaction of its own.

    Raises:
        CatalogError: the file is of a newer program.
    """
    have, newest = schema_version(db), known[-1][0]
    if have > newest:
        raise _newer(have, newest)
    for number, text in known:
        if number <= have:
            continue
        with db:
            db.execute(text).fetchall()
            if number == 1:
                db.execute("insert into meta (name, value) values ('seed', ?)", (randbits(62),)).fetchall()
            db.execute(f"pragma user_version={number}").fetchall()


def _tell_whole_urls(db: apsw.Connection) -> None:
    """Say what migration 28 means for documents that are there."""
    count = int(db.execute("select count(*) from fed").get)
    if count:
        _log.warning(
            "URLs of feeds keep their session and campaign parameters from now on; until now they lost them, and records whose "
            "URLs differed by nothing else met in one document. Such a document stays until its URL is pushed again: then it "
            "goes, and each record is a document of its own. Push full feeds, or everything, once to have it done at once",
            pushed_urls=count,
        )


def _require_schema(have: int, newest: int) -> None:
    if have > newest:
        raise _newer(have, newest)
    if have < newest:
        raise CatalogError(
            f"the catalog has schema {have}, this program needs {newest}",
            hint="ingather crawl or ingather serve brings it up to date",
        )


def _newer(have: int, newest: int) -> CatalogError:
    return CatalogError(
        f"the catalog has schema {have}, this program knows {newest}",
        hint="use the newer program that wrote it",
    )


def schema_of(db: apsw.Connection) -> list[tuple[str, str]]:
    """Return (name, SQL without white space) of everything in the schema, sorted; for comparing two ways of getting there."""
    rows = db.execute("select name, sql from sqlite_schema where sql is not null order by name").fetchall()
    return [(str(name), " ".join(str(sql).split())) for name, sql in rows]


def _check_tail(db: apsw.Connection, path: Path) -> None:
    """Read the newest rows of the tables that grow, and by their index, so that a torn end is found at start."""
    for table, key in (("page", "id"), ("change", "seq")):
        db.execute(f"select * from {table} order by {key} desc limit {_TAIL}").fetchall()  # noqa: S608 - fixed names
    newest: list[Any] = db.execute(f"select * from url order by id desc limit {_TAIL}").fetchall()  # noqa: S608 - a number
    for url_id, key, *_ in newest:
        if db.execute("select id from url where key = ?", (key,)).get != url_id:
            raise CatalogDamagedError(
                f"{path.name} is damaged: URL {url_id} is not found by its key",
                place=str(path),
                hint="run: ingather catalog check",
            )
