"""A copy of the catalog while it is written to, by SQLite's online backup; and what a copy needs beside it.

https://sqlite.org/backup.html: pages are copied under one read transaction of the write-ahead log, so that writers go on
and the copy is the catalog of one moment.
"""

import os
from collections.abc import Callable
from pathlib import Path

import apsw

from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_registry import ACKNOWLEDGED_ENDS
from ingather.catalog.sqlite_rows import Rows, trouble
from ingather.errors import CatalogDamagedError, CatalogError

__all__ = ["acknowledged_of", "copy_catalog"]


def acknowledged_of(path: Path) -> dict[int, int]:
    """Return for each WARC segment that the catalog at *path* names the end of its last acknowledged record.

    Raises:
        CatalogError: it cannot be read.
    """
    db = open_reader(path)
    try:
        return dict(Rows(db, path).all(ACKNOWLEDGED_ENDS))
    finally:
        db.close()


def copy_catalog(path: Path, to: Path, *, before: Callable[[], None] = lambda: None) -> None:
    """Copy the catalog at *path* into the new file *to*, durably.

    Args:
        path: the catalog; others may write to it.
        to: does not exist; readable by its owner alone.
        before: called when the source is open and nothing is copied yet.

    Raises:
        CatalogDamagedError: a page of the catalog is not as it was written; a backup must not take the place of a sound one.
        CatalogError: the catalog cannot be read, or the copy cannot be written.
        DiskFullError: there is no room for the copy.
    """
    source = open_reader(path)
    try:
        if rot := Rows(source, path).rot():
            raise CatalogDamagedError(
                f"{path.name} is damaged: {'; '.join(rot[:3])}", place=str(path), hint="run: ingather catalog check; restore the last backup"
            )  # fmt: skip
        os.close(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        target = apsw.Connection(str(to))
        try:
            before()
            target.execute("pragma synchronous=off").fetchall()  # synced as a whole below
            with target.backup("main", source, "main") as copying:
                copying.step(-1)
            # The copy is a file by itself: no log lies beside it.
            target.execute("pragma journal_mode=delete").fetchall()
        except apsw.Error as error:
            raise trouble(error, target, to, "copied") from error
        finally:
            target.close()
        _sync(to)
    except OSError as error:
        raise CatalogError(f"{to} cannot be written: {error.strerror}") from error
    finally:
        source.close()


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
