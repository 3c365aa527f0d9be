"""``Retry-After``: how long a host asks to be left alone (RFC 9110 section 10.2.3)."""

import re
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

__all__ = ["RetryAfter", "read_retry_after"]

_SECONDS = re.compile(r"\s*([0-9]{1,18})(?:\.[0-9]*)?\s*\Z")


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """*seconds* to wait from now; *capped*: the host asked for longer than we believe."""

    seconds: float
    capped: bool = False


def read_retry_after(value: str, *, now_s: float, max_s: float = 7 * 86_400.0) -> RetryAfter | None:
    """Read both forms, a number of seconds and an HTTP date; ``None`` when it is neither.

    Args:
        value: the field's value.
        now_s: wall time, for the date form; a date that has passed means no wait.
        max_s: cap.
    """
    number = _SECONDS.match(value)
    if number:
        seconds = float(number[1])
    else:
        try:
            date = parsedate_to_datetime(value.strip())
            if date.tzinfo is None:  # "-0000", and the asctime form
                date = date.replace(tzinfo=UTC)
            seconds = max(0.0, date.timestamp() - now_s)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    return RetryAfter(min(seconds, max_s), capped=seconds > max_s)
