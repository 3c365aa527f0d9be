"""Storage that fails on purpose: a file system for SQLite whose n-th write or sync goes wrong.

Beside failing it can lose: what was written and never synced is undone at a "power cut", as a disk with
a cache does it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

__all__ = ["FaultyStorage", "fill"]

_NAMES = iter(range(1, 1 << 30))


def fill(ballast: Path, *, leave: int) -> None:
    """Write a file *ballast* so large that its file system has *leave* bytes free."""
    found = os.statvfs(ballast.parent)
    ballast.write_bytes(bytes(found.f_bavail * found.f_frsize - leave))


class FaultyStorage(apsw.VFS):
    """Counts writes, truncations and syncs; the one numbered *fail_at* (from 1) fails, and all after it if *for_good*.

    Use ``name`` as SQLite's ``vfs``. Use as a context manager, so that it is taken back.

    Attributes:
        operations: what was counted so far.
        failed: whether the fault has happened.
    """

    def __init__(self, fail_at: int = 0, *, for_good: bool = False, full: bool = False) -> None:
        self.name = f"ingather-faulty-{next(_NAMES)}"
        self.fail_at, self.for_good, self.full = fail_at, for_good, full
        self.operations = 0
        self.failed = False
        self._unsynced: dict[str, list[tuple[int, bytes, int]]] = {}
        super().__init__(self.name, "")

    def xOpen(self, name: Any, flags: list[int]) -> "apsw.VFSFile":  # noqa: N802 - apsw's name
        """Open a file that fails with us."""
        return _File(self, name, flags)

    def count(self) -> None:
        """Count an operation; fail if it is its turn.

        Raises:
            apsw.FullError, apsw.IOError: it is.
        """
        self.operations += 1
        due = self.fail_at and (
            self.operations == self.fail_at or (self.for_good and self.operations > self.fail_at)
        )
        if due:
            self.failed = True
            raise (apsw.FullError if self.full else apsw.IOError)("on purpose")

    def wrote(self, path: str, offset: int, before: bytes, size: int) -> None:
        """Remember what a write replaced (*size*: of the file before)."""
        self._unsynced.setdefault(path, []).append((offset, before, size))

    def synced(self, path: str) -> None:
        """Everything of a file is durable now."""
        self._unsynced.pop(path, None)

    def cut_power(self) -> None:
        """Undo, newest first, whatever was written since its last sync; every connection must be closed."""
        for path, writes in self._unsynced.items():
            try:
                with open(path, "r+b") as file:  # noqa: PTH123 - a path of SQLite's
                    for offset, before, size in reversed(writes):
                        file.seek(offset)
                        file.write(before)
                        file.truncate(size)
            except FileNotFoundError:
                continue
        self._unsynced.clear()

    @contextmanager
    def registered(self) -> Iterator[str]:
        """Give the name for as long as the block runs."""
        try:
            yield self.name
        finally:
            self.unregister()


class _File(apsw.VFSFile):
    """One file of a :class:`FaultyStorage`."""

    def __init__(self, storage: FaultyStorage, name: Any, flags: list[int]) -> None:
        self._storage = storage
        self._path = name.filename() if hasattr(name, "filename") else str(name)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - apsw's name
        """Write, or fail."""
        self._storage.count()
        size = super().xFileSize()
        before = super().xRead(min(len(data), max(size - offset, 0)), offset) if offset < size else b""
        super().xWrite(data, offset)
        self._storage.wrote(self._path, offset, before, size)

    def xTruncate(self, size: int) -> None:  # noqa: N802 - apsw's name
        """Truncate, or fail."""
        self._storage.count()
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802 - apsw's name
        """Sync, or fail."""
        self._storage.count()
        super().xSync(flags)
        self._storage.synced(self._path)
