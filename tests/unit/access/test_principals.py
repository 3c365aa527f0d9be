"""Texts become principals, and principals are compared (GSA feeds specification, 11.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.access import decide, principal
from ingather.access.principals import fold, identity, key_of, split
from ingather.model.acl import Acl, AclEntry, Principal, PrincipalScope, Right

USER = PrincipalScope.USER
GROUP = PrincipalScope.GROUP


def named(text: str, *, scope: PrincipalScope = USER, **more: object) -> Principal:
    made = principal(text, scope, **more)  # type: ignore[arg-type]
    assert made is not None
    return made


def permitted(entry: Principal, user: Principal, groups: tuple[Principal, ...] = (), **more: bool) -> bool:
    return decide([Acl("u", (AclEntry(Right.PERMIT, entry),))], user, groups, **more).permitted


@pytest.mark.parametrize(
    ("text", "name", "domain"),
    [
        ("joe", "joe", ""),
        (r"corp\joe", "joe", "corp"),
        ("corp/joe", "joe", "corp"),
        ("joe@corp", "joe", "corp"),
        (r"a@b\c", "c", "a@b"),  # the backslash goes first, wherever it stands
        ("a@b/c", "c", "a@b"),  # where the client library would split at the @
        (r"a/b\c\d", r"c\d", "a/b"),
        ("a@b@c", "a", "b@c"),
        ("CN=Joe,OU=x/y@z", "CN=Joe,OU=x/y@z", ""),
        ("joe@corp/o=x", "o=x", "joe@corp"),  # the = stands after the first separator
        ("", "", ""),
    ],
)
def test_the_servers_splitting_rule(text: str, name: str, domain: str) -> None:
    assert split(text) == (name, domain)


def test_gsa_T34_three_spellings_are_the_same_person() -> None:
    spelt = [named(text) for text in (r"corp\joe", "corp/joe", "joe@corp")]
    assert len(set(spelt)) == 1
    for entry in spelt:
        for user in spelt:
            assert permitted(entry, user)


def test_gsa_T35_an_unqualified_principal_is_not_split() -> None:
    made = named("a/b", unqualified=True)
    assert (made.name, made.domain) == ("a/b", "")
    assert not permitted(made, named("a/b"))
    assert permitted(made, named("a/b", unqualified=True))


def test_gsa_T36_case_is_folded_and_not_merely_lowered() -> None:
    entry = named("straße", case_sensitive=False)
    assert permitted(entry, named("STRASSE"))
    assert permitted(named("STRASSE", case_sensitive=False), named("straße"))
    assert not permitted(named("straße"), named("STRASSE"))
    assert permitted(
        named(r"CORP\JOE", namespace="NS", case_sensitive=False), named("joe@corp", namespace="ns")
    )


def test_gsa_T37_equal_names_in_two_namespaces_are_two_people() -> None:
    assert not permitted(named("joe", namespace="A"), named("joe", namespace="B"))
    assert not permitted(named("joe", namespace="A"), named("joe"))
    assert permitted(named("joe", namespace="Default"), named("joe", namespace=" "))


def test_a_user_is_no_group_of_the_same_name() -> None:
    assert not permitted(named("eng", scope=GROUP), named("eng"))
    assert permitted(named("eng", scope=GROUP), named("joe"), (named("eng", scope=GROUP),))


def test_the_domain_of_a_user_is_tried_cut_to_its_first_label() -> None:
    entry, user = named(r"corp\joe"), named("joe@corp.example.com")
    assert permitted(entry, user)
    assert not permitted(entry, user, cut_domains=False)
    assert not permitted(user, entry)  # what the list says is not cut


def test_a_group_of_a_longer_domain_is_another_group() -> None:
    assert not permitted(
        named(r"corp\eng", scope=GROUP), named("joe"), (named("eng@corp.example.com", scope=GROUP),)
    )


def test_white_space_names_nobody() -> None:
    assert principal(" \n", USER) is None
    assert named("  joe\n") == named("joe")


def test_ignorable_characters_and_wide_letters_fold_away() -> None:
    assert fold("JO\u00adE\u200b") == "joe"
    assert fold("\uff2a\uff4f\uff45") == "joe"
    assert fold("\u0130") == fold(fold("\u0130"))


@given(st.text(max_size=12))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold(text.lower()) == fold(fold(text.lower()))


@given(st.text(alphabet="aB\\/@=. é", max_size=8), st.booleans())
def test_everybody_meets_the_entry_that_says_his_own_text(text: str, sensitive: bool) -> None:  # noqa: FBT001 - drawn
    entry = principal(text, USER, case_sensitive=sensitive)
    user = principal(text, USER)
    if entry is None or user is None:
        assert not text.strip()
        return
    assert key_of(entry) in identity((user,))
