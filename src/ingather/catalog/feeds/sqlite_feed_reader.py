"""Receipts, read: feeds and their records as people and programs ask for them.

What is written of a record is what was done; whether it is in the index by now, was superseded, visited or held is
found out from where things stand when somebody asks.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.catalog.statements import SQL

__all__ = ["FeedReceipts"]

_FEED: Final = (
    "select id, name, datasource, kind, feedtype, fields, sender, received, begun, ended, file, size, sha256, estimate, session, state, "
    "done, applied, rejected, deleted, held, seq, complete, detail, ended is null and kind = 'documents' and exists "
    "(select 1 from source s where s.name = iif(datasource = 'web', 'feed-web', datasource) collate nocase and s.disabled is not null) from feed"
)
_FEED_NAMES: Final = (
    "id", "name", "datasource", "kind", "feedtype", "fields", "sender", "received", "begun", "ended", "file", "size", "sha256",
    "estimate", "session", "state", "done", "applied", "rejected", "deleted", "held", "seq", "complete", "detail", "rests",
)  # fmt: skip
# outcomes 6 and 11: robots.txt, or the URL itself, cannot be had (model.lifecycle.Outcome)
_SUPERSEDED: Final = (
    "r.action in ('add', 'delete') and (f.id is not null and (f.feed, f.n) > (r.feed, r.n) "
    "or t.feed is not null and (t.feed, t.n) > (r.feed, r.n))"
)
_OUT_OF_SCOPE: Final = "u.outcome in (6, 11) and u.detail like '%refused-address%'"
_COLUMNS: Final = {
    "n": "r.n", "line": "r.line", "url": "r.url", "action": "r.action", "written": "r.state", "note": "r.note",
    "superseded": _SUPERSEDED, "asked": "r.ask", "answered": "coalesce(u.answered, 0)",
    "waits": "coalesce(u.asked > u.answered, 0)", "state": "u.state", "outcome": "u.outcome", "status": "u.status",
    "detail": "coalesce(u.detail, '')",
    "rule": "coalesce((select trim(d.reason || iif(d.place = '', '', ' (' || d.place || ')')) from directive d where d.id = u.verdict), '')",
    "fetched_s": "u.fetched", "due_s": "u.due", "buried_s": "t.at", "why": "coalesce(t.reason, '')", "received_s": "q.received",
    "held": "u.held is not null", "described": "u.version is not null", "out_of_scope": _OUT_OF_SCOPE,
    "owner": "coalesce(s.name, '')", "authmethod": "coalesce(f.authmethod, '')",
    "in_index": "r.seq <= ?6 and (u.id is null or u.id not in (select id from change where seq > ?6))",
}  # fmt: skip
_RECORD: Final = (
    f"select {', '.join(_COLUMNS.values())} "  # noqa: S608 - constants
    "from feed_record r join feed q on q.id = r.feed left join fed f on f.id = r.id left join url u on u.id = r.id "
    "left join tombstone t on t.id = r.id left join source s on s.id = u.source "
    "where r.feed = ?1 and r.n > ?2 and (?3 = '[]' or r.state in (select value from json_each(?3))) "
    f"and (?5 = '' or r.state != 1 and iif(?5 = 'superseded', coalesce({_SUPERSEDED}, 0), "
    f"r.state = 2 and not coalesce({_SUPERSEDED}, 0) and coalesce(r.ask, 0) <= u.answered and {_OUT_OF_SCOPE})) "
    "order by r.n limit ?4"
)
_fields = msgspec.msgpack.Decoder(dict[str, Any]).decode


class FeedReceipts:
    """One read-only connection; one thread at a time. Raises :class:`CatalogError` as all readers."""

    def __init__(self, path: Path) -> None:
        self._rows = Rows(open_reader(path), path)

    def close(self) -> None:
        """Close the connection."""
        self._rows.close()

    def feeds(self, *, datasource: str = "", before: int = 0, limit: int = 100) -> list[dict[str, Any]]:
        """Return feeds, newest first, as columns by name; *before*: only older ones than this number."""
        rows = self._rows.all(
            f"{_FEED} where (?1 = '' or datasource = ?1 collate nocase) and (?2 = 0 or id < ?2) order by id desc limit ?3",
            (datasource, before, limit),
        )
        return [_feed(row) for row in rows]

    def after(self, number: int, limit: int) -> list[dict[str, Any]]:
        """Return feeds with numbers above *number*, ascending, as columns by name."""
        return [
            _feed(row) for row in self._rows.all(f"{_FEED} where id > ? order by id limit ?", (number, limit))
        ]

    def newest(self) -> int:
        """Return the highest number of a feed, 0 = there is none."""
        return int(self._rows.value("select coalesce(max(id), 0) from feed"))

    def files(self) -> frozenset[str]:
        """Return the names, without folders, of the files that feeds own."""
        return frozenset(
            str(row[0]).rpartition("/")[2]
            for row in self._rows.all("select file from feed where file != ''", ())
        )

    def feed(self, name: str) -> dict[str, Any] | None:
        """Return the feed of this name or number."""
        number = int(name) if name.isascii() and name.isdigit() and len(name) < 19 else 0  # noqa: PLR2004 - SQLite's integers
        row = self._rows.one(f"{_FEED} where name = ? or id = ?", (name, number))
        return None if row is None else _feed(row)

    def records(  # noqa: PLR0913 - of what, as of when, and which
        self,
        feed: int,
        *,
        indexed: int,
        after: int = 0,
        limit: int = 1000,
        written: Sequence[int] = (),
        derived: str = "",
    ) -> list[dict[str, Any]]:
        """Return receipts above number *after*, ascending, with what there is of their URLs.

        *indexed*: newest change that the index has applied. *written*: only these states. *derived*: only those that are
        ``superseded`` or in ``needs-scope`` by now.
        """
        wanted = msgspec.json.encode(list(written)).decode()
        rows = self._rows.all(_RECORD, (feed, after, wanted, limit, derived, indexed))
        return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]

    def due_visits(self, now_s: float, most: int) -> int:
        """Return how many visits that pushed records asked for may be made at *now_s*, *most* if there are more."""
        return int(self._rows.value(SQL["count_asked"], (now_s, most)))


def _feed(row: Sequence[Any]) -> dict[str, Any]:
    found = dict(zip(_FEED_NAMES, row, strict=True))
    found["fields"] = _fields(found["fields"])
    return found
