"""Feeds on their way to the disk: durable before anybody hears ``Success`` (promises D1, D4, F1).

A feed grows under a name of its own that ends in ``.part``. :meth:`SpoolFile.commit` syncs it, renames it and
syncs the folder; several commits share one sync of the folder. What dies in between leaves a ``.part`` file, or a
file without a row, which the next start removes: nobody was told that it had arrived.
"""

import hashlib
import os
import re
import secrets
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from ingather.feeds.desk import LIGHT_BYTES, Spooled

__all__ = ["DAMAGED", "PART", "Spool", "SpoolFile", "commit_together", "damage_of"]

PART: Final = ".part"
DAMAGED: Final = ".damaged"
"""Ending of a file that was set aside, for somebody to look at: it goes when its feed is forgotten."""
_OURS: Final = re.compile(r"[0-9a-f]{32}(?:\.part)?")
_MEMORY: Final = 120 * 1024
"""One such piece may be on its way to the disk while the next one comes: 240 KiB a connection."""
_HEAD: Final = 8 * 1024
_VECTOR: Final = 512
_REACH: Final = 24
"""A mark of contents is no longer than that and a byte."""
_CONTENTS: Final = (b"<content", b'"content"', b"<\0c\0o\0n\0t\0e\0n\0t")
"""What begins the contents of a record: in XML, in JSON lines, in XML as UTF-16 of either order."""


def damage_of(path: Path, size: int, sha256: str) -> str:
    """Return how the file at *path* differs from what was acknowledged, ``""`` = not at all.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as stream:
        found = os.fstat(stream.fileno()).st_size
        if found != size:
            return f"it has {found} bytes, {size} were acknowledged"
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return "" if digest == sha256 else "its bytes are not those that were acknowledged (sha256 differs)"


class Spool:
    """The folder where feeds lie.

    Args:
        folder: exists, on a file system that keeps its word about fsync; nothing else writes there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._syncing = _FolderSync(folder)
        self._own, self._numbers = secrets.token_hex(10), count()
        """Names begin with what no other process has and go on with a number: random bytes for each cost a turn at the interpreter's lock."""

    def recover(self, owned: Collection[str]) -> int:
        """Remove what a process that died had not acknowledged; return how many files that were.

        Args:
            owned: names of the files that have a row.

        Raises:
            OSError: the folder cannot be read or written.
        """
        left = [
            entry
            for entry in self.folder.iterdir()
            if entry.name not in owned and _OURS.fullmatch(entry.name)
        ]
        for entry in left:
            entry.unlink(missing_ok=True)
        return len(left)

    def begin(self, needle: bytes) -> "SpoolFile":
        """Return a new file; nothing is on disk before it is flushed or committed.

        *needle*: what is counted for the estimate of records (``b"<record"``).
        """
        return SpoolFile(self.folder / f"{self._own}{next(self._numbers):012x}", self._syncing, needle)


class SpoolFile:
    """One feed as it comes.

    Whoever receives it calls :meth:`write` and, when it is full, :meth:`take`; :meth:`store` of what was taken may run in another
    thread meanwhile, one at a time and in order. Everything else waits until none runs.

    Attributes:
        size: bytes so far.
        head: its first bytes, at most 8 KiB.
    """

    def __init__(self, path: Path, syncing: "_FolderSync", needle: bytes) -> None:
        self._path = path
        self._part = path.with_name(path.name + PART)
        self._syncing = syncing
        self._needle = needle
        self._fd = -1
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._digest = hashlib.sha256()
        self._tail = b""
        self._records = 0
        self._contents, self._seam = False, b""
        self.size = 0
        self.head = b""

    @property
    def in_memory(self) -> bool:
        """Whether nothing is on disk yet."""
        return self._fd < 0

    @property
    def full(self) -> bool:
        """Whether enough waits in memory to be stored."""
        return self._pending_bytes >= _MEMORY

    def write(self, piece: bytes) -> None:
        """Take the next bytes into memory; the caller stores them when :attr:`full` says so."""
        if len(self.head) < _HEAD:
            self.head += piece[: _HEAD - len(self.head)]
            if self.size == 0 and self.head.startswith((b"\xff\xfe", b"\xfe\xff")):
                self._needle = b"\x00".join(self._needle[i : i + 1] for i in range(len(self._needle)))
        self.size += len(piece)
        self._look_for_contents(piece)
        self._pending.append(piece)
        self._pending_bytes += len(piece)

    @property
    def light(self) -> bool:
        """Whether what came so far is small and brings no contents; see :attr:`ingather.feeds.desk.Spooled.light`."""
        return not self._contents and self.size <= LIGHT_BYTES

    def _look_for_contents(self, piece: bytes) -> None:
        """Only while it matters: what is large, or has been found to bring some, is not searched any more."""
        if not self.light:
            return
        text = self._seam + piece  # a start tag may lie across two pieces
        self._contents = any(mark in text for mark in _CONTENTS)
        self._seam = text[-_REACH:]

    def take(self) -> list[bytes]:
        """Return what waits in memory; it is the caller's to store."""
        pieces, self._pending, self._pending_bytes = self._pending, [], 0
        return pieces

    def store(self, pieces: list[bytes]) -> None:
        """Digest, count and write *pieces*, which are next.

        Raises:
            OSError: they cannot be written (a full disk, say).
        """
        if self._fd < 0:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            self._fd = os.open(self._part, flags, 0o600)
        for piece in pieces:
            self._digest.update(piece)
            self._count(piece)
        while pieces:
            written = os.writev(self._fd, pieces[:_VECTOR])
            while pieces and written >= len(pieces[0]):
                written -= len(pieces.pop(0))
            if written:
                pieces[0] = pieces[0][written:]

    def flush(self) -> None:
        """Store what waits in memory.

        Raises:
            OSError: see :meth:`store`.
        """
        self.store(self.take())

    def _count(self, piece: bytes) -> None:
        self._records += piece.count(self._needle)
        # A start tag may lie across two pieces.
        reach = len(self._needle) - 1
        seam = self._tail + piece[:reach]
        self._records += seam.count(self._needle)
        self._tail = (seam if len(piece) < reach else piece)[-reach:]

    def commit(self) -> Spooled:
        """Make the file durable under its final name.

        Raises:
            OSError: it is not durable, and will not be tried again; the file is gone.
        """
        (made,) = commit_together([self])
        if isinstance(made, OSError):
            raise made
        return made

    def place(self) -> None:
        """Sync the file and give it its final name, which lasts once the folder is synced.

        Raises:
            OSError: see :meth:`commit`.
        """
        self.flush()
        os.fsync(self._fd)
        fd, self._fd = self._fd, -1
        os.close(fd)
        self._part.rename(self._path)

    def sync_folder(self) -> None:
        """Make the final name last.

        Raises:
            OSError: see :meth:`commit`.
        """
        self._syncing.sync()

    def spooled(self) -> Spooled:
        """Return what the file is, once it has its final name."""
        return Spooled(
            self._path.name, self._path, self.size, self._digest.hexdigest(), self._records, not self.light
        )

    def discard(self) -> None:
        """Forget the file, wherever it has got to; harmless when there is none."""
        self._pending, self._pending_bytes = [], 0
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
        self._part.unlink(missing_ok=True)
        self._path.unlink(missing_ok=True)


def commit_together(files: Sequence[SpoolFile]) -> list[Spooled | OSError]:
    """Make files of one spool durable, each in its order, with one sync of their folder; one that fails costs no other.

    Returns:
        For each file what it is now, or why it is not durable; such a file is gone.
    """
    made: list[Spooled | OSError] = []
    for file in files:
        try:
            file.place()
            made.append(file.spooled())
        except OSError as error:
            _discard(file)
            made.append(error)
    placed = [at for at, one in enumerate(made) if isinstance(one, Spooled)]
    if placed:
        try:
            files[placed[0]].sync_folder()
        except OSError as error:
            for at in placed:
                _discard(files[at])
                made[at] = error
    return made


def _discard(file: SpoolFile) -> None:
    with suppress(OSError):  # the next start removes it: it has no row
        file.discard()


class _FolderSync:
    """Syncs a folder; callers that come while a sync runs share the next one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turn = threading.Condition()
        self._begun = self._done = 0
        self._failed: dict[int, OSError] = {}
        self._busy = False

    def sync(self) -> None:
        """Return when a sync that began after this call has ended.

        Raises:
            OSError: that sync failed.
        """
        with self._turn:
            mine = self._begun + 1
            while self._busy and self._done < mine:
                self._turn.wait()
            if self._done >= mine:
                self._raise(mine)
                return
            self._busy = True
            self._begun = mine
        failure: OSError | None = None
        try:
            fd = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
        except OSError as error:
            failure = error
        with self._turn:
            self._busy = False
            self._done = mine
            if failure is not None:
                self._failed = {mine: failure}
            self._turn.notify_all()
            self._raise(mine)

    def _raise(self, number: int) -> None:
        if number in self._failed:
            raise OSError(self._failed[number].errno, self._failed[number].strerror, str(self._folder))
