"""Alarms: states that somebody should know of, told when they begin, now and then while they last, and when they are over.

What was told is remembered in the catalog, so that a restart tells nothing twice; what comes and goes is told once in a while only.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from ingather.app.notices.webhook import Notice
from ingather.ports.clock import Clock

__all__ = ["Alarm", "Alarms", "Post", "iso_time"]

_MEMORY: Final = "alarms"
_LOOK_S: Final = 15.0
OVER: Final = ".over"


class Post(Protocol):
    """Where notices are put: an outbox, or several."""

    def offer(self, notice: Notice, settled: Callable[[], None] = ...) -> bool:
        """Take a notice if there is room."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A state that holds now: *kind* like ``disk``, *subject*: of what, *text* for people, *about* for programs."""

    kind: str
    subject: str
    text: str
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What it is remembered by."""
        return f"{self.kind} {self.subject}"


class Alarms:
    """Compares what holds with what was told, and offers what is new.

    Args:
        look: the alarms of the moment.
        recall, remember: what is kept in the catalog.
        clock: the wall clock dates, the monotonic one paces the looks.
        again_s: after so long a state that lasts is told again.
        apart_s: so long after its last notice a state that came back is told at the earliest.
    """

    def __init__(  # noqa: PLR0913 - what it stands on
        self,
        look: Callable[[], Iterable[Alarm]],
        recall: Callable[[str], bytes],
        remember: Callable[[str, bytes], None],
        clock: Clock,
        *,
        again_s: float,
        apart_s: float,
    ) -> None:
        self._look, self._recall, self._remember, self._clock = look, recall, remember, clock
        self._again_s, self._apart_s = again_s, apart_s
        self._known: dict[str, dict[str, Any]] | None = None
        self._next_s = float("-inf")

    def __call__(self, post: Post) -> None:
        """Look, if it is time, and offer what is new."""
        now_s = self._clock.monotonic()
        if now_s < self._next_s:
            return
        self._next_s = now_s + _LOOK_S
        found = {alarm.key: alarm for alarm in self._look()}
        if self._known is None:
            kept = self._recall(_MEMORY)
            self._known = dict(json.loads(kept)) if kept else {}
        before = json.dumps(self._known, sort_keys=True)
        self._compare(found, self._known, post, self._clock.wall())
        after = json.dumps(self._known, sort_keys=True)
        if after != before:
            self._remember(_MEMORY, after.encode())

    def _compare(
        self, found: Mapping[str, Alarm], known: dict[str, dict[str, Any]], post: Post, now_s: float
    ) -> None:
        for key, alarm in found.items():
            entry = known.setdefault(
                key,
                {"since": now_s, "told": None, "holds": True, "kind": alarm.kind, "subject": alarm.subject},
            )
            if not entry["holds"]:
                entry.update(since=now_s, holds=True)
            told = entry["told"]
            wait_s = self._again_s if told is not None and told >= entry["since"] else self._apart_s
            if told is None or not 0 <= now_s - told < wait_s:
                about = {
                    "subject": alarm.subject,
                    "text": alarm.text,
                    "since": iso_time(entry["since"]),
                    **alarm.about,
                }
                if post.offer(_notice(alarm.kind, alarm.subject, now_s, about)):
                    entry["told"] = now_s
        for key in [key for key in known if key not in found]:
            entry = known[key]
            if entry["holds"] and entry["told"] is not None and entry["told"] >= entry["since"]:
                about = {
                    "subject": entry["subject"],
                    "text": f"{key} is over",
                    "since": iso_time(entry["since"]),
                }
                if not post.offer(_notice(entry["kind"] + OVER, entry["subject"], now_s, about)):
                    continue
                entry["told"] = now_s
            entry["holds"] = False
            if entry["told"] is None or now_s - entry["told"] >= self._apart_s:
                del known[key]


def _notice(kind: str, subject: str, now_s: float, about: Mapping[str, Any]) -> Notice:
    return Notice(f"{kind}-{subject}-{now_s:.0f}", kind, iso_time(now_s), about)


def iso_time(at_s: float) -> str:
    """Return a wall time in ISO 8601, UTC, to the second."""
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
