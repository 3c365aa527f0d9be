"""When something is next to be done with a document, and why: one instant, computed from its facts alone.

So a catalog can answer "what is due" by an index: the instant changes only when facts do. Ages that must be *exceeded*
are due a millisecond after they are reached.
"""

import math
import zlib
from typing import Final

from msgspec.structs import replace

from ingather.model.intent import Intent
from ingather.syndication.facts import DocState, Due, Registration, Want
from ingather.syndication.source_limits import SourceLimits

__all__ = ["EXCEEDED_S", "backoff", "believed", "horizon", "intent_of", "is_due", "planned", "sooner"]

EXCEEDED_S: Final = 0.001
_UNCONFIRMED: Final = frozenset({Want.FEED, Want.AGE})
"""Reasons that no visit can confirm."""


def backoff(limits: SourceLimits, key: int, fails: int) -> float:
    """Return the seconds to wait after the *fails*-th error in a row: doubled, capped, spread by the document's number."""
    wait = limits.error_backoff_s * 2.0 ** min(max(fails - 1, 0), 60)
    share = (zlib.crc32(f"{key}/{fails}".encode()) % 2001 - 1000) / 1000
    return min(wait, limits.error_backoff_cap_s) * (1 + limits.jitter * share)


def horizon(limits: SourceLimits) -> float:
    """Return a duration longer than any that is ever planned: what is due later than that was planned by another clock."""
    longest = max(
        limits.tombstone_s,
        limits.max_index_age_s,
        limits.refresh_age_s,
        limits.max_unseen_age_s,
        limits.auth_delete_s,
        limits.retry_after_cap_s,
        limits.error_backoff_cap_s,
        limits.confirm_s,
        limits.robots_grace_s,
    )
    return 1.25 * longest + 86_400


def is_due(registration: Registration, limits: SourceLimits, now: float) -> bool:
    """Say whether something is to be done with *registration* now."""
    at = registration.due_s
    return at is not None and (at <= now or at > now + horizon(limits))


def believed(registration: Registration, now: float) -> Registration:
    """Return *registration* without instants later than *now*: the clock that gave them was put back."""
    changed = {
        name: now
        for name in (
            "known_s",
            "unlisted_s",
            "seen_s",
            "indexed_s",
            "checked_s",
            "looked_s",
            "hidden_s",
            "want_s",
            "deleted_s",
        )
        if (at := getattr(registration, name)) is not None and at > now
    }
    return replace(registration, **changed) if changed else registration


def sooner(first: float | None, second: float | None) -> float | None:
    """Return the earlier of two instants, ``None`` = never."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


def planned(registration: Registration, limits: SourceLimits) -> Registration:
    """Return *registration* with ``due_s`` and ``due`` as its other facts have them."""
    if registration.intent is not Intent.NONE:
        at, due = math.inf, Due.NOTHING
    else:
        at, due = _next(registration, limits)
        if due is not Due.FORGET:
            at = max(at, registration.not_before_s)
    if at == math.inf:
        return replace(registration, due_s=None, due=Due.NOTHING)
    return replace(registration, due_s=at, due=due)


def intent_of(registration: Registration) -> Intent:
    """Return the visit that a due *registration* is to get, ``NONE`` for what needs none."""
    due = registration.due
    if due in {Due.NOTHING, Due.FORGET}:
        return Intent.NONE
    if not registration.state.holds and registration.state is not DocState.ALIAS:
        return Intent.NEW  # nothing is kept, so a 304 would tell nothing
    if due in {Due.REINDEX, Due.AGE} or registration.reindex_s is not None:
        return Intent.REINDEX
    if registration.state is DocState.ALIAS:
        return Intent.REINDEX
    return Intent.REFRESH if due is Due.REFRESH else Intent.CHECK


def _next(r: Registration, limits: SourceLimits) -> tuple[float, Due]:
    if r.state is DocState.PENDING:
        return _pending(r, limits)
    if r.state is DocState.LIVE:
        return _live(r, limits)
    if r.state is DocState.RETRY:
        return r.not_before_s, Due.RETRY
    if r.state is DocState.GONE_HELD:
        return _held(r, limits)
    if r.state is DocState.HIDDEN:
        look = (r.looked_s or 0.0) + limits.new_daily_s
        end = (r.hidden_s or 0.0) + limits.auth_delete_s
        return (end if (r.looked_s or 0.0) < end < look else look), Due.AUTH
    return _nothing_kept(r, limits)


def _pending(r: Registration, limits: SourceLimits) -> tuple[float, Due]:
    first = min(at for at in (r.gone_s, r.refused_s, r.failing_s, math.inf) if at is not None)
    retry = max(r.not_before_s, r.known_s)
    if r.listed:
        return retry, Due.NEW
    end = max(r.unlisted_s or 0.0, r.known_s) + limits.tombstone_s
    # An error proves nothing, so it is asked on; a 404 of what nobody lists any more is the end of it.
    asked_on = r.fails > 0 or retry <= first + limits.new_retry_s
    return (retry, Due.NEW) if asked_on and retry < end else (end, Due.FORGET)


def _live(r: Registration, limits: SourceLimits) -> tuple[float, Due]:
    if r.refusals:
        steps = max(limits.auth_checks - 1, 1)
        return (r.looked_s or 0.0) + limits.auth_grace_s / steps, Due.AUTH
    if r.disallows:
        steps = max(limits.robots_checks - 1, 1)
        return (r.looked_s or 0.0) + limits.robots_grace_s / steps, Due.ROBOTS
    if r.listed:
        best = _refresh(r, limits)
    else:
        known = max(r.indexed_s or 0.0, r.seen_s or 0.0, r.checked_s or 0.0)
        best = (known + limits.max_unseen_age_s + EXCEEDED_S, Due.CHECK)
        if r.absent_s is not None:
            best = min(best, (r.absent_s, Due.ABSENT))
    if r.reindex_s is not None:
        best = min(best, (r.reindex_s, Due.REINDEX))
    if limits.max_index_age_s and limits.on_max_index_age != "keep" and r.indexed_s is not None:
        best = min(best, (r.indexed_s + limits.max_index_age_s + EXCEEDED_S, Due.AGE))
    return best


def _refresh(r: Registration, limits: SourceLimits) -> tuple[float, Due]:
    age = limits.refresh_age_s if r.dated else limits.refresh_undated_s
    base = r.checked_s if r.checked_s is not None else (r.looked_s or r.known_s)
    return base + age + EXCEEDED_S, Due.REFRESH


def _held(r: Registration, limits: SourceLimits) -> tuple[float, Due]:
    if r.want is Want.NOTHING:
        return r.not_before_s, Due.CONFIRM
    if not r.breaker or r.want in _UNCONFIRMED:
        return math.inf, Due.NOTHING  # the end of the cycle, or a person, decides
    return (r.looked_s or 0.0) + limits.confirm_s / max(limits.confirm_cycles, 1), Due.CONFIRM


def _nothing_kept(r: Registration, limits: SourceLimits) -> tuple[float, Due]:
    # An alias, what is excluded, a tombstone.
    if not r.listed:
        last = max(r.unlisted_s or 0.0, r.deleted_s or 0.0, r.looked_s or 0.0, r.known_s)
        return last + limits.tombstone_s, Due.FORGET
    if r.state is DocState.DELETED:
        return (r.looked_s or r.deleted_s or 0.0) + limits.new_daily_s, Due.AGAIN
    best = _refresh(replace(r, checked_s=r.looked_s), limits)  # there are looks that tell nothing definite
    return best if r.reindex_s is None else min(best, (r.reindex_s, Due.REINDEX))
