"""Feeds, sources and listed documents as people and programs see them: JSON-ready trees, times in UTC as text."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from ingather.app.syndication.records import feed_facts, listed_dates, registration, source_facts
from ingather.catalog.syndication.sqlite_syndication_reader import (
    DocumentRecord,
    FeedRecord,
    SourceRecord,
    SyndicationReader,
)
from ingather.catalog.syndication.sqlite_syndication_rows import CycleRow, EventRow, ListingRow
from ingather.conf.sources.source import SourceConf
from ingather.model.intent import Intent
from ingather.syndication.facts import DocState, FeedFacts, FeedState

__all__ = [
    "document_form",
    "event_form",
    "feed_form",
    "feed_totals",
    "instant",
    "listing_form",
    "source_form",
]

_DAY_S: Final = 86_400.0
_TOTALLED: Final = 20_000
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def instant(seconds: float | None) -> str | None:
    """Return wall *seconds* as ``2018-03-20T08:33:00Z``."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def feed_form(record: FeedRecord) -> dict[str, Any]:
    """Return a feed: ``docs/reference/rss.md`` lists the members."""
    row, facts = record.row, feed_facts(record.row)
    return {
        "id": row.id, "source": record.source, "url": row.name, "address": record.url, "parent": row.parent or None,
        "configured": row.configured, "paused": row.paused, "state": FeedState(row.state).name.lower(),
        "kind": facts.kind, "title": facts.title, "last_poll": instant(row.polled_s), "last_good": instant(row.good_s),
        "status": facts.status or None, "next_poll": instant(row.due_s) if not row.paused and row.configured else None,
        "why": _why(record, facts), "polling": row.asked_s is not None,
        "items": facts.items, "new": facts.new, "changed": facts.changed, "dropped": facts.dropped, "rejected": facts.rejected,
        "seen": record.listed, "error": facts.error, "errors": facts.errors, "failing_since": instant(facts.failing_s),
        "malformed": facts.malformed, "overrun": facts.overrun, "overrun_at": instant(facts.overrun_s), "interval_halved": facts.halvings,
        "volatile": facts.volatile, "lapsed": facts.lapsed, "complete": facts.complete,
        "moved_to": facts.moved_to or None, "moved": facts.moved,
        "hints": {
            "ttl_s": facts.ttl_s, "max_age_s": facts.max_age_s, "retry_after_s": facts.retry_s,
            "skip_hours": list(facts.skip_hours), "skip_days": [_DAYS[day] for day in facts.skip_days],
        },
        "etag": facts.etag, "last_modified": facts.last_modified,
    }  # fmt: skip


def _why(record: FeedRecord, facts: FeedFacts) -> str:
    if not record.row.configured:
        return "the configuration does not name it any more"
    if record.row.paused:
        return f"paused; go on with: ingather rss resume {record.row.id}"
    if facts.state is FeedState.GONE:
        return f"its server says that it is gone; ask all the same with: ingather rss resume {record.row.id}"
    if record.row.asked_s is not None:
        return "a poll is under way"
    return facts.why


def feed_totals(reader: SyndicationReader, feed: int, now_s: float) -> dict[str, Any]:
    """Return what became of the documents that a feed lists or listed: by state, checked and deleted within a day, suspected soft 404s.

    Of the first 20,000 of them.
    """
    states: dict[str, int] = {}
    checked = deleted = suspects = 0
    rows = reader.documents(feed=feed, limit=_TOTALLED)
    for record in rows:
        name = DocState(record.row.state).name.lower()
        states[name] = states.get(name, 0) + 1
        found = registration(record.row)
        checked += found.checked_s is not None and now_s - found.checked_s < _DAY_S
        deleted += found.deleted_s is not None and now_s - found.deleted_s < _DAY_S
        suspects += bool(found.suspect)
    return {"documents": states, "checked": checked, "deleted": deleted, "suspects": suspects}


def source_form(
    record: SourceRecord,
    feeds: Sequence[FeedRecord],
    conf: SourceConf | None,
    cycles: Sequence[CycleRow],
    holds: Sequence[tuple[int, int, str, float]],
) -> dict[str, Any]:
    """Return a source with its feeds counted by state, its documents, its last cycles and the holds that wait."""
    facts = source_facts(record.row)
    states = {state.name.lower(): 0 for state in FeedState}
    for feed in feeds:
        if feed.row.configured:
            states[FeedState(feed.row.state).name.lower()] += 1
    return {
        "name": record.name, "kind": conf.kind if conf is not None else None,
        "enabled": conf is not None and conf.syndicates and conf.syndication.enable_indexer,
        "feeds": sum(states.values()), "feed_states": states, "paused": sum(f.row.paused and f.row.configured for f in feeds),
        "cycle": "running" if record.row.cycle is not None else "waiting", "next_cycle": instant(record.row.next_s),
        "documents": {DocState(state).name.lower(): count for state, count in sorted(record.states.items())},
        "checks_behind_since": instant(facts.round_s), "held": facts.held, "held_since": instant(facts.held_s),
        "holds": [
            {"id": number, "documents": count, "reason": reason, "opened": instant(opened),
             "release": f"ingather holds release {number}", "discard": f"ingather holds discard {number}"}
            for number, count, reason, opened in holds
        ],
        "cycles": [
            {"begun": instant(c.begun_s), "ended": instant(c.ended_s), "polls": c.polls, "checks": c.checks,
             "wanted": c.wanted, "removed": c.removed, "note": c.note}
            for c in cycles
        ],
    }  # fmt: skip


def listing_form(feed: FeedRecord, row: ListingRow) -> dict[str, Any]:
    """Return what one feed says of a document."""
    dates = listed_dates(row)
    last = feed.row.good_s if row.listed and feed.row.good_s is not None else dates.last_s
    waiting = dates.waiting
    return {
        "feed": feed.row.id, "url": feed.row.name, "source": feed.source, "listed": row.listed,
        "first": instant(dates.first_s), "last": instant(max(last, dates.last_s)),
        "published": dates.published, "modified": dates.modified, "title": dates.title, "guid": dates.guid,
        "waiting": None if waiting is None else {"published": waiting[0], "modified": waiting[1], "noticed": instant(dates.noticed_s)},
        "idle": dates.idle,
    }  # fmt: skip


def document_form(
    record: DocumentRecord,
    listings: Sequence[tuple[FeedRecord, ListingRow]],
    events: Sequence[EventRow],
    upcoming: Mapping[str, Any],
    *,
    alias: str = "",
) -> dict[str, Any]:
    """Return a listed document; *upcoming*: what happens next and when, *alias*: the URL of the document that it is the same as."""
    row, found = record.row, registration(record.row)
    forms = [listing_form(*listing) for listing in listings]
    seen = [feed.row.good_s for feed, listing in listings if listing.listed and feed.row.good_s is not None]
    return {
        "url": record.url, "source": record.source, "owner": record.owner, "state": DocState(row.state).name.lower(),
        "described": record.described, "link": found.link, "final": row.final or None, "alias_of": alias or None,
        "registered": instant(found.known_s), "indexed": instant(found.indexed_s), "checked": instant(found.checked_s),
        "seen": instant(max([*seen, found.seen_s], key=lambda at: at or 0.0, default=None)), "looked": instant(found.looked_s),
        "status": found.status or None, "reason": found.reason, "failures": found.fails, "failing_since": instant(found.failing_s),
        "wanted": Intent(row.intent).name.lower() if row.intent else None, "asked": instant(row.asked_s),
        "suspect": found.suspect or None, "etag": found.etag, "last_modified": found.last_modified,
        "deleted": instant(found.deleted_s), "tombstone": record.tombstone or None,
        "hold": None if not record.hold else {
            "id": record.hold, "hidden": record.held == 2,  # noqa: PLR2004 - see DocumentRecord.held
            "release": f"ingather holds release {record.hold}", "discard": f"ingather holds discard {record.hold}",
        },
        "next": dict(upcoming), "listings": forms, "events": [event_form(event) for event in events],
    }  # fmt: skip


def event_form(event: EventRow) -> dict[str, Any]:
    """Return a transition."""
    return {
        "id": event.id, "at": instant(event.at_s), "feed": event.feed, "document": event.document, "before": event.before,
        "after": event.after, "cause": event.cause, "status": event.status or None, "notice": event.notice,
    }  # fmt: skip
