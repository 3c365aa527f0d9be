"""Dates and numbers as people write them in a query, as half-open ranges.

    2010   jan2010   01jan2010   20100101   2010-01-01      a year, a month, a day (UTC)
    3   -2.5   1e6                                          a number

Source: external metadata specification, section 8 (``d<01jan2010``).
"""

import calendar
import math
import re
from datetime import UTC, date, datetime, time
from typing import Final

__all__ = ["Span", "amount_of", "span_of"]

Span = tuple[float | None, float | None]
"""From (inclusive), to (exclusive); ``None`` = no bound."""

_MONTHS: Final = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_DATE: Final = re.compile(
    r"(?:(?P<day>\d{1,2})?(?P<month>[a-z]{3})(?P<year>\d{4})"
    r"|(?P<y>\d{4})(?:-?(?P<m>\d{2})-?(?P<d>\d{2}))?)\Z",
    re.IGNORECASE | re.ASCII,
)
_NUMBER: Final = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d{1,3})?\Z", re.IGNORECASE | re.ASCII)


def span_of(text: str, sort: str, kind: str) -> Span | None:
    """Return the range that ``SORT TEXT`` asks for (``<``, ``<=``, ``=``, ``:``, ``>=``, ``>``); ``None`` if *text* is none.

    *kind* is ``date`` or ``number``.
    """
    found = _days(text) if kind == "date" else _number(text)
    if found is None:
        return None
    low, high = found
    match sort:
        case "<":
            return None, low
        case "<=":
            return None, high
        case ">":
            return high, None
        case ">=":
            return low, None
        case _:
            return low, high


def amount_of(text: str, kind: str) -> float | None:
    """Return the number, or the first second of the day, that a value of a class is; ``None`` if it is none."""
    span = span_of(text, "=", kind)
    return None if span is None else span[0]


def _number(text: str) -> tuple[float, float] | None:
    if not _NUMBER.match(text):
        return None
    number = float(text)
    return (number, math.nextafter(number, math.inf)) if math.isfinite(number) else None


def _days(text: str) -> tuple[float, float | None] | None:
    match = _DATE.match(text)
    if match is None:
        return None
    year = int(match["year"] or match["y"])
    month = _MONTHS.get((match["month"] or "").lower(), 0) if match["month"] else int(match["m"] or 0)
    day = int(match["day"] or match["d"] or 0)
    if (match["month"] or match["m"]) and not 1 <= month <= 12:  # noqa: PLR2004 - months
        return None
    try:
        first = date(year, month or 1, day or 1)
    except ValueError:
        return None
    try:
        if day:
            after = date.fromordinal(first.toordinal() + 1)
        else:
            after = date(year + month // 12, month % 12 + 1, 1) if month else date(year + 1, 1, 1)
    except ValueError:  # the end of all years
        return _epoch(first), None
    return _epoch(first), _epoch(after)


def _epoch(day: date) -> float:
    return datetime.combine(day, time(), UTC).timestamp()
