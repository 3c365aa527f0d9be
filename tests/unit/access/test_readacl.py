"""What a description's own access list says, and that what cannot be read lets nobody in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.access.readacl import acl_of_readacl
from ingather.model.acl import PrincipalScope, Right

USER, GROUP = PrincipalScope.USER, PrincipalScope.GROUP


def names(*values: str) -> list[tuple[PrincipalScope, str, str]]:
    acl = acl_of_readacl([values])
    assert not acl.problem
    assert all(entry.right is Right.PERMIT for entry in acl.entries)
    return [(e.principal.scope, e.principal.name, e.principal.domain) for e in acl.entries]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("user=jack", (USER, "jack", "")),
        ("user: jack", (USER, "jack", "")),
        ("USERID=jack", (USER, "jack", "")),
        ("user=jack@corp.example", (USER, "jack", "corp.example")),
        ("group=hr", (GROUP, "hr", "")),
        ("role=editors", (GROUP, "editors", "")),
        ("org=Corp", (GROUP, "Corp", "")),
        ("organisation=Corp", (GROUP, "Corp", "")),
        (
            "uid=jack,ou=people,dc=corp,dc=example",
            (USER, "uid=jack,ou=people,dc=corp,dc=example", ""),
        ),
        ("cn=editors,dc=corp", (GROUP, "cn=editors,dc=corp", "")),
        ("o=corp.example", (GROUP, "o=corp.example", "")),
    ],
)
def test_what_is_read(value: str, expected: tuple[PrincipalScope, str, str]) -> None:
    assert names(value) == [expected]


def test_several_in_a_value_and_several_values() -> None:
    assert names("user=a; group=b ;", "role=c", "user=a") == [
        (USER, "a", ""),
        (GROUP, "b", ""),
        (GROUP, "c", ""),
    ]


@pytest.mark.parametrize(
    "values",
    [
        (), ("",), (" ; ",), ("staff",), ("*",), ("user=*",), ("user=",), ("=x",), ("!user=a",), ("user=!a",), ("deny=a",),
        ("user=a", "staff"), ("user=a;b",), ("user=a\nb",), ('user="a"',), ("uid:jack",), ("all",), ("user=a;" * 1001,),
    ],
)  # fmt: skip
def test_what_cannot_be_read_lets_nobody_in(values: tuple[str, ...]) -> None:
    acl = acl_of_readacl([values])
    assert acl.entries == ()
    assert acl.problem.startswith("readacl")


def test_layers_must_say_the_same() -> None:
    assert len(acl_of_readacl([["user=a;user=b"], ["user=b", "user=a"]]).entries) == 2
    assert "different" in acl_of_readacl([["user=a"], ["user=a;user=b"]]).problem
    assert acl_of_readacl([["user=a"], []]).problem


@given(st.lists(st.lists(st.text(max_size=20), max_size=3), min_size=1, max_size=3))
def test_any_text_gives_an_acl_that_only_permits_or_lets_nobody_in(lists: list[list[str]]) -> None:
    acl = acl_of_readacl(lists)
    assert bool(acl.problem) != bool(acl.entries)
