"""A connection whose errors are ours: reading for everybody beside the writer's transactions."""

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import msgspec

from ingather.catalog.sqlite_pagesums import rot_of
from ingather.errors import CatalogDamagedError, CatalogError, DiskFullError, StorageError

__all__ = ["Rows", "fetch", "located", "trouble"]

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_AGAIN = (apsw.IOError, apsw.CantOpenError, apsw.BusyError, apsw.LockedError, apsw.NoMemError)
_SYNCS = frozenset({apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC})
_GROUP = 500


def trouble(
    error: apsw.Error, db: apsw.Connection | None, path: Path, verb: str
) -> CatalogError | DiskFullError:
    """Return what to raise from *error*; *verb* says what could not be done (``read``, ``written``, ``opened``)."""
    error = _first(error)
    refused = (
        db is not None and isinstance(error, apsw.IOError | apsw.CantOpenError) and db.system_errno in _FULL
    )
    if refused or isinstance(error, apsw.FullError):
        return DiskFullError(
            f"no space left for {path.name}",
            hint="make space or raise the limit; gathering goes on by itself",
        )
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return CatalogDamagedError(
            f"{path.name} is damaged: {error}", place=str(path), hint="run: ingather catalog check"
        )
    # A sync that failed is never repeated: the kernel counts the pages as written.
    again = isinstance(error, _AGAIN) and getattr(error, "extendedresult", 0) not in _SYNCS
    return (StorageError if again else CatalogError)(
        f"{path.name} could not be {verb}: {error}", hint="look at the disk and its kernel messages"
    )


def _first(error: apsw.Error) -> apsw.Error:
    """Return what went wrong first: where SQLite ended a transaction by itself (a full disk), ending it again fails as well."""
    while isinstance(error.__context__, apsw.Error):
        error = error.__context__
    return error


def fetch(cursor: apsw.Cursor, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    """Return all rows as they come: the schema is strict, so their types are those of the columns."""
    return cursor.execute(sql, values).fetchall()


@contextmanager
def located(path: Path, what: str) -> Iterator[None]:
    """Make values out of what was read of *what*: bytes that no program of ours wrote are damage, and say where it is.

    Raises:
        CatalogDamagedError: the values are none.
    """
    try:
        yield
    except (ValueError, TypeError, msgspec.MsgspecError) as error:
        raise CatalogDamagedError(
            f"{path.name} is damaged: {what} does not read as written: {error}", place=str(path), hint="run: ingather catalog check"
        ) from error  # fmt: skip


class Rows:
    """Queries on one connection; belongs to one thread at a time.

    Every method raises :class:`CatalogDamagedError` for a file that does not read as written and
    :class:`CatalogError` for anything else that goes wrong below.
    """

    def __init__(self, db: apsw.Connection, path: Path) -> None:
        self._db = db
        self.path = path

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows."""
        try:
            return self._db.execute(sql, values).fetchall()
        except apsw.Error as error:
            raise trouble(error, self._db, self.path, "read") from error

    def one(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Return the first row, ``None`` if there is none."""
        rows = self.all(sql, values)
        return rows[0] if rows else None

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row, ``None`` if there is none."""
        row = self.one(sql, values)
        return None if row is None else row[0]

    def among(self, sql: str, ids: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return all rows for *ids*, in groups; ``{ids}`` in *sql* is where their marks go."""
        found: list[tuple[Any, ...]] = []
        for start in range(0, len(ids), _GROUP):
            part = tuple(ids[start : start + _GROUP])
            found += self.all(sql.replace("{ids}", ",".join("?" * len(part))), part)
        return found

    def pages(self, sql: str, *, size: int, after: int = 0) -> Iterator[list[tuple[Any, ...]]]:
        """Yield rows in groups of *size*: *sql* takes (last first column, limit) and ascends by its first column.

        Between groups nothing is held, so that a long walk does not keep the write-ahead log from being emptied.
        """
        while rows := self.all(sql, (after, size)):
            yield rows
            after = rows[-1][0]

    def rot(self) -> list[str]:
        """Say which pages are not as they were written; see :func:`ingather.catalog.sqlite_pagesums.rot_of`."""
        try:
            return rot_of(self._db, self.path)
        except apsw.Error as error:
            raise trouble(error, self._db, self.path, "read") from error
        except OSError as error:
            raise CatalogError(f"{self.path.name} cannot be read: {error.strerror}") from error

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let several queries see one state."""
        try:
            with self._db:
                yield
        except apsw.Error as error:
            raise trouble(error, self._db, self.path, "read") from error

    def close(self) -> None:
        """Close the connection."""
        self._db.close()
