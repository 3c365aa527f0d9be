"""Equal bodies: one of them is shown, whatever arrived first.

A group is all described URLs of one digest in one access class. Its head, the smallest (depth,
URL), is shown; the others hide behind it (``url.dup``). The group's row in ``digest`` names the
head, so entering, overtaking and leaving touch a handful of rows however large the group is;
only when a head goes are the others looked through for the next one.

Whatever is not shown itself (a tombstone, a held document that is hidden meanwhile) is never a
head while somebody else could be, and takes its place again when it comes back.
"""

import apsw

from ingather.catalog.sqlite_changes import Applied, ChangeLog
from ingather.catalog.sqlite_names import Names
from ingather.catalog.sqlite_rows import fetch
from ingather.catalog.statements import SQL
from ingather.model.change import ChangeKind

__all__ = ["HIDDEN", "Duplicates"]

HIDDEN = 2
"""``url.held`` of a document that is not shown while its deletion waits for a person."""


class Duplicates:
    """Part of the one writer; every method runs inside the caller's transaction.

    Rows whose filters do not ask to hide equal bodies (``url.grouped`` 0) are in no group.
    """

    def __init__(self, db: apsw.Connection, names: Names, log: ChangeLog) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._names = names
        self._log = log

    def enter(self, url_id: int, digest: bytes, audience: int, applied: Applied) -> int | None:
        """Enter the group of *digest*, made if new.

        Returns:
            What the caller is to write into ``url.dup`` of this row: ``None`` = it is the head.
        """
        self._cursor.execute(
            "insert into digest (md5, class, head) values (?, ?, ?) on conflict do nothing",
            (digest, audience, url_id),
        )
        return None if self._db.changes() else self._compete(url_id, digest, audience, applied)

    def known(self, url_id: int, digest: bytes, audience: int) -> bool:
        """Whether another row with *digest* is shown that is nearer: links of this one lead nowhere new (DEC-24)."""
        head = self._cursor.execute(
            "select head from digest where md5 = ? and class = ?", (digest, audience)
        ).get
        if head is None or head == url_id:
            return False
        theirs, ours = (self._cursor.execute(SQL["rank"], (row,)).get for row in (head, url_id))
        return bool(theirs[:2] < ours[:2])

    def rejoin(self, url_id: int, applied: Applied) -> None:
        """Show again what stepped aside, or hide it behind the head of its group."""
        digest, source, grouped = self._cursor.execute(
            "select digest, source, grouped from url where id = ?", (url_id,)
        ).get
        dup = (
            self.enter(url_id, digest, self._names.audience(source), applied) if grouped and digest else None
        )
        self._place(url_id, dup)
        if dup is None:
            self._log.append(url_id, ChangeKind.PUT, applied)

    def _compete(self, url_id: int, digest: bytes, audience: int, applied: Applied) -> int | None:
        head = self._cursor.execute(
            "select head from digest where md5 = ? and class = ?", (digest, audience)
        ).get
        if head == url_id:
            return None
        theirs = self._cursor.execute(SQL["rank"], (head,)).get
        ours = self._cursor.execute(SQL["rank"], (url_id,)).get
        if theirs[2] != HIDDEN:
            if theirs[:2] < ours[:2]:
                return audience
            self._place(head, audience)
            self._log.append(head, ChangeKind.REMOVE, applied)
        self._set_head(url_id, digest, audience)
        return None

    def _place(self, url_id: int, dup: int | None) -> None:
        """Hide a row behind the head of its group, or show it; its last outcome says so."""
        self._cursor.execute(
            "update url set dup = ?1, outcome = case when ?1 is not null then 12 when outcome = 12 then 0 else outcome end "
            "where id = ?2",
            (dup, url_id),
        )

    def nearer(self, url_id: int, applied: Applied) -> None:
        """A duplicate's depth shrank: it may be the head now."""
        digest, audience = self._cursor.execute("select digest, dup from url where id = ?", (url_id,)).get
        if audience is not None and self._compete(url_id, digest, audience, applied) is None:
            self._show(url_id, applied)

    def leave(self, url_id: int, digest: bytes | None, audience: int, applied: Applied) -> None:
        """This row steps aside; if it was the head the next smallest takes its place."""
        if not digest:
            return
        head = self._cursor.execute(
            "select head from digest where md5 = ? and class = ?", (digest, audience)
        ).get
        if head != url_id:
            return
        heir = self._cursor.execute(SQL["first_duplicate"], (digest, audience)).get
        if heir is None:
            self._cursor.execute("delete from digest where md5 = ? and class = ?", (digest, audience))
        else:
            self._set_head(heir, digest, audience)
            self._show(heir, applied)

    def _set_head(self, url_id: int, digest: bytes, audience: int) -> None:
        self._cursor.execute(
            "update digest set head = ? where md5 = ? and class = ?", (url_id, digest, audience)
        )

    def _show(self, url_id: int, applied: Applied) -> None:
        self._place(url_id, None)
        self._log.append(url_id, ChangeKind.PUT, applied)

    def regroup_source(self, source: int, before: int, applied: Applied) -> None:
        """A source moved to another access class: its documents leave their groups and enter new ones.

        *before* is the class it had. Looks through the whole source; for changes of configuration.
        """
        after = self._names.audience(source)
        rows = fetch(
            self._cursor,
            "select id, digest, dup from url where source = ? and grouped and version is not null and held is not 2 order by id",
            (source,),
        )
        self._cursor.execute("update url set dup = null where source = ? and dup is not null", (source,))
        for url_id, digest, _ in rows:
            self.leave(url_id, digest, before, applied)
        for url_id, digest, was in rows:
            dup = self.enter(url_id, digest, after, applied)
            self._place(url_id, dup)
            if (dup is None) != (was is None):
                self._log.append(url_id, ChangeKind.PUT if dup is None else ChangeKind.REMOVE, applied)
