"""Cron expressions: when something is to begin. Five fields as crontab(5) has them, or ``@daily`` and its kin.

Minute, hour, day of the month, month, day of the week (0 and 7 are Sunday); ``*``, numbers, names of months and
days, ranges, lists, steps. When both days are restricted one of them is enough.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

from ingather.errors import UnitError

__all__ = ["Cron", "parse_cron"]

_SHORT = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}  # fmt: skip
_month_names = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_day_names = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = {name: n + 1 for n, name in enumerate(_month_names)}
_DAYS = {name: n for n, name in enumerate(_day_names)}
_FIELDS: tuple[tuple[str, int, int, Mapping[str, int]], ...] = (
    ("minute", 0, 59, {}), ("hour", 0, 23, {}), ("day of the month", 1, 31, {}), ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)  # fmt: skip
_PART = re.compile(r"(?P<first>\*|[a-z]{3}|\d{1,2})(?:-(?P<last>[a-z]{3}|\d{1,2}))?(?:/(?P<step>\d{1,2}))?\Z")
_HORIZON_DAYS = 8 * 366
"""A day that comes in no eight years (a leap day may be missing in 2100) comes never."""
_HINT = 'write five fields like "30 2 * * mon-fri", or @daily'


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed expression; ``days_of_week`` has 0 = Monday. *text* is as written."""

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    days_of_week: frozenset[int]
    either_day: bool
    """Both kinds of days are restricted: one that fits is enough."""

    def next_after(self, wall_s: float, zone: tzinfo = UTC) -> float | None:
        """Return the first wall time after *wall_s* (both seconds UTC) that fits in *zone*; ``None`` = none comes.

        What falls into the hour that a clock is put forward over comes an hour later; in the hour that comes
        twice, once.
        """
        local = datetime.fromtimestamp(wall_s, UTC).astimezone(zone)
        today = local.date()
        for ahead in range(
            -1, _HORIZON_DAYS
        ):  # yesterday: a time that the clock skipped may come after midnight
            day = today + timedelta(days=ahead)
            if not self._fits(day):
                continue
            for hour in self.hours:
                for minute in self.minutes:
                    at = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone).timestamp()
                    if at > wall_s:
                        return at
        return None

    def _fits(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        of_month, of_week = day.day in self.days, day.weekday() in self.days_of_week
        return of_month or of_week if self.either_day else of_month and of_week


def parse_cron(text: str) -> Cron:
    """Read a cron expression.

    Raises:
        UnitError: it cannot be read, or never comes; the text names the field.
    """
    words = _SHORT.get(text.strip().lower(), text).lower().split()
    if len(words) != len(_FIELDS):
        raise UnitError(f"{text!r} has {len(words)} fields, a cron expression has 5", hint=_HINT)
    minutes, hours, days, months, week = (
        _field(word, *field) for word, field in zip(words, _FIELDS, strict=True)
    )
    found = Cron(
        " ".join(text.split()), tuple(sorted(minutes)), tuple(sorted(hours)), days, months,
        frozenset((day - 1) % 7 for day in week), either_day=not words[2].startswith("*") and not words[4].startswith("*"),
    )  # fmt: skip
    if found.next_after(0.0) is None:
        raise UnitError(f"{text!r} never comes: there is no such day", hint=_HINT)
    return found


def _field(word: str, name: str, low: int, high: int, names: Mapping[str, int]) -> frozenset[int]:
    found: set[int] = set()
    for part in word.split(","):
        match = _PART.match(part)
        if match is None:
            raise UnitError(f"{part!r} is no {name} of a cron expression", hint=_HINT)
        step = int(match["step"] or 1)
        if match["first"] == "*":
            first, last = low, high
            if match["last"]:
                raise UnitError(f"{part!r} is no {name} of a cron expression", hint=_HINT)
        else:
            first = _number(match["first"], name, low, high, names)
            last = _number(match["last"], name, low, high, names) if match["last"] else first
            if match["step"] and not match["last"]:
                last = high
            if names is _DAYS and match["last"] and last < first:
                last += 7  # fri-mon goes over the end of the week
        if step < 1 or last < first:
            raise UnitError(f"{part!r}: from {first} to {last} in steps of {step} is nothing", hint=_HINT)
        found.update(value % 7 if names is _DAYS else value for value in range(first, last + 1, step))
    return frozenset(found)


def _number(text: str, name: str, low: int, high: int, names: Mapping[str, int]) -> int:
    value = names.get(text, -1) if text.isalpha() else int(text)
    if not low <= value <= high:
        raise UnitError(f"{text!r} is no {name} ({low} to {high})", hint=_HINT)
    return value
