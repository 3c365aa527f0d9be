"""Carrying out what the decider rules about one source, inside the transaction that it ruled in."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from ingather.app.syndication.records import (
    document_of,
    event_row,
    feed_facts,
    feed_row,
    listing_row,
    source_row,
)
from ingather.app.syndication.sources import FedSource
from ingather.catalog.deletion.sqlite_evidence import Seen
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.syndication.sqlite_syndication_rows import FeedRow, SourceRow
from ingather.conf.sources.syndication import SOURCE_CODE
from ingather.log import get
from ingather.model.intent import Intent
from ingather.robot.settling.writing import Writer
from ingather.syndication.facts import (
    DocState,
    Event,
    FeedFacts,
    ListedDates,
    Registration,
    SourceFacts,
    Want,
)
from ingather.syndication.rulings import DocumentRuling, FeedRuling

__all__ = ["LAYER", "LISTED_DATE", "Carrying"]

LISTED_DATE: Final = "system_location_modified"
LAYER: Final = "listing"
_FEED, _DATED, _CHECK = 1, 2, 4
_PRIORITIES: Final = {Intent.NEW: _DATED, Intent.REINDEX: _DATED}
_GONE: Final = frozenset({Want.NOT_FOUND, Want.GONE, Want.SOFT_404})
_log = get("syndication")


class Carrying:
    """One source at one moment.

    Args:
        writer: the catalog's one writer, inside a transaction.
        number: row of the source.
        source: its settings.
        applied: takes what readers must learn.
    """

    def __init__(self, writer: Writer, number: int, source: FedSource, applied: Applied) -> None:
        self._writer = writer
        self._store = writer.syndication
        self._number = number
        self._source = source
        self._applied = applied
        self._now_s = writer.applier.now_s
        self.ended: list[FeedRow] = []
        """Sitemaps that their index names no more; whoever has the decider ends them."""

    # -- sources ------------------------------------------------------------------------------

    def source(self, row: SourceRow, facts: SourceFacts, events: Iterable[Event] = ()) -> None:
        """Keep how a source stands; the row's own columns stay."""
        made = source_row(row.id, facts, next_s=row.next_s, cycle=row.cycle)
        row.facts = made.facts
        self._store.put_source(made)
        self.events(events)

    def events(self, events: Iterable[Event]) -> None:
        """Keep events; those that a person should see are logged, too."""
        kept = list(events)
        self._store.events(event_row(self._number, event) for event in kept)
        for event in kept:
            if event.notice:
                _log.warning(
                    "web feeds",
                    source=self._source.name,
                    url=self._store.url(event.document) if event.document else self._feed_name(event.feed),
                    what=event.cause,
                    status=event.status,
                )

    def _feed_name(self, number: int) -> str:
        feed = self._store.feed(number) if number else None
        return feed.name if feed is not None else ""

    # -- feeds --------------------------------------------------------------------------------

    def feed(self, row: FeedRow, ruling: FeedRuling) -> None:
        """Carry out what follows from a poll, or from the end of a feed."""
        facts = self._moved(row, ruling.feed)
        self.put_feed(row, facts)
        self._registrations(ruling.registrations)
        self._store.put_listings(listing_row(dates) for dates in ruling.listings)
        self.events(ruling.events)
        if ruling.page:
            self._page(row, ruling.page)
        if ruling.children is not None:
            self._children(row, ruling.children)

    def put_feed(self, row: FeedRow, facts: FeedFacts) -> None:
        """Keep a feed, and beside its URL what the next conditional poll sends."""
        self._store.put_feed(feed_row(row, facts))
        self._store.validators(row.url, facts.etag, facts.last_modified, facts.digest)

    def _moved(self, row: FeedRow, facts: FeedFacts) -> FeedFacts:
        """Let a feed be polled elsewhere, if the decider found that it moved for good."""
        here = self._store.url(row.url)
        if not facts.url or facts.url == here:
            return facts
        url_id = self.own(facts.url)
        if url_id is None or self._store.feed_at(url_id) is not None:
            return msgspec.structs.replace(facts, url=here)
        row.url = url_id
        return facts

    def own(self, url: str) -> int | None:
        """Return the row of a feed's *url*, this source's from now on; ``None``: it cannot be had."""
        known = self._store.known([url]).get(url)
        if known is None:
            return self._store.make(url, self._number, self._applied)
        if self._store.comes_with_feeds(known):
            return None
        there = self._store.feed_at(known)
        if there is not None and there.source != self._number:
            if there.configured:
                return None
            self._store.drop_feed(
                there.id
            )  # it changed its source: what it listed stays with the old one until it is listed here
        if self._store.owner(known) != self._number:
            self._store.drop_registration(known)
            self._writer.feeds.move(known, self._number, self._applied)
        if self._store.feed_at(known) is None and self._store.described(known):
            self._writer.deletions.delete(known, "it is a feed", self._now_s, self._applied, gone=False)
        self._store.rest(known)
        return known

    def poll(self, row: FeedRow, facts: FeedFacts, intent: Intent) -> None:
        """Ask for a poll."""
        self.put_feed(row, facts)
        self._store.ask(row.url, intent, priority=_FEED, applied=self._applied)

    def _page(self, row: FeedRow, url: str) -> None:
        url_id = self.own(url)
        if (
            url_id is not None
            and self._store.feed_at(url_id) is None
            and self._store.add_page(url_id, row.id)
        ):
            self._store.ask(url_id, Intent.PAGE, priority=_FEED, applied=self._applied)

    def _children(self, row: FeedRow, urls: Sequence[str]) -> None:
        """Let the sitemaps that an index names be feeds of their own, due at once; others of it end."""
        known = {child.name: child for child in self._store.children(row.id)}
        for url in urls:
            child = known.pop(url, None)
            if child is None or not child.configured:
                self.add(url, parent=row.id)
        for child in known.values():
            if child.configured:
                self.ended.append(child)

    def add(self, url: str, *, parent: int = 0) -> FeedRow | None:
        """Make a feed, or take one up again that had ended, and ask for it; ``None``: its URL cannot be had."""
        row = next((feed for feed in self._store.feeds(self._number) if feed.name == url), None)
        if row is None:
            url_id = self.own(url)
            row = (
                self._store.add_feed(self._number, url, url_id, parent=parent) if url_id is not None else None
            )
            if row is None:
                cause = f"cannot be polled: {url}{self._taken(url)}"
                self.events([Event(self._now_s, "", "", cause, notice=True)])
                return None
        row.configured, row.parent = True, parent
        facts = msgspec.structs.replace(feed_facts(row), url=self._store.url(row.url), parent=parent)
        if parent:
            facts = msgspec.structs.replace(facts, asked_s=self._now_s, due_s=None, why="its index names it")
            self.poll(row, facts, Intent.FEED_ANEW)
        else:
            self.put_feed(
                row, msgspec.structs.replace(facts, due_s=self._now_s, why="it is new", urgent=True)
            )
        return row

    def _taken(self, url: str) -> str:
        known = self._store.known([url]).get(url)
        there = None if known is None else self._store.feed_at(known)
        if there is None:
            return ""
        return f" is a feed of the source {self._writer.applier.names.source_name(there.source)} already"

    # -- documents ----------------------------------------------------------------------------

    def document(self, ruling: DocumentRuling) -> None:
        """Carry out what follows for one document."""
        own, deletions = ruling.registration, self._writer.deletions
        self._registrations((own, *ruling.others))
        self._store.put_listings(listing_row(dates) for dates in ruling.listings)
        self.events(ruling.events)
        for key in ruling.duplicates:
            deletions.delete(key, "the same as another URL", self._now_s, self._applied, gone=False)
        if ruling.remove:
            gone = own.state is DocState.DELETED
            self._observe(own, ruling.cause, "delete", "")
            deletions.delete(own.key, ruling.cause, self._now_s, self._applied, gone=gone)
            self._store.due_never(own.key)
        elif own.breaker and own.state is DocState.GONE_HELD and not ruling.forget:
            if not deletions.held_among([own.key]):
                self._observe(own, _reason(own), "hold", ruling.cause)
            deletions.hold(
                own.key, self._number, _reason(own), self._now_s, applied=self._applied, why=ruling.cause
            )
        if ruling.hide is not None:
            if ruling.hide:
                deletions.hide(own.key, self._number, self._applied)
            else:
                deletions.withdraw([own.key], self._now_s, self._applied)
        if ruling.forget:
            self._store.drop_document(own.key)
        for feed in ruling.volatile:
            self._volatile(feed)

    def _observe(self, own: Registration, reason: str, decision: str, why: str) -> None:
        """Keep what the last check of a document answered, as the evidence of what follows from it."""
        checked = "" if own.checked_s is None else f"checked {_instant(own.checked_s)}"
        self._writer.deletions.observe(
            Seen(
                own.key, self._number, reason, decision, why, status=own.status or None,
                detail=checked or f"listed by the web feeds of {self._source.name}",
            ),
            self._now_s,
        )  # fmt: skip

    def _volatile(self, number: int) -> None:
        row = self._store.feed(number)
        if row is not None:
            self._store.put_feed(feed_row(row, msgspec.structs.replace(feed_facts(row), volatile=True)))

    def _registrations(self, registrations: Sequence[Registration]) -> None:
        """Keep registrations; those with an intent wait for a visit, the others wait for nobody."""
        self._store.put_documents([document_of(self._number, facts) for facts in registrations])
        for facts in registrations:
            if facts.intent is Intent.NONE:
                self._store.unasked(facts.key)
            else:
                priority = _PRIORITIES.get(facts.intent, _CHECK)
                self._store.ask(facts.key, facts.intent, priority=priority, applied=self._applied)

    def describe(self, key: int, listings: Iterable[ListedDates]) -> bool:
        """Put on a document what its source and its listings say; return whether that changed anything."""
        newest = max((_date(dates) for dates in listings), default="")
        attributes = {SOURCE_CODE: [self._source.code]}
        if newest:
            attributes[LISTED_DATE] = [newest]
        return self._store.put_layer(key, LAYER, attributes)

    # -- cycles -------------------------------------------------------------------------------

    def note_deletions(self, cycle: int, wanted: int, removed: int, why: str) -> None:
        """Note beside a cycle what became of the deletions that it found."""
        row = self._store.cycle(cycle)
        if row is not None:
            row.wanted, row.note = max(row.wanted, wanted), why
            row.removed += removed
            self._store.put_cycle(row)


def _instant(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _date(dates: ListedDates) -> str:
    """Return the newest date of a listing that can be told, else its text."""
    published, modified = (dates.waiting or (dates.published, dates.modified, "", ""))[:2]
    return modified or published


def _reason(registration: Registration) -> str:
    """Return under which reason a deletion waits; what ends so says that the page itself is gone."""
    want = registration.want
    if want is Want.NOT_FOUND:
        return "web feed: not found (404)"
    if want is Want.GONE:
        return "web feed: gone (410)"
    return f"web feed: {want.name.lower().replace('_', ' ')}"
