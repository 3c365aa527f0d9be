"""When a feed is polled next, and why then."""

import math
import time
from typing import Final

from msgspec.structs import replace

from ingather.model.intent import Intent
from ingather.syndication.facts import FeedFacts, FeedState
from ingather.syndication.source_limits import SourceLimits

__all__ = ["feed_is_due", "lapses", "next_poll", "poll_intent", "rescheduled", "resumed"]

_HOUR: Final = 3600
_HOURS_OF_A_WEEK: Final = 24 * 7


def next_poll(feed: FeedFacts, limits: SourceLimits, now: float) -> tuple[float | None, str]:
    """Return when *feed*, whose last poll ended, is to be polled when a cycle ends at *now*, and why then; ``None`` = not by itself."""
    if feed.state is FeedState.GONE:
        return None, "gone (410): somebody has to resume it"
    wait, why = _wait(feed, limits)
    at = _allowed(feed, now + wait)
    return (now + wait, why) if at == now + wait else (at, f"{why}; then the hours that the feed allows")


def rescheduled(feed: FeedFacts, limits: SourceLimits, now: float) -> FeedFacts:
    """Return *feed* with its next poll as of *now*."""
    at, why = next_poll(feed, limits, now)
    return replace(feed, due_s=at, why=why)


def resumed(feed: FeedFacts, now: float) -> FeedFacts:
    """Return *feed* due at once; one that was gone is polled again, without validators."""
    if feed.state is FeedState.GONE:
        feed = replace(feed, state=FeedState.FAILING, errors=0, anew_s=None)
    return replace(feed, due_s=now, why="asked for by a person", urgent=True)


def feed_is_due(feed: FeedFacts, now: float) -> bool:
    """Say whether *feed* is to be polled. A clock that was put back does not stop polling."""
    if feed.state is FeedState.GONE:
        return False
    if feed.polled_s is None or feed.due_s is None:
        return True
    return feed.due_s <= now or feed.polled_s > now


def poll_intent(feed: FeedFacts, limits: SourceLimits, now: float) -> tuple[Intent, str]:
    """Return how a due *feed* is polled: unconditionally without a list, and once every ``anew`` against a 304 for ever."""
    if feed.good_s is None:
        return Intent.FEED_ANEW, "first poll" if feed.polled_s is None else "no list yet"
    if feed.anew_s is None or not 0 <= now - feed.anew_s < limits.anew_s:
        return Intent.FEED_ANEW, "unconditional for once"
    return Intent.FEED, feed.why or "its time came"


def lapses(feed: FeedFacts, limits: SourceLimits, now: float) -> bool:
    """Say whether *feed* told nothing for so long that what it listed counts as not listed."""
    return not feed.lapsed and feed.good_s is not None and now - feed.good_s > limits.max_unseen_age_s


def _wait(feed: FeedFacts, limits: SourceLimits) -> tuple[float, str]:
    floor, cap = limits.min_interval_s, max(limits.hint_cap_s, limits.discovery_interval_s)
    if feed.errors:
        doubled = limits.discovery_interval_s * 2.0 ** min(feed.errors, 40)
        best = (
            min(doubled, cap),
            f"{feed.errors} failed {'poll' if feed.errors == 1 else 'polls in a row'}: back-off",
        )
    else:
        interval = limits.discovery_interval_s / 2**feed.halvings
        best = (interval, "halved interval: it overran" if feed.halvings else "discovery interval")
        for hint, why in ((feed.ttl_s, "its ttl"), (feed.max_age_s, "Cache-Control or Expires")):
            if hint is not None and hint > best[0]:
                best = (hint, why)
    if feed.retry_s is not None and feed.retry_s > best[0]:
        best = (feed.retry_s, "Retry-After")
    wait, why = best
    if wait > cap:
        return cap, f"{why}, capped"
    return (floor, "minimum interval") if wait < floor else (wait, why)


def _allowed(feed: FeedFacts, at: float) -> float:
    # The first instant from *at* on that is in no hour and on no day to skip; hours begin on the hour, in GMT.
    if not feed.skip_hours and not feed.skip_days:
        return at
    moment = at
    for _ in range(_HOURS_OF_A_WEEK + 1):
        civil = time.gmtime(moment)
        if civil.tm_hour not in feed.skip_hours and civil.tm_wday not in feed.skip_days:
            return moment
        moment = (math.floor(moment / _HOUR) + 1) * _HOUR
    return at  # it allows no hour at all
