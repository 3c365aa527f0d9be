"""Host aliases in the catalog: kept by the writer, read by everybody; and the samples that show that two hosts are one."""

from typing import Any, Final

import apsw

from ingather.catalog.sqlite_reader import SqliteReader
from ingather.model.alias import AliasState, HostAlias

__all__ = ["AliasReader", "Aliases"]

_ALL: Final = "select alias, host, state, evidence, who, at from host_alias order by alias"
_MOST: Final = 10_000
"""Aliases that smart-host-heuristics is kept for; beyond it they are folded and not noted."""


class Aliases:
    """The aliases of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._cursor = db.cursor()

    def all(self) -> list[HostAlias]:
        """Return every alias, by name."""
        return [_alias(row) for row in self._cursor.execute(_ALL).fetchall()]

    def put(self, one: HostAlias) -> None:
        """Keep *one* in the place of what is kept of its alias."""
        self._cursor.execute(
            "insert into host_alias (alias, host, state, evidence, who, at) values (?1, ?2, ?3, ?4, ?5, ?6) on conflict (alias) do update "
            "set host = ?2, state = ?3, evidence = ?4, who = ?5, at = ?6",
            (one.alias, one.host, str(one.state), one.evidence, one.who, one.at_s),
        )

    def folded(self, alias: str, host: str, evidence: str, now_s: float) -> None:
        """Note what smart-host-heuristics folds; what a person decided of the alias stands."""
        if not self._cursor.execute("select count(*) >= ? from host_alias", (_MOST,)).get:
            self._cursor.execute(
                "insert into host_alias (alias, host, state, evidence, who, at) values (?1, ?2, 'folded', ?3, '', ?4) "
                "on conflict (alias) do update set host = ?2, evidence = ?3, at = ?4 where state = 'folded'",
                (alias, host, evidence, now_s),
            )

    def forget(self, alias: str) -> bool:
        """Forget an alias; whether there was one."""
        return bool(
            self._cursor.execute("delete from host_alias where alias = ? returning 1", (alias,)).fetchall()
        )


class AliasReader(SqliteReader):
    """A reader of aliases, and of what hosts have in common."""

    def aliases(self) -> list[HostAlias]:
        """Return every alias, by name."""
        return [_alias(row) for row in self._rows.all(_ALL)]

    def origins(self) -> list[tuple[int, str]]:
        """Return (host id, origin) of all origins with a description."""
        return [
            (int(row[0]), str(row[1]))
            for row in self._rows.all(
                "select h.id, h.origin from host h where exists (select 1 from url u where u.host = h.id and u.version is not null) order by h.id"
            )
        ]

    def sample(self, host: int, most: int) -> dict[str, bytes]:
        """Return path to digest of described documents of a host, the first *most* in order of their paths."""
        rows = self._rows.all(
            "select path, digest from url where host = ? and version is not null order by path limit ?",
            (host, most),
        )
        return {str(path): bytes(digest) for path, digest in rows if digest is not None}

    def audiences(self, host: int) -> list[tuple[str, str, int]]:
        """Return (source, its access, count of documents with rights of their own) of a host's descriptions."""
        return [
            (str(name), str(access), int(own))
            for name, access, own in self._rows.all(
                "select s.name, s.access, sum(u.acl != 0) from url u join source s on s.id = u.source "
                "where u.host = ? and u.version is not null group by s.id",
                (host,),
            )
        ]

    def documents(self, host: int) -> int:
        """Return how many descriptions a host has."""
        return int(
            self._rows.value("select count(*) from url where host = ? and version is not null", (host,))
        )


def _alias(row: tuple[Any, ...]) -> HostAlias:
    alias, host, state, evidence, who, at_s = row
    return HostAlias(alias, host, AliasState(state), evidence, who, at_s)
