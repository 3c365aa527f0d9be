"""When to look at a document again: an interval that follows its observed changes. Pure.

Halved when a visit finds a change, prolonged when it finds none, between a least and a most
(one hour and 30 days, or what the source says). What the document says about itself (``Expires``, ``rd-expires``)
moves the visit inside these bounds, never the interval, so that a lying header does no lasting harm. What a sitemap
says is given here only if :mod:`ingather.robot.settling.hints` believes it.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

__all__ = ["Recheck", "RecheckLimits", "RecheckReason", "next_visit"]

_HOUR_S = 3_600.0
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class RecheckLimits:
    """Bounds and pace of recrawling.

    Attributes:
        min_s: shortest interval.
        max_s: longest interval.
        first_s: interval after the first visit, when nothing is known about changes.
        shrink: factor on a change (0..1).
        grow: factor on no change (>= 1).
        spread: the visit is moved by up to this share of the interval either way, so
            that what was crawled together is not due together.
    """

    min_s: float = _HOUR_S
    max_s: float = 30 * _DAY_S
    first_s: float = _DAY_S
    shrink: float = 0.5
    grow: float = 1.5
    spread: float = 0.1


class RecheckReason(StrEnum):
    """What decided the time of the next visit, for explain."""

    FIRST = "first visit"
    CHANGED = "it changed"
    UNCHANGED = "it did not change"
    UNKNOWN = "the visit failed, the interval stands"
    EXPIRES = "the host says that it stays the same until then"
    CHANGEFREQ = "its sitemap says how often it changes, and was right so far"
    LISTED = "it did not change, and its sitemap tells when it does"
    RD_EXPIRES = "its description expires"


@dataclass(frozen=True, slots=True)
class Recheck:
    """*interval_s* is kept with the URL for next time, *due_s* is wall time of the next visit, *reason* for people."""

    interval_s: float
    due_s: float
    reason: RecheckReason


def next_visit(  # noqa: PLR0913 - facts of one visit, by keyword
    now_s: float,
    *,
    interval_s: float | None,
    changed: bool | None,
    chance: float = 0.5,
    expires_s: float | None = None,
    rd_expires_s: float | None = None,
    every_s: float | None = None,
    announced: bool = False,
    limits: RecheckLimits | None = None,
) -> Recheck:
    """Return when to look again.

    Args:
        now_s: wall time of the visit that just ended.
        interval_s: interval kept from the last visit; ``None`` if this was the first.
        changed: whether the visit found other content than the one before; ``None`` = it
            could not tell (it failed, or its retries ran out): the interval stands.
        chance: dice in [0, 1); 0.5 = no spread.
        expires_s: wall time of the ``Expires`` header; not before it, within the bounds.
        rd_expires_s: wall time at which the description expires; not after it, within the bounds.
        every_s: how often it changes, as a sitemap says that is believed: a first interval, and half-way to it later.
        announced: a sitemap that is believed tells when it changes: without a change it waits twice as long.
        limits: bounds and pace.
    """
    limits = limits or RecheckLimits()
    if interval_s is None:
        interval, reason = limits.first_s, RecheckReason.FIRST
    elif changed is None:
        interval, reason = interval_s, RecheckReason.UNKNOWN
    elif changed:
        interval, reason = interval_s * limits.shrink, RecheckReason.CHANGED
    else:
        interval, reason = interval_s * limits.grow, RecheckReason.UNCHANGED
    if every_s is not None:
        every_s = _within(every_s, limits)
        interval = every_s if interval_s is None else sqrt(_within(interval, limits) * every_s)
        reason = RecheckReason.CHANGEFREQ
    interval = _within(interval, limits)
    wait = _within(interval * (1.0 + limits.spread * (2.0 * chance - 1.0)), limits)
    if announced and changed is False:
        wait, reason = _within(2 * wait, limits), RecheckReason.LISTED
    # A change that we saw outweighs a promise of no change.
    if expires_s is not None and not changed and expires_s - now_s > wait:
        wait, reason = _within(expires_s - now_s, limits), RecheckReason.EXPIRES
    if rd_expires_s is not None and rd_expires_s - now_s < wait:
        wait, reason = _within(rd_expires_s - now_s, limits), RecheckReason.RD_EXPIRES
    return Recheck(interval, now_s + wait, reason)


def _within(seconds: float, limits: RecheckLimits) -> float:
    return min(max(seconds, limits.min_s), max(limits.max_s, limits.min_s))
