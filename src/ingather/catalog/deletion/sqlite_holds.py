"""Holds: deletions of one source and reason that wait for a person."""

from dataclasses import dataclass

import apsw

from ingather.catalog.likeness.sqlite_duplicates import HIDDEN, Duplicates
from ingather.catalog.sqlite_changes import Applied, ChangeLog
from ingather.catalog.sqlite_names import Names
from ingather.catalog.sqlite_rows import fetch
from ingather.model.change import ChangeKind

__all__ = ["Hold", "Holds"]

_SHOWN = 1
_SAMPLE = 5


@dataclass(frozen=True, slots=True)
class Hold:
    """Deletions of one source and reason that wait for a person; *sample*: up to five of their URLs; *why*: what the policy said when it opened."""

    id: int
    source: str
    reason: str
    opened_s: float
    urls: int
    sample: tuple[str, ...]
    why: str = ""


class Holds:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, names: Names, duplicates: Duplicates, log: ChangeLog) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._names = names
        self._duplicates = duplicates
        self._log = log

    def put(  # noqa: PLR0913 - what, whose, why, when, and what becomes of it meanwhile
        self, url_id: int, source: int, reason: str, now_s: float, *, hidden: bool | None, applied: Applied | None,
        why: str = "",
    ) -> int:  # fmt: skip
        """Put a document into the open hold of *source* and *reason*, unless it is in one; return that hold."""
        known = self._cursor.execute("select hold from hold_item where id = ?", (url_id,)).get
        if known is not None:
            return int(known)
        self._cursor.execute(
            "insert into hold (source, reason, opened, why) values (?, ?, ?, ?) on conflict do nothing",
            (source, reason, now_s, why),
        )
        hold = int(
            self._cursor.execute(
                "select id from hold where source = ? and reason = ? and closed is null", (source, reason)
            ).get
        )
        self._cursor.execute("insert into hold_item (id, hold, at) values (?, ?, ?)", (url_id, hold, now_s))
        self._cursor.execute("update hold set urls = urls + 1 where id = ?", (hold,))
        hides = self._names.access(source) != "public" if hidden is None else hidden
        self._cursor.execute("update url set held = ? where id = ?", (HIDDEN if hides else _SHOWN, url_id))
        if hides and applied is not None:
            self._step_aside(url_id, source, applied)
        return hold

    def hide(self, url_id: int, source: int, applied: Applied) -> None:
        """Show a document to nobody, without a hold, until :meth:`withdraw`."""
        held = self._cursor.execute("select held from url where id = ?", (url_id,)).get
        if held != HIDDEN:
            self._cursor.execute("update url set held = ? where id = ?", (HIDDEN, url_id))
            self._step_aside(url_id, source, applied)

    def _step_aside(self, url_id: int, source: int, applied: Applied) -> None:
        digest, version, dup = self._cursor.execute(
            "select digest, version, dup from url where id = ?", (url_id,)
        ).get
        if dup is not None:
            self._cursor.execute("update url set dup = null where id = ?", (url_id,))
        elif version is not None:
            self._duplicates.leave(url_id, digest, self._names.audience(source), applied)
            self._log.append(url_id, ChangeKind.REMOVE, applied)

    def take(self, url_id: int, now_s: float) -> None:
        """Take a document out of its hold; the last one closes the hold."""
        hold = self._cursor.execute("select hold from hold_item where id = ?", (url_id,)).get
        if hold is None:
            return
        self._cursor.execute("delete from hold_item where id = ?", (url_id,))
        self._cursor.execute("update hold set urls = urls - 1 where id = ?", (hold,))
        self._cursor.execute(
            "update hold set closed = ?, verdict = 'withdrawn' where id = ? and urls = 0 and closed is null",
            (now_s, hold),
        )

    def withdraw(self, url_id: int, now_s: float, applied: Applied) -> None:
        """A held document answered again: its deletion is no longer proposed; hidden ones are shown again."""
        row = self._cursor.execute("select held, version from url where id = ?", (url_id,)).get
        if row is None or row[0] is None:
            return
        held, version = row
        self.take(url_id, now_s)
        self._cursor.execute("update url set held = null, missing = null where id = ?", (url_id,))
        if held == HIDDEN and version is not None:
            self._duplicates.rejoin(url_id, applied)

    def held(self, source: int) -> int:
        """Return how many documents of *source* are held."""
        return int(
            self._cursor.execute(
                "select coalesce(sum(urls), 0) from hold where source = ? and closed is null", (source,)
            ).get
        )

    def open(self) -> list[Hold]:
        """Return the open holds, oldest first."""
        found = []
        for hold, source, reason, opened, urls, why in fetch(
            self._cursor,
            "select h.id, s.name, h.reason, h.opened, h.urls, h.why from hold h join source s on s.id = h.source "
            "where h.closed is null order by h.id",
        ):
            sample = fetch(
                self._cursor,
                "select h.origin || u.path from hold_item i join url u on u.id = i.id join host h on h.id = u.host "
                "where i.hold = ? order by i.id limit ?",
                (hold, _SAMPLE),
            )
            found.append(Hold(hold, source, reason, opened, urls, tuple(url for (url,) in sample), why))
        return found

    def of(self, hold: int) -> tuple[int, str] | None:
        """Return (source, reason) of an open hold, ``None`` if there is no such hold."""
        found: tuple[int, str] | None = self._cursor.execute(
            "select source, reason from hold where id = ? and closed is null", (hold,)
        ).get
        return found

    def items(self, hold: int) -> list[int]:
        """Return the rows in a hold."""
        rows = fetch(self._cursor, "select id from hold_item where hold = ? order by id", (hold,))
        return [url_id for (url_id,) in rows]

    def close(self, hold: int, verdict: str, now_s: float, decision: int) -> None:
        """Close a hold by a person's *decision*; what was in it is dealt with by the caller."""
        self._cursor.execute("delete from hold_item where hold = ?", (hold,))
        self._cursor.execute(
            "update hold set closed = ?, verdict = ?, decision = ? where id = ?",
            (now_s, verdict, decision, hold),
        )
