"""Folders for what processes write for a moment: whoever makes one removes those that killed processes left.

A folder of a home belongs to one process by its name. One among the temporary files of the machine is locked by the process that
made it for as long as that lives, however it dies, so that others can tell whether anybody is left who needs it.
"""

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

__all__ = ["Scratch", "emptied"]

_UNNAMED_S: Final = 3600.0
"""Age at which a folder that was not named yet is nobody's."""


class Scratch:
    """A folder of this process among those of others, until :meth:`remove` or the end of this process.

    Args:
        prefix: of its name; folders with the same prefix that nobody holds any more are removed.
        parent: where it is made; ``None`` = among the temporary files of the machine.

    Attributes:
        path: the folder.

    Raises:
        OSError: there can be none.
    """

    def __init__(self, prefix: str, parent: Path | None = None) -> None:
        parent = parent or Path(tempfile.gettempdir())
        _sweep(parent, prefix)
        made = Path(tempfile.mkdtemp(prefix=f".{prefix}", dir=parent))
        try:
            self._held = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.path = made.with_name(made.name[1:])
                made.rename(self.path)  # under a name that others look for it is locked from the beginning
            except BaseException:
                os.close(self._held)
                raise
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise

    def remove(self) -> None:
        """Remove it with all that is in it."""
        if self._held >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._held)
            self._held = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def emptied(folder: Path) -> Path:
    """Return *folder*, which is this process' alone; what an earlier process left in it is removed.

    Raises:
        OSError: it cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in folder.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)
    return folder


def _sweep(parent: Path, prefix: str) -> None:
    """Remove folders of killed processes: ours, or anybody's if we are root (browsers run as nobody)."""
    user = os.geteuid()
    with suppress(OSError):
        for entry in os.scandir(parent):
            named = entry.name.startswith(prefix)
            if (named or entry.name.startswith(f".{prefix}")) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    if user in {0, found.st_uid} and (named or time.time() - found.st_mtime > _UNNAMED_S):
                        _remove_unless_held(Path(entry.path))


def _remove_unless_held(path: Path) -> None:
    held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    except BlockingIOError:
        return  # its process lives
    finally:
        os.close(held)
