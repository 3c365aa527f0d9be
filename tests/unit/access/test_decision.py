"""The written rule of GSA feeds specification 11.4, cell by cell and against brute force."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.access import ChainStatus, Verdict, decide
from ingather.access.decision import MAX_DEPTH, combine
from ingather.model.acl import Acl, AclEntry, Inheritance, Principal, PrincipalScope, Right

P, D, I = Verdict.PERMIT, Verdict.DENY, Verdict.INDETERMINATE  # noqa: E741 - as the table has them
LETTER = {"P": P, "D": D, "I": I}
ME = Principal(PrincipalScope.USER, "me")
CELLS = {  # parent P, D, I; below each: child P, D, I
    Inheritance.CHILD_OVERRIDES: "PDP PDD PDI",
    Inheritance.PARENT_OVERRIDES: "PPP DDD PDI",
    Inheritance.AND_BOTH_PERMIT: "PDD DDD DDD",
}
TABLE = [
    (inheritance, LETTER[parent], LETTER[child], LETTER[cell])
    for inheritance, row in CELLS.items()
    for parent, cells in zip("PDI", row.split(), strict=True)
    for child, cell in zip("PDI", cells, strict=True)
]


def user(name: str) -> Principal:
    return Principal(PrincipalScope.USER, name)


def group(name: str) -> Principal:
    return Principal(PrincipalScope.GROUP, name)


def saying(verdict: Verdict) -> tuple[AclEntry, ...]:
    return {P: (AclEntry(Right.PERMIT, ME),), D: (AclEntry(Right.DENY, ME),), I: ()}[verdict]


def linked(*acls: Acl) -> list[Acl]:
    made: list[Acl] = []
    for acl in acls:
        above = made[-1].url if made else ""
        made.append(Acl(acl.url, acl.entries, above, acl.inheritance, acl.problem))
    return made


@pytest.mark.parametrize(("inheritance", "parent", "child", "result"), TABLE)
def test_gsa_T31_the_27_cells(
    inheritance: Inheritance, parent: Verdict, child: Verdict, result: Verdict
) -> None:
    assert combine(parent, child, inheritance) is result
    chain = linked(Acl("p", saying(parent), inheritance=inheritance), Acl("c", saying(child)))
    decision = decide(chain, ME, ())
    assert decision.status is ChainStatus.CHAIN_OK
    assert decision.verdict is (D if result is I else result)
    assert [step.verdict for step in decision.steps] == [parent, child]


@pytest.mark.parametrize("parent", [P, D, I])
@pytest.mark.parametrize("child", [P, D, I])
def test_gsa_T31_the_9_cells_of_a_leaf_node_as_a_parent(parent: Verdict, child: Verdict) -> None:
    chain = linked(Acl("p", saying(parent)), Acl("c", saying(child)))
    decision = decide(chain, ME, ())
    assert decision.status is ChainStatus.INVALID_INHERITANCE_TYPE
    assert decision.verdict is I
    assert not decision.permitted
    assert "p" in decision.detail
    with pytest.raises(ValueError, match="leaf-node"):
        combine(parent, child, Inheritance.LEAF_NODE)


S = Acl("S", (AclEntry(Right.DENY, group("interns")),), "", Inheritance.PARENT_OVERRIDES)
F = Acl("F", (AclEntry(Right.PERMIT, group("eng")),), "S", Inheritance.CHILD_OVERRIDES)
DOC = Acl("D", (AclEntry(Right.PERMIT, user("joe")),), "F")


@pytest.mark.parametrize(
    ("who", "groups", "said", "result"),
    [
        ("joe", ("eng",), "PPI", P),
        ("moe", ("eng",), "IPI", P),
        ("adam", ("eng", "interns"), "IPD", D),
        ("eve", (), "III", D),
        ("joe", ("interns",), "PID", D),
    ],
)
def test_gsa_T32_the_worked_example(who: str, groups: tuple[str, ...], said: str, result: Verdict) -> None:
    decision = decide([S, F, DOC], user(who), [group(g) for g in groups])
    assert decision.verdict is result
    assert [step.verdict for step in reversed(decision.steps)] == [LETTER[letter] for letter in said]


def test_the_entry_that_decided_is_named() -> None:
    assert decide([S, F, DOC], user("joe"), [group("eng")]).entry == DOC.entries[0]
    assert decide([S, F, DOC], user("moe"), [group("eng")]).entry == F.entries[0]
    denied = decide([S, F, DOC], user("joe"), [group("interns")])
    assert (denied.entry, denied.url) == (S.entries[0], "S")
    assert decide([S, F, DOC], user("eve"), ()).entry is None


def test_a_deny_beats_a_permit_of_the_same_list() -> None:
    both = Acl("u", (AclEntry(Right.PERMIT, ME), AclEntry(Right.DENY, group("g"))))
    assert decide([both], ME, ()).permitted
    assert not decide([both], ME, [group("g")]).permitted


@pytest.mark.parametrize(
    ("chain", "status"),
    [
        ([], ChainStatus.INHERITANCE_DATA_MISSING),
        ([DOC], ChainStatus.INHERITANCE_DATA_MISSING),
        ([S, DOC], ChainStatus.INHERITANCE_DATA_MISSING),
        ([S, Acl("x", saying(P))], ChainStatus.INHERITANCE_DATA_MISSING),
        ([Acl("a", saying(P), "a", Inheritance.CHILD_OVERRIDES)], ChainStatus.CHAIN_HAS_CYCLE),
        (
            [Acl("b", (), "a", Inheritance.CHILD_OVERRIDES), Acl("a", saying(P), "b")],
            ChainStatus.CHAIN_HAS_CYCLE,
        ),
    ],
)
def test_gsa_T33_a_broken_chain_shows_nothing_and_says_why(chain: list[Acl], status: ChainStatus) -> None:
    decision = decide(chain, ME, ())
    assert decision.status is status
    assert decision.verdict is I
    assert decision.detail


def test_gsa_T38_an_explicit_empty_list_is_for_nobody() -> None:
    assert decide([Acl("u")], ME, [group("g")]).verdict is D


@pytest.mark.parametrize("where", [0, 1])
def test_an_untrusted_list_anywhere_denies_everybody(where: int) -> None:
    acls = [Acl("p", saying(P), inheritance=Inheritance.CHILD_OVERRIDES), Acl("c", saying(P))]
    acls[where] = Acl(
        acls[where].url, acls[where].entries, "", acls[where].inheritance, "scope 'robot' is unknown"
    )
    decision = decide(linked(*acls), ME, ())
    assert (decision.verdict, decision.status) == (D, ChainStatus.ACL_UNREADABLE)
    assert "robot" in decision.detail


def test_a_chain_has_a_greatest_depth() -> None:
    acls = [Acl(str(n), saying(P), inheritance=Inheritance.CHILD_OVERRIDES) for n in range(MAX_DEPTH + 1)]
    assert decide(linked(*acls[1:]), ME, ()).permitted
    assert decide(linked(*acls), ME, ()).status is ChainStatus.CHAIN_TOO_DEEP


# --- against the rule as it is written -----------------------------------------------------------

NAMES = st.sampled_from(["a", "b"])
WHO = st.builds(Principal, st.sampled_from(PrincipalScope), NAMES, case_sensitive=st.booleans())
ENTRIES = st.lists(st.builds(AclEntry, st.sampled_from(Right), WHO), max_size=3).map(tuple)
CHAINS = st.lists(st.tuples(ENTRIES, st.sampled_from(Inheritance)), min_size=1, max_size=5)


def written(acls: list[Acl], me: str, mine: set[str]) -> Verdict:
    """The text of the specification, word for word; names are lower case here, so case plays no part."""

    def named(acl: Acl, right: Right) -> bool:
        users = {e.principal.name for e in acl.entries if e.right is right and e.principal.scope == "user"}
        groups = {e.principal.name for e in acl.entries if e.right is right and e.principal.scope == "group"}
        return me in users or bool(mine & groups)

    def local(acl: Acl) -> Verdict:
        if named(acl, Right.DENY):
            return D
        return P if named(acl, Right.PERMIT) else I

    if any(parent.inheritance is Inheritance.LEAF_NODE for parent in acls[:-1]):
        return I

    def whole(rest: list[Acl]) -> Verdict:
        mine_says = local(rest[0])
        if len(rest) == 1:
            return mine_says
        cells = CELLS[rest[0].inheritance].split()["PDI".index(mine_says.name[0])]
        return LETTER[cells["PDI".index(whole(rest[1:]).name[0])]]

    found = whole(acls)
    return D if found is I else found


@given(CHAINS, NAMES, st.sets(NAMES))
def test_any_chain_is_decided_as_the_rule_is_written(
    drawn: list[tuple[tuple[AclEntry, ...], Inheritance]], me: str, mine: set[str]
) -> None:
    chain = linked(*(Acl(str(n), entries, "", kind) for n, (entries, kind) in enumerate(drawn)))
    decision = decide(chain, user(me), [group(name) for name in mine])
    assert decision.verdict is written(chain, me, mine)
    if decision.entry is not None:
        assert decision.entry.right is (Right.PERMIT if decision.permitted else Right.DENY)
        assert decision.entry in next(acl.entries for acl in chain if acl.url == decision.url)
    if decision.permitted:
        assert decision.entry is not None
