"""The desk of web feeds: visits and polls come in, the decider rules, and what it rules is carried out, all in one transaction.

Lives in the writer's thread. The transaction that settles a visit holds everything that follows from it, so that a crash
between two steps finds the one or the other: a visit that was asked for and is not settled is made again.

Source: RSS provider specification, sections 8 and 9.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from ingather.app.syndication.book import CatalogBook
from ingather.app.syndication.carrying import Carrying
from ingather.app.syndication.items import poll_of
from ingather.app.syndication.records import (
    feed_facts,
    registration,
    source_facts,
)
from ingather.app.syndication.sources import FedSource
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.syndication.sqlite_syndication_rows import DocumentRow, FeedRow, SourceRow
from ingather.log import get
from ingather.model.intent import FEEDS, Intent
from ingather.model.lifecycle import Outcome, State
from ingather.model.polled import Polled, decode_polled
from ingather.model.report import HostReport, Report, Settled
from ingather.model.resource import FailureKind
from ingather.model.source_name import BySource
from ingather.robot.settling.writing import Writer
from ingather.robot.visit.polled import untold
from ingather.syndication.answers import answer_of
from ingather.syndication.deciding import Decider
from ingather.syndication.facts import DocState, ListedDates, SourceFacts
from ingather.syndication.rulings import Account, Answer, Visit

__all__ = ["Desk"]

_log = get("syndication")
_LARGE: Final = frozenset({FailureKind.TOO_LARGE, FailureKind.DECODED_TOO_LARGE, FailureKind.RATIO})
_REDIRECTS: Final = range(300, 400)
_OK: Final = frozenset({200, 203})


class Desk:
    """Carries out what the decider rules; one for a home that gathers.

    Args:
        sources: those of kind ``rss`` and ``sitemap``, by name.
    """

    def __init__(self, sources: Mapping[str, FedSource]) -> None:
        self.sources = BySource(sources)
        self.deciders = BySource((name, Decider(source.limits)) for name, source in sources.items())
        self._numbers: dict[int, str] = {}
        self._touched: set[int] = set()

    def adopt(self, number: int, name: str) -> None:
        """Note the row of a source."""
        self._numbers[number] = name

    def name(self, number: int) -> str:
        """Return the name of a source that is at this desk, ``""`` if it is none."""
        return self._numbers.get(number, "")

    def carrying(self, writer: Writer, number: int, applied: Applied) -> Carrying:
        """Return who carries out rulings about a source."""
        return Carrying(writer, number, self.sources[self._numbers[number]], applied)

    def book(self, writer: Writer, number: int) -> CatalogBook:
        """Return what the decider may ask about a source."""
        return CatalogBook(writer.syndication, number, self.sources[self._numbers[number]].key_of)

    # -- visits -------------------------------------------------------------------------------

    def settle(self, writer: Writer, item: Settled, applied: Applied) -> Settled | None:
        """Settle a visit that belongs to a source of this desk; ``None``: it is none, settle it as always."""
        if not self._numbers:
            return None
        store, row = writer.syndication, item.row
        intent = Intent(item.report.intent or row.intent)
        if intent in FEEDS:
            number = store.page(row.id) if intent is Intent.PAGE else None
            feed = store.feed(number) if number is not None else store.feed_at(row.id)
            if feed is None or feed.source not in self._numbers or not feed.configured:
                store.drop_page(row.id)
                return self._orphan(writer, item, applied)
            return self._polled(writer, item, feed, intent, applied)
        document = store.document(row.id)
        if document is None or document.source not in self._numbers:
            return self._orphan(writer, item, applied) if intent is not Intent.NONE else None
        if not self.keeps(writer, document.source, row.id):
            return None
        return self._visited(writer, item, document, intent, applied)

    def _orphan(self, writer: Writer, item: Settled, applied: Applied) -> Settled:
        """A visit that nobody waits for any more: its feed or registration is gone; what is described stands."""
        report = msgspec.structs.replace(item.report, found=[], links=b"", described=False, redirect=None)
        return self._settled(writer, item, report, applied)

    @staticmethod
    def _settled(writer: Writer, item: Settled, report: Report, applied: Applied) -> Settled:
        """Write a visit of which only the decider says what comes next."""
        described = report.described
        settled = Settled(
            report=report, row=item.row, state=int(State.DONE), due_s=None, wait_s=None, fails=0, missing_s=None, strikes=item.strikes,
            put=described, propose="", keep_description=not described,
        )  # fmt: skip
        if item.state == State.QUARANTINED and not report.polled:
            settled = msgspec.structs.replace(settled, state=item.state)
        writer.applier.settle(settled, applied)
        writer.syndication.rest(item.row.id)
        return settled

    def _polled(
        self, writer: Writer, item: Settled, feed: FeedRow, intent: Intent, applied: Applied
    ) -> Settled:
        report = item.report
        store, source = writer.syndication, self.sources[self._numbers[feed.source]]
        polled: Polled = decode_polled(report.polled or untold(report))
        plain = msgspec.structs.replace(
            report, found=[], links=b"", described=False, redirect=None, stored=None
        )
        settled = self._settled(writer, item, plain, applied)
        if intent is Intent.PAGE:
            store.drop_page(item.row.id)
        now_s = writer.applier.now_s
        poll = poll_of(polled, intent, source, feed, writer=writer, applied=applied)
        decider, book = self.deciders[source.name], self.book(writer, feed.source)
        rule = decider.paged if intent is Intent.PAGE else decider.polled
        ruling = rule(feed_facts(feed), poll, book, now_s)
        carrying = self.carrying(writer, feed.source, applied)
        carrying.feed(feed, ruling)
        for child in carrying.ended:
            self.end_feed(writer, child, applied)
        return settled

    def end_feed(self, writer: Writer, feed: FeedRow, applied: Applied) -> None:
        """End a feed that nothing names any more: what it listed is looked after otherwise, or goes."""
        store = writer.syndication
        feed.configured = False
        for child in store.children(feed.id):
            if child.configured:
                self.end_feed(writer, child, applied)
        ruling = self.deciders[self._numbers[feed.source]].removed(
            msgspec.structs.replace(feed_facts(feed), asked_s=None),
            self.book(writer, feed.source),
            writer.applier.now_s,
        )
        self.carrying(writer, feed.source, applied).feed(feed, ruling)
        store.drop_pages(feed.id)
        store.rest(feed.url)
        self._touched.add(feed.source)

    def _visited(
        self, writer: Writer, item: Settled, document: DocumentRow, intent: Intent, applied: Applied
    ) -> Settled:
        report, number = item.report, document.source
        source, book = self.sources[self._numbers[number]], self.book(writer, number)
        now_s = writer.applier.now_s
        visit = _visit(report, item.row.digest, intent, book, quarantined=item.state == State.QUARANTINED)
        ruling = self.deciders[source.name].visited(registration(document), visit, book, now_s)
        carrying = self.carrying(writer, number, applied)
        dates = {each.feed: each for each in book.listings_of(document.id)}
        dates.update({each.feed: each for each in ruling.listings})
        report = _fallen_back(self._report(report, ruling.registration.state), source, list(dates.values()))
        changed = ruling.registration.state.holds and carrying.describe(document.id, dates.values())
        settled = self._settled(writer, item, report, applied)
        if report.status in _OK:
            writer.syndication.validators(item.row.id, report.etag, report.last_modified)
        if changed and not report.described:
            writer.feeds.changed(document.id, applied)
        carrying.document(ruling)
        self._touched.add(number)
        return settled

    @staticmethod
    def _report(report: Report, state: DocState) -> Report:
        """Return what is written of a visit: a body that is not to be a document is none; only the discoverer follows links."""
        report = msgspec.structs.replace(report, redirect=None)
        if report.described and not state.holds:
            return msgspec.structs.replace(
                report, described=False, outcome=int(Outcome.REDIRECTED), links=b"", found=[]
            )
        return report

    # -- the end of a batch ---------------------------------------------------------------------

    def close(self, writer: Writer, applied: Applied, *, clock_trusted: bool) -> None:
        """Decide about documents that are to go, when a batch ended the last visit that was counted."""
        touched, self._touched = self._touched, set()
        if not clock_trusted:
            return
        for number in sorted(touched & self._numbers.keys()):
            if not writer.syndication.asked(number)[0]:
                self.delete(writer, number, applied)

    def hosts(self, writer: Writer, reports: Sequence[HostReport], applied: Applied) -> None:
        """Web feeds take nothing from a robots.txt."""

    def forget(self) -> None:
        """Forget what a failed transaction noted."""
        self._touched.clear()

    def delete(self, writer: Writer, number: int, applied: Applied, *, cycle: int | None = None) -> int:
        """Let the decider rule on all documents of a source that are to go; return how many went.

        Args:
            writer: inside a transaction.
            number: the source's row.
            applied: takes what readers must learn.
            cycle: beside which this is noted, if not the one that runs.
        """
        store, name, now_s = writer.syndication, self._numbers[number], writer.applier.now_s
        row = store.source(number)
        if row is None:
            return 0
        held = [registration(found) for found in store.wanted(number)]
        facts = source_facts(row)
        if not (held or facts.held or facts.round_s is not None):
            return 0
        asked, asked_since_s, oldest_due_s = store.asked(number)
        documents = writer.deletions.facts(number, now_s).documents
        account = Account(documents, asked, asked_since_s, oldest_due_s)
        ruling = self.deciders[name].judge(facts, held, account, self.book(writer, number), now=now_s)
        carrying = self.carrying(writer, number, applied)
        carrying.source(row, ruling.source, ruling.events)
        for each in ruling.rulings:
            carrying.document(each)
        gone = sum(each.remove for each in ruling.rulings)
        noted = row.cycle if cycle is None else cycle
        if noted is not None and (gone or ruling.why):
            carrying.note_deletions(noted, len(held), gone, ruling.why)
        return gone

    def reconcile(self, writer: Writer, row: SourceRow, facts: SourceFacts, applied: Applied) -> SourceFacts:
        """Take in what people did to holds of a source: released documents are gone, discarded ones stay."""
        store, number = writer.syndication, row.id
        decider, book = self.deciders[self._numbers[number]], self.book(writer, number)
        carrying, now_s, changed = self.carrying(writer, number, applied), writer.applier.now_s, 0
        mine = [found for found in map(registration, store.wanted(number)) if found.breaker]
        held = writer.deletions.held_among([each.key for each in mine])
        for each in mine:
            if each.key in held:
                continue
            changed += 1
            if store.described(each.key):
                carrying.document(decider.discard(each, book, now_s))
            else:
                ruling = decider.execute(each, book, now_s, cause="released by a person")
                carrying.document(msgspec.structs.replace(ruling, remove=False))
                store.due_never(each.key)
        if not changed:
            return facts
        left = max(len(mine) - changed, 0)
        facts = msgspec.structs.replace(facts, held=left, held_s=facts.held_s if left else None)
        carrying.source(row, facts)
        return facts

    # -- whose --------------------------------------------------------------------------------

    def numbers(self) -> list[tuple[int, str]]:
        """Return (row, name) of the sources at this desk."""
        return list(self._numbers.items())

    def keeps(self, writer: Writer, number: int, key: int) -> bool:
        """Whether a registered document is still the source's; the registration of one that is not goes."""
        store = writer.syndication
        if writer.feeds.buried_by_hand(key):
            store.drop_document(key)
            return False
        if store.owner(key) == number and not store.comes_with_feeds(key):
            return True
        store.drop_registration(key)
        return False


def _visit(
    report: Report, row_digest: bytes, intent: Intent, book: CatalogBook, *, quarantined: bool
) -> Visit:
    outcome = Outcome(report.outcome)
    kind = report.detail.partition(":")[0]
    answer = answer_of(
        outcome, report.status, empty=outcome is Outcome.INDEXED and not report.size,
        unusable=quarantined or (outcome is Outcome.FAILED and kind in _LARGE),
        scope=outcome is Outcome.EXCLUDED and bool(report.final_url) and report.status in _REDIRECTS,
    )  # fmt: skip
    if outcome is Outcome.FAILED and kind == FailureKind.EGRESS:
        answer = Answer.SCOPE
    final_key = book.linked([report.final_url]).get(report.final_url, 0) if report.final_url else 0
    digest = report.digest or (row_digest if outcome is Outcome.UNCHANGED else b"")
    return Visit(
        answer, intent, report.at_s - report.elapsed_s, report.status, report.detail, digest, report.etag,
        report.last_modified, report.final_url, final_key, report.retry_s, report.soft_404,
    )  # fmt: skip


def _fallen_back(report: Report, source: FedSource, listings: list[ListedDates]) -> Report:
    """Return *report* with the title and date of its item where it has none, if the source says so."""
    if not report.described or source.conf.syndication.item_metadata != "fallback":
        return report
    title = report.title or next((each.title for each in listings if each.title), "")
    date_s, said = report.date_s, report.date_source
    if date_s is None:
        dates = (_instant(each.modified or each.published) for each in listings)
        date_s = max((date for date in dates if date is not None), default=None)
        said = "feed" if date_s is not None else ""
    return msgspec.structs.replace(report, title=title, date_s=date_s, date_source=said)


def _instant(date: str) -> int | None:
    try:
        return int(datetime.fromisoformat(date).timestamp())
    except (ValueError, OverflowError, OSError):
        return None
