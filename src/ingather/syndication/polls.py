"""What follows from a poll: the life of a feed (section 4), and the list handed to :class:`Relisting`."""

from typing import Any, Final

from msgspec.structs import replace

from ingather.model.intent import Intent
from ingather.model.polled import PollKind
from ingather.syndication.facts import Event, FeedFacts, FeedState
from ingather.syndication.feed_clocks import rescheduled
from ingather.syndication.relisting import Relisting
from ingather.syndication.rulings import Book, FeedRuling, Poll
from ingather.syndication.source_limits import SourceLimits

__all__ = ["PollCase"]

_PERMANENT: Final = frozenset({301, 308})
_OK: Final = 200


class PollCase:
    """One poll and what follows."""

    def __init__(self, feed: FeedFacts, poll: Poll, book: Book, limits: SourceLimits, now: float) -> None:
        if feed.good_s is not None and feed.good_s > now:  # the clock was put back
            feed = replace(feed, good_s=now)
        self.before = feed
        self.feed = feed
        self.poll = poll
        self.limits = limits
        self.now = now
        self.events: list[Event] = []
        self.taken = Relisting(feed, book, limits, now)

    def ruling(self) -> FeedRuling:
        """Return what follows from a poll (``Intent.FEED``, ``FEED_ANEW``)."""
        poll = self.poll
        self._put(
            asked_s=None, urgent=False, polled_s=self.now, status=poll.status, retry_s=poll.retry_s, new=0, changed=0, dropped=0, page=0
        )  # fmt: skip
        error = self._error()
        return self._failed(error) if error else self._told()

    def page(self) -> FeedRuling:
        """Return what follows from a further page (``Intent.PAGE``): the next one, until something known is met."""
        feed, poll, taken = self.feed, self.poll, self.taken
        page = feed.page + 1
        if poll.kind is not PollKind.LISTED:
            self._put(page=0)
            self._event(f"page {page}: {poll.detail or poll.kind}")
            return self._ruled()
        taken.page(poll.items)
        url = poll.hints.next_url or poll.hints.prev_archive
        more = bool(url) and bool(poll.items) and not taken.met and page < self.limits.pages
        self._put(page=page if more else 0, new=feed.new + taken.new, changed=feed.changed + taken.changed)
        return self._ruled(page=url if more else "")

    def _error(self) -> str:
        # Why the answer tells nothing, "" if it tells what the feed lists.
        poll, feed = self.poll, self.before
        if poll.kind is PollKind.UNCHANGED:
            return "" if feed.good_s is not None else "304, but no list is known"
        if poll.kind is not PollKind.LISTED:
            return poll.detail or str(poll.kind)
        if poll.children:
            return ""
        items = _size(poll)
        if not items and (feed.items or poll.malformed):
            return f"lists nothing; {feed.items} items before"
        if poll.malformed and 2 * items < feed.items:
            return f"malformed, and {items} items instead of {feed.items}: it may be cut"
        return ""

    def _failed(self, error: str) -> FeedRuling:
        before, now, limits = self.before, self.now, self.limits
        since = before.failing_s if before.failing_s is not None and before.failing_s <= now else now
        self._put(errors=before.errors + 1, failing_s=since, error=error)
        if self.poll.kind is PollKind.GONE:
            self._put(state=FeedState.GONE, alerted=True)
            self._event("410: polling stops", notice=True)
            return self._ruled(plan=True)
        self._put(state=FeedState.FAILING)
        if not before.alerted and now - since >= limits.feed_alert_s:
            self._put(alerted=True)
            self._event(f"fails for {int((now - since) // 3600)} hours: {error}", notice=True)
        elif before.state is not FeedState.FAILING:
            self._event(error)
        wait = max(self.poll.retry_s or 0.0, limits.min_interval_s)
        return self._ruled(plan=True, host=now + wait if self.poll.kind is PollKind.BACK_OFF else None)

    def _told(self) -> FeedRuling:
        before, poll, now = self.before, self.poll, self.now
        self._put(
            state=FeedState.ACTIVE, errors=0, failing_s=None, error="", alerted=False, lapsed=False, good_s=now,
            max_age_s=poll.max_age_s,
        )  # fmt: skip
        if before.state is not FeedState.ACTIVE:
            self._event("lists again")
        self._moved()
        self._validated()
        page = ""
        if poll.children:
            self._put(digest=poll.digest, items=len(poll.children), kind=poll.feed_kind, title=poll.title)
        elif poll.kind is PollKind.UNCHANGED or (poll.digest and poll.digest == before.digest):
            if before.lapsed:
                self.taken.back()
        else:
            page = self._listed()
        self._ease()
        return self._ruled(page=page, plan=True)

    def _listed(self) -> str:
        # Takes the list; returns the next page, if one is to be read.
        poll, taken, hints = self.poll, self.taken, self.poll.hints
        complete = self.limits.complete or hints.complete
        taken.take(poll.items, complete=complete)
        taken.bury(poll.tombstones, poll.items)
        overrun = taken.overrun and not complete
        page = (hints.next_url or hints.prev_archive) if overrun else ""
        self._put(
            digest=poll.digest, items=_size(poll), rejected=poll.rejected, kind=poll.feed_kind, title=poll.title,
            ttl_s=None if hints.ttl_minutes is None else 60.0 * hints.ttl_minutes, skip_hours=tuple(sorted(hints.skip_hours)),
            skip_days=tuple(sorted(hints.skip_days)), complete=complete, malformed=poll.malformed, overrun=overrun,
            volatile=taken.volatile, new=taken.new, changed=taken.changed, dropped=taken.dropped,
        )  # fmt: skip
        if poll.malformed and not self.before.malformed:
            self._event("malformed: it breaks its format", notice=True)
        if overrun:
            more = "; older pages are read" if page else ""
            self._event(f"overrun: no item in common with the list before{more}", notice=True)
        return page

    def _ease(self) -> None:
        # An overrun halves the interval, a day without one doubles it again.
        feed, now, limits = self.feed, self.now, self.limits
        if self.taken.overrun and feed.overrun:
            halved = limits.discovery_interval_s / 2 ** (feed.halvings + 1)
            self._put(halvings=feed.halvings + int(halved >= limits.min_interval_s), overrun_s=now)
            return
        since = feed.overrun_s
        if feed.halvings and (since is None or not 0 <= now - since < limits.hint_cap_s):
            self._put(halvings=feed.halvings - 1, overrun_s=now)

    def _validated(self) -> None:
        # Exactly as received: both replaced by every good list, and by a 304 that carries new ones.
        poll, feed = self.poll, self.feed
        body = poll.kind is PollKind.LISTED or poll.status == _OK
        if body or poll.intent is Intent.FEED_ANEW:  # a 304 to what was not conditional is that server's way
            self._put(anew_s=self.now)
        if body:
            self._put(etag=poll.etag, last_modified=poll.last_modified)
        elif poll.etag or poll.last_modified:
            self._put(etag=poll.etag or feed.etag, last_modified=poll.last_modified or feed.last_modified)

    def _moved(self) -> None:
        # Only polls that told a list come here: the target is a feed.
        feed, now, limits = self.feed, self.now, self.limits
        target = ""
        for hop in self.poll.hops:
            if hop.status not in _PERMANENT:
                break
            target = hop.url
        since = feed.moved_s
        if not target or target == feed.url:
            self._put(moved_to="", moved=0, moved_s=None)
        elif target != feed.moved_to or since is None or since > now:
            self._put(moved_to=target, moved=1, moved_s=now)
        elif feed.moved + 1 < limits.redirect_times or now - since < limits.redirect_span_s:
            self._put(moved=feed.moved + 1)
        else:
            self._put(url=target, moved_to="", moved=0, moved_s=None)
            self._event(f"moved for good: {feed.url} -> {target}", notice=True)

    def _put(self, **facts: Any) -> None:
        self.feed = replace(self.feed, **facts)

    def _event(self, cause: str, *, notice: bool = False) -> None:
        was, now = self.before.state.name.lower(), self.feed.state.name.lower()
        self.events.append(Event(self.now, was, now, cause, self.poll.status, 0, self.feed.id, notice))

    def _ruled(self, *, page: str = "", plan: bool = False, host: float | None = None) -> FeedRuling:
        feed = rescheduled(self.feed, self.limits, self.now) if plan else self.feed
        taken = self.taken
        return FeedRuling(
            feed, taken.registrations(), taken.listings(), (*self.events, *taken.events), page, self.poll.children or None, host
        )  # fmt: skip


def _size(poll: Poll) -> int:
    return max(poll.listed, len(poll.items))
