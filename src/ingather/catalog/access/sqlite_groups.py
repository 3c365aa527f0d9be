"""Memberships of groups, by the source that brought them.

Users and groups are interned (table ``party``) in the form in which they are compared; a membership is three numbers.
A *load* is one state of a source's memberships: a replacing one is written beside that in force and changed over in
one step, after which the old one's rows go in pieces, so that no transaction is long and nobody is without his groups
meanwhile.

Source: GSA feeds specification, section 12.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import apsw

from ingather.catalog.sqlite_rows import fetch
from ingather.model.acl import PrincipalScope

__all__ = ["GroupStore", "PartyKey", "Written"]

PartyKey = tuple[PrincipalScope, bool, str, str, str]
"""User or group, whether with case, namespace, domain, name; the three texts folded if without."""

Written = tuple[str, str, str]
"""Namespace, domain and name as somebody wrote them."""

_NOTHING: Final[Mapping[PartyKey, Written]] = {}
_WRITTEN, _IN_FORCE, _GONE = 0, 1, 2
_CACHED: Final = 200_000
_GROUPS: Final = 200


class GroupStore:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._known: dict[PartyKey, int] = {}
        self._groups: dict[PartyKey, int] = {}
        self._written: Mapping[PartyKey, Written] = {}

    def reload(self) -> None:
        """Forget what was not committed."""
        self._known.clear()
        self._groups.clear()

    def _spelled(self, source: str) -> str:
        """Return the name of a source of memberships as it was first written: letter by letter, else without its case."""
        found = self._cursor.execute(
            "select source from membership_load where source = ?1 collate nocase order by source != ?1, id limit 1",
            (source,),
        ).get
        return source if found is None else str(found)

    def begin(self, source: str, now_s: float) -> int:
        """Begin a load that is to replace what *source* has in force; one that was begun and not ended is dropped."""
        source = self._spelled(source)
        self._cursor.execute(
            "update membership_load set state = ? where source = ? and state = ?", (_GONE, source, _WRITTEN)
        )
        return self._new(source, _WRITTEN, now_s)

    def adding_to(self, source: str, now_s: float) -> int:
        """Return the load of *source* that is in force, begun if there is none."""
        source = self._spelled(source)
        found = self._cursor.execute(
            "select id from membership_load where source = ? and state = ?", (source, _IN_FORCE)
        ).get
        return self._new(source, _IN_FORCE, now_s) if found is None else int(found)

    def add(
        self,
        load: int,
        rows: Iterable[tuple[PartyKey, PartyKey, Sequence[PartyKey]]],
        now_s: float,
        *,
        written: Mapping[PartyKey, Written] = _NOTHING,
    ) -> int:
        """Add memberships to a load; return how many it did not have.

        *rows*: a group as written, the same folded, some of its members. *written*: how members are written who are compared
        without case; they are shown so.
        """
        self._written = written
        pairs = [
            (self._party(member), self._group(group, folded), load)
            for group, folded, members in rows
            for member in members
        ]
        pairs.sort()  # neighbours in the table are written together
        before = self._db.total_changes()
        self._cursor.executemany(
            "insert into membership (member, grp, load) values (?, ?, ?) on conflict do nothing", pairs
        )
        added = self._db.total_changes() - before
        if added:
            self._counted(load, added, now_s)
        return added

    def keep(self, load: int, source: str, names: Sequence[str], now_s: float) -> int:
        """Take over from what *source* has in force the members of every group of one of these *names*; return how many.

        For groups that the new load names but whose members could not be read.
        """
        source = self._spelled(source)
        before = self._db.total_changes()
        for name in names:
            self._cursor.execute(
                "insert into membership (member, grp, load) "
                "select m.member, m.grp, ?1 from membership_load l join membership m on m.load = l.id join party p on p.id = m.grp "
                "where l.source = ?2 and l.state = ?3 and p.name = ?4 on conflict do nothing",
                (load, source, _IN_FORCE, name),
            )
        kept = self._db.total_changes() - before
        if kept:
            self._counted(load, kept, now_s)
        return kept

    def merge(self, load: int, into: int, after: int, now_s: float) -> int:
        """Add some groups of one load to another, those above *after*; return the last one, -1 when there were none."""
        groups = fetch(
            self._cursor,
            "select distinct grp from membership where load = ? and grp > ? order by grp limit ?",
            (load, after, _GROUPS),
        )
        if not groups:
            return -1
        last = int(groups[-1][0])
        before = self._db.total_changes()
        self._cursor.execute(
            "insert into membership (member, grp, load) select member, grp, ? from membership "
            "where load = ? and grp > ? and grp <= ? on conflict do nothing",
            (into, load, after, last),
        )
        if added := self._db.total_changes() - before:
            self._counted(into, added, now_s)
        return last

    def others(self, source: str) -> int:
        """Return how many memberships the other sources have in force."""
        source = self._spelled(source)
        return int(
            self._cursor.execute(
                "select coalesce(sum(memberships), 0) from membership_load where state = ? and source <> ?",
                (_IN_FORCE, source),
            ).get
        )

    def size(self, load: int) -> int:
        """Return how many memberships a load has."""
        return int(self._cursor.execute("select memberships from membership_load where id = ?", (load,)).get)

    def put_in_force(self, load: int, now_s: float) -> int:
        """Let a load replace what its source had in force; return how many memberships that was."""
        source = self._cursor.execute("select source from membership_load where id = ?", (load,)).get
        removed = self._retire(source)
        self._cursor.execute(
            "update membership_load set state = ?, changed = ? where id = ?", (_IN_FORCE, now_s, load)
        )
        self._moved()
        return removed

    def abandon(self, load: int) -> None:
        """Drop a load that was begun."""
        self._cursor.execute(
            "update membership_load set state = ? where id = ? and state = ?", (_GONE, load, _WRITTEN)
        )

    def clean_up(self, source: str) -> int:
        """Take the memberships of *source* out of force; return how many those were."""
        source = self._spelled(source)
        self._cursor.execute(
            "update membership_load set state = ? where source = ? and state = ?", (_GONE, source, _WRITTEN)
        )
        removed = self._retire(source)
        if removed:
            self._moved()
        return removed

    def purge(self, most: int = 20_000) -> bool:
        """Remove at most *most* rows that are out of force; return whether there may be more."""
        gone = self._cursor.execute("select id from membership_load where state = ? limit 1", (_GONE,)).get
        if gone is None:
            return False
        self._cursor.execute(
            "delete from membership where (member, grp, load) in "
            "(select member, grp, load from membership where load = ? limit ?)",
            (gone, most),
        )
        if self._db.changes() < most:
            self._cursor.execute("delete from membership_load where id = ?", (gone,))
        return True

    def _new(self, source: str, state: int, now_s: float) -> int:
        self._cursor.execute(
            "insert into membership_load (source, state, memberships, began, changed) values (?, ?, 0, ?, ?)",
            (source, state, now_s, now_s),
        )
        return self._db.last_insert_rowid()

    def _retire(self, source: str) -> int:
        found = fetch(
            self._cursor,
            "update membership_load set state = ? where source = ? and state = ? returning memberships",
            (_GONE, source, _IN_FORCE),
        )
        return sum(count for (count,) in found)

    def _counted(self, load: int, more: int, now_s: float) -> None:
        state = self._cursor.execute(
            "update membership_load set memberships = memberships + ?, changed = ? where id = ? returning state",
            (more, now_s, load),
        ).get
        if state == _IN_FORCE:
            self._moved()

    def _moved(self) -> None:
        self._cursor.execute("update membership_epoch set epoch = epoch + 1 where id = 1")

    def _group(self, group: PartyKey, folded_key: PartyKey) -> int:
        known = self._groups.get(group)
        if known is not None:
            return known
        folded, number = self._party(folded_key), self._party(group)
        # A group that was known as a member only does not know its folded form yet.
        self._cursor.execute(
            "update party set folded = ? where id = ? and folded is not ?", (folded, number, folded)
        )
        if len(self._groups) >= _CACHED:
            self._groups.clear()
        self._groups[group] = number
        return number

    def _party(self, key: PartyKey) -> int:
        known = self._known.get(key)
        if known is not None:
            return known
        scope, with_case, namespace, domain, name = key
        values = (name, domain, namespace, scope is PrincipalScope.GROUP, with_case)
        written = self._written.get(key)
        spelled = None if written is None else json.dumps(written, ensure_ascii=False)
        number = self._cursor.execute(
            "select id from party where name = ? and domain = ? and namespace = ? and is_group = ? and with_case = ?",
            values,
        ).get
        if number is None:
            self._cursor.execute(
                "insert into party (name, domain, namespace, is_group, with_case, written) values (?, ?, ?, ?, ?, ?)",
                (*values, spelled),
            )
            number = self._db.last_insert_rowid()
        elif spelled is not None:
            self._cursor.execute(
                "update party set written = ? where id = ? and written is not ?", (spelled, number, spelled)
            )
        if len(self._known) >= _CACHED:
            self._known.clear()
        self._known[key] = int(number)
        return int(number)
