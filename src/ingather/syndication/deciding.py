"""The decider of feed sources: facts and now in, wishes and new facts out. No clock, no file, no network, no memory.

A source's cycle, as whoever carries out the rulings runs it:

1. ``begin_cycle``: ask for the polls of all feeds that are due.
2. ``polled`` for each poll as it ends, ``paged`` for each further page that a ruling asked for.
3. When all have ended: ``lapse`` each feed of which ``lapses`` says so, then ``due`` with the registrations that are due, oldest first,
   then ``end_cycle``. ``next_cycle`` says when the next may begin.
4. ``visited`` for each visit to a document as it ends, whenever that is.
5. ``judge`` when no counted visit is wanted any more, and at each cycle's end: only it deletes.

Each ruling is carried out in one transaction with the facts it was made from. What was asked for and did not happen is
asked for still: a ``Registration`` with an ``intent``, a feed with ``asked_s``.
"""

from collections.abc import Collection, Iterable, Mapping

from ingather.syndication import cycles, feed_clocks
from ingather.syndication.clocks import planned
from ingather.syndication.deletions import Deletions
from ingather.syndication.explaining import Explanation, explain
from ingather.syndication.facts import FeedFacts, ListedDates, Registration, SourceFacts
from ingather.syndication.outcomes import Case
from ingather.syndication.polls import PollCase
from ingather.syndication.relisting import lapsed, removed
from ingather.syndication.rulings import (
    Account,
    Book,
    CycleRuling,
    DeletionRuling,
    DocumentRuling,
    DueRuling,
    FeedRuling,
    Poll,
    Visit,
)
from ingather.syndication.source_limits import SourceLimits

__all__ = ["Decider"]


class Decider:
    """The rules of one source; holds nothing but its limits, may be shared by threads."""

    def __init__(self, limits: SourceLimits | None = None) -> None:
        self.limits = limits or SourceLimits()

    # -- cycles -------------------------------------------------------------------------------

    def next_cycle(self, source: SourceFacts, feeds: Iterable[FeedFacts], now: float) -> tuple[float, str]:
        """Return when the next cycle may begin and why then; *feeds*: those that may be polled (configured, not paused)."""
        return cycles.next_cycle(source, feeds, self.limits, now)

    def begin_cycle(self, source: SourceFacts, feeds: Iterable[FeedFacts], now: float) -> CycleRuling:
        """Begin a cycle: ask for the polls of those *feeds* that are due; *feeds* as in ``next_cycle``."""
        return cycles.begin(source, feeds, self.limits, now)

    def due(self, source: SourceFacts, registrations: Iterable[Registration], now: float) -> DueRuling:
        """Ask for the checks, refreshes and repeated looks that are due, as far as the cycle's budget goes.

        *registrations*: ascending by ``due_s``, those up to *now* and those beyond ``now + horizon`` (the clock was put back).
        For a budget of n it is enough to give those whose ``due`` does not count, and n + 1 of those whose does.
        """
        return cycles.due(source, registrations, self.limits, now)

    def end_cycle(self, source: SourceFacts, feeds: Iterable[FeedFacts], now: float) -> CycleRuling:
        """End a cycle: the interval begins, also for the *feeds* that it polled."""
        return cycles.end(source, feeds, self.limits, now)

    # -- feeds --------------------------------------------------------------------------------

    def polled(self, feed: FeedFacts, poll: Poll, book: Book, now: float) -> FeedRuling:
        """Return what follows from a poll."""
        return PollCase(feed, poll, book, self.limits, now).ruling()

    def paged(self, feed: FeedFacts, poll: Poll, book: Book, now: float) -> FeedRuling:
        """Return what follows from a further page of a feed."""
        return PollCase(feed, poll, book, self.limits, now).page()

    def next_poll(self, feed: FeedFacts, now: float) -> tuple[float | None, str]:
        """Return when *feed* is polled next if its cycle ends at *now*, and why then; ``None`` = never by itself."""
        return feed_clocks.next_poll(feed, self.limits, now)

    def lapses(self, feed: FeedFacts, now: float) -> bool:
        """Say whether *feed* (of any state, paused and unconfigured ones too) has told nothing for ``max_unseen_age``."""
        return feed_clocks.lapses(feed, self.limits, now)

    def lapse(self, feed: FeedFacts, book: Book, now: float) -> FeedRuling:
        """Count what *feed* listed as listed no more, until it tells again: the documents come under the existence check."""
        return lapsed(feed, book, self.limits, now)

    def removed(self, feed: FeedFacts, book: Book, now: float) -> FeedRuling:
        """Take *feed* out of the configuration: its documents stay under the existence check, or go (``on_feed_removed``)."""
        return removed(feed, book, self.limits, now)

    def resumed(self, feed: FeedFacts, now: float) -> FeedFacts:
        """Return *feed* as somebody has resumed it, or wants it polled at once: due now, unconditionally if it was gone."""
        return feed_clocks.resumed(feed, now)

    # -- documents ----------------------------------------------------------------------------

    def visited(self, registration: Registration, visit: Visit, book: Book, now: float) -> DocumentRuling:
        """Return what follows from a visit to a document."""
        return Case(registration, visit, book, self.limits, now).ruling()

    def judge(
        self, source: SourceFacts, held: Iterable[Registration], account: Account, book: Book, *, now: float
    ) -> DeletionRuling:
        """Decide about deletions; *held*: all registrations of the source that are ``GONE_HELD``."""
        return Deletions(book, self.limits, now).judge(source, held, account)

    def execute(
        self, registration: Registration, book: Book, now: float, *, cause: str = ""
    ) -> DocumentRuling:
        """Return the deletion of a document that a person released, or removed."""
        return Deletions(book, self.limits, now).execute(registration, cause=cause)

    def discard(self, registration: Registration, book: Book, now: float) -> DocumentRuling:
        """Return what follows when a person keeps a document that was to go."""
        return Deletions(book, self.limits, now).discard(registration)

    def explain(
        self,
        registration: Registration,
        listings: Collection[ListedDates],
        feeds: Mapping[int, FeedFacts],
        now: float,
    ) -> Explanation:
        """Return what is known of a document, and what happens next, when and why; *feeds*: those of the *listings*."""
        return explain(registration, listings, feeds, self.limits, now)

    def planned(self, registration: Registration) -> Registration:
        """Return *registration* with its due instant by these limits: after they were changed, or facts were by hand."""
        return planned(registration, self.limits)
