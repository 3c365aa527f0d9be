"""Pushed feeds as they came: a row each, with how far it is applied, and a receipt for every record."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import apsw
import msgspec

from ingather.catalog.sqlite_apply import Applier
from ingather.catalog.sqlite_rows import fetch

__all__ = ["FeedBook", "FeedRow", "NewFeed", "Receipt"]

_GROUP: Final = 1_000
_encode = msgspec.msgpack.Encoder().encode
_fields = msgspec.msgpack.Decoder(dict[str, Any]).decode

_FEED = (
    "select id, name, datasource, kind, feedtype, fields, sender, received, file, size, sha256, estimate, session, state, "
    "done, cursor, applied, rejected, complete, sweep from feed"
)


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


Receipt = tuple[int, int, int, str, int | None, str, int, int, str, int | None]
"""Columns of ``feed_record``: feed, number, line, URL, its row, action, state, newest change when it was applied, note, the visit it asked for."""


class FeedBook:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, applier: Applier) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._applier = applier

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
        self._forget_receipts(number)
        return True

    def _forget_receipts(self, number: int) -> None:
        self._cursor.execute("delete from feed_record where feed = ?", (number,))
        self._cursor.execute("delete from feed_spelling where feed = ?", (number,))

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
        self._forget_receipts(number)
        self._cursor.execute("delete from feed where id = ?", (number,))

    # -- receipts -----------------------------------------------------------------------------

    def receipt(  # noqa: PLR0913 - the columns of a row
        self, feed: int, n: int, *, line: int, url: str, url_id: int | None, action: str, state: int, note: str = ""
    ) -> None:  # fmt: skip
        """Write what became of one record; a receipt that is there is replaced."""
        self.receipts([(feed, n, line, url, url_id, action, state, self._applier.sequence, note, None)])

    def receipts(self, rows: Sequence[Receipt]) -> None:
        """Write what became of records, as :meth:`receipt` does of one."""
        self._cursor.executemany(
            "insert or replace into feed_record (feed, n, line, url, id, action, state, seq, note, ask) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )

    def spellings(self, rows: Sequence[tuple[int, str, int, str]]) -> None:
        """Note how records wrote their URLs: feed, URL, number of the record, URL as written."""
        self._cursor.executemany(
            "insert or replace into feed_spelling (feed, url, n, written) values (?, ?, ?, ?)", rows
        )

    def spelled(self, feed: int, url: str) -> list[tuple[int, str]]:
        """Return (number, URL as written) of the records of *feed* that wrote *url* in another way, ascending; at most 2."""
        return fetch(
            self._cursor,
            "select n, written from feed_spelling where feed = ? and url = ? order by n limit 2",
            (feed, url),
        )

    def remark(self, feed: int, n: int, note: str) -> None:
        """Add a note to the receipt of an earlier record."""
        self._cursor.execute(
            "update feed_record set note = iif(note = '', ?3, note || '; ' || ?3) where feed = ?1 and n = ?2 "
            "and not instr(note, ?3)",
            (feed, n, note),
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

    def last_free_acl(self, feed: int, url: str) -> int:
        """Return the number of the last receipt of an ACL of its own that *feed* gave *url*, 0 = it gave none."""
        return int(
            self._cursor.execute(
                "select coalesce(max(n), 0) from feed_record indexed by feed_record_acl "
                "where url = ? and feed = ? and action = 'acl' and state != 1",
                (url, feed),
            ).get
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


def _feed(row: Sequence[Any]) -> FeedRow:
    values = list(row)
    values[5] = _fields(values[5])
    values[15] = values[15] or b""
    values[18] = bool(values[18])
    return FeedRow(*values)
