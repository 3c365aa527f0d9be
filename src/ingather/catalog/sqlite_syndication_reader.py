"""Syndication, read: sources, feeds, documents, what feeds say of them, events and cycles, as people and programs ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.catalog.sqlite_syndication import (
    CycleRow,
    DocumentRow,
    EventRow,
    FeedRow,
    ListingRow,
    SourceRow,
)

__all__ = ["DocumentRecord", "FeedRecord", "SourceRecord", "SyndicationReader"]

_FEED: Final = (
    "select f.id, f.url, f.source, f.name, f.configured, f.paused, f.state, f.due, f.polled, f.good, f.facts, s.name, "
    "h.origin || u.path, (select count(*) from rss_listing l where l.feed = f.id and l.listed = 1) "
    "from rss_feed f join url u on u.id = f.url join host h on h.id = u.host join source s on s.id = f.source"
)
_DOCUMENT: Final = (
    "select d.id, d.source, d.state, d.due, d.asked, d.seen, d.alias, d.final, d.facts, s.name, h.origin || u.path, "
    "u.version is not null, u.held, coalesce((select x.hold from hold_item x where x.id = d.id), 0), u.intent, u.state = 0, "
    "coalesce((select t.reason from tombstone t where t.id = d.id), ''), o.name "
    "from rss_document d join url u on u.id = d.id join host h on h.id = u.host join source s on s.id = d.source "
    "join source o on o.id = u.source"
)


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A source with its name and how many registrations are in each state."""

    row: SourceRow
    name: str
    states: dict[int, int]


@dataclass(frozen=True, slots=True)
class FeedRecord:
    """A feed with its source's name, the URL where it is polled, and how many documents it lists now."""

    row: FeedRow
    source: str
    url: str
    listed: int


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A registration as people see it.

    Attributes:
        row: the registration.
        source: name of the source that looks after it.
        url: the document's key, a URL.
        described: whether it has an RD now.
        held: 1 = its deletion waits for a person and it is shown, 2 = it is hidden meanwhile, ``None`` = neither.
        hold: number of the hold, 0 = none.
        intent: what the visit that it waits for is to do (``model.intent``).
        waiting: whether it waits for a visit.
        tombstone: why it was deleted, ``""`` if it was not.
        owner: name of the source that the URL belongs to.
    """

    row: DocumentRow
    source: str
    url: str
    described: bool
    held: int | None
    hold: int
    intent: int
    waiting: bool
    tombstone: str
    owner: str


class SyndicationReader:
    """One read-only connection; one thread at a time. Raises :class:`CatalogError` as all readers."""

    def __init__(self, path: Path) -> None:
        self._rows = Rows(open_reader(path), path)

    def close(self) -> None:
        """Close the connection."""
        self._rows.close()

    def sources(self) -> list[SourceRecord]:
        """Return the sources of this kind, by name."""
        return [
            SourceRecord(
                SourceRow(*row[:4]),
                row[4],
                dict(
                    self._rows.all(
                        "select state, count(*) from rss_document where source = ? group by state", (row[0],)
                    )
                ),
            )
            for row in self._rows.all(
                "select r.id, r.next, r.cycle, r.facts, s.name from rss_source r join source s on s.id = r.id order by s.name"
            )
        ]

    def feeds(self, *, source: str = "", configured: bool = True) -> list[FeedRecord]:
        """Return feeds, by source and number; with *configured* false also those that the configuration names no more."""
        return [
            _feed(row)
            for row in self._rows.all(
                f"{_FEED} where (?1 = '' or s.name = ?1) and f.configured >= ?2 order by s.name, f.id",
                (source, int(configured)),
            )
        ]

    def feed(self, name: str) -> FeedRecord | None:
        """Return the feed with this number, this URL as configured, or this address."""
        number = int(name) if name.isascii() and name.isdigit() and len(name) < 19 else 0  # noqa: PLR2004 - SQLite's integers
        row = self._rows.one(
            f"{_FEED} where f.id = ?1 or f.name = ?2 or h.origin || u.path = ?2 order by f.configured desc, f.id limit 1",
            (number, name),
        )
        return None if row is None else _feed(row)

    def document(self, url: str) -> DocumentRecord | None:
        """Return the registration of canonical *url*."""
        scheme, _, rest = url.partition("://")
        authority, _, path = rest.partition("/")
        row = self._rows.one(
            f"{_DOCUMENT} where h.origin = ? and u.path = ?", (f"{scheme}://{authority}", f"/{path}")
        )
        return None if row is None else _document(row)

    def documents(
        self, *, source: str = "", feed: int = 0, states: Sequence[int] = (), after: int = 0, limit: int = 100
    ) -> list[DocumentRecord]:
        """Return registrations above row *after*, ascending.

        Args:
            source: only those of this source.
            feed: only those that this feed lists or listed.
            states: only in these states.
            after: number of the last row that was seen.
            limit: how many at most.
        """
        wanted = f"[{','.join(str(int(state)) for state in states)}]"
        rows = self._rows.all(
            f"{_DOCUMENT} where d.id > ?1 and (?2 = '' or s.name = ?2) "  # noqa: S608 - constants above
            "and (?3 = 0 or exists (select 1 from rss_listing l where l.feed = ?3 and l.id = d.id)) "
            "and (?4 = '[]' or d.state in (select value from json_each(?4))) order by d.id limit ?5",
            (after, source, feed, wanted, limit),
        )
        return [_document(row) for row in rows]

    def url(self, url_id: int) -> str:
        """Return the URL of a row, ``""`` if there is none."""
        return str(
            self._rows.value(
                "select h.origin || u.path from url u join host h on h.id = u.host where u.id = ?", (url_id,)
            )
            or ""
        )

    def listings(self, document: int) -> list[tuple[FeedRecord, ListingRow]]:
        """Return what each feed says of a document."""
        found = []
        for row in self._rows.all(
            "select feed, id, listed, first, last, facts from rss_listing where id = ? order by feed",
            (document,),
        ):
            feed = self._rows.one(f"{_FEED} where f.id = ?", (row[0],))
            if feed is not None:
                found.append((_feed(feed), ListingRow(row[0], row[1], bool(row[2]), *row[3:])))
        return found

    def events(
        self, *, document: int = 0, feed: int = 0, source: str = "", before: int = 0, limit: int = 100
    ) -> list[EventRow]:
        """Return events, newest first: of a document, of a feed, of a source, or of all; *before*: only older numbers."""
        rows = self._rows.all(
            "select e.id, e.at, e.source, e.feed, e.document, e.before, e.after, e.cause, e.status from rss_event e "
            "where (?1 = 0 or e.document = ?1) and (?2 = 0 or e.feed = ?2) and (?4 = 0 or e.id < ?4) "
            "and (?3 = '' or e.source = (select id from source where name = ?3)) order by e.id desc limit ?5",
            (document, feed, source, before, limit),
        )
        return [EventRow(*row) for row in rows]

    def cycles(self, source: str, *, limit: int = 20) -> list[CycleRow]:
        """Return cycles of a source, newest first."""
        return [
            CycleRow(*row)
            for row in self._rows.all(
                "select c.id, c.source, c.begun, c.ended, c.polls, c.checks, c.wanted, c.facts from rss_cycle c "
                "where c.source = (select id from source where name = ?) order by c.id desc limit ?",
                (source, limit),
            )
        ]

    def conflicts(
        self, *, source: str = "", after: int = 0, limit: int = 100
    ) -> list[tuple[int, str, str, str]]:
        """Return (row, URL, owner, source that lists it, too) of documents that a feed lists and another source owns."""
        return [
            (row[0], row[1], row[2], row[3])
            for row in self._rows.all(
                "select distinct l.id, h.origin || u.path, o.name, s.name from rss_listing l join rss_feed f on f.id = l.feed "
                "join url u on u.id = l.id join host h on h.id = u.host join source o on o.id = u.source "
                "join source s on s.id = f.source where u.source != f.source and l.id > ?2 and (?1 = '' or s.name = ?1) "
                "order by l.id limit ?3",
                (source, after, limit),
            )
        ]


def _feed(row: Sequence[Any]) -> FeedRecord:
    number, url, source, name, configured, paused, *rest = row[:11]
    return FeedRecord(
        FeedRow(number, url, source, name, bool(configured), bool(paused), *rest), row[11], row[12], row[13]
    )


def _document(row: Sequence[Any]) -> DocumentRecord:
    return DocumentRecord(
        DocumentRow(*row[:9]), row[9], row[10], bool(row[11]), row[12], row[13], row[14], bool(row[15]), row[16], row[17]
    )  # fmt: skip
