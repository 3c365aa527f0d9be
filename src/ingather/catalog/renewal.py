"""The dates of a description, renewed by visits that found the page unchanged.

Such a visit writes nothing but its row, so the dates move when the description is read:
``rd-last-modified`` becomes the time of that visit, and ``rd-expires`` moves on by as much.
"""

from datetime import UTC, datetime, timedelta

from ingather.model.description import Attributes

__all__ = ["renew"]

_LAST_MODIFIED = "rd-last-modified"
_EXPIRES = "rd-expires"


def renew(attributes: Attributes, *, described_s: float | None, seen_s: float | None) -> None:
    """Move the dates of a page layer in place; what is no RFC 3339 date stays as it is.

    Args:
        attributes: the page layer as it was kept.
        described_s: wall time of the visit that made it.
        seen_s: wall time of the last visit that found the page as described.
    """
    if described_s is None or seen_s is None or seen_s <= described_s:
        return
    shift = timedelta(seconds=int(seen_s) - int(described_s))
    for name in (_LAST_MODIFIED, _EXPIRES):
        if name in attributes:
            attributes[name] = tuple(_moved(value, shift) for value in attributes[name])


def _moved(value: str, shift: timedelta) -> str:
    try:
        at = datetime.fromisoformat(value)
        if at.tzinfo is None:
            return value
        return (at + shift).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):
        return value
