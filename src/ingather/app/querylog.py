"""rdm.log: what users asked the search, in the vendor's layout, with one JSON line a query beside it (section 11).

``rdm.log`` has ``[22/Jan/2026:15:57:31]  8270@0: INFO: search: "query" ...`` (UTC), ``rdm.jsonl`` says the same for programs.
Who asked is not written: neither name nor address. Both are bounded as all logs are.
"""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from ingather.access import ANONYMOUS
from ingather.errors import IngatherError
from ingather.ports.clock import Clock
from ingather.robot.logs.logfile import LogFile
from ingather.search import SearchRequest, SearchResults

__all__ = ["QueryLog"]

_encode = msgspec.json.Encoder().encode
_CONTROLS = dict.fromkeys((*range(32), 0x7F, 0x85, 0x2028, 0x2029), " ")
_LONGEST = 4_096
Search = Callable[[SearchRequest], SearchResults]


class _Line(msgspec.Struct, omit_defaults=True, frozen=True, gc=False):
    """One query. ``way``: ``search`` (page and API) or ``rdm``; ``known``: somebody who had logged in asked."""

    at: float
    way: str
    query: str
    offset: int
    limit: int
    total: int | None
    ms: int
    kinds: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()
    classes: tuple[tuple[str, str], ...] = ()
    date: str = ""
    order: str = ""
    known: bool = False
    error: str = ""


class QueryLog:
    """Appends to ``rdm.log`` and ``rdm.jsonl``; any number of threads may ask at once.

    A log that cannot be written never costs an answer: :attr:`failed` says so.

    Args:
        folder: the home's ``log``.
        clock: for the time of a query and how long it took.
        max_bytes: size at which a file is put aside.
        keep: files that are put aside.
    """

    def __init__(self, folder: Path, clock: Clock, *, max_bytes: int = 64 << 20, keep: int = 4) -> None:
        self._text = LogFile(folder / "rdm.log", max_bytes=max_bytes, keep=keep)
        self._json = LogFile(folder / "rdm.jsonl", max_bytes=max_bytes, keep=keep)
        self._clock = clock
        self._lock = threading.Lock()
        self._pid = os.getpid()

    @property
    def failed(self) -> str:
        """Why the log cannot be written, ``""`` while it can."""
        return self._text.failed or self._json.failed

    def watch(self, search: Search, way: str) -> Search:
        """Return *search* with a line written for each query, answered or not; *way* says who asks."""

        def watched(request: SearchRequest) -> SearchResults:
            began = self._clock.monotonic()
            try:
                found = search(request)
            except IngatherError as error:
                self._write(request, way, began, None, error.text)
                raise
            self._write(request, way, began, found.total, "")
            return found

        return watched

    def _write(self, asked: SearchRequest, way: str, began: float, total: int | None, error: str) -> None:
        line = _Line(
            at=round(self._clock.wall(), 3), way=way, query=_sound(asked.query[:_LONGEST]), offset=asked.offset, limit=asked.limit, total=total,
            ms=max(int((self._clock.monotonic() - began) * 1000), 0), kinds=asked.kinds, sites=asked.sites, databases=asked.databases,
            classes=asked.classes, date=asked.date, order=str(asked.order.value), known=asked.viewer is not ANONYMOUS,
            error=error,
        )  # fmt: skip
        with self._lock:
            self._json.append(_encode(line) + b"\n")
            self._text.append(f"{self._told(line)}\n".encode("utf-8", "replace"))

    def _told(self, line: _Line) -> str:
        at = time.strftime("%d/%b/%Y:%H:%M:%S", time.gmtime(line.at))
        severity = "WARNING" if line.error else "INFO"
        said = f"Error: {line.error}" if line.error else f"{line.total} found"
        chosen = "".join(
            f", {name} {' '.join(values)}"
            for name, values in (("type", line.kinds), ("site", line.sites), ("database", line.databases))
            if values
        )
        return (
            f"[{at}]  {self._pid}@0: {severity}: {line.way}: {_quoted(line.query)}: {said}, "
            f"from {line.offset + 1} at most {line.limit}{chosen}, {line.ms} ms"
        ).translate(_CONTROLS)


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
