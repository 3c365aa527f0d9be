"""The folder of segments: their names, their numbers (none is given twice in one home), its troubles."""

import errno
import fcntl
import os
import re
from pathlib import Path

from ingather.errors import CatalogError, DiskFullError

__all__ = ["SegmentNumbers", "segment_name", "segments", "write_error"]

_NAME = re.compile(r"body-(\d{8,})\.warc\.gz\Z")
_COUNTER = "last-segment"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def segment_name(number: int) -> str:
    """Return the file name of segment *number*."""
    return f"body-{number:08d}.warc.gz"


def segments(folder: Path) -> dict[int, Path]:
    """Return the segments that exist in *folder*, ascending by number.

    Raises:
        CatalogError: the folder cannot be listed.
    """
    try:
        names = [path.name for path in folder.iterdir()]
    except OSError as error:
        raise CatalogError(f"cannot list {folder}: {error.strerror}") from error
    found = {int(match[1]): folder / name for name in names if (match := _NAME.match(name))}
    return dict(sorted(found.items()))


class SegmentNumbers:
    """Gives out segment numbers, also to several processes at once; call it for the next one.

    The last number given lies in a small file beside the segments, read and replaced under an OS
    lock, so that a number does not come back when its segment was dropped: a reader may still hold
    the old file open. Should the counter be lost, the highest existing segment counts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self) -> int:
        """Return a number that no segment of this home had before.

        Raises:
            DiskFullError: no space or quota for the counter.
            CatalogError: the counter could not be written.
        """
        try:
            fd = os.open(self._folder / _COUNTER, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)
                written = os.pread(fd, 32, 0).strip()
                last = int(written) if written.isdigit() else 0
                number = max(last, *segments(self._folder), 0) + 1
                # One short write of a line that only grows: a torn one is caught by the segments on disk.
                os.pwrite(fd, b"%d\n" % number, 0)
                os.fdatasync(fd)
            finally:
                os.close(fd)
        except OSError as error:
            raise write_error(self._folder / _COUNTER, "cannot be written", error) from error
        return number


def write_error(path: Path, what: str, error: OSError) -> CatalogError | DiskFullError:
    """Return what to raise when *path* could not be changed."""
    text = f"{path} {what}: {error.strerror}"
    if error.errno in _FULL:
        return DiskFullError(text, hint="make space or raise the limit; gathering goes on by itself")
    return CatalogError(text)
