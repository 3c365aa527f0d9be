"""Sums of the catalog's pages: what rots on the disk is found, though SQLite reads it without a word.

A file beside the catalog holds the CRC-32 of every page, four bytes each at four times its number; 0 = not known. Pages reach
the catalog's file by checkpoints alone, and the one writer makes these itself (:meth:`PageSums.checkpoint`): the pages of the
write-ahead log are moved, and their sums are made durable before the log is begun anew. After a crash in between the log is
still there, and the next start does both again. Until then pages that are in the log are not judged.

https://sqlite.org/fileformat2.html#walformat. SQLite's own ``cksumvfs`` is no part of the library that apsw brings, wants
reserved bytes in each page (a catalog would be rewritten), and every read and write would go through it.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import Final
from zlib import crc32

import apsw

from ingather.log import get

__all__ = ["SUFFIX", "PageSums", "rot_of", "rotten_pages"]

SUFFIX: Final = "-sums"
_PAGE: Final = 4096
_WAL_HEAD: Final = 32
_FRAME: Final = Struct(f">II8s8x{_PAGE}x")
"""Page number, size of the database after a commit, two salts; the rest is skipped."""
_FRAMES: Final = 128
"""So many are read at a time: one call for each costs twice as much."""
_CHUNK: Final = 1 << 20
_TRIES: Final = 3
_log = get("catalog")


def _sum(page: bytes) -> bytes:
    return (crc32(page) or 1).to_bytes(4, "little")


class PageSums:
    """Moves the write-ahead log into the catalog and keeps the sums of what it moved; belongs to the writer's thread.

    The catalog's file is read through the connection: whoever closes a descriptor of that file ends all locks that SQLite
    has on it in this process (https://sqlite.org/howtocorrupt.html, 2.2).

    Args:
        db: the writer's connection.
        path: the catalog's file.
    """

    def __init__(self, db: apsw.Connection, path: Path) -> None:
        self._db, self._path = db, path
        self._file = path.with_name(path.name + SUFFIX)

    def begin(self) -> None:
        """Make the sums of a catalog that has none yet, and of what an earlier process left in the log; before anything is written.

        Raises:
            apsw.Error: the catalog cannot be read, or the log cannot be moved.
        """
        if self._file.exists():
            self.checkpoint()
            return
        self._db.execute("pragma wal_checkpoint(passive)").fetchall()
        part = self._file.with_name(self._file.name + ".part")
        try:
            with part.open("wb") as out:
                part.chmod(0o600)
                out.write(bytes(4))
                for pages in _chunks(self._db):
                    out.write(b"".join(_sum(pages[at : at + _PAGE]) for at in range(0, len(pages), _PAGE)))
                out.flush()
                os.fsync(out.fileno())
            part.replace(self._file)
            _sync_folder(self._path.parent)
        except OSError as error:
            part.unlink(missing_ok=True)
            self._do_without(error)

    def checkpoint(self, *, truncate: bool = False) -> None:
        """Move the log into the catalog's file, then keep the sums of the pages that were in it.

        Readers may hold parts of the log: what stays in it is moved, and summed, by a later call.

        Args:
            truncate: leave an empty log, if all of it could be moved.

        Raises:
            apsw.Error: the log cannot be moved.
        """
        ((_, frames, moved),) = self._db.execute("pragma wal_checkpoint(passive)").fetchall()
        pages = sorted(_logged(self._path))
        if pages and self._file.exists():
            try:
                self._keep(pages)
            except OSError as error:
                self._do_without(error)
        if truncate and frames == moved:
            self._db.execute("pragma wal_checkpoint(truncate)").fetchall()

    def _do_without(self, error: OSError) -> None:
        """Go on without sums: wrong ones would call sound pages rotten. The next start makes them anew."""
        self._file.unlink(missing_ok=True)
        _log.warning(
            "the sums of the catalog's pages cannot be written: pages that rot are not found until the next start",
            error=str(error),
        )

    def _keep(self, pages: Iterable[int]) -> None:
        sums = os.open(self._file, os.O_WRONLY | os.O_CLOEXEC)
        try:
            for first, made in _runs(self._db, pages):
                os.pwrite(sums, made, 4 * first)
            os.fsync(sums)
        finally:
            os.close(sums)


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read(db: apsw.Connection, at: int, size: int) -> bytes:
    """Return bytes of the catalog's file as it is on the disk, whole pages of it."""
    whole, found = db.read("main", 0, at, size)
    if not whole:  # SQLite fills up what lies behind the end
        found = found[: max(0, _size(db) - at)]
    return found[: len(found) // _PAGE * _PAGE]


def _size(db: apsw.Connection) -> int:
    return Path(db.filename).stat().st_size


def _chunks(db: apsw.Connection) -> Iterator[bytes]:
    at = 0
    while pages := _read(db, at, _CHUNK):
        yield pages
        at += len(pages)


def _runs(db: apsw.Connection, pages: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """Yield (first page, sums) of runs of neighbours, so that there is one write for each."""
    first, made = 0, bytearray()
    for number in pages:
        page = _read(db, (number - 1) * _PAGE, _PAGE)
        if not page:  # it is in the log alone so far
            continue
        if made and number != first + len(made) // 4:
            yield first, bytes(made)
            made.clear()
        if not made:
            first = number
        made += _sum(page)
    if made:
        yield first, bytes(made)


def _logged(path: Path) -> set[int]:
    """Return the numbers of the pages that the write-ahead log holds."""
    found: set[int] = set()
    try:
        log = os.open(path.with_name(path.name + "-wal"), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return found
    try:
        salts = os.pread(log, _WAL_HEAD, 0)[16:24]
        frames, at = bytearray(_FRAMES * _FRAME.size), _WAL_HEAD
        while (size := os.preadv(log, [frames], at) // _FRAME.size * _FRAME.size) > 0:
            for page, _committed, salt in _FRAME.iter_unpack(memoryview(frames)[:size]):
                if salt != salts:  # of an earlier round
                    return found
                found.add(page)
            at += size
    finally:
        os.close(log)
    return found


def rotten_pages(db: apsw.Connection, path: Path, *, most: int = 100) -> list[int]:
    """Return the pages of the catalog at *path* that are not as they were written, *most* at most; others may write to it.

    Args:
        db: a connection to it.
        path: its file.
        most: how many are looked for.

    Raises:
        OSError, apsw.Error: it cannot be read.
    """
    found: list[int] = []
    try:
        sums = path.with_name(path.name + SUFFIX).open("rb")
    except FileNotFoundError:
        return found
    with sums:
        sums.seek(4)
        number = 1
        for pages in _chunks(db):
            known = sums.read(len(pages) // _PAGE * 4)
            for at in range(len(known) // 4):
                want = known[4 * at : 4 * at + 4]
                if want == bytes(4) or want == _sum(pages[at * _PAGE : (at + 1) * _PAGE]):
                    continue
                if _is_rotten(db, path, number + at):
                    found.append(number + at)
                    if len(found) >= most:
                        return found
            number += len(pages) // _PAGE
    return found


def _is_rotten(db: apsw.Connection, path: Path, number: int) -> bool:
    """Look once more: a checkpoint may have been at work between the page and its sum."""
    for _ in range(_TRIES):
        if number in _logged(path):
            return False
        page = _read(db, (number - 1) * _PAGE, _PAGE)
        try:
            with path.with_name(path.name + SUFFIX).open("rb") as sums:
                want = os.pread(sums.fileno(), 4, 4 * number)
        except FileNotFoundError:
            return False
        if want == _sum(page):
            return False
    return True


def rot_of(db: apsw.Connection, path: Path) -> list[str]:
    """Say which pages of the catalog at *path* are not as they were written, and what is kept in them; empty = none.

    Raises:
        OSError, apsw.Error: it cannot be read.
    """
    pages = rotten_pages(db, path)
    if not pages:
        return []
    kept: dict[int, str] = {}
    with suppress(apsw.Error):  # what is rotten may not be walked
        wanted = set(pages)
        for number, name in db.execute("select pageno, name from dbstat"):
            if number in wanted:
                kept[int(str(number))] = str(name)
    return [
        f"page {page} ({kept.get(page, 'no table names it')}) is not as it was written: it rotted on the disk, or another "
        "program wrote to the file"
        for page in pages
    ]
