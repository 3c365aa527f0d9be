"""Room on the disk: new work is refused before the file system is full, and what must always work goes on.

The reserve is not left unused. Searching, deletions, revocations, configuration and checkpoints go on in it; the feeds
that wait before a revocation may use its upper half, and feeds that only revoke are taken down to its last eighth.
"""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ingather.errors import DiskFullError, HomeError
from ingather.units import format_bytes

__all__ = ["Headroom", "Room", "headroom"]

_LOOK_S: Final = 0.1
_LAST_PART: Final = 8
_SCALES: Final = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


@dataclass(frozen=True, slots=True)
class Headroom:
    """Free bytes of the file system of *path* (for this user), and the reserve that is left alone."""

    path: Path
    free_bytes: int
    reserve_bytes: int

    @property
    def enough(self) -> bool:
        """Whether new work may begin."""
        return self.free_bytes >= self.reserve_bytes

    @property
    def half(self) -> bool:
        """Whether the upper half of the reserve is not used up: feeds that wait before a revocation may go on."""
        return self.free_bytes >= self.reserve_bytes // 2

    @property
    def last(self) -> "Headroom":
        """The same, with the part of the reserve as its reserve that feeds which only revoke leave alone, too."""
        return Headroom(self.path, self.free_bytes, self.reserve_bytes // _LAST_PART)

    def __str__(self) -> str:
        return f"{_rounded(self.free_bytes)} are free below {self.path}, {_rounded(self.reserve_bytes)} are kept in reserve"

    def require(self, more_bytes: int = 0) -> None:
        """Refuse work that needs *more_bytes* if it would reach into the reserve.

        Raises:
            DiskFullError: too little is free; the text has the figures.
        """
        if self.free_bytes - more_bytes < self.reserve_bytes:
            raise DiskFullError(
                f"only {self}",
                hint="make room, or lower disk.reserve and disk.reserve-share; work goes on by itself",
            )


class Room:
    """Whether there is room for one more, asked a thousand times a second: the file system is looked at every *look_s* seconds.

    What was let in since the last look counts as written. Nothing is refused by an old look.

    Args:
        look: :func:`headroom` of the place.
        clock: monotonic seconds.
    """

    def __init__(
        self, look: Callable[[], Headroom], clock: Callable[[], float], *, look_s: float = _LOOK_S
    ) -> None:
        self._look, self._clock, self._look_s = look, clock, look_s
        self._left = 0
        self._until = -math.inf

    def __call__(self, more_bytes: int) -> bool:
        """Return whether *more_bytes* fit without touching the reserve.

        Raises:
            HomeError: the file system cannot be looked at.
        """
        now = self._clock()
        if now >= self._until or self._left < more_bytes:
            found = self._look()
            self._left, self._until = found.free_bytes - found.reserve_bytes, now + self._look_s
        if self._left < more_bytes:
            return False
        self._left -= more_bytes
        return True


def headroom(path: Path, *, reserve_bytes: int, reserve_share: float) -> Headroom:
    """Look at the file system that holds *path*.

    Args:
        path: exists.
        reserve_bytes: setting ``disk.reserve``.
        reserve_share: setting ``disk.reserve-share``; the larger of the two counts.

    Raises:
        HomeError: it cannot be looked at.
    """
    try:
        found = os.statvfs(path)
    except OSError as error:
        raise HomeError(f"{path} cannot be looked at: {error.strerror}") from error
    total = found.f_blocks * found.f_frsize
    return Headroom(path, found.f_bavail * found.f_frsize, max(reserve_bytes, int(total * reserve_share)))


def _rounded(size: int) -> str:
    for scale, unit in _SCALES:
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{format_bytes(size)} bytes"
