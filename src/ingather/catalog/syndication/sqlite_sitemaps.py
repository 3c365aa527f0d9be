"""Sitemaps of sites and what they list: named, asked for, read; entries that are to be judged.

An entry that goes from its sitemap goes from here, and from nowhere else: no page is deleted for it.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import apsw

from ingather.catalog.sqlite_apply import Applier
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_rows import fetch
from ingather.catalog.syndication.sqlite_syndication import SyndicationStore
from ingather.model.intent import Intent
from ingather.model.lifecycle import State
from ingather.model.sitemap import EntryState
from ingather.model.urlparts import host_key

__all__ = ["Entry", "ListedEntry", "SitemapRow", "Sitemaps"]

_COLUMNS: Final = "id, url, source, parent, depth, configured, named, kind, asked, due, wait, polled, good, turn, listed, error"
_PRIORITY: Final = 2


@dataclass(slots=True)
class SitemapRow:
    """A sitemap; ``url`` is the row where it is fetched. The columns of the table tell more; times are wall seconds."""

    id: int
    url: int
    source: int
    parent: int
    depth: int
    configured: int
    named: int
    kind: str
    asked_s: float | None
    due_s: float | None
    wait_s: float | None
    polled_s: float | None
    good_s: float | None
    turn: int
    listed: int
    error: str


class Entry(NamedTuple):
    """What a sitemap says of a URL; wall time and seconds, ``None`` = it does not say."""

    url: str
    lastmod_s: float | None = None
    every_s: float | None = None
    priority: float | None = None


class ListedEntry(NamedTuple):
    """An entry that is to be judged."""

    sitemap: int
    entry: Entry


class Sitemaps:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, applier: Applier, urls: SyndicationStore) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._applier = applier
        self._urls = urls

    # -- which there are ----------------------------------------------------------------------

    def name(  # noqa: PLR0913 - who names what
        self, url: str, source: int, applied: Applied, *, parent: int = 0, depth: int = 0, configured: bool = False, due_s: float
    ) -> int | None:  # fmt: skip
        """Note that something names a sitemap; one that is new is due at *due_s*. ``None``: it was removed by hand, or is a web feed."""
        row = self._urls.known([url]).get(url) or self._urls.make(url, source, applied)
        if (
            row is None
            or self._cursor.execute("select exists (select 1 from rss_feed where url = ?)", (row,)).get
        ):
            return None
        found = self.at(row)
        if found is None:
            self._cursor.execute(
                "insert into sitemap (url, host, source, parent, depth, configured, named, due) "
                "values (?1, (select host from url where id = ?1), ?2, ?3, ?4, ?5, 1, ?6)",
                (row, source, parent, depth, int(configured), due_s),
            )
            return self._db.last_insert_rowid()
        if not found.named:
            found.parent, found.depth = parent, depth
            self._cursor.execute(  # what it lists was forgotten: it must not say "unchanged"
                "update url set etag = null, lastmod = null, digest = null where id = ? and version is null",
                (row,),
            )
        found.configured = int(configured or found.configured)
        self._cursor.execute(
            "update sitemap set named = 1, configured = ?, parent = ?, depth = min(depth, ?), due = iif(named = 0, ?, due) where id = ?",
            (found.configured, found.parent or parent, depth, due_s, found.id),
        )
        return found.id

    def at(self, url_id: int) -> SitemapRow | None:
        """Return the sitemap that is fetched at a row."""
        rows = fetch(self._cursor, f"select {_COLUMNS} from sitemap where url = ?", (url_id,))  # noqa: S608 - names
        return SitemapRow(*rows[0]) if rows else None

    def get(self, number: int) -> SitemapRow | None:
        """Return a sitemap."""
        rows = fetch(self._cursor, f"select {_COLUMNS} from sitemap where id = ?", (number,))  # noqa: S608 - names
        return SitemapRow(*rows[0]) if rows else None

    def all(self) -> list[SitemapRow]:
        """Return all of them."""
        return [
            SitemapRow(*row)
            for row in fetch(self._cursor, f"select {_COLUMNS} from sitemap order by id")  # noqa: S608 - names
        ]

    def put(self, row: SitemapRow) -> None:
        """Keep what changes of a sitemap."""
        self._cursor.execute(
            "update sitemap set configured = ?, named = ?, kind = ?, asked = ?, due = ?, wait = ?, polled = ?, good = ?, turn = ?, "
            "listed = ?, error = ? where id = ?",
            (
                row.configured, row.named, row.kind, row.asked_s, row.due_s, row.wait_s, row.polled_s, row.good_s, row.turn,
                row.listed, row.error, row.id,
            ),
        )  # fmt: skip

    def count_at(self, url_id: int) -> int:
        """Return how many sitemaps are fetched from the host of a row."""
        return int(
            self._cursor.execute(
                "select count(*) from sitemap where named = 1 and host = (select host from url where id = ?)",
                (url_id,),
            ).get
        )

    def url(self, row: SitemapRow) -> str:
        """Return where a sitemap is fetched."""
        return self._urls.url(row.url)

    # -- who vouches --------------------------------------------------------------------------

    def vouched(self, origin: str, sitemaps: Iterable[int]) -> list[int]:
        """Note which sitemaps the robots.txt of an origin names; return those that it names no more.

        Column ``hkey`` has the origin: http and https each have a robots.txt, and neither takes back what the other names.
        """
        now = set(sitemaps)
        before = {
            number
            for (number,) in fetch(
                self._cursor, "select sitemap from sitemap_voucher where hkey = ?", (origin,)
            )
        }
        self._cursor.executemany(
            "insert or ignore into sitemap_voucher (sitemap, hkey) values (?, ?)",
            [(number, origin) for number in now],
        )
        self._judge_again(now - before)
        gone = sorted(before - now)
        self._cursor.executemany(
            "delete from sitemap_voucher where sitemap = ? and hkey = ?",
            [(number, origin) for number in gone],
        )
        return gone

    def _judge_again(self, numbers: Iterable[int]) -> None:
        """One more host vouches for sitemaps, and for what they name: what they might not list is judged anew."""
        waiting, seen = list(numbers), set(numbers)
        while waiting:
            number = waiting.pop()
            self._cursor.execute(
                "update sitemap_entry set state = ? where sitemap = ? and state = ?",
                (int(EntryState.NEW), number, int(EntryState.FOREIGN)),
            )
            for (child,) in fetch(
                self._cursor, "select id from sitemap where parent = ? and parent != 0", (number,)
            ):
                if child not in seen:
                    seen.add(child)
                    waiting.append(child)

    def unvouch(self, number: int) -> None:
        """Nobody's robots.txt counts for a sitemap any more: its source wants none."""
        self._cursor.execute("delete from sitemap_voucher where sitemap = ?", (number,))

    def vouchers(self, row: SitemapRow) -> frozenset[str]:
        """Return the politeness names of the hosts whose robots.txt names a sitemap, or an index above it."""
        found: set[str] = set()
        here: SitemapRow | None = row
        for _ in range(10):
            if here is None:
                break
            found |= {
                host_key(origin)
                for (origin,) in fetch(
                    self._cursor, "select hkey from sitemap_voucher where sitemap = ?", (here.id,)
                )
            }
            here = self.get(here.parent) if here.parent else None
        return frozenset(found)

    def is_configured(self, row: SitemapRow) -> bool:
        """Whether settings name a sitemap, or an index above it."""
        here: SitemapRow | None = row
        for _ in range(10):
            if here is None:
                return False
            if here.configured:
                return True
            here = self.get(here.parent) if here.parent else None
        return False

    def end_unnamed(self, numbers: Iterable[int]) -> None:
        """End those of *numbers*, and what they name, that nothing names any more: they list nothing, and are asked no more."""
        waiting = list(numbers)
        while waiting:
            row = self.get(waiting.pop())
            if row is None or not row.named or row.configured:
                continue
            parent = self.get(row.parent) if row.parent else None
            if (parent is not None and parent.named) or self._cursor.execute(
                "select exists (select 1 from sitemap_voucher where sitemap = ?)", (row.id,)
            ).get:
                continue
            row.named, row.due_s, row.asked_s = 0, None, None
            self.put(row)
            self._urls.unasked(row.url)
            self._cursor.execute("delete from sitemap_entry where sitemap = ?", (row.id,))
            waiting += [
                each
                for (each,) in fetch(
                    self._cursor, "select id from sitemap where parent = ? and parent != 0", (row.id,)
                )
            ]

    def disown(self, number: int, keep: Iterable[int]) -> None:
        """An index names *keep* alone: its other sitemaps end, unless something else names them."""
        kept = set(keep)
        gone = [
            each
            for (each,) in fetch(
                self._cursor, "select id from sitemap where parent = ? and parent != 0", (number,)
            )
            if each not in kept
        ]
        self._cursor.executemany("update sitemap set parent = 0 where id = ?", [(each,) for each in gone])
        self.end_unnamed(gone)

    # -- clocks -------------------------------------------------------------------------------

    def ask_due(self, now_s: float, applied: Applied, *, limit: int = 100) -> int:
        """Put sitemaps whose time has come into the frontier; return how many."""
        rows = fetch(
            self._cursor, "select id, url from sitemap where due <= ? and due is not null and named = 1 order by due limit ?",
            (now_s, limit),
        )  # fmt: skip
        for number, url_id in rows:
            self._urls.ask(url_id, Intent.SITEMAP, priority=_PRIORITY, applied=applied, keeps_due=True)
            self._cursor.execute("update sitemap set asked = ?, due = null where id = ?", (now_s, number))
        return len(rows)

    def document(self, url_id: int) -> tuple[Any, ...] | None:
        """Return what is known of a sitemap's URL as a document, for :meth:`stands`; ``None`` = it is none."""
        rows = fetch(
            self._cursor,
            "select outcome, status, detail, fetched, seen, wait, missing, fails, strikes, target, etag, lastmod, fresh, due, id from url "
            "where id = ? and version is not null",
            (url_id,),
        )
        return rows[0] if rows else None

    def stands(self, document: tuple[Any, ...], due_s: float | None) -> None:
        """A poll says nothing of the document at the same URL: let it stand as it was; *due_s*: its next visit if none was planned."""
        self._cursor.execute(
            "update url set outcome = ?, status = ?, detail = ?, fetched = ?, seen = ?, wait = ?, missing = ?, fails = ?, strikes = ?, "
            "target = ?, etag = ?, lastmod = ?, fresh = ?, due = iif(asked > answered, due, coalesce(?, ?)) where id = ?",
            (*document[:-1], due_s, document[-1]),
        )

    def next_s(self) -> float | None:
        """Return when the next sitemap is due, ``None`` = none is."""
        found: float | None = self._cursor.execute(
            "select min(due) from sitemap where due is not null and named = 1"
        ).get
        return found

    def force(self, now_s: float, hosts: Sequence[str] | None) -> None:
        """Let sitemaps be due now: all, or those at *hosts* (origins)."""
        self._cursor.execute(
            "update sitemap set due = ?1 where named = 1 and asked is null and (?2 is null or host in "
            "(select id from host where origin in (select value from json_each(?2))))",
            (now_s, None if hosts is None else json.dumps(list(hosts))),
        )

    # -- entries ------------------------------------------------------------------------------

    def listed_at(self, url_id: int, without: int) -> int:
        """Return how many entries the sitemaps of a row's host have, *without* one of them."""
        return int(
            self._cursor.execute(
                "select coalesce(sum(listed), 0) from sitemap "
                "where host = (select host from url where id = ?) and id != ? and named = 1 and kind = 'urls'",
                (url_id, without),
            ).get
        )

    def put_entries(self, number: int, turn: int, entries: Iterable[Entry]) -> None:
        """Take in what a sitemap lists now: what is new or has another date is to be judged, what is not among it goes."""
        self._cursor.executemany(
            "insert into sitemap_entry (sitemap, url, state, turn, lastmod, every, priority) values (?1, ?2, 0, ?3, ?4, ?5, ?6) "
            "on conflict (sitemap, url) do update set turn = ?3, every = ?5, priority = ?6, "
            "state = iif(state = 2 or lastmod is not ?4, 0, state), lastmod = ?4",
            [(number, e.url, turn, e.lastmod_s, e.every_s, e.priority) for e in entries],
        )
        self._cursor.execute("delete from sitemap_entry where sitemap = ? and turn != ?", (number, turn))
        self._applier.freshness.listed = True

    def unjudged(self, limit: int) -> list[ListedEntry]:
        """Return entries that are to be judged."""
        return [
            ListedEntry(row[0], Entry(*row[1:]))
            for row in fetch(
                self._cursor,
                "select sitemap, url, lastmod, every, priority from sitemap_entry where state = 0 order by sitemap, url limit ?",
                (limit,),
            )
        ]

    def judged(self, listed: ListedEntry, state: EntryState, url_id: int | None) -> None:
        """Keep what became of an entry."""
        self._cursor.execute(
            "update sitemap_entry set state = ?, id = ? where sitemap = ? and url = ?",
            (int(state), url_id, listed.sitemap, listed.entry.url),
        )

    def visited_before(self, url_id: int) -> tuple[int, float] | None:
        """Return (host, wall time of the last visit) of a described page that waits for nothing and that no feed looks after."""
        rows = fetch(
            self._cursor,
            "select host, fetched from url where id = ? and state = 2 and version is not null and fetched is not null "
            "and not exists (select 1 from rss_document d where d.id = url.id) "
            "and not exists (select 1 from fed f where f.id = url.id and f.content)",
            (url_id,),
        )
        return (rows[0][0], rows[0][1]) if rows else None

    def wake(self, url_id: int, applied: Applied) -> None:
        """Let a page be visited again."""
        host = self._cursor.execute(
            "update url set state = 0 where id = ? and state = ? returning host", (url_id, int(State.DONE))
        ).get
        if host is not None:
            applied.wakes(host)
