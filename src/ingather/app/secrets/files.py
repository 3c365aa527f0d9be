"""Files with a secret: one line, readable by their owner alone."""

import os
import stat
from pathlib import Path

from ingather.errors import UsageError

__all__ = ["require_private", "secret_of"]

_SHARED = 0o077
_LONGEST = 4_096


def secret_of(home: Path, file: str, setting: str) -> str:
    """Return the secret in *file*, a path below the home or a whole one; blanks and line ends around it do not count.

    Raises:
        UsageError: it cannot be read, is empty, or others may read it.
    """
    path = home / file
    try:
        with path.open("rb") as stream:
            require_private(path, stream.fileno(), setting)
            text = stream.read(_LONGEST + 1).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            f"{setting}: {path} cannot be read: {why}", hint="the path is below the home"
        ) from error
    secret = text.strip()
    if not secret or len(text) > _LONGEST or "\n" in secret or "\0" in secret:
        raise UsageError(f"{setting}: {path} does not hold one line", hint="write the secret alone into it")
    return secret


def require_private(path: Path, descriptor: int, setting: str) -> None:
    """Raise if others than its owner may read or write an open file.

    Raises:
        UsageError: they may.
    """
    if stat.S_IMODE(os.fstat(descriptor).st_mode) & _SHARED:
        raise UsageError(f"{setting}: others may read {path}", hint=f"chmod 600 {path}")
