"""Files of external metadata on the disk: looked at, read whole, and what was found in them written to logs."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ingather.app.home import Home
from ingather.app.overlay.texts import COMMON, Taken, file_of, source_of
from ingather.conf.sources.source import SourceConf
from ingather.errors import ConfigurationError
from ingather.log import get
from ingather.model.diagnostic import Diagnostic, Place
from ingather.overlay import log_line
from ingather.overlay.options import LIMIT_BYTES

__all__ = ["FileState", "look", "read_stable", "told", "write_log"]

_log = get("overlay")
_SETTLE_S: Final = 0.1
_TRIES: Final = 20

FileState = tuple[int, int, int] | None
"""Inode, size and time of a file, ``None`` = it is not there."""


def look(home: Home, sources: Mapping[str, SourceConf]) -> dict[str, FileState]:
    """Return the state of each file that may be there."""
    return {layer: _state(home.path / layer) for layer in (COMMON, *map(file_of, sources))}


def read_stable(path: Path, *, limit_bytes: int = LIMIT_BYTES) -> tuple[bytes, int] | None:
    """Return a file whole and its size, ``None`` if it is not there; one that is being written is waited for, a little.

    Of one beyond *limit_bytes* nothing is read.

    Raises:
        OSError: it cannot be read.
        ConfigurationError: it is written on and on.
    """
    for _ in range(_TRIES):
        before = _state(path)
        if before is None:
            return None
        time.sleep(_SETTLE_S)
        if _state(path) != before:
            continue
        if before[1] > limit_bytes:
            return b"", before[1]
        with path.open("rb") as file:
            body = file.read(before[1] + 1)  # whatever it becomes meanwhile
        if _state(path) == before and len(body) == before[1]:
            return body, len(body)
    raise ConfigurationError(
        (
            Diagnostic(
                "E-FILE", Place(path.name, 1), "is being written all the time", hint="replace it by a rename"
            ),
        )
    )


def told(layer: str, file: Taken) -> str:
    """Return what operators are told of a file that does not apply as it stands; ``""`` = it does."""
    if file.state == "ok":
        return ""
    first = next((d for d in file.overlay.diagnostics if d.is_error), None)
    what = {
        "ignored": "no record of it applies",
        "kept": "the last good version goes on",
        "refused": "nothing comes into force",
        "partly": f"{file.overlay.counts.bad} lines are left out",
    }[file.state]
    lapsed = file.overlay.counts.expiring if file.state == "ignored" else 0
    more = f"; {lapsed} expiry dates lapse with it" if lapsed else ""
    return f"{first or layer}: {what}{more}"


def write_log(home: Home, layer: str, file: Taken) -> None:
    """Leave the findings of a file in the log folder of its source."""
    folder = home.log / source_of(layer) if source_of(layer) else home.log
    counts = file.overlay.counts
    lines = [log_line(finding) for finding in file.overlay.diagnostics]
    lines.append(
        f"{layer}: {file.state}; {counts.records} records, {counts.bad} bad, {counts.errors} errors, {counts.warnings} warnings"
    )
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / "external_metadata.cfg.log").write_text("\n".join(lines) + "\n", "utf-8")
    except OSError as error:
        _log.warning("the findings of a file were not written", file=layer, error=str(error))


def _state(path: Path) -> FileState:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
