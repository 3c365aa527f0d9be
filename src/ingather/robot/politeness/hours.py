"""When a source may be gathered: windows of the week, and delays by time of day. Pure.

Times are those of the source's time zone; where a clock is put forward or back what it shows counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from ingather.conf.sources.weekspans import Span

__all__ = ["Hours"]

_DAYS_A_WEEK = 7
_DAY_MINUTES = 1440


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
        for _ in range((_DAYS_A_WEEK + 1) * _DAY_MINUTES):
            if self._open(at):
                return at - wall_s
            at += step
        return float(
            timedelta(days=_DAYS_A_WEEK).total_seconds()
        )  # a window that no clock ever shows: look again later

    def _open(self, wall_s: float) -> bool:
        day, minute = self._at(wall_s)
        return any(span.covers(day, minute) for span in self.windows)

    def _at(self, wall_s: float) -> tuple[int, int]:
        local = datetime.fromtimestamp(wall_s, UTC).astimezone(self.zone)
        return local.weekday(), 60 * local.hour + local.minute
