"""What is read of memberships: to expand somebody's groups, to list and to explain."""

import json
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple

from ingather.catalog.access.sqlite_groups import PartyKey
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.model.acl import DEFAULT_NAMESPACE, Principal, PrincipalScope

__all__ = ["Above", "GroupReader", "Member", "SourceRow"]

_CACHE_BYTES: Final = 32 << 20


Above = tuple[int, int, int, Principal]
"""One membership seen from below: who, the group as written and its folded form (numbers), the group as written."""


class Member(NamedTuple):
    """One membership seen from above: the group, who is in it, by which source."""

    group: int
    member: int
    key: PartyKey
    source: str
    who: Principal
    """As he is to be shown: as a membership wrote him."""


class SourceRow(NamedTuple):
    """What a source has in force."""

    source: str
    memberships: int
    began_s: float
    changed_s: float


class GroupReader:
    """One read-only connection; one thread at a time. Raises :class:`CatalogError` as all readers."""

    def __init__(self, path: Path) -> None:
        self._rows = Rows(open_reader(path, cache_bytes=_CACHE_BYTES), path)

    def close(self) -> None:
        """Close the connection."""
        self._rows.close()

    def snapshot(self) -> AbstractContextManager[None]:
        """Let several questions see one state."""
        return self._rows.snapshot()

    def epoch(self) -> int:
        """Return a number that grows with every change of what is in force."""
        return int(self._rows.value("select epoch from membership_epoch where id = 1"))

    def find(self, keys: Collection[PartyKey]) -> dict[PartyKey, int]:
        """Return the numbers of those that are known."""
        found: dict[PartyKey, int] = {}
        for key in keys:
            scope, with_case, namespace, domain, name = key
            try:
                number = self._rows.value(
                    "select id from party where name = ? and domain = ? and namespace = ? and is_group = ? and with_case = ?",
                    (name, domain, namespace, scope is PrincipalScope.GROUP, with_case),
                )
            except UnicodeEncodeError:  # half a character: nobody is called that
                continue
            if number is not None:
                found[key] = number
        return found

    def above(self, members: Sequence[int], known: AbstractSet[int] = frozenset()) -> Iterator[Above]:
        """Yield the groups that have one of *members* directly, but those among *known*; one may come twice."""
        for member, group, folded, name, domain, namespace in self._rows.all(
            "select m.member, m.grp, p.folded, p.name, p.domain, p.namespace from membership m "
            "join membership_load l on l.id = m.load and l.state = 1 join party p on p.id = m.grp "
            "where m.member in (select value from json_each(?))",
            (json.dumps(members),),
        ):
            if group not in known:
                yield member, group, folded, Principal(PrincipalScope.GROUP, name, domain, namespace)

    def below(self, groups: Sequence[int], *, most: int) -> list[Member]:
        """Return at most *most* direct members of *groups*, by group."""
        return [
            Member(group, member, _key(key), source, _written(_key(key), written))
            for group, member, source, written, *key in self._rows.all(
                "select m.grp, m.member, l.source, p.written, p.is_group, p.with_case, p.namespace, p.domain, p.name from membership_load l "
                "cross join membership m indexed by membership_by_load on m.load = l.id "
                "join party p on p.id = m.member where l.state = 1 and m.grp in (select value from json_each(?)) "
                "order by m.grp, p.name, m.member, l.source limit ?",
                (json.dumps(groups), most),
            )
        ]

    def written_as(self, folded: Sequence[int]) -> list[tuple[int, PartyKey]]:
        """Return the groups, as written, whose folded form is one of *folded*; reads all groups."""
        return [
            (number, _key(key))
            for number, *key in self._rows.all(
                "select p.id, p.is_group, p.with_case, p.namespace, p.domain, p.name from party p where p.folded in (select value from json_each(?)) order by p.id",
                (json.dumps(folded),),
            )
        ]

    def sources(self) -> list[SourceRow]:
        """Return what is in force, by source."""
        return [
            SourceRow(*row)
            for row in self._rows.all(
                "select source, memberships, began, changed from membership_load where state = 1 order by source"
            )
        ]

    def groups(self, text: str = "", *, limit: int = 100) -> list[tuple[PartyKey, int]]:
        """Return groups whose name has *text*, in any ASCII case, with the number of their members, by name."""
        pattern = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        # By the index of names, so that the walk ends at the limit.
        found = self._rows.all(
            "select p.id, p.is_group, p.with_case, p.namespace, p.domain, p.name from party p indexed by sqlite_autoindex_party_1 "
            "where p.folded is not null and p.name like ? escape '\\' and exists (select 1 from membership_load l "
            "cross join membership m indexed by membership_by_load on m.load = l.id and m.grp = p.id where l.state = 1) "
            "order by p.name, p.domain, p.namespace limit ?",
            (pattern, limit),
        )
        return [(_key(key), self._count(number)) for number, *key in found]

    def _count(self, group: int) -> int:
        return int(
            self._rows.value(
                "select count(distinct m.member) from membership_load l "
                "cross join membership m indexed by membership_by_load on m.load = l.id and m.grp = ? where l.state = 1",
                (group,),
            )
        )


def _key(values: Sequence[object]) -> PartyKey:
    is_group, with_case, namespace, domain, name = values
    scope = PrincipalScope.GROUP if is_group else PrincipalScope.USER
    return scope, bool(with_case), str(namespace), str(domain), str(name)


def _written(key: PartyKey, written: str | None) -> Principal:
    """Return whom a key means as he was written; of who came before that was kept the usual namespace is known at least."""
    scope, with_case, namespace, domain, name = key
    if not with_case and written is not None:
        namespace, domain, name = json.loads(written)
    elif not with_case and namespace == DEFAULT_NAMESPACE.lower():
        namespace = DEFAULT_NAMESPACE
    return Principal(scope, name, domain, namespace)
