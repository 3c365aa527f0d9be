"""What a registration's facts mean, in words and instants: what happened, what happens next, when and why."""

import time
from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from ingather.model.intent import Intent
from ingather.syndication.facts import DocState, Due, FeedFacts, ListedDates, Registration, Want
from ingather.syndication.source_limits import SourceLimits

__all__ = ["Explanation", "explain", "seen_s"]

_MEANING: Final = {
    DocState.PENDING: "a known link, nothing is indexed yet",
    DocState.LIVE: "indexed",
    DocState.RETRY: "indexed; the last visit failed, so the copy is kept",
    DocState.GONE_HELD: "it is to go and waits; the copy is kept",
    DocState.HIDDEN: "access was refused for long: the copy is kept and not shown",
    DocState.ALIAS: "its link leads to another document of this source",
    DocState.EXCLUDED: "nothing is kept of it, because it may not be indexed",
    DocState.DELETED: "deleted",
}
_NEXT: Final = {
    Due.NEW: "it is asked for again",
    Due.CHECK: "its existence is checked",
    Due.REFRESH: "it is refreshed",
    Due.RETRY: "it is tried again",
    Due.CONFIRM: "a further look confirms that it is gone, or not",
    Due.AUTH: "a further look at what is refused",
    Due.ROBOTS: "a further look at what is forbidden",
    Due.REINDEX: "it is reindexed",
    Due.AGAIN: "it is asked for again, because it is still listed",
    Due.AGE: "it is as old as the index may be",
    Due.FORGET: "it is forgotten",
    Due.ABSENT: "its existence is checked",
}
_INTENT: Final = {
    Intent.NEW: "its first visit",
    Intent.REINDEX: "an unconditional visit, because its dates changed",
    Intent.CHECK: "an existence check",
    Intent.REFRESH: "a refresh",
}


class Explanation(msgspec.Struct, frozen=True):
    """Why a document is as it is.

    Attributes:
        state: name of the state, in small letters.
        meaning: of the state.
        why: what led to it, one sentence each, the newest last.
        next: what happens next.
        next_s: when, ``None`` = a visit is wanted already, or nothing is planned.
        because: why then.
        intent: the visit that is wanted, in small letters, ``""`` = none.
    """

    state: str
    meaning: str
    why: tuple[str, ...] = ()
    next: str = ""
    next_s: float | None = None
    because: str = ""
    intent: str = ""


def seen_s(
    registration: Registration, listings: Collection[ListedDates], feeds: Mapping[int, FeedFacts]
) -> float | None:
    """Return when a good list had the document last: what is listed now was seen at its feed's last good poll."""
    times = [registration.seen_s]
    for dates in listings:
        feed = feeds.get(dates.feed)
        times.append(feed.good_s if dates.listed and feed is not None else dates.last_s)
    return max((at for at in times if at is not None), default=None)


def explain(
    registration: Registration,
    listings: Collection[ListedDates],
    feeds: Mapping[int, FeedFacts],
    limits: SourceLimits,
    now: float,
) -> Explanation:
    """Return what is known of a document and what comes next."""
    r = registration
    why = [_listed(dates, feeds.get(dates.feed)) for dates in listings]
    if r.indexed_s is not None:
        why.append(f"indexed {_at(r.indexed_s)}")
    if r.checked_s is not None and r.checked_s != r.indexed_s:
        why.append(f"last definite answer {_at(r.checked_s)}")
    if r.looked_s is not None:
        status = f" (HTTP {r.status})" if r.status else ""
        why.append(f"last visit {_at(r.looked_s)}: {r.reason}{status}")
    why += _troubles(r, limits)
    if r.final:
        why.append(f"its link leads to {r.final}")
    what, because = _next(r, limits, now)
    return Explanation(
        r.state.name.lower(), _MEANING[r.state], tuple(why), what, r.due_s, because,
        "" if r.intent is Intent.NONE else r.intent.name.lower(),
    )  # fmt: skip


def _listed(dates: ListedDates, feed: FeedFacts | None) -> str:
    name = feed.url if feed is not None else f"feed {dates.feed}"
    given = dates.modified_text or dates.published_text or dates.modified or dates.published
    text = f"{name} listed it first {_at(dates.first_s)}"
    text += f", dated {given}" if given else ", without a date"
    if dates.waiting is not None:
        text += f"; it now says {dates.waiting[3] or dates.waiting[2] or 'no date'}, which is registered with the next visit that goes well"
    if not dates.listed:
        text += f"; not listed since {_at(dates.last_s)}"
    elif feed is not None and feed.lapsed:
        text += "; the feed has told nothing for too long, so that no longer counts"
    return text


def _troubles(r: Registration, limits: SourceLimits) -> list[str]:
    found = []
    if r.fails and r.failing_s is not None:
        found.append(
            f"{r.fails} failed {'visit' if r.fails == 1 else 'visits in a row'} since {_at(r.failing_s)}"
        )
    if r.refusals and r.refused_s is not None:
        found.append(
            f"refused {r.refusals} times since {_at(r.refused_s)}; hidden after {limits.auth_checks} over {_span(limits.auth_grace_s)}"
        )
    if r.disallows and r.disallowed_s is not None:
        found.append(
            f"found forbidden {r.disallows} times since {_at(r.disallowed_s)}; removed after {limits.robots_checks} at least {_span(limits.robots_grace_s)} apart"
        )
    if r.want is not Want.NOTHING and r.want_s is not None:
        found.append(f"to be removed since {_at(r.want_s)}: {r.want.name.lower().replace('_', ' ')}")
        if r.breaker:
            found.append("held: too many documents of the source would go at once; released by a person, or by "
                         f"{limits.confirm_cycles} further looks over {_span(limits.confirm_s)} ({r.confirmations} so far)")  # fmt: skip
    if r.suspect:
        found.append(f"may be a soft 404: {r.suspect}")
    return found


def _next(r: Registration, limits: SourceLimits, now: float) -> tuple[str, str]:
    if r.intent is not Intent.NONE:
        since = f"wanted since {_at(r.asked_s)}" if r.asked_s is not None else "wanted"
        return f"{_INTENT.get(r.intent, 'a visit')} is waiting for its turn", since
    if r.due_s is None:
        if r.want is not Want.NOTHING:
            return "it is removed, or held", "when the checks that are due are worked off"
        return "nothing", "nothing is planned"
    because = _because(r, limits)
    late = "; due now, in the next cycle" if r.due_s <= now else ""
    return _NEXT[r.due], f"{because}{late}"


def _because(r: Registration, limits: SourceLimits) -> str:
    refresh = limits.refresh_age_s if r.dated else limits.refresh_undated_s
    reasons = {
        Due.NEW: "nothing is indexed yet",
        Due.CHECK: f"neither indexed, seen nor checked for {_span(limits.max_unseen_age_s)}",
        Due.REFRESH: f"still listed, and not looked at for {_span(refresh)}"
        + ("" if r.dated else " (it has no date)"),
        Due.RETRY: "the last visit failed; the wait doubles with each failure",
        Due.CONFIRM: "one look is not enough while it is listed, or while it is held",
        Due.AUTH: "access was refused",
        Due.ROBOTS: "it was forbidden at the last look",
        Due.REINDEX: "a date changed; it was visited a short time ago",
        Due.AGAIN: "a tombstone that is still listed is asked for once a day",
        Due.AGE: f"it was indexed {_span(limits.max_index_age_s)} ago",
        Due.FORGET: f"nothing has listed it for {_span(limits.tombstone_s)}",
        Due.ABSENT: "it is missing from a complete list, or its feed declared it deleted",
    }
    return reasons[r.due]


def _at(instant: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(instant))


def _span(seconds: float) -> str:
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{int(seconds // size)} {name}"
    return f"{seconds:g} s"
