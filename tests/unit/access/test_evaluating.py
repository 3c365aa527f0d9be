"""All chains at once, held to the rule for one chain; and only what changed is evaluated again."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingather.access import ANONYMOUS, PUBLIC, ChainStatus, decide
from ingather.access.decision import RESCUABLE, Verdict, combine
from ingather.access.evaluating import Rights
from ingather.model.acl import (
    Acl,
    AclEntry,
    Inheritance,
    Principal,
    PrincipalScope,
    Right,
    is_foreign,
    narrowed,
)

JOE = Principal(PrincipalScope.USER, "joe")
ENG = Principal(PrincipalScope.GROUP, "eng")


@dataclass(frozen=True)
class Chain:
    id: int
    entries: int
    parent: str
    inheritance: Inheritance
    problem: str
    source: int = 0
    bound: bool = False
    rescue: int = 0


class Whose(NamedTuple):
    source: int
    bound: bool


class Book:
    """ACLs kept as the catalog keeps them, in dictionaries."""

    def __init__(self) -> None:
        self.lists: dict[tuple[AclEntry, ...], int] = {}
        self.numbers: dict[tuple[object, ...], Chain] = {}
        self.by_url: dict[str, tuple[int, Acl | None]] = {}
        self.epoch = 0
        self.moves: dict[int, int] = {}
        self.documents: dict[int, int] = {}
        self.brought: dict[str, tuple[int, bool]] = {}
        self.open: frozenset[int] = frozenset()

    def put(self, acl: Acl, source: int = 0, *, bound: bool = False) -> int:
        self.epoch += 1
        self.by_url[acl.url] = (self.epoch, acl)
        self.brought[acl.url] = (source, bound)
        return self.number(acl)

    def delete(self, url: str) -> None:
        self.epoch += 1
        self.by_url[url] = (self.epoch, None)

    def number(self, acl: Acl) -> int:
        entries = self.lists.setdefault(acl.entries, len(self.lists) + 1)
        source, bound = self.brought.get(acl.url, (0, False))
        key = (entries, acl.inherit_from, acl.inheritance, acl.problem, source, bound)
        made = Chain(len(self.numbers) + 2, *key)
        return self.numbers.setdefault(key, made).id

    def rescued(self, acl: Acl, policy: int) -> int:
        entries = self.lists.setdefault(acl.entries, len(self.lists) + 1)
        made = Chain(len(self.numbers) + 2, entries, acl.inherit_from, acl.inheritance, "", rescue=policy)
        return self.numbers.setdefault((entries, acl.inherit_from, acl.inheritance, policy), made).id

    def governing(self, url: str) -> list[Acl]:
        found: list[Acl] = []
        seen: set[str] = set()
        while len(found) < 1_010 and (acl := self.by_url.get(url, (0, None))[1]) is not None:
            if found and is_foreign(
                Whose(*self.brought[found[-1].url]), Whose(*self.brought[url]), self.open
            ):
                acl = replace(acl, inheritance=narrowed(acl.inheritance))
            found.append(acl)
            if url in seen:
                break
            seen.add(url)
            url = acl.inherit_from
        return found[::-1]

    # as the port has it

    def snapshot(self) -> AbstractContextManager[None]:
        return nullcontext()

    def inherited(self) -> frozenset[int]:
        return self.open

    def stamp(self) -> tuple[int, int, str]:
        return self.epoch, len(self.numbers) + 1, repr(sorted(self.open))

    def chains(self, after: int) -> Iterator[Chain]:
        return (chain for chain in list(self.numbers.values()) if chain.id > after)

    def acls(self, after: int) -> Iterator[tuple[int, str, int | None, int]]:
        for url, (epoch, acl) in self.by_url.items():
            if epoch > after:
                yield (
                    epoch,
                    url,
                    None if acl is None else self.number(acl),
                    self.brought.get(url, (0, False))[0],
                )

    def chains_at(self, urls: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        known = {url: acl for url, (_, acl) in self.by_url.items() if acl is not None and url in urls}
        return {url: (self.number(acl), self.brought[url][0]) for url, acl in known.items()}

    def entries(self, ids: Sequence[int]) -> Mapping[int, tuple[AclEntry, ...]]:
        return {number: entries for entries, number in self.lists.items() if number in ids}

    def anything_secured(self) -> bool:
        return bool(self.by_url)

    def moved(self, after: int) -> list[int]:
        return [row for sequence, row in self.moves.items() if sequence > after]

    def chains_of(self, ids: Sequence[int]) -> Mapping[int, int]:
        return {row: self.documents[row] for row in ids}


URLS = st.sampled_from(["u1", "u2", "u3", "u4"])
WHO = st.builds(
    Principal, st.sampled_from(PrincipalScope), st.sampled_from(["joe", "eng"]), case_sensitive=st.booleans()
)
ENTRIES = st.lists(st.builds(AclEntry, st.sampled_from(Right), WHO), max_size=2).map(tuple)
ACLS = st.builds(
    Acl, URLS, ENTRIES, st.one_of(st.just(""), URLS), st.sampled_from(Inheritance),
    st.sampled_from(["", "", "", "", "", "broken"]),
)  # fmt: skip
CHANGES = st.lists(st.one_of(ACLS, URLS), min_size=1, max_size=12)
VIEWERS = (((JOE,), ()), ((JOE,), (ENG,)), ((), ()))


@settings(max_examples=150)
@given(CHANGES)
def test_all_chains_at_once_are_judged_as_each_by_the_rule(changes: list[Acl | str]) -> None:
    """After every change, by an evaluator that followed all of them and by one that begins now."""
    book = Book()
    following = Rights(book)
    for change in changes:
        if isinstance(change, Acl):
            book.put(change)
        else:
            book.delete(change)
        for users, groups in VIEWERS:
            views = following.visible(users, groups), Rights(book).visible(users, groups)
            for url in ("u1", "u2", "u3", "u4"):
                acls = book.governing(url)
                if not acls:
                    continue
                expected = bool(users) and decide(acls, JOE, groups).permitted
                status = decide(acls, JOE, ()).status
                assert (book.number(acls[-1]) in following.broken()) is (status is not ChainStatus.CHAIN_OK)
                for view in views:
                    assert view.sees(book.number(acls[-1])) is expected
                    assert view.sees(PUBLIC)


SOURCED = st.tuples(ACLS, st.integers(0, 2), st.booleans())


@settings(max_examples=150)
@given(st.lists(st.one_of(SOURCED, URLS, st.frozensets(st.integers(1, 2))), min_size=1, max_size=12))
def test_acls_of_several_sources_are_judged_as_the_rule_says(
    changes: list[tuple[Acl, int, bool] | str | frozenset[int]],
) -> None:
    """Sources that let others inherit, who brought an ACL, and whether a token did, change at any time."""
    book = Book()
    following = Rights(book)
    for change in changes:
        if isinstance(change, tuple):
            book.put(change[0], change[1], bound=change[2])
        elif isinstance(change, str):
            book.delete(change)
        else:
            book.open = change
        for users, groups in VIEWERS:
            views = following.visible(users, groups), Rights(book).visible(users, groups)
            for url in ("u1", "u2", "u3", "u4"):
                acls = book.governing(url)
                expected = bool(acls) and bool(users) and decide(acls, JOE, groups).permitted
                for view in views:
                    assert not acls or view.sees(book.number(acls[-1])) is expected


PERMIT_JOE, DENY_JOE = (AclEntry(Right.PERMIT, JOE),), (AclEntry(Right.DENY, JOE),)


@pytest.mark.parametrize(
    "kind", [Inheritance.CHILD_OVERRIDES, Inheritance.PARENT_OVERRIDES, Inheritance.AND_BOTH_PERMIT]
)
@pytest.mark.parametrize("child_bound", [True, False])
@pytest.mark.parametrize("parent_bound", [True, False])
@pytest.mark.parametrize("same_source", [True, False])
@pytest.mark.parametrize("allowed", [True, False])
def test_an_acl_that_a_token_brought_opens_nothing_across_sources(
    kind: Inheritance,
    child_bound: bool,  # noqa: FBT001 - a case
    parent_bound: bool,  # noqa: FBT001 - a case
    same_source: bool,  # noqa: FBT001 - a case
    allowed: bool,  # noqa: FBT001 - a case
) -> None:
    """The cells of docs/explanation/access-rights.md, "Inheritance across sources"."""
    said = {"permit": PERMIT_JOE, "deny": DENY_JOE, "nothing": ()}
    for child, own in said.items():
        for parent, above in said.items():
            book = Book()
            book.open = frozenset({2}) if allowed else frozenset()
            book.put(Acl("folder", above, "", kind), 1 if same_source else 2, bound=parent_bound)
            number = book.put(Acl("document", own, "folder"), 1, bound=child_bound)
            sees = Rights(book).visible((JOE,)).sees(number)
            if same_source or allowed or not (child_bound or parent_bound):
                combined = combine(VERDICTS[parent], VERDICTS[child], kind)
                assert sees is (combined is Verdict.PERMIT)
            else:
                assert sees is (child == parent == "permit")


VERDICTS = {"permit": Verdict.PERMIT, "deny": Verdict.DENY, "nothing": Verdict.INDETERMINATE}
RULE = Acl("", (AclEntry(Right.PERMIT, ENG),))


@settings(max_examples=100)
@given(CHANGES, st.integers(0, 12))
def test_policy_rules_decide_where_a_chain_is_broken_and_nowhere_else(
    changes: list[Acl | str], early: int
) -> None:
    """Rescuing chains are made with their ACLs or later, when the rules come; parents come and go meanwhile."""
    book = Book()
    following = Rights(book)
    for n, change in enumerate(changes):
        if isinstance(change, Acl):
            book.put(change)
        else:
            book.delete(change)
        following.visible((JOE,), (ENG,))
        if n < early:
            continue
        chains = {url: book.governing(url) for url in ("u1", "u2", "u3", "u4")}
        rule = book.number(RULE)
        rescued = {
            url: book.rescued(acls[-1], rule)
            for url, acls in chains.items()
            if acls and acls[-1].inherit_from and not acls[-1].problem
        }
        for users, groups in VIEWERS:
            views = following.visible(users, groups), Rights(book).visible(users, groups)
            for url, number in rescued.items():
                own = decide(chains[url], JOE, groups)
                by = decide([RULE], JOE, groups) if own.status in RESCUABLE else own
                for view in views:
                    assert view.sees(number) is (bool(users) and by.permitted)


def test_nobody_sees_what_is_public_and_no_more() -> None:
    book = Book()
    book.put(Acl("u", (AclEntry(Right.PERMIT, JOE),)))
    view = Rights(book).visible(())
    assert view.allowed == ANONYMOUS.allowed


def test_a_change_evaluates_its_own_chains_again_and_no_others() -> None:
    book = Book()
    for number in range(50):
        book.put(Acl(f"d{number}", (AclEntry(Right.PERMIT, JOE),), f"folder{number % 5}"))
    for number in range(5):
        book.put(Acl(f"folder{number}", (), "", Inheritance.CHILD_OVERRIDES))
    rights = Rights(book)
    assert len(rights.visible((JOE,)).allowed) == 1 + 5
    epoch = rights.epoch
    book.put(Acl("folder3", (AclEntry(Right.DENY, JOE),), "", Inheritance.PARENT_OVERRIDES))
    assert len(rights.visible((JOE,)).allowed) == 1 + 4
    assert rights.epoch == epoch + 1
    assert rights._changed[-1][1] == {book.number(Acl("", (AclEntry(Right.PERMIT, JOE),), "folder3")), *(
        chain.id for chain in book.numbers.values() if chain.inheritance is Inheritance.PARENT_OVERRIDES
    )}  # fmt: skip
    book.put(Acl("elsewhere", ()))
    assert rights.visible((JOE,)) == rights.visible((JOE,))


def test_a_chain_of_a_thousand_is_judged_and_one_more_is_broken() -> None:
    book = Book()
    deepest = 0
    for number in range(1_001):
        deepest = book.put(
            Acl(f"{number:04}", (AclEntry(Right.PERMIT, JOE),) if not number else (), f"{number - 1:04}" if number else "",
                Inheritance.CHILD_OVERRIDES)
        )  # fmt: skip
    view = Rights(book).visible((JOE,))
    assert not view.sees(deepest)
    assert view.sees(deepest - 1)
    assert decide(book.governing("0999"), JOE, ()).permitted
    assert not decide(book.governing("1000"), JOE, ()).permitted


def test_what_moved_after_the_indexs_last_change_is_revoked_if_the_viewer_may_not_see_it() -> None:
    book = Book()
    rights = Rights(book)
    mine = book.put(Acl("mine", (AclEntry(Right.PERMIT, JOE),)))
    book.documents = {7: 0, 8: mine, 9: PUBLIC}
    book.moves = {11: 7, 12: 8, 13: 9}
    view = rights.visible((JOE,))
    assert rights.revoked(view, 10) == (7,)
    assert rights.revoked(rights.visible(()), 10) == (7, 8)
    assert rights.revoked(ANONYMOUS, 11) == (8,)
    assert rights.revoked(view, 13) == ()
