"""Pushed feeds in the catalog: their rows, their receipts, and what they say of URLs.

What a record means is decided in :mod:`ingather.feeds.applying`; here are the statements. A URL has one owner
(GSA feeds specification, section 8.2): ``fed.source``. While its content came with a feed (``fed.content``) the
crawler leaves it alone, whatever it had claimed before.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import apsw
import msgspec

from ingather.catalog.access.sqlite_acl import has_list
from ingather.catalog.frontier.sqlite_discovery import BY_HAND
from ingather.catalog.packing import EMPTY_ATTRIBUTES
from ingather.catalog.sqlite_apply import Applier
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_rows import fetch
from ingather.catalog.statements import SQL
from ingather.model.change import ChangeKind
from ingather.model.lifecycle import State
from ingather.model.report import Denial, Row
from ingather.model.url import key, split

__all__ = ["FeedRow", "FeedStore", "Known", "Listing", "NewFeed", "Receipt"]

_GROUP: Final = 1_000
_MOST_LISTINGS: Final = 32
"""Others than its owner that are kept as listing a URL."""
_LAYER: Final = "feed"
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(dict[str, tuple[str, ...]]).decode
_fields = msgspec.msgpack.Decoder(dict[str, Any]).decode

_FEED = (
    "select id, name, datasource, kind, feedtype, fields, sender, received, file, size, sha256, estimate, session, state, "
    "done, cursor, applied, rejected, complete, sweep from feed"
)
_LISTING = "select source, web, content, feed, n, once, locked, pagerank, authmethod, display, media_type, lastmod, acl from fed where id = ?"


@dataclass(frozen=True, slots=True)
class NewFeed:
    """A feed that lies in the spool; ``fields``: what else its form said, JSON-ready."""

    name: str
    datasource: str
    kind: str
    feedtype: str
    fields: Mapping[str, Any]
    sender: str
    file: str
    size: int
    sha256: str
    estimate: int
    session: str = ""


@dataclass(frozen=True, slots=True)
class FeedRow:
    """A feed as its row says; ``done`` and ``cursor`` are where applying goes on."""

    id: int
    name: str
    datasource: str
    kind: str
    feedtype: str
    fields: Mapping[str, Any]
    sender: str
    received_s: float
    file: str
    size: int
    sha256: str
    estimate: int
    session: str
    state: int
    done: int
    cursor: bytes
    applied: int
    rejected: int
    complete: bool
    sweep: int


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


class Known(NamedTuple):
    """What there is of a URL; ``by_hand``: an operator removed it; ``layer``: its packed metadata of feeds."""

    row: Row
    state: State
    listing: Listing | None
    by_hand: bool
    layer: bytes | None


Receipt = tuple[int, int, int, str, int | None, str, int, int, str]
"""Columns of ``feed_record``: feed, number, line, URL, its row, action, state, newest change when it was applied, note."""


class FeedStore:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, applier: Applier, seed: int) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._applier = applier
        self._seed = seed

    # -- feeds --------------------------------------------------------------------------------

    def add(self, new: NewFeed, now_s: float) -> int:
        """Give a feed its row; return its number. Its name gets that number where it has ``{number}``."""
        number = int(
            self._cursor.execute(
                "select max(coalesce((select max(id) from feed), 0), coalesce((select value from meta where name = 'feed-newest'), 0)) + 1"
            ).get
        )
        self._cursor.execute(
            "insert into feed (id, name, datasource, kind, feedtype, fields, sender, received, file, size, sha256, estimate, session) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number, new.name.replace("{number}", str(number)), new.datasource, new.kind, new.feedtype, _encode(dict(new.fields)),
                new.sender, now_s, new.file, new.size, new.sha256, new.estimate, new.session,
            ),
        )  # fmt: skip
        return number

    def feed(self, number: int) -> FeedRow | None:
        """Return a feed."""
        row = self._cursor.execute(f"{_FEED} where id = ?", (number,)).fetchone()
        return None if row is None else _feed(row)

    def open_feeds(self) -> list[FeedRow]:
        """Return the feeds that are not at their end, in order of arrival."""
        return [_feed(row) for row in fetch(self._cursor, f"{_FEED} where state < 2 order by id")]

    def last_successes(self, limit: int) -> list[tuple[str, float]]:
        """Return (data source, when a feed of it was last applied without an error) of the newest sources, oldest first."""
        found = fetch(
            self._cursor,
            "select datasource, max(ended) from feed where state = 2 group by datasource order by 2 desc limit ?",
            (limit,),
        )
        return found[::-1]

    def moved(self, number: int, file: str) -> None:
        """Note that the file of a feed has another name."""
        self._cursor.execute("update feed set file = ? where id = ?", (file, number))

    def session(self, datasource: str, session: str) -> list[FeedRow]:
        """Return the parts of a feed that came in several files, in order of arrival."""
        return [
            _feed(row)
            for row in fetch(
                self._cursor,
                f"{_FEED} where datasource = ? and session = ? order by id",
                (datasource, session),
            )
        ]

    def begin(self, number: int, now_s: float) -> None:
        """Note that a feed is being applied."""
        self._cursor.execute(
            "update feed set state = 1, begun = coalesce(begun, ?) where id = ? and state = 0",
            (now_s, number),
        )

    def advance(self, number: int, done: int, cursor: bytes, *, applied: int, rejected: int) -> None:
        """Move the cursor behind the records that this transaction applied; the counters grow by what is given."""
        self._cursor.execute(
            "update feed set done = ?, cursor = ?, applied = applied + ?, rejected = rejected + ?, seq = ? where id = ?",
            (done, cursor or None, applied, rejected, self._applier.sequence, number),
        )

    def swept(self, number: int, *, deleted: int = 0, held: int = 0, decision: int | None = None) -> None:
        """Count what a full feed left out; *decision*: of ``feed.sweep``."""
        self._cursor.execute(
            "update feed set deleted = deleted + ?, held = held + ?, sweep = coalesce(?, sweep), seq = ? where id = ?",
            (deleted, held, decision, self._applier.sequence, number),
        )

    def read_whole(self, number: int, *, complete: bool) -> None:
        """Note whether the file was read to its end tag without repair."""
        self._cursor.execute("update feed set complete = ? where id = ?", (complete, number))

    def end(self, number: int, state: int, detail: str, now_s: float) -> None:
        """Note how a feed ended."""
        self._cursor.execute(
            "update feed set state = ?, detail = ?, ended = ?, seq = max(seq, ?) where id = ?",
            (state, detail, now_s, self._applier.sequence, number),
        )

    def again(self, number: int) -> bool:
        """Let a feed that ended be applied from its beginning; its receipts go. False if it did not end."""
        self._cursor.execute(
            "update feed set state = 0, begun = null, ended = null, done = 0, cursor = null, applied = 0, rejected = 0, deleted = 0, "
            "held = 0, complete = 0, sweep = 0, detail = '' where id = ? and state >= 2 and file != ''",
            (number,),
        )
        if not self._db.changes():
            return False
        self._cursor.execute("delete from feed_record where feed = ?", (number,))
        return True

    def prune(self, before_s: float, limit: int) -> list[tuple[int, str]]:
        """Forget feeds that ended before wall time *before_s*; return (number, file) of each."""
        rows = fetch(
            self._cursor,
            "select id, file from feed where received < ? and state >= 2 and ended < ? order by received limit ?",
            (before_s, before_s, limit),
        )
        for number, _ in rows:
            self.forget(number)
        return rows

    def forget(self, number: int) -> None:
        """Forget a feed and its receipts; what it brought stays, and its number is not given again."""
        self._cursor.execute(
            "insert into meta (name, value) select 'feed-newest', max(id) from feed where true on conflict (name) do update "
            "set value = max(value, excluded.value)"
        )
        self._cursor.execute("delete from feed_record where feed = ?", (number,))
        self._cursor.execute("delete from feed where id = ?", (number,))

    # -- receipts -----------------------------------------------------------------------------

    def receipt(  # noqa: PLR0913 - the columns of a row
        self, feed: int, n: int, *, line: int, url: str, url_id: int | None, action: str, state: int, note: str = ""
    ) -> None:  # fmt: skip
        """Write what became of one record; a receipt that is there is replaced."""
        self.receipts([(feed, n, line, url, url_id, action, state, self._applier.sequence, note)])

    def receipts(self, rows: Sequence[Receipt]) -> None:
        """Write what became of records, as :meth:`receipt` does of one."""
        self._cursor.executemany(
            "insert or replace into feed_record (feed, n, line, url, id, action, state, seq, note) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )

    @property
    def sequence(self) -> int:
        """Number of the newest change, for receipts."""
        return self._applier.sequence

    def last_receipt(self, feed: int) -> int:
        """Return the number of the last receipt of a feed."""
        return int(
            self._cursor.execute("select coalesce(max(n), 0) from feed_record where feed = ?", (feed,)).get
        )

    def mentioned(self, feeds: Sequence[int]) -> Iterator[str]:
        """Yield the URLs that feeds name, in any role."""
        for feed in feeds:
            after = 0
            while rows := fetch(
                self._cursor,
                "select n, url from feed_record where feed = ? and n > ? and action != 'omitted' order by n limit ?",
                (feed, after, _GROUP),
            ):
                yield from (url for _, url in rows)
                after = rows[-1][0]

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
        return self._applier.names.source(name, "gsa", "public")

    def move(self, url_id: int, source: int, applied: Applied) -> None:
        """Let a URL belong to another source."""
        names, duplicates = self._applier.names, self._applier.duplicates
        before, digest, version = self._cursor.execute(
            "select source, digest, version from url where id = ?", (url_id,)
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
            if names.has_default_acls:  # another source, other readers
                self._applier.acl.renew(url_id, applied)

    def buried_by_hand(self, url_id: int) -> bool:
        """Whether an operator removed the row itself."""
        decided = self._cursor.execute("select decided from tombstone where id = ?", (url_id,)).get
        return bool(decided == BY_HAND)

    def rest(self, url_id: int) -> None:
        """A URL whose content comes with feeds is never due."""
        self._cursor.execute("update url set due = null where id = ?", (url_id,))

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

    def fed_contents(self, after: int, limit: int) -> list[tuple[int, str, int, str]]:
        """Return (row, URL, source, its name) of documents whose content came with feeds, above row *after*."""
        return fetch(
            self._cursor,
            "select f.id, h.origin || u.path, f.source, s.name from fed f join url u on u.id = f.id join host h on h.id = u.host "
            "join source s on s.id = f.source where f.content and f.id > ? and u.version is not null order by f.id limit ?",
            (after, limit),
        )

    def left_out(self, source: int, feeds: Sequence[int], after: int, limit: int) -> list[tuple[int, str]]:
        """Return (row, URL) of *source*'s fed documents that none of *feeds* named, above row *after*."""
        return fetch(
            self._cursor,
            "select f.id, h.origin || u.path from fed f join url u on u.id = f.id join host h on h.id = u.host "
            "where f.source = ? and f.web = 0 and f.id > ? and f.feed not in (select value from json_each(?)) and u.version is not null "
            "order by f.id limit ?",
            (source, after, json.dumps(list(feeds)), limit),
        )

    def count_left_out(self, source: int, feeds: Sequence[int]) -> tuple[int, int]:
        """Return how many documents :meth:`left_out` has, and how many of them are held already."""
        found = self._cursor.execute(
            "select count(*), count(u.held) from fed f join url u on u.id = f.id "
            "where f.source = ? and f.web = 0 and f.feed not in (select value from json_each(?)) and u.version is not null",
            (source, json.dumps(list(feeds))),
        ).get
        return int(found[0]), int(found[1])

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


def _feed(row: Sequence[Any]) -> FeedRow:
    values = list(row)
    values[5] = _fields(values[5])
    values[15] = values[15] or b""
    values[18] = bool(values[18])
    return FeedRow(*values)
