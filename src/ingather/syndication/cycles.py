"""Begin and end of a cycle, and what is due within its budget."""

from collections.abc import Iterable

from msgspec.structs import replace

from ingather.model.intent import Intent
from ingather.syndication.clocks import believed, intent_of, is_due, planned
from ingather.syndication.facts import (
    CycleFacts,
    DocState,
    Due,
    Event,
    FeedFacts,
    Registration,
    SourceFacts,
    Want,
)
from ingather.syndication.feed_clocks import feed_is_due, poll_intent, rescheduled
from ingather.syndication.rulings import Asked, CycleRuling, DocumentRuling, DueRuling
from ingather.syndication.source_limits import SourceLimits

__all__ = ["begin", "due", "end", "next_cycle"]


def next_cycle(
    source: SourceFacts, feeds: Iterable[FeedFacts], limits: SourceLimits, now: float
) -> tuple[float, str]:
    """Return when the next cycle may begin, and why then.

    The interval after the last one ended, or when a feed is due before that; but not before ``min_interval``, so that many feeds
    with times of their own share cycles. What is new, or wanted by a person, does not wait.
    """
    if source.ended_s is None or source.ended_s > now:
        return now, "no cycle has ended yet"
    first = source.ended_s + limits.min_interval_s
    at, why = source.ended_s + limits.discovery_interval_s, "discovery interval after the last cycle"
    for feed in feeds:
        if feed.polled_s is None or (feed.urgent and feed_is_due(feed, now)):
            return min(
                now, at
            ), f"feed {feed.id} is new" if feed.polled_s is None else f"feed {feed.id}: {feed.why}"
        due_s = now if feed_is_due(feed, now) else feed.due_s
        if due_s is not None and max(due_s, first) < at:
            at, why = max(due_s, first), f"feed {feed.id}: {feed.why}"
    return at, why


def begin(source: SourceFacts, feeds: Iterable[FeedFacts], limits: SourceLimits, now: float) -> CycleRuling:
    """Begin a cycle: ask for the polls of all *feeds* that are due. While a cycle runs nothing happens.

    A cycle without polls is right: the checks that are due wait for its end.
    """
    if source.cycle is not None:
        return CycleRuling(source)
    asks = []
    for feed in feeds:
        if feed_is_due(feed, now):
            intent, why = poll_intent(feed, limits, now)
            asks.append(Asked(replace(feed, asked_s=now), intent, why))
    return CycleRuling(replace(source, cycle=CycleFacts(now, len(asks))), tuple(asks))


def due(
    source: SourceFacts, registrations: Iterable[Registration], limits: SourceLimits, now: float
) -> DueRuling:
    """Ask for what is due, oldest first, within what is left of the cycle's budget.

    Args:
        source: a cycle runs.
        registrations: in ascending order of ``due_s``; those that are not due are passed over.
        limits: of the source.
        now: wall time.
    """
    cycle = source.cycle or CycleFacts(now)
    left = max(limits.max_checks_per_cycle - cycle.checks, 0)
    rulings: list[DocumentRuling] = []
    counted, exhausted = 0, False
    for r in registrations:
        if r.intent is not Intent.NONE or not is_due(r, limits, now):
            continue
        if r.due is Due.FORGET and (r.due_s or 0.0) > now:
            rulings.append(DocumentRuling(planned(believed(r, now), limits), cause="the clock was put back"))
        elif r.due is Due.FORGET:
            event = Event(now, r.state.name.lower(), "", "forgotten: nothing lists it any more", 0, r.key)
            rulings.append(DocumentRuling(r, events=(event,), cause="forgotten", forget=True))
        elif r.due is Due.AGE and limits.on_max_index_age == "remove":
            rulings.append(_aged(r, limits, now))
        elif r.due.counted and counted >= left:
            exhausted = True
        else:
            counted += r.due.counted
            asked = replace(r, intent=intent_of(r), asked_s=now)
            rulings.append(DocumentRuling(planned(asked, limits), cause=r.due.name.lower()))
    cycle = replace(cycle, checks=cycle.checks + counted, exhausted=exhausted)
    since = source.round_s
    if exhausted and since is None:
        since = now
    return DueRuling(replace(source, cycle=cycle, round_s=since), tuple(rulings), exhausted)


def end(source: SourceFacts, feeds: Iterable[FeedFacts], limits: SourceLimits, now: float) -> CycleRuling:
    """End a cycle: the next poll of what it polled counts from *now*."""
    cycle = source.cycle
    if cycle is None:
        return CycleRuling(source)
    changed = tuple(
        rescheduled(feed, limits, now)
        for feed in feeds
        if feed.polled_s is not None and feed.polled_s >= cycle.begun_s and feed.asked_s is None
    )
    return CycleRuling(replace(source, cycle=None, ended_s=now), feeds=changed)


def _aged(r: Registration, limits: SourceLimits, now: float) -> DocumentRuling:
    after = replace(r, state=DocState.GONE_HELD, want=Want.AGE, want_s=now)
    event = Event(now, r.state.name.lower(), "gone_held", "older than max_index_age", 0, r.key)
    return DocumentRuling(
        planned(after, limits), events=(event,), cause="older than max_index_age", want=True
    )
