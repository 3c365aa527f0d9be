"""Syndication in the catalog: feeds, what they list, the documents that they lead to, events and cycles.

What anything means is decided in :mod:`ingather.syndication`; here are the statements. Facts that only the decider reads
are bytes here. A URL that a source of this kind owns is never due by itself (``url.due`` is null): it is visited when
somebody asks, with the intent that its row carries.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from ingather.catalog.sqlite_rows import fetch
from ingather.catalog.syndication.sqlite_syndication_rows import (
    CYCLE_COLUMNS,
    DOCUMENT_COLUMNS,
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
from ingather.catalog.syndication.sqlite_syndication_urls import SyndicatedUrls

__all__ = ["SyndicationStore"]

_FEED: Final = f"select {FEED_COLUMNS} from rss_feed"  # noqa: S608 - names of columns
_DOCUMENT: Final = f"select {DOCUMENT_COLUMNS} from rss_document"  # noqa: S608 - names of columns
_LISTING: Final = f"select {LISTING_COLUMNS} from rss_listing"  # noqa: S608 - names of columns
_CYCLE: Final = f"select {CYCLE_COLUMNS} from rss_cycle"  # noqa: S608 - names of columns


class SyndicationStore(SyndicatedUrls):
    """Part of the one writer; every method runs inside the caller's transaction."""

    # -- sources and cycles -------------------------------------------------------------------

    def source(self, source: int) -> SourceRow | None:
        """Return what is kept of a source."""
        row = self._cursor.execute(
            "select id, next, cycle, facts from rss_source where id = ?", (source,)
        ).fetchone()
        return None if row is None else SourceRow(*row)

    def sources(self) -> list[SourceRow]:
        """Return all sources."""
        return [
            SourceRow(*row) for row in fetch(self._cursor, "select id, next, cycle, facts from rss_source")
        ]

    def put_source(self, row: SourceRow) -> None:
        """Keep a source."""
        self._cursor.execute(
            "insert or replace into rss_source (id, next, cycle, facts) values (?, ?, ?, ?)",
            (row.id, row.next_s, row.cycle, row.facts),
        )

    def drop_source(self, source: int) -> None:
        """Forget a source with its feeds, listings and registrations; events stay until they are old."""
        for table in ("rss_page", "rss_listing"):
            self._cursor.execute(
                f"delete from {table} where feed in (select id from rss_feed where source = ?)",  # noqa: S608 - names above
                (source,),
            )
        for table in ("rss_feed", "rss_document", "rss_cycle"):
            self._cursor.execute(f"delete from {table} where source = ?", (source,))  # noqa: S608 - names above
        self._cursor.execute("delete from rss_source where id = ?", (source,))

    def begin_cycle(self, source: int, now_s: float, polls: int) -> CycleRow:
        """Begin a cycle."""
        self._cursor.execute(
            "insert into rss_cycle (source, begun, polls) values (?, ?, ?)", (source, now_s, polls)
        )
        return CycleRow(self._db.last_insert_rowid(), source, now_s, None, polls)

    def cycle(self, number: int) -> CycleRow | None:
        """Return a cycle."""
        row = self._cursor.execute(f"{_CYCLE} where id = ?", (number,)).fetchone()
        return None if row is None else CycleRow(*row)

    def put_cycle(self, row: CycleRow) -> None:
        """Keep how a cycle stands."""
        self._cursor.execute(
            "update rss_cycle set ended = ?, polls = ?, checks = ?, wanted = ?, removed = ?, note = ? where id = ?",
            (row.ended_s, row.polls, row.checks, row.wanted, row.removed, row.note, row.id),
        )

    # -- feeds --------------------------------------------------------------------------------

    def feeds(self, source: int) -> list[FeedRow]:
        """Return the feeds of a source, those that the configuration names no more among them."""
        return [
            feed_row(row) for row in fetch(self._cursor, f"{_FEED} where source = ? order by id", (source,))
        ]

    def feed(self, number: int) -> FeedRow | None:
        """Return a feed."""
        row = self._cursor.execute(f"{_FEED} where id = ?", (number,)).fetchone()
        return None if row is None else feed_row(row)

    def feed_at(self, url_id: int) -> FeedRow | None:
        """Return the feed that is polled at a URL."""
        row = self._cursor.execute(f"{_FEED} where url = ?", (url_id,)).fetchone()
        return None if row is None else feed_row(row)

    def children(self, parent: int) -> list[FeedRow]:
        """Return the sitemaps that an index names or named."""
        return [
            feed_row(row)
            for row in fetch(self._cursor, f"{_FEED} where parent = ? and parent != 0 order by id", (parent,))
        ]

    def asked_feeds(self, source: int, since_s: float) -> int:
        """Return how many polls of a source are wanted since wall time *since_s* or later, and did not end."""
        return int(
            self._cursor.execute(
                "select count(*) from rss_feed where source = ? and asked >= ?", (source, since_s)
            ).get
        )

    def listed_elsewhere(self, source: int) -> list[FeedRow]:
        """Return feeds of other sources that list what a source looks after."""
        return [
            feed_row(row)
            for row in fetch(
                self._cursor,
                f"{_FEED} where source != ?1 and id in (select l.feed from rss_listing l join rss_document d on d.id = l.id "  # noqa: S608 - numbers
                "where d.source = ?1 and l.listed = 1)",
                (source,),
            )
        ]

    def add_feed(self, source: int, name: str, url_id: int, *, parent: int = 0) -> FeedRow | None:
        """Give a feed its row, without facts; ``None``: another feed is polled at that URL."""
        self._cursor.execute(
            "insert into rss_feed (url, source, name, parent, configured, state, facts) values (?, ?, ?, ?, 1, 0, x'80') "
            "on conflict do nothing",
            (url_id, source, name, parent),
        )
        if not self._db.changes():
            return None
        return self.feed(self._db.last_insert_rowid())

    def put_feed(self, row: FeedRow) -> None:
        """Keep how a feed stands."""
        self._cursor.execute(
            "update rss_feed set url = ?, parent = ?, configured = ?, paused = ?, state = ?, asked = ?, due = ?, polled = ?, "
            "good = ?, facts = ? where id = ?",
            (
                row.url, row.parent, row.configured, row.paused, row.state, row.asked_s, row.due_s, row.polled_s, row.good_s,
                row.facts, row.id,
            ),
        )  # fmt: skip

    def drop_feed(self, feed: int) -> None:
        """Forget a feed and what it listed."""
        for table in ("rss_page", "rss_listing"):
            self._cursor.execute(f"delete from {table} where feed = ?", (feed,))  # noqa: S608 - names above
        self._cursor.execute("delete from rss_feed where id = ?", (feed,))

    # -- further pages ------------------------------------------------------------------------

    def add_page(self, url_id: int, feed: int) -> bool:
        """Note a further page of a feed that is to be visited; ``False``: it is noted already."""
        self._cursor.execute(
            "insert into rss_page (url, feed) values (?, ?) on conflict do nothing", (url_id, feed)
        )
        return bool(self._db.changes())

    def page(self, url_id: int) -> int | None:
        """Return the feed of a further page."""
        found: int | None = self._cursor.execute("select feed from rss_page where url = ?", (url_id,)).get
        return found

    def waiting_pages(self, source: int) -> int:
        """Return how many further pages the feeds of a source wait for."""
        return int(
            self._cursor.execute(
                "select count(*) from rss_page p join rss_feed f on f.id = p.feed where f.source = ?",
                (source,),
            ).get
        )

    def drop_pages(self, feed: int) -> None:
        """Wait for no further page of a feed."""
        self._cursor.execute("delete from rss_page where feed = ?", (feed,))

    def drop_page(self, url_id: int) -> None:
        """A further page was visited."""
        self._cursor.execute("delete from rss_page where url = ?", (url_id,))

    # -- documents ----------------------------------------------------------------------------

    def document(self, url_id: int) -> DocumentRow | None:
        """Return a registration."""
        row = self._cursor.execute(f"{_DOCUMENT} where id = ?", (url_id,)).fetchone()
        return None if row is None else document_row(row)

    def documents(self, url_ids: Sequence[int]) -> dict[int, DocumentRow]:
        """Return the registrations among *url_ids*."""
        return {
            row[0]: DocumentRow(*row) for row in self._among(f"{_DOCUMENT} where id in ({{ids}})", url_ids)
        }

    def put_documents(self, rows: Iterable[DocumentRow]) -> None:
        """Keep registrations."""
        self._cursor.executemany(
            f"insert or replace into rss_document ({DOCUMENT_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - names
            [
                (
                    d.id,
                    d.source,
                    d.state,
                    d.intent,
                    d.asked_s,
                    d.due_s,
                    d.why,
                    d.counted,
                    d.wanted,
                    d.alias,
                    d.final,
                    d.facts,
                )
                for d in rows
            ],
        )

    def drop_registration(self, url_id: int) -> None:
        """Forget a registration; what feeds say of it stays: another source has it now."""
        self._cursor.execute("delete from rss_document where id = ?", (url_id,))

    def drop_document(self, url_id: int) -> None:
        """Forget a registration and what feeds say of it."""
        for table in ("rss_document", "rss_listing"):
            self._cursor.execute(f"delete from {table} where id = ?", (url_id,))  # noqa: S608 - names above

    def due_documents(
        self, source: int, now_s: float, *, far_s: float, counted: bool, limit: int
    ) -> list[DocumentRow]:
        """Return registrations for which something is to be done, longest due first.

        Args:
            source: whose.
            now_s: wall time.
            far_s: what is due after this was planned by another clock: it is due, too.
            counted: those that count against the cycle's budget, or the others.
            limit: how many of each at most.
        """
        return [
            document_row(row)
            for condition, values in (("due <= ?", (now_s,)), ("due > ?", (far_s,)))
            for row in fetch(
                self._cursor,
                f"{_DOCUMENT} indexed by rss_document_due where source = ? and counted = ? and due is not null and {condition} "
                "order by due, id limit ?",
                (source, counted, *values, limit),
            )
        ]

    def in_state(self, source: int, state: int, after: int, limit: int) -> list[DocumentRow]:
        """Return registrations in a state, above row *after*."""
        return [
            document_row(row)
            for row in fetch(
                self._cursor,
                f"{_DOCUMENT} where source = ? and state = ? and id > ? order by id limit ?",
                (source, state, after, limit),
            )
        ]

    def count(self, source: int) -> dict[int, int]:
        """Return how many registrations are in each state."""
        return dict(
            fetch(
                self._cursor,
                "select state, count(*) from rss_document where source = ? group by state",
                (source,),
            )
        )

    def leading_to(self, url_id: int, url: str) -> list[DocumentRow]:
        """Return the other registrations whose links lead to a URL, or that are aliases of it."""
        return [
            document_row(row)
            for row in fetch(
                self._cursor,
                f"{_DOCUMENT} where id in (select id from rss_document where final = ?2 and final != '' "  # noqa: S608 - names of columns
                "union select id from rss_document where alias = ?1 and alias != 0) and id != ?1 order by id",
                (url_id, url),
            )
        ]

    def asked(self, source: int) -> tuple[int, float | None, float | None]:
        """Return how many visits are wanted that count against the budget, since when, and when the next such is due."""
        row: tuple[int, float | None, float | None] = self._cursor.execute(
            "select (select count(*) from rss_document where source = ?1 and counted = 1 and asked is not null), "
            "(select min(asked) from rss_document where source = ?1 and counted = 1 and asked is not null), "
            "(select min(due) from rss_document where source = ?1 and counted = 1 and due is not null)",
            (source,),
        ).get
        return row

    def wanted(self, source: int) -> list[DocumentRow]:
        """Return the registrations whose documents are to go."""
        return [
            document_row(row)
            for row in fetch(
                self._cursor, f"{_DOCUMENT} where source = ? and wanted != 0 order by id", (source,)
            )
        ]

    def all_documents(self, source: int, after: int, limit: int) -> list[DocumentRow]:
        """Return registrations of a source above row *after*."""
        return [
            document_row(row)
            for row in fetch(
                self._cursor,
                f"{_DOCUMENT} where source = ? and id > ? order by id limit ?",
                (source, after, limit),
            )
        ]

    # -- listings -----------------------------------------------------------------------------

    def listings_of(self, url_ids: Sequence[int]) -> dict[int, list[ListingRow]]:
        """Return what feeds say of documents."""
        found: dict[int, list[ListingRow]] = {}
        for row in self._among(f"{_LISTING} where id in ({{ids}}) order by id, feed", url_ids):
            found.setdefault(row[1], []).append(listing_row(row))
        return found

    def listed_by(self, feed: int) -> list[ListingRow]:
        """Return what a feed lists now."""
        return [
            listing_row(row)
            for row in fetch(
                self._cursor,
                f"{_LISTING} indexed by rss_listing_now where feed = ? and listed = 1 order by id",
                (feed,),
            )
        ]

    def unlist(self, feed: int, source: int) -> None:
        """Forget what a feed says of documents that another source looks after."""
        self._cursor.execute(
            "delete from rss_listing where feed = ? and id in (select id from rss_document where source = ?)",
            (feed, source),
        )

    def listings_among(self, feed: int, url_ids: Sequence[int]) -> dict[int, ListingRow]:
        """Return what a feed says or said of documents."""
        return {
            row[1]: listing_row(row)
            for row in self._among(f"{_LISTING} where feed = {int(feed)} and id in ({{ids}})", url_ids)
        }

    def put_listings(self, rows: Iterable[ListingRow]) -> None:
        """Keep what feeds say of documents."""
        self._cursor.executemany(
            f"insert or replace into rss_listing ({LISTING_COLUMNS}) values (?, ?, ?, ?, ?)",  # noqa: S608 - names
            [(r.feed, r.id, r.listed, r.guid, r.facts) for r in rows],
        )

    def named(self, feed: int, guids: Sequence[str]) -> dict[str, int]:
        """Return the documents that a feed calls *guids*."""
        sql = f"select guid, id from rss_listing where feed = {int(feed)} and guid in ({{ids}})"  # noqa: S608 - a number
        return dict(self._among(sql, guids))

    # -- events -------------------------------------------------------------------------------

    def events(self, rows: Iterable[EventRow]) -> None:
        """Keep events; their numbers are given here."""
        self._cursor.executemany(
            "insert into rss_event (at, source, feed, document, before, after, cause, status, notice) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (e.at_s, e.source, e.feed, e.document, e.before, e.after, e.cause, e.status, e.notice)
                for e in rows
            ],
        )

    def prune(self, before_s: float, limit: int) -> int:
        """Forget events and ended cycles from before wall time *before_s*; return how many events went."""
        self._cursor.execute(
            "delete from rss_event where id in (select id from rss_event where at < ? order by at limit ?)",
            (before_s, limit),
        )
        gone = self._db.changes()
        self._cursor.execute("delete from rss_cycle where ended < ?", (before_s,))
        return gone
