"""What is read of ACLs: by whoever evaluates them, and to explain."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from ingather.catalog.access.acl_packing import inheritance_of, unpack_entries
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.model.acl import Acl, AclEntry, Inheritance, is_foreign, narrowed
from ingather.model.urlparts import key

__all__ = ["CHAIN", "WITH_ACL", "AccessReader", "ChainRow"]

WITH_ACL: Final = "left join acl a on a.url = h.origin || u.path and (a.bound = 0 or a.source = u.source)"
"""Joins the ACL of a URL (tables ``u``, ``h``), unless a token of another source brought it. By URL and not by a number on its
row: that cannot be forgotten."""
CHAIN: Final = (
    "iif(u.acl & 16, 0, iif(u.acl & 1, iif(a.chain is null, coalesce(u.listed, 0), 0), "
    "coalesce((select r.chain from acl_rescue r where r.own = a.chain and r.policy = u.policy), a.chain, u.policy, iif(u.acl & 4 or s.access != 'public', 0, 1))))"
)
"""The chain of a row (tables ``u``, ``s``, ``a``): that of its own access list (nobody if it has an ACL as well), else its
ACL's (with its policy rule, where rules rescue broken chains), else its policy rule's or its source's, else everybody or nobody, as its marks and source say."""

_USES: Final = (
    "select epoch, chain from acl where epoch > ? order by epoch limit ?",
    "select id, policy from url where acl != 0 and id > ? order by id limit ?",
    "select id, listed from url where acl != 0 and id > ? order by id limit ?",
    "select id, acl from source where id > ? order by id limit ?",
    "select id, before from acl_pending where id > ? order by id limit ?",
    "select id, pushed from acl_pending where id > ? order by id limit ?",
)
"""Who has a chain: (running number, chain or null)."""
_GROUP: Final = 5_000
_MARKS: Final = 500


class ChainRow(NamedTuple):
    """One chain: number, number of its entries, parent's URL, type, why it is not trusted, the policy's chain that rescues it.

    *source* is the row of the source whose ACL it is (0 = not known), *bound*: a token brought it.
    """

    id: int
    entries: int
    parent: str
    inheritance: Inheritance
    problem: str
    rescue: int = 0
    source: int = 0
    bound: bool = False


class _Placed(NamedTuple):
    """An ACL as it is met in a chain; *source* 0 = nobody knows whose it is."""

    acl: Acl
    source: int = 0
    bound: bool = False


def _placed(url: str, row: Sequence[Any]) -> _Placed:
    entries, parent, kind, problem, source, bound = row
    return _Placed(
        Acl(url, unpack_entries(entries), parent, inheritance_of(kind), problem), source, bool(bound)
    )


class AccessReader:
    """One read-only connection; one thread at a time. Raises :class:`CatalogError` as all readers."""

    def __init__(self, path: Path) -> None:
        self._rows = Rows(open_reader(path), path)

    def close(self) -> None:
        """Close the connection."""
        self._rows.close()

    # -- for who evaluates ----------------------------------------------------------------------

    def inherited(self) -> frozenset[int]:
        """Return the sources from whose ACLs those of others may inherit as from their own."""
        return frozenset(row[0] for row in self._rows.all("select id from source where inherited", ()))

    def stamp(self) -> tuple[int, int, str]:
        """Return the newest epoch and the newest chain, which only grow, and which sources :meth:`inherited` names."""
        row = self._rows.one(
            "select (select coalesce(max(epoch), 0) from acl), (select coalesce(max(id), 1) from acl_chain), "
            "(select coalesce(group_concat(id), '') from source where inherited)"
        )
        return (0, 1, "") if row is None else (row[0], row[1], row[2])

    def chains(self, after: int) -> Iterator[ChainRow]:
        """Yield the chains above *after*."""
        for rows in self._rows.pages(
            "select c.id, c.entries, c.parent, c.type, iif(r.chain is null, c.problem, ''), coalesce(r.policy, 0), c.source, c.bound "
            "from acl_chain c left join acl_rescue r on r.chain = c.id where c.id > ? order by c.id limit ?",
            size=_GROUP, after=after,
        ):  # fmt: skip
            for number, entries, parent, kind, problem, rescue, source, bound in rows:
                yield ChainRow(
                    number, entries, parent, inheritance_of(kind), problem, rescue, source, bool(bound)
                )

    def acls(self, after: int) -> Iterator[tuple[int, str, int | None, int]]:
        """Yield (epoch, URL, chain, source) of what changed after the epoch *after*.

        No chain = it was taken away; source 0 = nobody knows.
        """
        for rows in self._rows.pages(
            "select epoch, url, chain, coalesce(source, 0) from acl where epoch > ? order by epoch limit ?",
            size=_GROUP,
            after=after,
        ):
            yield from ((epoch, url, chain, source) for epoch, url, chain, source in rows)

    def unused_chains(self) -> list[int]:
        """Return the chains that no URL has and no rule needs, ascending; what is given out meanwhile may be among them."""
        _, last, _ = self.stamp()
        used = bytearray(last // 8 + 1)
        for sql in _USES:
            for rows in self._rows.pages(sql, size=_GROUP):
                for _, number in rows:
                    if number is not None and number <= last:
                        used[number >> 3] |= 1 << (number & 7)
        for rows in self._rows.pages(
            "select chain, own, policy from acl_rescue where chain > ? order by chain limit ?", size=_GROUP
        ):
            for number, own, policy in rows:
                if max(number, own, policy) <= last and all(
                    used[n >> 3] & 1 << (n & 7) for n in (own, policy)
                ):
                    used[number >> 3] |= 1 << (number & 7)
        unused: list[int] = []
        for rows in self._rows.pages(
            "select id from acl_chain where id > ? order by id limit ?", size=_GROUP
        ):
            unused += [n for (n,) in rows if n <= last and not used[n >> 3] & 1 << (n & 7)]
        return unused

    def snapshot(self) -> AbstractContextManager[None]:
        """Let several questions see one state."""
        return self._rows.snapshot()

    def chains_at(self, urls: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return the chains of the ACLs of *urls*, with their sources (0 = not known); those without one are left out."""
        found: dict[str, tuple[int, int]] = {}
        for start in range(0, len(urls), _MARKS):
            part = urls[start : start + _MARKS]
            marks = ",".join("?" * len(part))
            rows = self._rows.all(
                f"select url, chain, coalesce(source, 0) from acl where chain is not null and url in ({marks})",  # noqa: S608 - marks
                part,
            )
            found.update({url: (chain, source) for url, chain, source in rows})
        return found

    def entries(self, ids: Sequence[int]) -> dict[int, tuple[AclEntry, ...]]:
        """Return lists of entries by their numbers."""
        rows = self._rows.among("select id, entries from acl_entries where id in ({ids})", ids)
        return {number: unpack_entries(blob) for number, blob in rows}

    def anything_secured(self) -> bool:
        """Return whether anything is not for everybody: a secure source with documents, an ACL, a secured document."""
        return bool(
            self._rows.value(
                "select exists (select 1 from acl) or exists (select 1 from source where access != 'public' and documents > 0) "
                "or exists (select 1 from url where acl != 0)"
            )
        )

    def moved(self, after: int) -> list[int]:
        """Return the documents that changes above *after* moved to another chain."""
        rows = self._rows.all("select distinct id from acl_moved where seq > ?", (after,))
        return [url_id for (url_id,) in rows]

    def chains_of(self, ids: Sequence[int]) -> dict[int, int]:
        """Return the chains of rows as they are now."""
        return dict(
            self._rows.among(
                f"select u.id, {CHAIN} from url u join host h on h.id = u.host join source s on s.id = u.source "  # noqa: S608 - a constant
                f"{WITH_ACL} where u.id in ({{ids}})",
                ids,
            )
        )

    def marks_of(self, url_id: int) -> tuple[int, str, int] | None:
        """Return (marks of ``sqlite_acl``, access of its source, chain) of a row."""
        row = self._rows.one(
            f"select u.acl, s.access, {CHAIN} from url u join host h on h.id = u.host join source s on s.id = u.source "  # noqa: S608 - a constant
            f"{WITH_ACL} where u.id = ?",
            (url_id,),
        )
        return None if row is None else (row[0], row[1], row[2])

    # -- to explain -------------------------------------------------------------------------------

    def acl(self, url: str) -> Acl | None:
        """Return the ACL of one URL, whoever brought it."""
        found = self._acl(url)
        return None if found is None else found.acl

    def _acl(self, url: str) -> _Placed | None:
        """Return the ACL of one URL, whoever brought it."""
        row = self._rows.one(
            "select e.entries, c.parent, c.type, c.problem, iif(c.source, c.source, coalesce(a.source, 0)), a.bound "
            "from acl a join acl_chain c on c.id = a.chain join acl_entries e on e.id = c.entries where a.url = ?",
            (url,),
        )
        return None if row is None else _placed(url, row)

    def _own(self, url: str) -> _Placed | None:
        """Return the ACL that a document has of its own: not one that a token of another source brought."""
        found = self._acl(url)
        if found is not None and found.bound:
            counts = self._rows.one(
                "select u.source = a.source from url u join host h on h.id = u.host join acl a on a.url = ?2 "
                "where u.key = ?1 and h.origin || u.path = ?2 and u.version is not null",
                (key(url, self._seed()), url),
            )
            if counts is not None and not counts[0]:
                return None
        return found

    def chain_of(self, url: str, *, most: int = 1_001) -> list[Acl]:
        """Return the ACLs that govern *url*, root first, as far as they are known; empty if it has none.

        A document without an ACL of its own is governed by its access list (``readacl``), else by the policy rules that
        it was placed under.

        It ends at a parent that is unknown, at one that was met already (which is then named twice), and after
        *most*: ``access.decide`` says what that means.
        """
        return self._up(url, self._own(url) or self._policy(url), most)

    def rescue_of(self, url: str, *, most: int = 1_001) -> list[Acl]:
        """Return the ACLs, root first, of the policy rules that decide about *url* where its own chain is broken; empty = none do."""
        row = self._rows.one(
            "select e.entries, c.parent, c.type, c.problem from url u join host h on h.id = u.host join acl a on a.url = ?2 "
            "join acl_rescue r on r.own = a.chain and r.policy = u.policy join acl_chain c on c.id = r.policy "
            "join acl_entries e on e.id = c.entries where u.key = ?1 and h.origin || u.path = ?2 and u.acl & 17 = 0",
            (key(url, self._seed()), url),
        )
        return self._up("policy", None if row is None else _placed("policy", (*row, 0, False)), most)

    def _up(self, url: str, first: _Placed | None, most: int) -> list[Acl]:
        found: list[Acl] = []
        seen: set[str] = set()
        below, inherited = first, self.inherited()
        while below is not None and len(found) < most:
            found.append(below.acl)
            if url in seen:
                break
            seen.add(url)
            url = below.acl.inherit_from
            above = self._acl(url) if url else None
            if above is not None and is_foreign(below, above, inherited):
                above = above._replace(
                    acl=replace(above.acl, inheritance=narrowed(above.acl.inheritance), foreign=True)
                )
            below = above
        return found[::-1]

    def _seed(self) -> int:
        return int(self._rows.value("select value from meta where name = 'seed'"))

    def _policy(self, url: str) -> _Placed | None:
        row = self._rows.one(
            "select e.entries, c.parent, c.type, c.problem from url u join host h on h.id = u.host join acl_chain c on c.id = iif(u.acl & 1, u.listed, u.policy) "
            "join acl_entries e on e.id = c.entries where u.key = ? and h.origin || u.path = ?",
            (key(url, self._seed()), url),
        )
        return None if row is None else _placed(url, (*row, 0, False))

    def documents_of(self, chains: Sequence[int], *, limit: int = 1_000) -> list[tuple[str, int]]:
        """Return (URL, chain) of at most *limit* ACLs with one of *chains*, by URL."""
        rows = self._rows.among("select url, chain from acl where chain in ({ids})", chains)
        return sorted((url, chain) for url, chain in rows)[:limit]
