"""policy-acl.txt over a real catalog: per-URL ACLs first, then the policy, which also closes public documents."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingather.access import Rights
from ingather.app.access.policing import place_by_pieces, place_when_changed, use_policy, use_policy_of
from ingather.app.home import Home
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf import load_bodies
from ingather.conf.policyacl import PolicyAcl
from ingather.model.acl import Acl, AclEntry, Inheritance, Principal, PrincipalScope, Right
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

AL = Principal(PrincipalScope.USER, "al")
ENG, HR = (Principal(PrincipalScope.GROUP, name) for name in ("eng", "hr"))
RULE = "example.com/engsite group:eng user:bob right=none\n"
INSIDE, OUTSIDE = "http://example.com/engsite/a", "http://example.com/other"


@pytest.fixture
def access(catalog: SqliteUnderTest) -> Iterator[AccessReader]:
    made = AccessReader(catalog.writer.path)
    yield made
    made.close()


def ruled(catalog: SqliteUnderTest, text: str = RULE) -> None:
    rules, said = PolicyAcl.parse(text, "policy-acl.txt")
    assert not [d for d in said if d.is_error]
    use_policy(catalog.writer, rules)


def described(visitor: Visitor, url: str, source: str = "") -> int:
    visitor.start(url, source=source)
    visitor.visit(url, "text")
    return visitor.id(url)


def sees(access: AccessReader, row: int, *groups: Principal, user: Principal = AL) -> bool:
    return Rights(access).visible((user,), groups).sees(access.chains_of([row])[row])


def put(catalog: SqliteUnderTest, acl: Acl) -> None:
    work: Callable[[CatalogWriter], object] = lambda w: w.access.put_acl(acl, Applied())  # noqa: E731 - its type
    catalog.writer.transaction(work)


def acl(right: Right, who: Principal, parent: str = "") -> Acl:
    return Acl(INSIDE, (AclEntry(right, who),), parent)


@pytest.mark.parametrize(
    ("own", "group", "permitted"),
    [
        (acl(Right.DENY, AL), ENG, False),
        (None, ENG, True),
        (acl(Right.PERMIT, AL, "http://example.com/no-such-parent"), ENG, False),
        (acl(Right.PERMIT, AL), HR, True),
    ],
    ids=["deny", "none", "broken", "permit"],
)
def test_gsa_patterns_case_31(  # noqa: PLR0913, PLR0917 - the fixtures and the case
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader, own: Acl | None, group: Principal, permitted: bool  # noqa: FBT001
) -> None:  # fmt: skip
    ruled(catalog)
    row = described(visitor, INSIDE)
    if own is not None:
        put(catalog, own)
    assert sees(access, row, group) is permitted


def switched(catalog: SqliteUnderTest, *, on: bool, text: str = RULE) -> None:
    """Begin as a run does, with the switch ``access.policy-rescues-broken``."""
    loaded = load_bodies({"policy-acl.txt": text.encode()})
    use_policy(catalog.writer, loaded.policy)
    place_when_changed(catalog.writer, loaded, {}, 1.0, rescues=on)


PARENT = "http://example.com/no-such-parent"


def test_gsa_patterns_case_31_with_rules_that_rescue_broken_chains(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    """On, off, and with a parent that arrives and goes: no document is written when it does."""
    row = described(visitor, INSIDE)
    put(catalog, acl(Right.PERMIT, AL, PARENT))
    switched(catalog, on=False)
    assert not sees(access, row, ENG)
    before = catalog.writer.applier.sequence
    switched(catalog, on=True)
    assert access.moved(before) == [row]
    assert (sees(access, row, ENG), sees(access, row, HR)) == (True, False)
    assert [one.url for one in access.rescue_of(INSIDE)] == ["policy"]

    before, number = catalog.writer.applier.sequence, access.chains_of([row])[row]
    put(catalog, Acl(PARENT, (AclEntry(Right.DENY, ENG),), "", Inheritance.PARENT_OVERRIDES))
    assert (sees(access, row, ENG), sees(access, row, HR)) == (False, True), (
        "the chain is whole: rules say nothing"
    )
    catalog.writer.transaction(lambda w: w.access.delete_acl(PARENT, Applied()))
    assert (sees(access, row, ENG), sees(access, row, HR)) == (True, False)
    assert (catalog.writer.applier.sequence, access.chains_of([row])) == (before, {row: number})

    put(catalog, acl(Right.PERMIT, AL, "http://example.com/another"))
    assert sees(access, row, ENG)
    put(catalog, Acl(PARENT, problem="unreadable"))
    put(catalog, acl(Right.PERMIT, AL, PARENT))
    assert not sees(access, row, ENG), "what cannot be read may have been a denial"
    catalog.writer.transaction(lambda w: w.access.delete_acl(PARENT, Applied()))

    late = described(visitor, f"{INSIDE}/late")
    put(catalog, Acl(f"{INSIDE}/late", (), PARENT))
    assert sees(access, late, ENG)
    switched(catalog, on=True, text="example.com/engsite hr\n")
    assert [sees(access, one, group) for one in (row, late) for group in (ENG, HR)] == [False, True] * 2
    unused = access.unused_chains()
    assert not set(access.chains_of([row, late]).values()) & set(unused)
    catalog.writer.transaction(lambda w: w.access.collect_chains(unused))
    assert sees(access, row, HR)

    held = access.chains_of([row])[row]
    before = catalog.writer.applier.sequence
    switched(catalog, on=False, text="example.com/engsite hr\n")
    assert access.moved(before) == [row, late]
    assert not sees(access, row, HR)
    assert not Rights(access).visible((AL,), (HR,)).sees(held), "nor by the number that the index still has"
    switched(catalog, on=True, text="example.com/engsite hr\n")
    assert sees(access, row, HR)


def test_gsa_patterns_case_32(visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader) -> None:
    ruled(catalog)
    inside, public = described(visitor, INSIDE), described(visitor, OUTSIDE)
    secure = described(visitor, "http://vault.test/a", source="vault")
    assert [sees(access, row, HR) for row in (inside, public, secure)] == [False, True, False]


def test_documents_are_placed_anew_when_the_rules_change_and_only_then(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader
) -> None:
    row = described(visitor, INSIDE)
    assert sees(access, row)
    loaded = load_bodies({"policy-acl.txt": RULE.encode()})
    assert loaded.policy is not None
    use_policy(catalog.writer, loaded.policy)
    assert place_when_changed(catalog.writer, loaded, {}, 1.0)
    assert (sees(access, row), sees(access, row, ENG)) == (False, True)
    assert not place_when_changed(catalog.writer, loaded, {}, 2.0)
    without = load_bodies({})
    use_policy(catalog.writer, without.policy)
    assert place_when_changed(catalog.writer, without, {}, 3.0)
    assert sees(access, row)


def test_broken_rules_hide_what_is_written_under_them(
    visitor: Visitor, catalog: SqliteUnderTest, access: AccessReader, tmp_path: Path
) -> None:
    home = Home.create(tmp_path / "home")
    (home.config / "policy-acl.txt").write_text("products eng\n")
    use_policy_of(catalog.writer, home)
    assert not sees(access, described(visitor, INSIDE), ENG)
    (home.config / "policy-acl.txt").unlink()
    use_policy_of(catalog.writer, home)
    assert sees(access, described(visitor, OUTSIDE))


def test_a_running_keeper_places_documents_by_pieces(
    catalog: SqliteUnderTest, access: AccessReader, visitor: Visitor
) -> None:
    rows = [described(visitor, f"http://example.com/engsite/{n}") for n in range(3)]
    loaded = load_bodies({"policy-acl.txt": RULE.encode()})
    use_policy(catalog.writer, loaded.policy)
    jobs = 0

    async def write(job: Callable[[CatalogWriter, Applied], object]) -> object:
        nonlocal jobs
        jobs += 1
        return catalog.writer.transaction(lambda w: job(w, Applied()))

    assert asyncio.run(place_by_pieces(write, loaded, {}))
    assert jobs > 2
    assert [sees(access, row, ENG) for row in rows] == [True] * 3
    assert [sees(access, row, HR) for row in rows] == [False] * 3
    assert not asyncio.run(place_by_pieces(write, loaded, {}))
