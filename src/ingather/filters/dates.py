"""Dates that resources state, and how descriptions write them."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

__all__ = ["parse_date", "rfc3339"]

_SHORTEST = 6


def parse_date(text: str) -> float | None:
    """Return epoch seconds of an HTTP date (RFC 9110, all three forms) or an ISO date; ``None`` if it is none."""
    bare = text.strip()
    if len(bare) < _SHORTEST:
        return None
    try:
        found = datetime.fromisoformat(bare)
    except ValueError:
        try:
            found = parsedate_to_datetime(bare)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    try:
        return found.timestamp()
    except (OverflowError, ValueError):
        return None


def rfc3339(at_s: float) -> str:
    """Return ``2026-11-21T11:15:00Z`` for epoch seconds."""
    return _written(int(at_s))


@lru_cache(maxsize=256)
def _written(at_s: int) -> str:
    # Thousands of descriptions are made in the same second.
    return datetime.fromtimestamp(at_s, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
