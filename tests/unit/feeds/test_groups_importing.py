"""Memberships out of CSV, LDIF and JSON lines."""

import base64
from collections.abc import Sequence
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.errors import UsageError
from ingather.feeds.groups_importing import ImportOptions, read_csv, read_ldif
from ingather.feeds.groups_lines import group_line, read_group_lines
from ingather.model.acl import Principal, PrincipalScope
from ingather.model.feed import FeedEnd, FeedRejection, GroupMembership

USER, GROUP = PrincipalScope.USER, PrincipalScope.GROUP
PLAIN = ImportOptions()
DIRECTORY = ImportOptions("corp", "", case_sensitive=False)


def pairs(items: Sequence[object]) -> list[tuple[str, str, str]]:
    return [
        (item.group.name, str(member.scope), f"{member.domain}\\{member.name}" if member.domain else member.name)
        for item in items if isinstance(item, GroupMembership) for member in item.members
    ]  # fmt: skip


def csv_of(text: str | bytes, options: ImportOptions = PLAIN) -> list[object]:
    body = text.encode() if isinstance(text, str) else text
    return list(read_csv(BytesIO(body), options))


def ldif_of(text: str, options: ImportOptions = DIRECTORY) -> list[object]:
    return list(read_ldif(lambda: BytesIO(text.encode()), options))


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_csv_with_named_columns(mark: str) -> None:
    text = "\ufeffMember,Group,Type,Case\njoe,eng,,insensitive\neng,company,group,\n\n,empty,,\n".replace(
        ",", mark
    )
    items = csv_of(text)
    assert pairs(items) == [("eng", "user", "joe"), ("company", "group", "eng")]
    first = items[0]
    assert isinstance(first, GroupMembership)
    assert (first.line, first.members[0].case_sensitive) == (2, False)
    assert items[-1] == FeedEnd(complete=True, repaired=False, items=3)


def test_a_csv_without_names_has_group_and_member() -> None:
    assert pairs(csv_of('eng,joe\n"Smith, team","corp\\moe"\n')) == [
        ("eng", "user", "joe"),
        ("Smith, team", "user", "corp\\moe"),
    ]


def test_a_domain_is_given_to_names_without_one() -> None:
    assert pairs(csv_of("eng,joe\neng,moe@other\n", DIRECTORY)) == [
        ("eng", "user", "corp\\joe"),
        ("eng", "user", "other\\moe"),
    ]


def test_bad_lines_of_a_csv_cost_themselves() -> None:
    items = csv_of(
        b"group,member,type,case\n,joe,,\neng,joe,robot,\neng,joe,,sometimes\neng,j\xf6e,,\neng,moe,,\n"
    )
    bad = [(item.line, item.reason) for item in items if isinstance(item, FeedRejection)]
    assert [line for line, _ in bad] == [2, 3, 4, 5]
    assert bad[3][1] == "it is not UTF-8"
    assert pairs(items) == [("eng", "user", "moe")]


def test_columns_that_do_not_say_who_is_in_what_are_refused() -> None:
    with pytest.raises(UsageError):
        csv_of("group,case\neng,sensitive\n")


def test_a_csv_that_ends_within_quotes_or_has_an_endless_cell_is_not_complete() -> None:
    items = csv_of('eng,joe\neng,"' + "x" * 200_000 + "\n")
    assert isinstance(items[-1], FeedEnd)
    assert not items[-1].complete


LDIF = f"""version: 1

dn: CN=Joe Doe,OU=People,DC=corp
objectClass: user
sAMAccountName: joe
memberOf: CN=All,DC=corp

# a comment
dn: cn=Eng, ou=Groups, dc=corp
objectClass: group
cn: Eng
member: cn=joe doe, ou=people,
  dc=corp
member: CN=Gone,DC=corp
member;range=0-1499: uid=moe,ou=people,dc=corp

dn:: {base64.b64encode("CN=Ärzte,DC=corp".encode()).decode()}
objectClass: posixGroup
cn:: {base64.b64encode("Ärzte".encode()).decode()}
memberUid: zoe

dn: cn=Top,dc=corp
objectClass: groupOfNames
cn: Top
member: CN=Eng,OU=Groups,DC=corp

dn: ou=nameless,dc=corp
member: CN=Gone,DC=corp
"""


def test_an_ldif_names_members_as_their_entries_do() -> None:
    items = ldif_of(LDIF)
    assert pairs(items) == [
        ("CN=All,DC=corp", "user", "corp\\joe"),
        ("Eng", "user", "corp\\joe"),
        ("Eng", "user", "CN=Gone,DC=corp"),
        ("Eng", "user", "corp\\moe"),
        ("Ärzte", "user", "corp\\zoe"),
        ("Top", "group", "corp\\Eng"),
    ]
    eng = items[1]
    assert isinstance(eng, GroupMembership)
    assert "stays a distinguished name" in eng.warnings[0]
    assert not eng.members[0].case_sensitive
    assert [item.url for item in items if isinstance(item, FeedRejection)] == ["Eng", "ou=nameless,dc=corp"]
    assert isinstance(items[-1], FeedEnd)
    assert items[-1].complete


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    for kind in ("csv", "ldif"):
        try:
            items = list(
                read_csv(BytesIO(body), PLAIN) if kind == "csv" else read_ldif(lambda: BytesIO(body), PLAIN)
            )
        except UsageError:
            continue
        assert isinstance(items[-1], FeedEnd)
    assert all(isinstance(item, GroupMembership | FeedRejection) for item in read_group_lines(body))


TEXTS = st.text(min_size=1, max_size=8).filter(lambda text: text == text.strip())
PRINCIPALS = st.builds(
    Principal,
    st.sampled_from([USER, GROUP]),
    TEXTS,
    st.one_of(st.just(""), TEXTS),
    st.sampled_from(["Default", "Other"]),
    st.booleans(),
)


@given(TEXTS, st.lists(PRINCIPALS, max_size=4))
def test_json_lines_come_back_as_they_went(name: str, members: list[Principal]) -> None:
    item = GroupMembership(7, 0, Principal(GROUP, name, "a\\b"), tuple(members))
    assert list(read_group_lines(group_line(item))) == [item]
    lost = FeedRejection(3, 0, name, "torn", denies=True)
    assert list(read_group_lines(group_line(lost))) == [lost]


@pytest.mark.parametrize(
    "line",
    [b"{", b"[]", b'{"group": ""}', b'{"group": "g", "members": [{}]}', b'{"group": "g", "members": [{"user": "a", "group": "b"}]}',
     b'{"group": "g", "members": [{"user": "a", "case": "maybe"}]}', b'{"grop": "g"}', b"\xff", b"[" * 100_000],
)  # fmt: skip
def test_bad_json_lines_cost_themselves(line: bytes) -> None:
    items = list(read_group_lines(line + b'\n{"group": "corp\\\\eng", "members": [{"user": "joe@corp"}]}\n'))
    assert isinstance(items[0], FeedRejection)
    assert pairs(items) == [("eng", "user", "corp\\joe")]
