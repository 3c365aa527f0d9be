"""Access chains that nothing needs any more are forgotten; numbers are never given twice."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from ingather.app.pruning import collect_chains
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.acl import Acl, AclEntry, Principal, PrincipalScope, Right
from ingather.robot.keeper import Keeper
from ingather.testing.contracts_catalog import SqliteUnderTest


class Writes:
    """The keeper's way to write, and nothing else of it."""

    def __init__(self, writer: CatalogWriter, applied: int) -> None:
        self.writer = writer
        self.index = SimpleNamespace(applied=applied)

    async def write(self, job: Callable[[Any, Applied], Any]) -> Any:
        return self.writer.transaction(lambda w: job(w, Applied()))


def acl(url: str, name: str) -> Acl:
    return Acl(url, (AclEntry(Right.PERMIT, Principal(PrincipalScope.USER, name)),))


def put(catalog: SqliteUnderTest, *acls: Acl) -> list[int]:
    def work(writer: CatalogWriter) -> list[int]:
        for one in acls:
            writer.access.put_acl(one, Applied())
        return [writer.access.chain(one) for one in acls]

    return catalog.writer.transaction(work)


def kept(catalog: SqliteUnderTest) -> list[int]:
    reader = AccessReader(catalog.writer.path)
    try:
        return [row.id for row in reader.chains(0)]
    finally:
        reader.close()


def collect(catalog: SqliteUnderTest, *, behind: int = 0) -> int:
    applied = catalog.writer.applier.sequence - behind
    return asyncio.run(collect_chains(cast("Keeper", Writes(catalog.writer, applied)), catalog.writer.path))


def test_chains_that_no_url_has_go_and_the_newest_stays(catalog: SqliteUnderTest) -> None:
    old = put(catalog, *(acl("http://a.test/", f"user{n}") for n in range(40)))
    assert kept(catalog) == old
    assert collect(catalog, behind=1) == 0  # documents of the index may carry their numbers
    assert collect(catalog) == 39
    assert kept(catalog) == old[-1:]
    (new,) = put(catalog, acl("http://a.test/", "user3"))
    assert new > old[-1]
    assert collect(catalog) == 1
    assert kept(catalog) == [new]
    catalog.writer.transaction(lambda w: w.access.delete_acl("http://a.test/", Applied()))
    assert collect(catalog) == 0  # the newest number is not given again
    assert kept(catalog) == [new]


def test_a_chain_that_is_given_out_meanwhile_stays(catalog: SqliteUnderTest) -> None:
    first, last = put(catalog, acl("http://a.test/", "ann"), acl("http://b.test/", "bob"))
    put(catalog, acl("http://a.test/", "bob"))
    catalog.writer.transaction(lambda w: w.access.watch_chains())
    reader = AccessReader(catalog.writer.path)
    assert reader.unused_chains() == [first]
    reader.close()
    put(catalog, acl("http://c.test/", "ann"))
    assert catalog.writer.transaction(lambda w: w.access.collect_chains([first])) == 0
    assert kept(catalog) == [first, last]
