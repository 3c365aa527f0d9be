"""``[source.NAME] acl``: who sees a source's documents that neither have an ACL of their own nor are named by a policy rule."""

from collections.abc import Iterator

import pytest

from ingather.access import Rights
from ingather.app.access.policing import place_when_changed, use_policy
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.sqlite_changes import Applied
from ingather.conf import load_bodies
from ingather.conf.sources.source import SourceConf
from ingather.model.acl import Acl, AclEntry, Principal, PrincipalScope, Right
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

ANN, BOB = (Principal(PrincipalScope.USER, name) for name in ("ann", "bob"))
STAFF = Principal(PrincipalScope.GROUP, "staff", "corp")
NEWS = "http://news.test/a"


@pytest.fixture
def access(catalog: SqliteUnderTest) -> Iterator[AccessReader]:
    made = AccessReader(catalog.writer.path)
    yield made
    made.close()


def begun(
    catalog: SqliteUnderTest, *acl: str, access: str = "public", rules: str = "", at: float = 1.0
) -> bool:
    """Begin as a run does, with these readers of the source "news"."""
    loaded = load_bodies({"policy-acl.txt": rules.encode()} if rules else {})
    use_policy(catalog.writer, loaded.policy)
    source = SourceConf("news", access="secure" if access == "secure" else "public", acl=acl)
    catalog.writer.transaction(lambda w: w.registry.put_source("news", source.kind, source.access))
    return place_when_changed(catalog.writer, loaded, {"news": source}, at)


def described(visitor: Visitor, url: str, source: str) -> int:
    visitor.start(url, source=source)
    visitor.visit(url, "text")
    return visitor.id(url)


def sees(access: AccessReader, row: int, user: Principal, *groups: Principal) -> bool:
    return Rights(access).visible((user,), groups).sees(access.chains_of([row])[row])


@pytest.mark.parametrize("kind", ["public", "secure"])
def test_it_closes_a_public_source_and_opens_a_secure_one_for_whom_it_names(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader, kind: str
) -> None:
    begun(catalog, "user:ann", r"group:corp\staff", access=kind)
    row, other = described(visitor, NEWS, "news"), described(visitor, "http://web.test/", "web")
    assert (sees(access, row, ANN), sees(access, row, BOB), sees(access, row, BOB, STAFF)) == (
        True,
        False,
        True,
    )
    assert sees(access, other, BOB)


def test_what_is_nearer_wins(visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader) -> None:
    begun(catalog, "user:ann", rules="news.test/rule user:bob\n")
    own, ruled = described(visitor, NEWS, "news"), described(visitor, "http://news.test/rule", "news")
    acl = Acl(NEWS, (AclEntry(Right.PERMIT, BOB),))
    catalog.writer.transaction(lambda w: w.access.put_acl(acl, Applied()))
    assert [(sees(access, row, ANN), sees(access, row, BOB)) for row in (own, ruled)] == [(False, True)] * 2


def test_a_change_places_what_is_there_and_the_index_learns_of_it(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    begun(catalog)
    row = described(visitor, NEWS, "news")
    assert sees(access, row, BOB)
    before = catalog.writer.applier.sequence
    assert begun(catalog, "user:ann", at=2.0)
    assert (sees(access, row, ANN), sees(access, row, BOB)) == (True, False)
    assert catalog.writer.applier.sequence > before
    assert not begun(catalog, "user:ann", at=3.0)
    assert begun(catalog, at=4.0)
    assert sees(access, row, BOB)


def test_its_chain_is_in_use_although_no_document_has_it(
    catalog: SqliteUnderTest, access: AccessReader
) -> None:
    begun(catalog, "user:ann")
    assert access.unused_chains() == []


def test_a_document_that_changes_hands_has_the_readers_of_its_new_source(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    begun(catalog, "user:ann")
    row = described(visitor, NEWS, "web")
    assert sees(access, row, BOB)
    news = catalog.writer.applier.names.source("news")
    catalog.writer.transaction(lambda w: w.feeds.move(row, news, Applied()))
    assert (sees(access, row, ANN), sees(access, row, BOB)) == (True, False)
