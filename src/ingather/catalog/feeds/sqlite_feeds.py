"""What pushed feeds say of URLs; their own rows and receipts are in :mod:`ingather.catalog.feeds.sqlite_feed_book`.

What a record means is decided in :mod:`ingather.feeds.applying`; here are the statements. A URL has one owner
(GSA feeds specification, section 8.2): ``fed.source``. While its content came with a feed (``fed.content``) the
crawler leaves it alone, whatever it had claimed before.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import apsw
import msgspec

from ingather.catalog.access.sqlite_acl import has_list
from ingather.catalog.feeds.sqlite_feed_book import FeedBook
from ingather.catalog.feeds.sqlite_feed_marks import STANDS
from ingather.catalog.frontier.sqlite_discovery import BY_HAND
from ingather.catalog.packing import EMPTY_ATTRIBUTES, raw_visits
from ingather.catalog.sqlite_apply import Applier
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_rows import fetch
from ingather.catalog.statements import SQL
from ingather.errors import UrlError
from ingather.model.change import ChangeKind
from ingather.model.demand import Demand, earliest_visit
from ingather.model.lifecycle import State
from ingather.model.report import Denial, Row
from ingather.model.source_name import source_key
from ingather.model.urlparts import key, split

__all__ = ["Asked", "FeedStore", "Known", "Listing"]

_MOST_LISTINGS: Final = 32
"""Others than its owner that are kept as listing a URL."""
_LAYER: Final = "feed"
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(dict[str, tuple[str, ...]]).decode

_LISTING = "select source, web, content, feed, n, once, locked, pagerank, authmethod, display, media_type, lastmod, acl from fed where id = ?"


@dataclass(slots=True)
class Listing:
    """What feeds say of one URL; see the table ``fed``. ``source`` is a row of ``source``."""

    source: int
    web: bool
    content: bool = False
    feed: int = 0
    n: int = 0
    once: bool = False
    locked: bool = False
    pagerank: int | None = None
    authmethod: str = ""
    display: str = ""
    media_type: str = ""
    last_modified: str = ""
    acl: int = 0

    def differs(self, other: "Listing") -> bool:
        """Whether the two say different things that a visit may make true: dates, locks, how the host asks who one is."""
        mine = (self.locked, self.last_modified, self.authmethod)
        return mine != (other.locked, other.last_modified, other.authmethod)


class Known(NamedTuple):
    """What there is of a URL; ``by_hand``: an operator removed it; ``layer``: its packed metadata of feeds."""

    row: Row
    state: State
    listing: Listing | None
    by_hand: bool
    layer: bytes | None


class Asked(NamedTuple):
    """A visit that a pushed record asked for: its number, when it is made at the earliest, and the last visit before (wall seconds)."""

    number: int
    at_s: float
    last_s: float | None


class FeedStore(FeedBook):
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, applier: Applier, seed: int) -> None:
        super().__init__(db, applier)
        self._seed = seed
        self._short_feed = int(
            self._cursor.execute("select value from meta where name = 'short-feed'").get or 0
        )

    # -- rows of URLs -------------------------------------------------------------------------

    def removed_by_hand(self, url: str) -> bool:
        """Whether an operator took *url* away: then no feed brings it back."""
        names = self._applier.names
        return names.has_removed and names.is_removed(url)

    def row(self, url: str) -> Known | None:
        """Return what there is of canonical *url*, all in one statement.

        Raises:
            UrlError: it has the key of another URL.
        """
        found = self._cursor.execute(SQL["fed_row"], (key(url, self._seed), _LAYER)).fetchone()
        if found is None or found[0] != url:
            return None
        listing = None if found[4] is None else _listing(found[4:17])
        return Known(Row(*found[17:]), State(found[1]), listing, found[2] == BY_HAND, found[3])

    def described(self, url: str) -> bool:
        """Whether *url* is a document now: then its ACL is more than a folder's."""
        found = self.row(url)
        return found is not None and found.row.version is not None

    def make(self, url: str, source: int, applied: Applied) -> Row | None:
        """Make a row that is not for the crawler; ``None`` if another URL has its key."""
        parts, number = split(url), key(url, self._seed)
        names = self._applier.names
        host = names.host(parts.origin)
        verdict = names.directive(Denial("", "", "pushed by a feed; not for the crawler", 0))
        self._cursor.execute(
            SQL["insert_url"],
            (number, host, parts.path, source, 0, None, None, int(State.EXCLUDED), 5, 0, verdict, None),
        )
        if not self._db.changes():
            self._applier.event("key-collision", url, "same key as another URL; not taken from a feed")
            return None
        applied.new_urls += 1
        return Row(
            self._db.last_insert_rowid(), host, parts.path, 0, None, source, 0, "", "", b"", None, None, 0, 0, None, None, None
        )  # fmt: skip

    def source_name(self, source: int) -> str:
        """Return the name of a source."""
        return self._applier.names.source_name(source)

    def make_source(self, name: str) -> int:
        """Return the row of a data source, made if new: what is neither secured nor has an ACL is public, as at the appliance."""
        names = self._applier.names
        source = names.source(name, "gsa", "public")
        if names.kind(source) == "site" and source_key(name) not in names.crawled:
            names.set_access(source, "gsa", names.access(source))  # a section stood before the first push
        return source

    def keep_apart(self, source: int, applied: Applied) -> None:
        """A token pushes to a source: from now on its documents hide no others behind them, and name none in their links."""
        names = self._applier.names
        if not names.is_apart(source):
            before = names.audience(source)
            names.set_apart(source)
            if names.audience(source) != before:
                self._applier.duplicates.regroup_source(source, before, applied)
                self._applier.likeness.release_source(source, applied)

    def move(self, url_id: int, source: int, applied: Applied) -> None:
        """Let a URL belong to another source. An ACL that a token brought for a document goes along: it was closed so far."""
        names, duplicates = self._applier.names, self._applier.duplicates
        before, digest, version, url = self._cursor.execute(
            "select u.source, u.digest, u.version, h.origin || u.path from url u join host h on h.id = u.host where u.id = ?",
            (url_id,),
        ).get
        if before == source:
            return
        if digest:
            duplicates.leave(url_id, digest, names.audience(before), applied)
        self._cursor.execute("update url set source = ?, dup = null where id = ?", (source, url_id))
        if version is not None:
            names.count(before, -1)
            names.count(source, 1)
            duplicates.rejoin(url_id, applied)
            self._cursor.execute(
                "update acl set source = ? where url = ? and bound and source = ?", (source, url, before)
            )
            # Another source, other readers: those of its default ACL.
            self._applier.acl.renew(url_id, applied)

    def buried_by_hand(self, url_id: int) -> bool:
        """Whether an operator removed the row itself."""
        decided = self._cursor.execute("select decided from tombstone where id = ?", (url_id,)).get
        return bool(decided == BY_HAND)

    def rest(self, url_id: int) -> None:
        """A URL whose content comes with feeds, or that a feed deleted, is never due; what was asked for before is void."""
        self._cursor.execute("update url set due = null, answered = asked where id = ?", (url_id,))

    def ask(
        self, url_id: int, demand: Demand, *, priority: int, applied: Applied, new: bool = False
    ) -> Asked | None:
        """Plan a visit of a URL that is for the crawler: at most one waits behind one that is being made.

        A visit that is being made does not stand for it, however it ends: it was claimed before
        (:meth:`ingather.catalog.sqlite_apply.Applier.settle` compares the numbers of demands).

        Args:
            url_id: its row.
            demand: how soon.
            priority: its place among the waiting URLs of its host; the smallest counts.
            applied: the account of the batch.
            new: the row was made just now.

        Returns:
            What is planned; ``None``: nobody may visit it, it is in quarantine or excluded.
        """
        urgent, now_s = demand is Demand.URGENT, self._applier.now_s
        if new:
            host = self._cursor.execute(
                "update url set asked = 1, urgent = ? where id = ? returning host", (urgent, url_id)
            ).get
            if urgent:
                applied.ahead.add(host)
            return Asked(1, now_s, None)
        found = self._cursor.execute(
            "select host, state, hist, asked, urgent > answered from url where id = ?", (url_id,)
        ).fetchone()
        if found is None or found[1] in {State.QUARANTINED, State.EXCLUDED}:
            return None
        host, state, history, asked, hurried = found
        visits = [visit[0] for visit in raw_visits(history)]
        at_s = now_s
        if state != State.WAITING:
            at_s = earliest_visit(Demand.URGENT if urgent or hurried else Demand.USUAL, visits, now_s)
        at_once = at_s <= now_s
        at_s = self._cursor.execute(
            "update url set state = iif(?1 <= ?2, 0, state), due = iif(?1 <= ?2, null, min(coalesce(due, ?1), ?1)), asked = asked + 1, "
            "urgent = iif(?3, asked + 1, urgent), prio = min(prio, ?4) where id = ?5 returning coalesce(due, ?1)",
            (at_s, now_s, urgent, priority, url_id),
        ).get
        if at_once and state != State.WAITING:
            applied.wakes(host)
        if urgent:
            applied.ahead.add(host)
        return Asked(asked + 1, at_s, visits[0] if visits else None)

    def wake(self, url_id: int, host: int, *, priority: int, applied: Applied) -> None:
        """Put a known URL into the frontier, in front if its *priority* is small."""
        before = self._cursor.execute("select state from url where id = ?", (url_id,)).get
        self._cursor.execute(
            "update url set state = 0, prio = min(prio, ?), due = null where id = ? and state != ?",
            (priority, url_id, int(State.QUARANTINED)),
        )
        if before in (State.DONE, State.GONE, State.EXCLUDED):
            applied.wakes(host)

    # -- what feeds say of a URL ----------------------------------------------------------------

    def listing(self, url_id: int) -> Listing | None:
        """Return what feeds say of a URL."""
        row = self._cursor.execute(_LISTING, (url_id,)).fetchone()
        return None if row is None else _listing(row)

    def put_listing(self, url_id: int, what: Listing) -> None:
        """Replace what feeds say of a URL."""
        self._cursor.execute(
            "insert or replace into fed (id, source, web, content, feed, n, once, locked, pagerank, authmethod, display, media_type, "
            "lastmod, acl) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                url_id, what.source, what.web, what.content, what.feed, what.n, what.once, what.locked, what.pagerank,
                what.authmethod, what.display, what.media_type, what.last_modified, what.acl,
            ),
        )  # fmt: skip
        self._applier.fed_some = True

    def also_listed(self, url_id: int, source: int, *, web: bool, feed: int = 0, n: int = 0) -> None:
        """Note that another source than its owner lists a URL; of too many the oldest are forgotten."""
        self._cursor.execute(
            "insert or replace into fed_other (id, source, web, feed, n, at) values (?, ?, ?, ?, ?, ?)",
            (url_id, source, web, feed, n, self._applier.now_s),
        )
        self._cursor.execute(
            "delete from fed_other where id = ?1 and source in "
            "(select source from fed_other where id = ?1 order by at desc, source limit -1 offset ?2)",
            (url_id, _MOST_LISTINGS),
        )

    def no_longer_listed(self, url_id: int, source: int) -> None:
        """A source is not among the others any more: it owns the URL, or took it back."""
        self._cursor.execute("delete from fed_other where id = ? and source = ?", (url_id, source))

    def touch(self, url_id: int, feed: int, n: int) -> None:
        """A record named the URL, though it could not be applied: a full feed does not leave it out."""
        self._cursor.execute("update fed set feed = ?, n = ? where id = ?", (feed, n, url_id))

    def unlist(self, url_id: int) -> None:
        """No feed owns the URL any more."""
        self._cursor.execute("delete from fed where id = ?", (url_id,))
        self._applier.pushed.forget(url_id)

    def mark(self, url_id: int, mark: bytes) -> None:
        """Note from what the description of a row was made just now; ``b""`` = nobody knows."""
        self._cursor.execute("delete from feed_mark where id = ?", (url_id,))
        if mark:
            self._cursor.execute(
                "insert into feed_mark (id, mark, seg, off, toff, digests) select u.id, ?2, u.seg, u.off, u.toff, p.digests "
                "from url u join page p on p.id = u.id where u.id = ?1 and u.version is not null and u.seg is not null "
                "and p.digests is not null",
                (url_id, mark),
            )

    def stands(self, url: str, mark: bytes) -> bool:
        """Whether *url* is described as it was made from what *mark* is of."""
        return bool(self._cursor.execute(STANDS, (key(url, self._seed), mark)).get == url)

    def named(self, feed: int, url: str) -> int:
        """Return the number of the record of *feed* that spoke of *url* last, 0 = none did, or it deleted it."""
        found = self.row(url)
        return found.listing.n if found and found.listing and found.listing.feed == feed else 0

    def note_short(self, url_id: int, short: str) -> None:
        """Note that links to a pushed URL are found as *short*, without the parameters that links lose."""
        self._applier.pushed.note(url_id, key(short, self._seed))

    def kept_short(self, listing: Listing | None) -> bool:
        """Whether feeds named a URL last when their URLs lost parameters as links do: it may stand for another."""
        return listing is not None and 0 < listing.feed <= self._short_feed

    def use_shortening(self, shorten: Callable[[str], str], name: str) -> None:
        """Have links to pushed URLs found as *shorten* cuts them from now on; *name* says by which parameters."""
        known = self._cursor.execute("select value from meta where name = 'short-by'").get
        if known == name:
            return
        self._cursor.execute("insert or replace into meta (name, value) values ('short-by', ?)", (name,))
        self._cursor.execute("delete from pushed_short")
        rows = fetch(
            self._cursor,
            "select f.id, h.origin || u.path from fed f join url u on u.id = f.id join host h on h.id = u.host "
            "where instr(u.path, '?') or instr(u.path, ';')",
        )
        for url_id, url in rows:
            with suppress(UrlError):  # of a scheme that nobody links to
                if (short := shorten(url)) != url:
                    self.note_short(url_id, short)
        self._applier.pushed.reload()

    def deleted_by(self, url_id: int, feed: int | None, n: int | None) -> None:
        """Note which record deleted a URL, for the receipts of those before; ``None``: another listed it since."""
        self._cursor.execute("update tombstone set feed = ?, n = ? where id = ?", (feed, n, url_id))

    def fed_contents(self, after: int, limit: int) -> list[tuple[int, str, int, str]]:
        """Return (row, URL, source, its name) of documents whose content came with feeds, above row *after*."""
        return fetch(
            self._cursor,
            "select f.id, h.origin || u.path, f.source, s.name from fed f join url u on u.id = f.id join host h on h.id = u.host "
            "join source s on s.id = f.source where f.content and f.id > ? and u.version is not null order by f.id limit ?",
            (after, limit),
        )

    def left_out(
        self,
        source: int,
        feeds: Sequence[int],
        after: int,
        limit: int,
        covers: Callable[[str], bool] | None = None,
    ) -> list[tuple[int, str]]:
        """Return (row, URL) of *source*'s fed documents that none of *feeds* named, above row *after*.

        *covers*: of which URLs the sender says anything by leaving them out; ``None`` = of all.
        """
        found: list[tuple[int, str]] = []
        while rows := fetch(
            self._cursor,
            "select f.id, h.origin || u.path from fed f join url u on u.id = f.id join host h on h.id = u.host "
            "where f.source = ? and f.web = 0 and f.id > ? and f.feed not in (select value from json_each(?)) and u.version is not null "
            "order by f.id limit ?",
            (source, after, json.dumps(list(feeds)), limit),
        ):
            found += rows if covers is None else [row for row in rows if covers(row[1])]
            if covers is None or len(found) >= limit:
                break
            after = rows[-1][0]
        return found[:limit]

    def listed_for(self, source: int, limit: int) -> list[tuple[int, str, bool]]:
        """Return (row, URL, whether the row is its own) of what feeds list for the crawler for *source*."""
        rows = fetch(
            self._cursor,
            "select f.id, h.origin || u.path, u.source = f.source from fed f join url u on u.id = f.id join host h on h.id = u.host "
            "where f.source = ? and f.web = 1 order by f.id limit ?",
            (source, limit),
        )
        return [(number, url, bool(own)) for number, url, own in rows]

    def list_for_next(self, url_id: int, own: bool, applied: Applied) -> bool:  # noqa: FBT001 - as the query says
        """Let a URL that feeds list for the crawler be listed for the next data source that lists it; ``False``: none does.

        *own*: its row belongs to the source that goes. Documents of a secure source never change hands so.
        """
        listing = self.listing(url_id)
        heir = self._cursor.execute(
            "select o.source, o.feed, o.n from fed_other o join source s on s.id = o.source "
            "where o.id = ? and o.web = 1 and s.kind = 'gsa' and s.disabled is null order by o.at desc, o.source limit 1",
            (url_id,),
        ).fetchone()
        if listing is None or heir is None or self._applier.names.access(listing.source) != "public":
            return False
        listing.source, listing.feed, listing.n = heir
        self.put_listing(url_id, listing)
        self.no_longer_listed(url_id, heir[0])
        if own:
            self.move(url_id, heir[0], applied)
            self.changed(url_id, applied)
        return True

    def count_left_out(
        self, source: int, feeds: Sequence[int], covers: Callable[[str], bool] | None = None
    ) -> tuple[int, int]:
        """Return how many documents :meth:`left_out` has, and how many of them are held already."""
        chosen = (
            "from fed f join url u on u.id = f.id join host h on h.id = u.host "
            "where f.source = ? and f.web = 0 and f.feed not in (select value from json_each(?)) and u.version is not null"
        )
        values = (source, json.dumps(list(feeds)))
        if covers is None:
            found = self._cursor.execute(f"select count(*), count(u.held) {chosen}", values).get
            return int(found[0]), int(found[1])
        rows = self._cursor.execute(f"select h.origin || u.path, u.held is not null {chosen}", values)
        held = [bool(held) for url, held in rows if covers(str(url))]
        return len(held), sum(held)

    # -- metadata -----------------------------------------------------------------------------

    def metadata(self, url_id: int) -> dict[str, tuple[str, ...]]:
        """Return the layer of feeds."""
        blob = self._cursor.execute("select attrs from layer where id = ? and name = ?", (url_id, _LAYER)).get
        return {} if blob is None else _decode(blob)

    def put_metadata(
        self, url_id: int, attributes: Mapping[str, Sequence[str]], applied: Applied, *, known: Known | None = None, new: bool = False
    ) -> bool:  # fmt: skip
        """Replace the layer of feeds; return whether that changed anything. The caller tells the index.

        *known*: what :meth:`row` said of the URL just now. *new*: it was made just now.
        """
        packed = _encode({name: list(values) for name, values in attributes.items()})
        if known is not None or new:
            old = None if known is None else known.layer
        else:
            old = self._cursor.execute(
                "select attrs from layer where id = ? and name = ?", (url_id, _LAYER)
            ).get
        if (old or EMPTY_ATTRIBUTES) == packed:
            return False
        if packed == EMPTY_ATTRIBUTES:
            self._cursor.execute("delete from layer where id = ? and name = ?", (url_id, _LAYER))
        else:
            self._cursor.execute(
                "insert or replace into layer (id, name, attrs, at) values (?, ?, ?, ?)",
                (url_id, _LAYER, packed, self._applier.now_s),
            )
        if has_list(packed) or has_list(old or EMPTY_ATTRIBUTES):  # a readacl counts from any layer
            self._applier.acl.renew(url_id, applied)
        return True

    def changed(self, url_id: int, applied: Applied) -> None:
        """Tell the index of a document that is shown."""
        shown = self._cursor.execute(
            "select version is not null and dup is null and held is not 2 from url where id = ?", (url_id,)
        ).get
        if shown:
            self._applier.change(url_id, ChangeKind.PUT, applied)


def _listing(row: Sequence[Any]) -> Listing:
    source, web, content, feed, n, once, locked, *rest = row
    return Listing(source, bool(web), bool(content), feed, n, bool(once), bool(locked), *rest)
