"""Dates in feeds: ``last-modified`` in every format that clients were seen to write."""

from datetime import date, datetime
from functools import lru_cache
from typing import Final

from ingather.extract.dates import date_value

__all__ = ["header_date", "parse_feed_date"]

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@lru_cache(4096)
def header_date(text: str) -> str:
    """Return *text* as a response header has dates (``Tue, 06 Nov 2007 12:45:26 GMT``), ``""`` if it is none.

    Remembered, because reading a record and making a response of it both ask.
    """
    value = date_value(text)
    if not value:
        return ""
    day, month = value[8:10], _MONTHS[int(value[5:7]) - 1]
    weekday = _DAYS[date(int(value[:4]), int(value[5:7]), int(day)).weekday()]
    return f"{weekday}, {day} {month} {value[:4]} {value[11:19]} GMT"


def parse_feed_date(text: str) -> datetime | None:
    """Return the moment that *text* names, in UTC; ``None`` if it cannot be read.

    RFC 822 with ``GMT``, ``+0000`` or a one-digit day, ISO 8601 with an offset, and what else documents say of
    themselves. Without a zone it is UTC (GSA feeds specification, section 7.3).
    """
    value = date_value(text)
    return datetime.fromisoformat(value) if value else None
