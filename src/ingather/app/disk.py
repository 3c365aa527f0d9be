"""Room on the disk: new work is refused before the file system is full, searching goes on."""

import os
from dataclasses import dataclass
from pathlib import Path

from ingather.errors import DiskFullError, HomeError
from ingather.units import format_bytes

__all__ = ["Headroom", "headroom"]

_SCALES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


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

    def require(self, more_bytes: int = 0) -> None:
        """Refuse work that needs *more_bytes* if it would reach into the reserve.

        Raises:
            DiskFullError: too little is free; the text has the figures.
        """
        if self.free_bytes - more_bytes < self.reserve_bytes:
            raise DiskFullError(
                f"only {_rounded(self.free_bytes)} are free below {self.path}, "
                f"{_rounded(self.reserve_bytes)} are kept in reserve",
                hint="make room, or lower disk.reserve and disk.reserve-share; work goes on by itself",
            )


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
