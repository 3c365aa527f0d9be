"""Crawl-time headers: what an adaptor says in the head of its answer."""

import json
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.feeds.headers import CONTROL_FIELDS, has_controls, read_anchors, read_controls, skips_content
from ingather.model.acl import Acl, AclEntry, Inheritance, Principal, PrincipalScope, Right
from ingather.model.controls import Controls

URL = "http://adaptor.example:5678/doc/1"
JOE = {"access": "permit", "scope": "user", "name": "joe"}


def read(*fields: tuple[str, str]) -> Controls:
    found = read_controls(URL, fields)
    assert found is not None
    return found


def acl_field(said: object) -> tuple[str, str]:
    return "X-Gsa-Doc-Controls", "acl=" + quote(said if isinstance(said, str) else json.dumps(said), safe="")


def acl_of(said: object) -> Acl:
    acl = read(acl_field(said)).acl
    assert acl is not None
    return acl


def test_a_plain_head_says_nothing() -> None:
    assert read_controls(URL, [("Content-Type", "text/html"), ("X-Gsa", "x")]) is None
    assert not has_controls({"content-type": "text/html"})
    assert all(has_controls({name: ""}) for name in CONTROL_FIELDS)


def test_metadata_of_repeated_fields_is_one_list_and_plus_is_a_plus() -> None:
    found = read(
        ("X-gsa-external-metadata", "Department=R%26D,author=J%C3%BCrgen%20A+B"),
        ("X-GSA-EXTERNAL-METADATA", "author=Ann%2C%20Bob,google%3Asecret=x"),
    )
    assert found.metadata == (("department", "R&D"), ("author", "Jürgen A+B"), ("author", "Ann, Bob"))
    assert found.acl is None


def test_empty_metadata_clears_and_absent_metadata_says_nothing() -> None:
    assert read(("X-Gsa-External-Metadata", "")).metadata == ()
    assert read(("X-Gsa-Serve-Security", "public")).metadata is None


def test_acl_pairs_of_version_7_0_come_in_a_second_field() -> None:
    found = read(
        ("X-Gsa-External-Metadata", "a=b"),
        (
            "X-Gsa-External-Metadata",
            "google%3Aaclusers=joe,google:aclgroups=eng,google%3Aacldenyusers=eve,google%3Aaclinheritfrom=http%3A%2F%2Fadaptor.example%2Fup",
        ),
    )
    assert found.metadata == (("a", "b"),)
    assert found.acl_from_metas
    assert found.acl == Acl(
        URL,
        (
            AclEntry(Right.PERMIT, Principal(PrincipalScope.USER, "joe")),
            AclEntry(Right.PERMIT, Principal(PrincipalScope.GROUP, "eng")),
            AclEntry(Right.DENY, Principal(PrincipalScope.USER, "eve")),
        ),
        "http://adaptor.example/up",
    )


@pytest.mark.parametrize(
    "pairs",
    ["google:aclusers=joe,eve", "google:acldenyuser=eve", "google:aclusers=%ff", "google:acldenyusers=%zz"],
)
def test_acl_pairs_that_do_not_read_are_seen_by_nobody(pairs: str) -> None:
    acl = read(("X-Gsa-External-Metadata", pairs)).acl
    assert acl is not None
    assert acl.problem


def test_the_acl_as_json() -> None:
    said = {
        "entries": [
            {"access": "permit", "scope": "user", "name": "corp\\jürgen", "namespace": "ns", "case_sensitivity_type": "EVERYTHING_CASE_INSENSITIVE"},
            {"access": "DENY", "scope": "GROUP", "name": "eng"},
        ],
        "inherit_from": "http://adaptor.example:5678/up",
        "inheritance_type": "AND_BOTH_PERMIT",
    }  # fmt: skip
    assert acl_of(said) == Acl(
        URL,
        (
            AclEntry(
                Right.PERMIT,
                Principal(PrincipalScope.USER, "jürgen", "corp", namespace="ns", case_sensitive=False),
            ),
            AclEntry(Right.DENY, Principal(PrincipalScope.GROUP, "eng")),
        ),
        "http://adaptor.example:5678/up",
        Inheritance.AND_BOTH_PERMIT,
    )


def test_json_without_anybody_is_an_empty_acl_and_no_text_is_none() -> None:
    assert acl_of({}) == Acl(URL)
    none = read(("X-Gsa-Doc-Controls", "acl="), ("X-Gsa-Serve-Security", "public"))
    assert (none.acl, none.no_acl, none.secured) == (None, True, False)


def test_no_acl_and_no_word_of_security_is_secured() -> None:
    found = read(("X-Gsa-Doc-Controls", "acl="))
    assert (found.no_acl, found.secured) == (True, True)
    assert "hidden" in found.notes[0]


@pytest.mark.parametrize(
    "said",
    [
        "{", "[]", "null", "3", '"x"', "[" * 100_000, '{"entries": 5}', '{"entries": ["joe"]}', '{"entries": [{"name": "joe"}]}',
        '{"entries": [{"access": "permit", "scope": "robot", "name": "joe"}]}', '{"denies": ["joe"]}', '{"inheritance_type": "ODD"}',
        '{"entries": [{"access": "deny", "scope": "user", "name": " "}]}', '{"inherit_from": 5}', '{"inherit_from": "no url"}',
        '{"entries": [], "entries": []}', '{"entries": [{"access": "permit", "scope": "user", "name": "joe", "only": "x"}]}',
        '{"entries": [{"access": "permit", "scope": "user", "name": "\\ud800"}]}',
    ],
)  # fmt: skip
def test_gsa_T46_json_that_cannot_be_read_is_seen_by_nobody_and_named(said: str) -> None:
    found = read(acl_field(said))
    assert found.acl is not None
    assert found.acl.problem
    assert any("nobody may see it" in note for note in found.notes)
    msgspec.msgpack.encode(found)


@pytest.mark.parametrize("text", ["acl=%zz", "acl=%ff", "acl", "ACLS=x", "acl_2=x"])
def test_a_control_that_may_be_an_acl_is_not_passed_over(text: str) -> None:
    acl = read(("X-Gsa-Doc-Controls", text), ("X-Gsa-Serve-Security", "public")).acl
    assert acl is not None
    assert acl.problem


def test_two_acls_that_differ_are_none_to_trust() -> None:
    acl = read(acl_field({"entries": [JOE]}), ("X-Gsa-Doc-Controls", "acl=")).acl
    assert acl is not None
    assert "two ACLs" in acl.problem


def test_a_denial_beside_the_json_is_not_lost() -> None:
    acl = read(acl_field({"entries": [JOE]}), ("X-Gsa-External-Metadata", "google:acldenyusers=eve")).acl
    assert acl is not None
    assert [(str(entry.right), entry.principal.name) for entry in acl.entries] == [
        ("permit", "joe"), ("deny", "eve")
    ]  # fmt: skip


def test_other_controls_come_each_in_a_field_or_joined_on_the_way() -> None:
    wanted = ("http://shown.example/a,b", True, False, "content")
    apart = read(
        ("X-Gsa-Doc-Controls", "display_url=http%3A%2F%2Fshown.example%2Fa%2Cb"), ("X-Gsa-Doc-Controls", "crawl_once=true"),
        ("X-Gsa-Doc-Controls", "lock=false"), ("X-Gsa-Doc-Controls", "scoring=content"),
    )  # fmt: skip
    joined = read(
        ("X-Gsa-Doc-Controls", "display_url=http%3A%2F%2Fshown.example%2Fa%2Cb, crawl_once=true, lock=false,scoring=content"),
    )  # fmt: skip
    for found in (apart, joined):
        assert (found.display_url, found.once, found.locked, found.scoring) == wanted


@pytest.mark.parametrize(
    ("said", "secured"),
    [("secure", True), ("public", False), ("Public", False), ("public, secure", True), ("open", True), ("", True)],
)  # fmt: skip
def test_serve_security(said: str, secured: bool) -> None:  # noqa: FBT001 - a parameter
    assert read(("X-Gsa-Serve-Security", said)).secured is secured


def test_anchors_are_links() -> None:
    links = read_anchors(
        [("X-Gsa-External-Anchor", "to%20B=http%3A%2F%2Fo.example%2Fb,=%2Fc,http%3A%2F%2F[")], URL
    )
    assert [(link.url, link.text) for link in links] == [
        ("http://o.example/b", "to B"), ("http://adaptor.example:5678/c", "")
    ]  # fmt: skip


def test_only_204_with_its_header_keeps_the_content() -> None:
    fields = [("X-Gsa-Skip-Updating-Content", "true")]
    assert skips_content(fields, 204)
    assert not skips_content(fields, 200)
    assert not skips_content([], 204)


_VALUES = st.text(st.characters(max_codepoint=255), max_size=60) | st.sampled_from(
    ["acl=", "acl={}", "acl=%7B%22entries%22:[", "google:acldenyusers=", "a=b", "public", "secure"]
)


@given(st.lists(st.tuples(st.sampled_from(sorted(CONTROL_FIELDS)), _VALUES), max_size=6))
def test_any_head_reads_and_travels(fields: list[tuple[str, str]]) -> None:
    found = read_controls(URL, fields)
    read_anchors(fields, URL)
    if found is not None:
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=Controls) == found


@given(st.text(max_size=80))
def test_any_text_for_an_acl_is_an_acl_or_a_problem(text: str) -> None:
    raw = "acl=" + quote(text.encode(errors="replace"), safe="")
    found = read(("X-Gsa-Doc-Controls", raw), ("X-Gsa-Serve-Security", "public"))
    assert found.acl is not None or found.no_acl
