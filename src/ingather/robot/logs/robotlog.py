"""robot.log: what the robot does, by level, in the vendor's layout, with one JSON line an event beside it.

``robot.log`` has ``[22/Jan/2026:15:57:31]  8270@0: INFO: text`` (UTC), what concerns a URL begins with
``<URL:...>:``; ``robot.jsonl`` says the same for programs. An event is written when its level is at most
``loglevel`` of robot.conf (section 11 of the robot specification).
"""

import os
from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path

import msgspec

from ingather.model.lifecycle import Outcome
from ingather.model.report import Settled
from ingather.robot.logs.logfile import LogFile, one_line, stamp

__all__ = ["Level", "RobotLog"]

_encode = msgspec.json.Encoder().encode
_HIGHEST = 5
_SAID = {
    Outcome.INDEXED: "RD generated", Outcome.UNCHANGED: "RD stands, nothing changed",
    Outcome.CONVERSION_FAILED: "RD generated from metadata, the text could not be read",
    Outcome.DUPLICATE: "RD stands behind another with equal bytes",
    Outcome.ENUMERATED: "links followed, no RD", Outcome.REDIRECTED: "redirected",
}  # fmt: skip
_DESCRIBED = frozenset({Outcome.INDEXED, Outcome.UNCHANGED, Outcome.CONVERSION_FAILED, Outcome.DUPLICATE})
_FILTERED = frozenset({Outcome.EXCLUDED, Outcome.ROBOTS, Outcome.NOINDEX, Outcome.BUDGET})
_ERRORS = frozenset({Outcome.NOT_FOUND, Outcome.SOFT_404, Outcome.REFUSED, Outcome.SERVER_ERROR, Outcome.FAILED,
                     Outcome.BACK_OFF, Outcome.ROBOTS_UNREACHABLE})  # fmt: skip


class Level(IntEnum):
    """What ``loglevel`` counts."""

    SERIOUS = 0
    GENERATION = 1
    RETRIEVAL = 2
    FILTERING = 3
    SPAWNING = 4
    PROGRESS = 5


class _Event(msgspec.Struct, omit_defaults=True, frozen=True, gc=False):
    at: float
    level: int
    severity: str
    text: str
    url: str = ""


class RobotLog:
    """Collects events of one committed batch or one moment; :meth:`flush` writes them.

    Args:
        folder: the home's ``log``.
        level: events up to this level are written; values above 5 act as 5. May be changed at any time.
        max_bytes: size at which a file is put aside.
        keep: files that are put aside.
    """

    def __init__(self, folder: Path, *, level: int = 1, max_bytes: int = 64 << 20, keep: int = 4) -> None:
        self.level = level
        self._text = LogFile(folder / "robot.log", max_bytes=max_bytes, keep=keep)
        self._json = LogFile(folder / "robot.jsonl", max_bytes=max_bytes, keep=keep)
        self._events: list[_Event] = []
        self._pid = os.getpid()

    @property
    def failed(self) -> str:
        """Why the log cannot be written, ``""`` while it can."""
        return self._text.failed or self._json.failed

    def event(self, level: Level, text: str, at_s: float, *, url: str = "", severity: str = "INFO") -> None:
        """Note that something happened, if anybody wants to know."""
        if level <= min(self.level, _HIGHEST):
            self._events.append(_Event(round(at_s, 3), int(level), severity, text, url))

    def serious(self, text: str, at_s: float, *, url: str = "") -> None:
        """Note a serious error: written at every level."""
        self.event(Level.SERIOUS, text, at_s, url=url, severity="ERROR")

    def visits(
        self,
        settled: Iterable[Settled],
        urls: Iterable[str],
        refused: Iterable[tuple[str, str]],
        now_s: float,
    ) -> None:
        """Note a committed batch of visits, what their links were denied, and what budgets refused."""
        for item, url in zip(settled, urls, strict=True):
            self._visit(item, url)
        if self.level >= Level.FILTERING:
            for url, limit in refused:
                self.event(Level.FILTERING, f"filtered: {limit}", now_s, url=url)

    def _visit(self, item: Settled, url: str) -> None:
        r, outcome = item.report, Outcome(item.report.outcome)
        if outcome is Outcome.QUARANTINED:
            self.serious(f"Error {r.status} (quarantined): {r.detail}", r.at_s, url=url)
        elif outcome in _DESCRIBED:
            self.event(Level.GENERATION, _SAID[outcome], r.at_s, url=url)
        elif outcome in _ERRORS:
            why = f"Error {r.status} ({outcome.name.lower().replace('_', ' ')}): {r.detail}"
            self.event(Level.GENERATION, why.rstrip(": "), r.at_s, url=url, severity="WARNING")
        if r.status:
            said = f"retrieved: status {r.status}, {r.size} bytes, {int(r.elapsed_s * 1000)} ms"
            self.event(Level.RETRIEVAL, said, r.at_s, url=url)
        elif outcome in _SAID and outcome not in _DESCRIBED:
            self.event(Level.RETRIEVAL, _SAID[outcome], r.at_s, url=url)
        if self.level >= Level.FILTERING:
            self._filtered(item, url)

    def _filtered(self, item: Settled, url: str) -> None:
        r, outcome = item.report, Outcome(item.report.outcome)
        if r.denial is not None:
            where = f" by {r.denial.where}" if r.denial.where else ""
            self.event(Level.FILTERING, f"filtered{where}: {r.denial.reason}", r.at_s, url=url)
        elif outcome in _FILTERED:
            self.event(Level.FILTERING, f"filtered: {r.detail or outcome.name.lower()}", r.at_s, url=url)
        for found in r.found:
            if found.denial is not None:
                where = f" by {found.denial.where}" if found.denial.where else ""
                said = f"filtered{where}: {found.denial.reason}"
                self.event(Level.FILTERING, said, r.at_s, url=found.origin + found.path)

    def flush(self) -> None:
        """Write what was noted since the last time."""
        if not self._events:
            return
        events, self._events = self._events, []
        self._json.append(b"".join(_encode(event) + b"\n" for event in events))
        self._text.append("".join(f"{self._line(event)}\n" for event in events).encode("utf-8", "replace"))

    def _line(self, event: _Event) -> str:
        about = f"<URL:{event.url}>: " if event.url else ""
        return one_line(f"{stamp(int(event.at))}  {self._pid}@0: {event.severity}: {about}{event.text}")
