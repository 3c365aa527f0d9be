"""When runs of sources begin by themselves: their cron expressions, in their time zones."""

from collections.abc import Mapping
from typing import Any

from ingather.app.robot.sourcehours import hours_of, schedule_of, zone_of
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf

__all__ = ["Timetable"]


class Timetable:
    """Of all sources of a home. What fell into a time when nobody looked is made up for once.

    Args:
        now_s: wall time; nothing before it is due.
    """

    def __init__(self, settings: Settings, sources: Mapping[str, SourceConf], now_s: float) -> None:
        self._settings = settings
        self._sources = {name: source for name, source in sources.items() if source.schedule}
        self._next = {name: self._after(name, now_s) for name in self._sources}

    def due(self, now_s: float) -> list[str]:
        """Return the sources whose time has come since the last call."""
        found = [name for name, at in self._next.items() if at is not None and at <= now_s]
        for name in found:
            self._next[name] = self._after(name, now_s)
        return found

    def form(self, now_s: float) -> list[dict[str, Any]]:
        """Return the next runs, soonest first: ``source``, ``at`` (wall seconds), ``schedule``, ``opens_in_s``.

        ``opens_in_s``: seconds from then to the next window of the source, 0 = one is open.
        """
        rows = []
        for name, at in self._next.items():
            if at is None:
                continue
            hours = hours_of(self._settings, self._sources[name])
            written = list(self._sources[name].schedule)
            rows.append(
                {"source": name, "at": at, "in_s": round(max(at - now_s, 0.0)), "schedule": written, "opens_in_s": round(hours.closed_s(at))}
            )  # fmt: skip
        return sorted(rows, key=lambda row: (row["at"], row["source"]))

    def _after(self, name: str, now_s: float) -> float | None:
        source = self._sources[name]
        zone = zone_of(self._settings, source)
        found = [at for cron in schedule_of(source) if (at := cron.next_after(now_s, zone)) is not None]
        return min(found, default=None)
