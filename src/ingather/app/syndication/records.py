"""The decider's facts as rows of the catalog, and back: columns are what queries ask for, the rest is a map."""

from typing import Final

import msgspec

from ingather.catalog.syndication.sqlite_syndication_rows import (
    DocumentRow,
    EventRow,
    FeedRow,
    ListingRow,
    SourceRow,
)
from ingather.syndication.facts import Event, FeedFacts, ListedDates, Registration, SourceFacts

__all__ = [
    "document_of",
    "event_row",
    "feed_facts",
    "feed_row",
    "listed_dates",
    "listing_row",
    "registration",
    "source_facts",
    "source_row",
]

_encode: Final = msgspec.msgpack.Encoder().encode
_source: Final = msgspec.msgpack.Decoder(SourceFacts).decode
_feed: Final = msgspec.msgpack.Decoder(FeedFacts).decode
_document: Final = msgspec.msgpack.Decoder(Registration).decode
_listing: Final = msgspec.msgpack.Decoder(ListedDates).decode


def source_facts(row: SourceRow) -> SourceFacts:
    """Return the facts of a source."""
    return _source(row.facts)


def source_row(number: int, facts: SourceFacts, *, next_s: float | None, cycle: int | None) -> SourceRow:
    """Return the row of a source."""
    return SourceRow(number, next_s, cycle, _encode(facts))


def feed_facts(row: FeedRow) -> FeedFacts:
    """Return the facts of a feed; one that was just added has none yet."""
    if row.facts == b"\x80":
        return FeedFacts(row.id, url=row.name, parent=row.parent)
    return _feed(row.facts)


def feed_row(row: FeedRow, facts: FeedFacts) -> FeedRow:
    """Return *row* with *facts*; where it is polled, and the operator's wishes, stay."""
    row.state, row.asked_s, row.due_s = int(facts.state), facts.asked_s, facts.due_s
    row.polled_s, row.good_s, row.facts = facts.polled_s, facts.good_s, _encode(facts)
    return row


def registration(row: DocumentRow) -> Registration:
    """Return the registration of a document."""
    return _document(row.facts)


def document_of(source: int, facts: Registration) -> DocumentRow:
    """Return the row of a registration."""
    return DocumentRow(
        id=facts.key, source=source, state=int(facts.state), intent=int(facts.intent), asked_s=facts.asked_s, due_s=facts.due_s,
        why=int(facts.due), counted=facts.due.counted, wanted=int(facts.want), alias=facts.alias, final=facts.final,
        facts=_encode(facts),
    )  # fmt: skip


def listed_dates(row: ListingRow) -> ListedDates:
    """Return what a feed says of a document."""
    return _listing(row.facts)


def listing_row(facts: ListedDates) -> ListingRow:
    """Return the row of a listing."""
    return ListingRow(facts.feed, facts.key, facts.listed, facts.guid, _encode(facts))


def event_row(source: int, event: Event) -> EventRow:
    """Return the row of an event."""
    return EventRow(
        0, event.at_s, source, event.feed or None, event.document or None, event.before, event.after, event.cause,
        event.status, event.notice,
    )  # fmt: skip
