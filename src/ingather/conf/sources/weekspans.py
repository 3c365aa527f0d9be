"""Parts of the week in settings: ``mon-fri 22:00-06:00``, ``sat,sun``, ``08:00-18:00``; with a delay behind them: ``=5s``.

A span that ends before it begins goes over midnight and belongs to the day on which it begins.
"""

import re
from dataclasses import dataclass

from ingather.errors import UnitError
from ingather.units import parse_seconds

__all__ = ["Span", "parse_delay", "parse_span"]

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEK = len(_DAYS)
_HOUR_MINUTES, _DAY_MINUTES = 60, 1440
_TIMES = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})\Z")
_HINT = 'write it like "22:00-06:00", "mon-fri 20:00-07:00" or "sat,sun"'


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the week.

    Attributes:
        days: on which it begins, 0 = Monday.
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


def parse_span(text: str) -> Span:
    """Read a part of the week.

    Raises:
        UnitError: it cannot be read.
    """
    words = text.lower().split()
    days, times = frozenset(range(_WEEK)), (0, _DAY_MINUTES)
    match words:
        case [one] if ":" in one:
            times = _times(one, text)
        case [one]:
            days = _days(one, text)
        case [first, second]:
            days, times = _days(first, text), _times(second, text)
        case _:
            raise UnitError(f"{text!r} is no part of a week", hint=_HINT)
    return Span(days, *times)


def parse_delay(text: str) -> tuple[Span, float]:
    """Read a part of the week with a delay: ``08:00-18:00=5s``.

    Raises:
        UnitError: it cannot be read.
    """
    span, mark, delay = text.rpartition("=")
    if not mark:
        raise UnitError(f"{text!r} names no delay", hint='write it like "08:00-18:00=5s"')
    seconds = parse_seconds(delay.strip())
    if seconds <= 0:
        raise UnitError(f"{text!r}: a delay is above 0", hint="leave the span away for the usual delay")
    return parse_span(span), seconds


def _days(word: str, text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in word.split(","):
        first, mark, last = part.partition("-")
        try:
            begin, end = _DAYS.index(first), _DAYS.index(last if mark else first)
        except ValueError:
            raise UnitError(f"{text!r}: {part!r} is no day", hint=_HINT) from None
        found.update((begin + n) % _WEEK for n in range((end - begin) % _WEEK + 1))
    return frozenset(found)


def _times(word: str, text: str) -> tuple[int, int]:
    match = _TIMES.match(word)
    if match is not None:
        begin_hour, begin_minute, end_hour, end_minute = map(int, match.groups())
        begin, end = 60 * begin_hour + begin_minute, 60 * end_hour + end_minute
        right = max(begin_minute, end_minute) < _HOUR_MINUTES and begin < _DAY_MINUTES >= end
        if right and begin != end:
            return begin, end
    raise UnitError(f"{text!r}: {word!r} are no times of day", hint=_HINT)
