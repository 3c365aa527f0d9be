"""Dates in feeds: ``last-modified`` in every format that clients were seen to write."""

from datetime import datetime

from ingather.extract.dates import date_value

__all__ = ["parse_feed_date"]


def parse_feed_date(text: str) -> datetime | None:
    """Return the moment that *text* names, in UTC; ``None`` if it cannot be read.

    RFC 822 with ``GMT``, ``+0000`` or a one-digit day, ISO 8601 with an offset, and what else documents say of
    themselves. Without a zone it is UTC (GSA feeds specification, section 7.3).
    """
    value = date_value(text)
    return datetime.fromisoformat(value) if value else None
