"""Pruning: what nobody can need any more is forgotten, a bounded piece in each transaction.

Three things grow with time and not with the site: the change log, tombstones (with the descriptions
that they keep for an undo) and events. Each is pruned by age. Change rows carry no time, so marks
("at this wall time the log ended here") stand for it: a row at or below a mark is at least as old.

Two rows are always kept. A change that a follower has not applied, however old: its position is the
caller's to give. And the newest change: the next number is counted from it.
"""

import apsw
import msgspec

from ingather.catalog.frontier.sqlite_discovery import BY_HAND
from ingather.catalog.packing import EMPTY_ATTRIBUTES
from ingather.catalog.sqlite_changes import ChangeLog
from ingather.catalog.sqlite_memory import Memory
from ingather.catalog.sqlite_rows import fetch
from ingather.model.lifecycle import State

__all__ = ["Pruning"]

_DAY_S = 86_400.0
_MARKS = "change-marks"
_MOST_MARKS = 64
_EMPTY = msgspec.msgpack.encode([])
_marks = msgspec.msgpack.Decoder(list[tuple[float, int]])


class Pruning:
    """Part of the one writer; every method runs inside the caller's transaction and returns how many rows went.

    An answer below *limit* says that nothing is left to prune.
    """

    def __init__(self, db: apsw.Connection, memory: Memory, log: ChangeLog) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._memory = memory
        self._log = log

    def mark(self, now_s: float, *, keep_s: float) -> None:
        """Note where the log ends at wall time *now_s*; marks stand about a 32nd of *keep_s* apart."""
        marks = self._known()
        if marks and (
            now_s - marks[-1][0] < keep_s / (_MOST_MARKS // 2) or marks[-1][1] == self._log.sequence
        ):
            if now_s >= marks[-1][0]:
                return
            marks.clear()  # the wall clock was set back: what these marks say of ages is not to be believed
        marks.append((now_s, self._log.sequence))
        self._memory.remember(_MARKS, msgspec.msgpack.encode(marks[-_MOST_MARKS:]))

    def changes(self, before_s: float, *, applied: int, limit: int) -> int:
        """Forget change rows from before wall time *before_s*, the oldest first.

        Args:
            before_s: rows that a mark shows to be older may go.
            applied: number up to which every follower of the log has applied it; nothing above it goes.
            limit: rows at a time.
        """
        old = max((sequence for at_s, sequence in self._known() if at_s < before_s), default=0)
        last = min(old, applied, self._log.sequence - 1)
        self._cursor.execute("delete from acl_moved where seq <= ?", (last,))
        self._cursor.execute(
            "delete from change where seq in (select seq from change where seq <= ? order by seq limit ?)",
            (last, limit),
        )
        return self._db.changes()

    def tombstones(self, before_s: float, *, limit: int) -> int:
        """Forget tombstones from before wall time *before_s*, and the descriptions kept for their undoing.

        Their URLs become ordinary ones that were visited and have no description. What was removed by
        hand stays removed, whatever its age: only what an undo would have shown again is forgotten.
        """
        rows = fetch(
            self._cursor,
            "select id, decided, gone from tombstone where at < ?1 and (decided != ?2 or version is not null) order by id limit ?3",
            (before_s, BY_HAND, limit),
        )
        for url_id, decided, gone in rows:
            self._forget_description(url_id, gone=bool(gone))
            if decided == BY_HAND:
                self._cursor.execute("update tombstone set version = null where id = ?", (url_id,))
                continue
            self._cursor.execute("delete from tombstone where id = ?", (url_id,))
            self._cursor.execute(
                "update url set state = ? where id = ? and state = ?",
                (int(State.DONE), url_id, int(State.GONE)),
            )
        return len(rows)

    def evidence(self, before_s: float, *, limit: int) -> int:
        """Forget what was seen, and decided, before wall time *before_s*; what proves a tombstone or a hold that stands is kept.

        Returns:
            How many observations and decisions went; less than *limit* = there are no more.
        """
        self._cursor.execute(
            "delete from observation where (id, n) in (select o.id, o.n from observation o where o.at < ?1 "
            "and not exists (select 1 from tombstone t where t.id = o.id) and not exists (select 1 from hold_item i where i.id = o.id) "
            "limit ?2)",
            (before_s, limit),
        )
        gone = self._db.changes()
        self._cursor.execute(
            "delete from decision where id in (select d.id from decision d where d.at < ?1 "
            "and not exists (select 1 from tombstone t where t.decision = d.id) order by d.id limit ?2)",
            (before_s, max(limit - gone, 0)),
        )
        return gone + self._db.changes()

    def events(self, before_s: float, *, limit: int) -> int:
        """Forget events from before wall time *before_s*, and counts of redirects whose day is over."""
        self._cursor.execute("delete from redirected where since < ?", (self._log.now_s - _DAY_S,))
        self._cursor.execute(
            "delete from event where id in (select id from event where at < ? order by id limit ?)",
            (before_s, limit),
        )
        return self._db.changes()

    def _known(self) -> list[tuple[float, int]]:
        packed = self._memory.recall(_MARKS)
        return _marks.decode(packed) if packed else []

    def _forget_description(self, url_id: int, *, gone: bool) -> None:
        """Forget what a buried row keeps of its description.

        A page that is still visited keeps its links; what an editor wrote is kept for the page's return.
        """
        self._cursor.execute(
            "update url set described = null, seen = null, seg = null, off = null, len = null, toff = null, tlen = null, "
            "etag = null, lastmod = null, digest = null, size = null, grouped = 0 "
            "where id = ? and version is null and described is not null",
            (url_id,),
        )
        self._cursor.execute("delete from layer where id = ? and name != 'editor'", (url_id,))
        self._cursor.execute("delete from inlink where id = ?", (url_id,))
        if gone:
            self._cursor.execute("delete from page where id = ?", (url_id,))
        else:
            self._cursor.execute(
                "update page set title = '', attrs = ?, extra = ?, digests = null where id = ?",
                (EMPTY_ATTRIBUTES, _EMPTY, url_id),
            )
