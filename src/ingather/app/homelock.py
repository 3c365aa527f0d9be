"""One process a home: an OS lock on a file that is never deleted, with its owner's name inside.

The kernel holds the lock, so an owner that dies, however it dies, blocks nobody; what stands in the
file is for messages only.
"""

import fcntl
import json
import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from ingather.errors import HomeError, HomeLockedError

__all__ = ["HomeLock", "Owner"]

_PAUSE_S = 0.05
_NOBODY = "another process"


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds, or last held, a home: process id, command, start (ISO 8601, UTC)."""

    pid: int
    command: str
    started: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command}, since {self.started})"


class HomeLock:
    """A lock that is held; released by :meth:`release`, by leaving ``with``, or by the process' end."""

    def __init__(self, fd: int, owner: Owner) -> None:
        self._fd = fd
        self.owner = owner

    @classmethod
    def take(cls, path: Path, home: str, command: str, *, wait_s: float = 0.5) -> "HomeLock":
        """Take the lock *path*, waiting at most *wait_s* for an owner that is just ending.

        Raises:
            HomeLockedError: another process holds it; ``owner`` and the text name it.
            HomeError: the file cannot be opened or written.
        """
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise HomeError(
                f"{path} cannot be opened: {error.strerror}", hint="give this user access to it"
            ) from error
        try:
            _acquire(fd, home, wait_s)
            owner = Owner(os.getpid(), command, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
            body = json.dumps({"pid": owner.pid, "command": owner.command, "started": owner.started}).encode()
            os.ftruncate(fd, 0)
            os.pwrite(fd, body + b"\n", 0)
        except OSError as error:
            os.close(fd)
            raise HomeError(f"{path} cannot be written: {error.strerror}") from error
        except HomeLockedError:
            os.close(fd)
            raise
        return cls(fd, owner)

    def release(self) -> None:
        """Let the next process in; the file stays."""
        if self._fd >= 0:
            fcntl.flock(self._fd, fcntl.LOCK_UN)  # also for a child that is between fork and exec
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _acquire(fd: int, home: str, wait_s: float) -> None:
    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < until:
                time.sleep(_PAUSE_S)
                continue
            owner = _read_owner(fd)
            name = str(owner) if owner else _NOBODY
            raise HomeLockedError(
                f"{home} is in use by {name}", owner=name, hint="stop it first, or use another home"
            ) from None
        return


def _read_owner(fd: int) -> Owner | None:
    try:
        found = json.loads(os.pread(fd, 4096, 0))
        return Owner(int(found["pid"]), str(found["command"]), str(found["started"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # the owner is just writing it
