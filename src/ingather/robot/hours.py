"""When a source may be gathered: windows of the week, and delays by time of day. Pure.

A span is a set of weekdays and a time of day from its first minute up to, not including, its last; one
that ends before it begins goes over midnight and belongs to the day on which it begins. Times are those of
the source's time zone; where a clock is put forward or back the wall's time counts, whatever it shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

__all__ = ["DAY_MINUTES", "Hours", "Span"]

DAY_MINUTES = 1440
_WEEK = 7


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the week.

    Attributes:
        days: 0 = Monday; on which it begins.
        begin: minute of the day.
        end: minute of the day at which it is over, up to 1440; not above *begin*: on the next day.
    """

    days: frozenset[int]
    begin: int
    end: int

    def covers(self, day: int, minute: int) -> bool:
        """Whether a minute of a weekday lies in it."""
        if self.begin < self.end:
            return day in self.days and self.begin <= minute < self.end
        if day in self.days and minute >= self.begin:
            return True
        return (day - 1) % _WEEK in self.days and minute < self.end


@dataclass(frozen=True, slots=True)
class Hours:
    """The hours of one source.

    Attributes:
        windows: when anything may be fetched; none = always.
        delays: spans with the least delay (seconds) between two starts at a host meanwhile.
        zone: whose time of day is meant.
    """

    windows: Sequence[Span] = ()
    delays: Sequence[tuple[Span, float]] = ()
    zone: tzinfo = UTC

    def delay_s(self, wall_s: float) -> float:
        """Return the least delay at wall time *wall_s*, 0 = none is asked for; of several the longest."""
        day, minute = self._at(wall_s)
        return max((delay for span, delay in self.delays if span.covers(day, minute)), default=0.0)

    def closed_s(self, wall_s: float) -> float:
        """Return the seconds until the next window opens, 0 = one is open (or there are none)."""
        if not self.windows or self._open(wall_s):
            return 0.0
        step = 60.0
        at = wall_s - wall_s % step + step
        for _ in range(_WEEK * DAY_MINUTES + DAY_MINUTES):
            if self._open(at):
                return at - wall_s
            at += step
        return float(
            timedelta(days=_WEEK).total_seconds()
        )  # a window that no clock ever shows: look again later

    def _open(self, wall_s: float) -> bool:
        day, minute = self._at(wall_s)
        return any(span.covers(day, minute) for span in self.windows)

    def _at(self, wall_s: float) -> tuple[int, int]:
        local = datetime.fromtimestamp(wall_s, UTC).astimezone(self.zone)
        return local.weekday(), 60 * local.hour + local.minute
