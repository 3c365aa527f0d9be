"""What a failed visit costs: when to try again, how often, and whether the whole host must wait. Pure.

A failure is judged once (:func:`after_failure`). Four remedies, and only four:

* ``RETRY``: this URL failed in a way that may pass; it is tried again a few times, then
  left to its next regular visit.
* ``WAIT_HOST``: the host asked for time (429, 503) or cannot be reached; nothing of it is
  asked for before the wait is over (:mod:`ingather.robot.politeness.hosts` keeps the clock).
* ``WAIT_WAY``: a proxy or PAC file of the source failed, the host was never asked: it
  learns nothing, the source's way rests (:mod:`ingather.robot.politeness.ways`), the URL is tried again when it is over.
* ``LEAVE``: trying again soon would give the same answer; the next regular visit looks
  again (:mod:`ingather.robot.frontier.recheck`).

No remedy deletes: that is the business of :mod:`ingather.robot.settling.deletion` alone.
"""

from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import StrEnum
from math import inf
from typing import assert_never

from ingather.fetch.retry_after import read_retry_after
from ingather.model.resource import FailureKind

__all__ = [
    "Attempt",
    "BackOffLimits",
    "Remedy",
    "Wait",
    "after_failure",
    "remedy_of",
    "retry_after_seconds",
    "waiting_time",
]

_DAY_S = 86_400.0
_WAY_MOST_S = 3_600.0
_TRANSIENT_STATUS = frozenset(
    {408, 421, 423, 425, 500, 502, 504, 507, 509, 520, 522, 523, 524, 527, 529, 530}
)
_HOST_STATUS = frozenset({429, 503})


class Remedy(StrEnum):
    """What to do after a failed visit; see the module's docstring."""

    RETRY = "retry"
    WAIT_HOST = "wait-host"
    WAIT_WAY = "wait-way"
    LEAVE = "leave"


@dataclass(frozen=True, slots=True)
class BackOffLimits:
    """How patient we are.

    Attributes:
        base_s: wait after the first failure, before jitter.
        factor: each further failure in a row waits this many times longer.
        cap_s: longest wait of our own choosing.
        jitter: a wait is prolonged by up to this share of itself, never shortened.
        max_attempts: visits of one URL that may fail in a row before it is left to its next regular visit.
        retry_after_cap_s: longest ``Retry-After`` that is obeyed; a longer one is cut and reported.
    """

    base_s: float = 10.0
    factor: float = 3.0
    cap_s: float = _DAY_S
    jitter: float = 0.5
    max_attempts: int = 4
    retry_after_cap_s: float = 7 * _DAY_S


@dataclass(frozen=True, slots=True)
class Wait:
    """A wait in seconds; *asked_s* is what the host asked for, *capped* tells that it asked for more than is obeyed."""

    seconds: float
    asked_s: float | None = None
    capped: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """What follows a failed visit.

    Attributes:
        remedy: whom the wait concerns.
        failures: failed visits of this URL in a row, this one included.
        wait: how long until the next attempt; ``None`` = none in this run, the next regular visit looks again.
    """

    remedy: Remedy
    failures: int
    wait: Wait | None


def waiting_time(
    failures: int, *, chance: float, asked_s: float | None = None, limits: BackOffLimits | None = None
) -> Wait:
    """Return how long to wait after *failures* (>= 1) failures in a row.

    *chance* in [0, 1) is the caller's dice. A ``Retry-After`` of *asked_s* is obeyed up to the
    cap: the wait is never shorter, and longer only when the host keeps refusing after
    it was obeyed.
    """
    limits = limits or BackOffLimits()
    steps = max(failures, 1) - 1
    capped = False
    if asked_s is None:
        nominal = _exponential(steps, limits)
    else:
        capped = asked_s > limits.retry_after_cap_s
        nominal = min(max(asked_s, 0.0), limits.retry_after_cap_s)
        if steps:
            nominal = max(nominal, _exponential(steps - 1, limits))
    return Wait(nominal * (1.0 + limits.jitter * chance), asked_s, capped)


def _exponential(steps: int, limits: BackOffLimits) -> float:
    # The exponent is bounded before the power: a thousand failures must not overflow a float.
    return min(limits.base_s * limits.factor ** min(steps, 64), limits.cap_s)


def remedy_of(cause: FailureKind | int) -> Remedy | None:
    """Return the remedy for a failure kind or an HTTP status; ``None`` for a status that is no failure.

    404 and 410 are ``LEAVE``: they are answers, and confirming them is the deletion policy's business.
    """
    if isinstance(cause, FailureKind):
        return _of_kind(cause)
    if cause in _HOST_STATUS:
        return Remedy.WAIT_HOST
    if cause in _TRANSIENT_STATUS:
        return Remedy.RETRY
    if 200 <= cause < 400:  # noqa: PLR2004 - the classes of RFC 9110 section 15
        return None
    return Remedy.LEAVE


def _of_kind(kind: FailureKind) -> Remedy:
    match kind:
        case (
            FailureKind.DNS
            | FailureKind.CONNECT
            | FailureKind.CONNECT_TIMEOUT
            | FailureKind.TLS
            | FailureKind.TLS_TIMEOUT
        ):
            return Remedy.WAIT_HOST
        case FailureKind.PROXY | FailureKind.PROXY_LOGIN:
            return Remedy.WAIT_WAY
        case (
            FailureKind.FIRST_BYTE_TIMEOUT
            | FailureKind.TOTAL_TIMEOUT
            | FailureKind.TOO_SLOW
            | FailureKind.CLOSED
            | FailureKind.AUTH
            | FailureKind.CANCELLED
            | FailureKind.INTERNAL
        ):
            return Remedy.RETRY
        case (
            FailureKind.EGRESS
            | FailureKind.HEAD_TOO_LARGE
            | FailureKind.TOO_LARGE
            | FailureKind.DECODED_TOO_LARGE
            | FailureKind.RATIO
            | FailureKind.ENCODING
            | FailureKind.PROTOCOL
            | FailureKind.REDIRECT_LOOP
            | FailureKind.REDIRECTS
            | FailureKind.REDIRECT_TARGET
        ):
            return Remedy.LEAVE
        case _:
            assert_never(kind)


def after_failure(
    cause: FailureKind | int,
    failures: int,
    *,
    chance: float,
    asked_s: float | None = None,
    limits: BackOffLimits | None = None,
) -> Attempt | None:
    """Judge a visit that ended in *cause*; ``None`` if *cause* is a status that is no failure.

    Args:
        cause: failure kind, or HTTP status.
        failures: visits of this URL that failed in a row before this one.
        chance: dice in [0, 1).
        asked_s: what ``Retry-After`` asked for, in seconds (:func:`retry_after_seconds`).
        limits: patience.
    """
    limits = limits or BackOffLimits()
    remedy = remedy_of(cause)
    if remedy is None:
        return None
    if cause is FailureKind.CANCELLED:
        # Ours, not the host's: it counts for nothing.
        return Attempt(remedy, failures, Wait(0.0))
    count = failures + 1
    if remedy is Remedy.WAIT_WAY:  # no URL is given up for it; one that fails by itself lets others go first
        limits = replace(limits, cap_s=min(limits.cap_s, _WAY_MOST_S))
        return Attempt(remedy, count, waiting_time(count, chance=chance, asked_s=asked_s, limits=limits))
    if remedy is Remedy.LEAVE or count >= limits.max_attempts:
        return Attempt(remedy, count, None)
    return Attempt(remedy, count, waiting_time(count, chance=chance, asked_s=asked_s, limits=limits))


def retry_after_seconds(value: str, *, now_s: float, date: str = "") -> float | None:
    """Read ``Retry-After`` (RFC 9110 section 10.2.3), both forms, as seconds from now; >= 0, not capped.

    Args:
        value: the header as received.
        now_s: wall time, seconds since the epoch.
        date: the response's ``Date`` header; the difference between the two dates is what
            the host means even when its clock or ours is wrong.

    Returns:
        ``None`` when *value* is neither form.
    """
    said_s = _moment(date) if date else None
    got = read_retry_after(value, now_s=now_s if said_s is None else said_s, max_s=inf)
    return None if got is None else got.seconds


def _moment(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
