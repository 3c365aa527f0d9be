"""Syndication, read: sources, feeds, documents, what feeds say of them, events and cycles, as people and programs ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.catalog.syndication.sqlite_syndication_rows import (
    CYCLE_COLUMNS,
    DOCUMENT_COLUMNS,
    EVENT_COLUMNS,
    FEED_COLUMNS,
    LISTING_COLUMNS,
    CycleRow,
    DocumentRow,
    EventRow,
    FeedRow,
    ListingRow,
    SourceRow,
    document_row,
    feed_row,
    listing_row,
)

__all__ = ["DocumentRecord", "FeedRecord", "SourceRecord", "SyndicationReader"]

_NF: Final = FEED_COLUMNS.count(",") + 1
_ND: Final = DOCUMENT_COLUMNS.count(",") + 1
_FEED: Final = (
    f"select {', '.join(f'f.{name}' for name in FEED_COLUMNS.split(', '))}, s.name, h.origin || u.path, "  # noqa: S608 - names of columns
    "(select count(*) from rss_listing l where l.feed = f.id and l.listed = 1) "
    "from rss_feed f join url u on u.id = f.url join host h on h.id = u.host join source s on s.id = f.source"
)
_DOCUMENT: Final = (
    f"select {', '.join(f'd.{name}' for name in DOCUMENT_COLUMNS.split(', '))}, s.name, h.origin || u.path, "  # noqa: S608 - names of columns
    "u.version is not null, u.held, coalesce((select x.hold from hold_item x where x.id = d.id), 0), u.state = 0, "
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
                f"{_FEED} where (?1 = '' or s.name = ?1 collate nocase) and f.configured >= ?2 order by s.name, f.id",
                (source, int(configured)),
            )
        ]

    def feed_counts(self) -> list[tuple[str, int, bool, int, float | None, float | None]]:
        """Return (source, state, paused, how many, last good poll, next poll) of the configured feeds."""
        return [
            (row[0], row[1], bool(row[2]), row[3], row[4], row[5])
            for row in self._rows.all(
                "select s.name, f.state, f.paused, count(*), max(f.good), min(f.due) from rss_feed f "
                "join source s on s.id = f.source where f.configured = 1 group by s.name, f.state, f.paused"
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

    def row(self, url: str) -> int:
        """Return the row of canonical *url*, whoever owns it, 0 if there is none."""
        scheme, _, rest = url.partition("://")
        authority, _, path = rest.partition("/")
        return int(
            self._rows.value(
                "select u.id from url u join host h on h.id = u.host where h.origin = ? and u.path = ?",
                (f"{scheme}://{authority}", f"/{path}"),
            )
            or 0
        )

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
            f"select {LISTING_COLUMNS} from rss_listing where id = ? order by feed",  # noqa: S608 - names
            (document,),
        ):
            feed = self._rows.one(f"{_FEED} where f.id = ?", (row[0],))
            if feed is not None:
                found.append((_feed(feed), listing_row(row)))
        return found

    def events(  # noqa: PLR0913 - conditions, by keyword
        self,
        *,
        document: int = 0,
        feed: int = 0,
        source: str = "",
        notices: bool = False,
        own: bool = False,
        before: int = 0,
        limit: int = 100,
    ) -> list[EventRow]:
        """Return events, newest first: of a document, of a feed, of a source, or of all.

        Args:
            document: row of its URL.
            feed: its number.
            source: its name.
            notices: only what a person should see.
            own: only what happened to feeds and sources themselves, not to documents.
            before: only those with smaller numbers.
            limit: how many at most.
        """
        rows = self._rows.all(
            f"select {EVENT_COLUMNS} from rss_event where (?1 = 0 or document = ?1) and (?2 = 0 or feed = ?2) "  # noqa: S608 - names
            "and (?4 = 0 or id < ?4) and (?3 = '' or source = (select id from source where name = ?3)) and notice >= ?6 "
            "and (?7 = 0 or document is null) order by id desc limit ?5",
            (document, feed, source, before, limit, int(notices), int(own)),
        )
        return [EventRow(*row) for row in rows]

    def cycles(self, source: str, *, limit: int = 20) -> list[CycleRow]:
        """Return cycles of a source, newest first."""
        return [
            CycleRow(*row)
            for row in self._rows.all(
                f"select {CYCLE_COLUMNS} from rss_cycle where source = (select id from source where name = ?) "  # noqa: S608 - names
                "order by id desc limit ?",
                (source, limit),
            )
        ]

    def holds(self, source: str) -> list[tuple[int, int, str, float]]:
        """Return (number, documents, reason, since when) of the open holds of a source."""
        return [
            (row[0], row[1], row[2], row[3])
            for row in self._rows.all(
                "select id, urls, reason, opened from hold where closed is null "
                "and source = (select id from source where name = ?) order by id",
                (source,),
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
    return FeedRecord(feed_row(row[:_NF]), *row[_NF:])


def _document(row: Sequence[Any]) -> DocumentRecord:
    source, url, described, held, hold, waiting, tombstone, owner = row[_ND:]
    return DocumentRecord(
        document_row(row[:_ND]), source, url, bool(described), held, hold, bool(waiting), tombstone, owner
    )
