"""A log that grows by batches and is bounded: ``NAME``, ``NAME.1``, and so on."""

import os
import time
from functools import lru_cache
from pathlib import Path

from ingather.log import get

__all__ = ["LogFile", "one_line", "stamp"]

_log = get("log")
_CONTROLS = dict.fromkeys(range(32), " ")


def one_line(text: str) -> str:
    """Return *text* with blanks for what would end a line or a field."""
    # Nearly all is printable, and asking costs a tenth of translating.
    return text if text.isprintable() else text.translate(_CONTROLS)


@lru_cache(maxsize=16)
def stamp(at_s: int) -> str:
    """Return epoch seconds as ``[22/Jan/2026:15:57:31]``, UTC."""
    return time.strftime("[%d/%b/%Y:%H:%M:%S]", time.gmtime(at_s))


class LogFile:
    """Appends; at *max_bytes* the file becomes ``NAME.1`` and so on, *keep* old ones.

    A log that cannot be written never stops gathering: :attr:`failed` says so, and so does the program's own log, once.
    """

    def __init__(self, path: Path, *, max_bytes: int = 64 << 20, keep: int = 4) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._keep = keep
        self.failed = ""

    def append(self, data: bytes) -> None:
        """Write *data*, whole lines, behind what is there."""
        try:
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                os.write(fd, data)
                size = os.fstat(fd).st_size
            finally:
                os.close(fd)
            if size > self._max_bytes:
                self._rotate()
        except OSError as error:
            if not self.failed:
                _log.error("a log cannot be written", file=str(self._path), error=error.strerror)
            self.failed = f"{self._path}: {error.strerror}"
        else:
            if self.failed:
                _log.warning("a log is written again; what came meanwhile is missing", file=str(self._path))
            self.failed = ""

    def _rotate(self) -> None:
        for number in range(self._keep, 0, -1):
            older = self._path.with_name(f"{self._path.name}.{number}")
            newer = self._path if number == 1 else self._path.with_name(f"{self._path.name}.{number - 1}")
            if newer.exists():
                newer.replace(older)
