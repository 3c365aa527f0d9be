"""For how long an answer calls itself fresh (RFC 9111 sections 4.2 and 5.2, RFC 8246). Pure."""

from collections.abc import Callable
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

__all__ = ["fresh_s"]

_IMMUTABLE_S: Final = 365 * 86_400.0
"""``immutable`` without a time: the usual year."""
_UNCACHED: Final = frozenset({"no-cache", "no-store"})
_DIGITS: Final = 12


def fresh_s(header: Callable[[str], str], *, now_s: float) -> float | None:
    """Return for how many seconds from now an answer calls itself fresh; ``None`` = it promises nothing.

    ``no-cache`` and ``no-store`` take back what is promised beside them, then ``s-maxage`` (we keep what many people read), ``max-age``,
    ``immutable``, ``Expires``. What the answer spent in caches (``Age``) is taken off.

    Args:
        header: gives the value of a header field by its name in small letters, ``""`` if absent.
        now_s: wall time.
    """
    control = header("cache-control")
    if not control and not header("expires"):
        return None  # as most
    told = _directives(control)
    if not _UNCACHED.isdisjoint(told):
        return None
    age = _seconds(header("age").strip()) or 0.0
    for name in ("s-maxage", "max-age"):
        seconds = _seconds(told.get(name, ""))
        if seconds is not None:
            return max(seconds - age, 0.0)
    if "immutable" in told:
        return _IMMUTABLE_S
    expires = _instant(header("expires"))
    if expires is None:
        return None
    said = _instant(header("date"))
    return max(expires - (now_s if said is None else said + age), 0.0)


def _directives(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in text.lower().split(","):
        name, _, value = part.partition("=")
        found.setdefault(name.strip(), value.strip().strip('"'))
    return found


def _seconds(text: str) -> float | None:
    return float(text[:_DIGITS]) if text.isascii() and text.isdigit() else None


def _instant(text: str) -> float | None:
    if not text:
        return None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    try:
        return moment.timestamp() if moment.tzinfo else moment.replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return None
