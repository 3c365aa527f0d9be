"""Days of a source's time zone as moments."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

__all__ = ["day_of", "end_of_day", "is_time_zone", "start_of_day", "zone_named"]


@lru_cache(64)
def _zone(name: str) -> tzinfo:
    return UTC if name.upper() == "UTC" else ZoneInfo(name)


def zone_named(name: str) -> tzinfo:
    """Return a time zone for which :func:`is_time_zone` is true."""
    return _zone(name)


def is_time_zone(name: str) -> bool:
    """Return whether *name* is ``UTC`` or a zone that this machine knows (``Europe/Vienna``)."""
    try:
        _zone(name)
    except (ValueError, OSError, LookupError):  # a path, a folder, no such key
        return False
    return True


def day_of(text: str) -> date | None:
    """Return the day that ``YYYYMMDD`` or ``YYYY-MM-DD`` names, ``None`` for anything else."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def start_of_day(day: date, zone: str = "UTC") -> int:
    """Return the epoch second at which *day* begins in *zone*."""
    return int(datetime.combine(day, time(), _zone(zone)).timestamp())


def end_of_day(day: date, zone: str = "UTC") -> int | None:
    """Return the epoch second at which the day after *day* begins in *zone*, ``None`` if there is no such day."""
    try:
        return start_of_day(day + timedelta(days=1), zone)
    except OverflowError:
        return None
