"""When a day ends: ``X:20041231`` is valid through that day in the source's time zone."""

from datetime import UTC, date, datetime, timedelta, tzinfo

from ingather.overlay.line import iso_day

__all__ = ["expires_at", "published_at"]


def expires_at(day: str, zone: tzinfo = UTC) -> float | None:
    """Return the instant (seconds since 1970) from which a document is no longer valid: the next day's midnight in *zone*.

    Args:
        day: the last day of validity, ``2004-12-31`` or ``20041231``.
        zone: the source's time zone.

    Returns:
        ``None`` when *day* is no day, or the calendar's last.
    """
    last = _day(day)
    if last is None or last == date.max:
        return None
    # In local time: a day may have 23 or 25 hours.
    return _midnight(last + timedelta(days=1), zone)


def published_at(day: str, zone: tzinfo = UTC) -> float | None:
    """Return the instant at which a day begins in *zone*; ``None`` when it is no day."""
    first = _day(day)
    return None if first is None else _midnight(first, zone)


def _day(text: str) -> date | None:
    iso = iso_day(text.replace("-", "")) if len(text) == len("2004-12-31") else iso_day(text)
    return None if iso is None else date.fromisoformat(iso)


def _midnight(day: date, zone: tzinfo) -> float | None:
    try:
        return datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()
    except (OverflowError, ValueError):  # the edge of the calendar, in a zone east or west of it
        return None
