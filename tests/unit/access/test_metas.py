"""ACLs in metadata (GSA feeds specification, 11.1)."""

import pytest

from ingather.access import acl_of_metas, decide, principal
from ingather.access.metas import ONE_VALUE_SWITCH, is_acl_meta, is_reserved
from ingather.model.acl import Acl, Inheritance, PrincipalScope, Right
from ingather.model.url import canonical

URL = "http://h.example/doc"


def read(*metas: tuple[str, str], one_value: bool = False) -> Acl:
    made = acl_of_metas(URL, metas, one_value_per_meta=one_value, canonical=canonical).acl
    assert made is not None
    return made


def names(acl: Acl, right: Right) -> list[str]:
    return [entry.principal.name for entry in acl.entries if entry.right is right]


def test_metas_without_any_such_name_say_nothing() -> None:
    assert acl_of_metas(URL, [("author", "a,b"), ("google:title", "x")]).acl is None
    assert is_reserved("Google:Title")
    assert not is_acl_meta("google:title")


def test_the_four_lists_and_the_inheritance() -> None:
    acl = read(
        ("google:aclusers", "joe"),
        ("google:aclgroups", r"corp\eng"),
        ("Google:ACLDenyUsers", "eve"),
        ("google:acldenygroups", "interns"),
        ("google:aclinheritfrom", "http://H.example/folder#x"),
        ("google:aclinheritancetype", "PARENT_OVERRIDES"),
    )
    assert names(acl, Right.PERMIT) == ["joe", "eng"]
    assert names(acl, Right.DENY) == ["eve", "interns"]
    assert acl.inherit_from == "http://h.example/folder"
    assert acl.inheritance is Inheritance.PARENT_OVERRIDES
    assert not acl.problem


def test_gsa_T39_a_deny_list_denies_the_whole_and_each_part() -> None:
    acl = read(("google:acldenyusers", "a,b"), ("google:aclusers", "a"), ("google:aclusers", "c"))
    assert names(acl, Right.DENY) == ["a,b", "a", "b"]
    for name, seen in (("a", False), ("b", False), ("c", True)):
        who = principal(name, PrincipalScope.USER)
        assert who is not None
        assert decide([acl], who, ()).permitted is seen
    assert names(read(("google:acldenyusers", "a,b"), one_value=True), Right.DENY) == ["a,b", "a", "b"]


def test_gsa_T39_a_permit_list_of_logins_is_split_and_noted() -> None:
    found = acl_of_metas(URL, [("google:aclusers", "siva,vaka")])
    assert found.acl is not None
    assert names(found.acl, Right.PERMIT) == ["siva,vaka", "siva", "vaka"]
    assert not found.warnings
    assert "siva,vaka" in found.notes[0]
    assert names(read(("google:aclusers", "siva,vaka"), one_value=True), Right.PERMIT) == ["siva,vaka"]


@pytest.mark.parametrize("value", ["Smith, John", "CN=joe,OU=eng", "a,,b", "a b,c"])
def test_gsa_T39_what_does_not_look_like_logins_stays_whole_with_a_warning(value: str) -> None:
    found = acl_of_metas(URL, [("google:aclusers", value)])
    assert found.acl is not None
    assert names(found.acl, Right.PERMIT) == [value]
    assert ONE_VALUE_SWITCH in found.warnings[0]
    assert not acl_of_metas(URL, [("google:aclusers", value)], one_value_per_meta=True).warnings


@pytest.mark.parametrize(
    ("metas", "said"),
    [
        ([("google:acldenyuser", "eve")], "acldenyuser"),
        ([("google:aclinheritancetype", "both")], "both"),
        ([("google:aclinheritfrom", "not a url")], "not a url"),
        ([("google:aclinheritfrom", "http://a/"), ("google:aclinheritfrom", "http://b/")], "two parents"),
    ],
)
def test_what_is_not_understood_hides_the_document(metas: list[tuple[str, str]], said: str) -> None:
    acl = read(("google:aclusers", "joe"), *metas)
    assert said in acl.problem
    joe = principal("joe", PrincipalScope.USER)
    assert joe is not None
    assert not decide([acl], joe, ()).permitted


def test_empty_values_are_an_empty_list_and_show_nothing() -> None:
    acl = read(("google:aclusers", " "), ("google:aclinheritfrom", ""))
    assert (acl.entries, acl.inherit_from, acl.problem) == ((), "", "")
