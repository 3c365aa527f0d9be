"""Who may see what, explained: the worked example of GSA feeds specification 11.4, broken chains, what is not known."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ingather.access import decide
from ingather.access.groups import expand
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.access.sqlite_groups_reader import GroupReader
from ingather.catalog.sqlite_changes import Applied
from ingather.explain.access import AccessExplainer, AccessParts, DocumentFacts
from ingather.explain.access_printing import explanation_text, seeing_text
from ingather.feeds.groups_applying import LoadMode, clean_up, load_groups
from ingather.model.acl import Acl, AclEntry, Inheritance, Principal, PrincipalScope, Right
from ingather.model.feed import FeedEnd, GroupMembership
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

SHARE, FOLDER, DOC = "http://h.test/share", "http://h.test/share/f", "http://h.test/share/f/d"
OPEN, SECRET = "http://h.test/open", "http://h.test/secret"


def user(name: str, *, case: bool = True) -> Principal:
    return Principal(PrincipalScope.USER, name, case_sensitive=case)


def group(name: str, *, case: bool = True) -> Principal:
    return Principal(PrincipalScope.GROUP, name, case_sensitive=case)


def permit(who: Principal) -> AclEntry:
    return AclEntry(Right.PERMIT, who)


def deny(who: Principal) -> AclEntry:
    return AclEntry(Right.DENY, who)


EXAMPLE = (
    Acl(SHARE, (deny(group("interns")),), "", Inheritance.PARENT_OVERRIDES),
    Acl(FOLDER, (permit(group("eng", case=False)),), SHARE, Inheritance.CHILD_OVERRIDES),
    Acl(DOC, (permit(user("joe")),), FOLDER),
)
MEMBERS = {
    "eng-berlin": [user("moe"), user("adam")],
    "ENG": [group("eng-berlin"), user("joe")],
    "interns": [user("adam")],
}


class World:
    """A catalog with documents, ACLs and memberships, and its explainer."""

    def __init__(self, catalog: SqliteUnderTest, visitor: Visitor) -> None:
        self.catalog, self.visitor = catalog, visitor
        path = catalog.writer.path
        self.explainer = AccessExplainer(
            AccessParts(
                acls=lambda: AccessReader(path), groups=lambda: GroupReader(path), document=self._document
            )
        )
        for url, source in ((DOC, ""), (OPEN, ""), (SECRET, "vault")):
            visitor.start(url, source=source)
            visitor.visit(url, f"text of {url}")

    def put(self, *acls: Acl) -> None:
        self.catalog.writer.transaction(lambda w: [w.access.put_acl(acl, Applied()) for acl in acls])

    def members(self, groups: dict[str, list[Principal]]) -> None:
        items = [GroupMembership(1, 0, group(name), tuple(members)) for name, members in groups.items()]
        end = FeedEnd(complete=True, repaired=False)
        load_groups(self.catalog.writer.transaction, [*items, end], "ad", LoadMode.FULL, now_s=1.0)

    def _document(self, url: str) -> DocumentFacts | None:
        reader = self.catalog.reader()
        record = reader.find(url)
        reader.close()
        return (
            None
            if record is None
            else DocumentFacts(record.id, record.source, "it has a description", indexed=True, behind=0)
        )


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    catalog = SqliteUnderTest(tmp_path)
    catalog.put_source("web", "public")
    catalog.put_source("vault", "secure")
    visitor = Visitor(catalog)
    yield World(catalog, visitor)
    visitor.close()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("joe", f"{DOC} permits the user joe"),
        ("moe", f"{FOLDER} permits the group eng (by way of moe > eng-berlin > ENG)"),
        ("adam", f"{SHARE} denies the group interns (by way of adam > interns)"),
        ("eve", "no entry of its ACLs names the user or a group of his"),
    ],
)
def test_the_worked_example_with_its_reasons(world: World, name: str, reason: str) -> None:
    world.put(*EXAMPLE)
    world.members(MEMBERS)
    answer = world.explainer.explain(DOC, [user(name)])
    assert answer["reason"] == reason
    assert answer["permitted"] is answer["sees"] is (name in {"joe", "moe"})
    assert [acl["url"] for acl in answer["acls"]] == [SHARE, FOLDER, DOC]


def test_the_whole_answer_as_text(world: World) -> None:
    world.put(*EXAMPLE)
    world.members(MEMBERS)
    answer = world.explainer.explain(DOC, [user("adam")])
    assert explanation_text(answer, "adam").splitlines() == [
        f"adam may not see {DOC}",
        f"  {SHARE} denies the group interns (by way of adam > interns)",
        "document: source web, it has a description",
        "index: in the index; chain 4, CHAIN_OK",
        "ACLs, root first:",
        f"  {SHARE} (parent-overrides, 1 entries): deny",
        "    deny group interns  by adam > interns",
        f"  {FOLDER} (child-overrides, 1 entries): permit",
        "    permit group eng, any case  by adam > eng-berlin > ENG",
        f"  {DOC} (leaf-node, 1 entries): indeterminate",
        "groups (3):",
        "  eng-berlin  (adam > eng-berlin)",
        "  interns  (adam > interns)",
        "  ENG  (adam > eng-berlin > ENG)",
    ]


def test_groups_that_a_directory_would_say_count(world: World) -> None:
    world.put(*EXAMPLE)
    answer = world.explainer.explain(DOC, [user("eve")], [group("Eng")])
    assert answer["permitted"]
    assert answer["acls"][1]["matched"][0]["by"] == ["Eng"]


def test_both_permit_says_why_one_is_not_enough(world: World) -> None:
    world.put(
        Acl(SHARE, (permit(user("joe")),), "", Inheritance.AND_BOTH_PERMIT),
        Acl(DOC, (permit(user("moe")),), SHARE),
    )
    answer = world.explainer.explain(DOC, [user("joe")])
    assert (answer["permitted"], answer["decided_by"]) == (False, SHARE)
    assert "not both" in answer["reason"]


@pytest.mark.parametrize(
    ("acls", "status"),
    [
        ((Acl(DOC, (permit(user("joe")),), FOLDER),), "INHERITANCE_DATA_MISSING"),
        ((Acl(DOC, (), FOLDER), Acl(FOLDER, (), DOC, Inheritance.CHILD_OVERRIDES)), "CHAIN_HAS_CYCLE"),
        ((Acl(DOC, (), FOLDER), Acl(FOLDER, (permit(user("joe")),))), "INVALID_INHERITANCE_TYPE"),
        (
            (Acl(DOC, (permit(user("joe")),), "", Inheritance.LEAF_NODE, "a scope is unknown"),),
            "ACL_UNREADABLE",
        ),
    ],
)
def test_broken_chains_are_shown_to_nobody_and_listed_with_the_reason(
    world: World, acls: tuple[Acl, ...], status: str
) -> None:
    assert world.explainer.broken() == {"broken": [], "more": False}
    world.put(*EXAMPLE)
    assert world.explainer.broken()["broken"] == []
    world.put(Acl(FOLDER, (), SHARE))
    world.catalog.writer.transaction(lambda w: w.access.delete_acl(FOLDER, Applied()))
    world.put(*acls)
    answer = world.explainer.explain(DOC, [user("joe")])
    assert (answer["permitted"], answer["status"]) == (False, status)
    assert answer["reason"].startswith("nobody may see it: ")
    listed = {row["url"]: row for row in world.explainer.broken()["broken"]}
    assert listed[DOC]["status"] == status
    assert listed[DOC]["reason"] in answer["reason"]
    assert world.explainer.who(DOC)["users"] == []


def test_a_broken_chain_that_policy_rules_rescue_is_named_with_them(world: World) -> None:
    world.put(Acl(DOC, (permit(user("joe")),), "http://h.test/nowhere"))
    writer = world.catalog.writer
    writer.access.use_policy(lambda _url: [Acl("", (permit(group("eng")),)), Acl("", (permit(group("hr")),))])
    writer.access.use_rescues(on=True)
    writer.transaction(lambda w: w.access.place(Applied()))
    for groups, permitted in (((), False), ((group("eng"),), False), ((group("eng"), group("hr")), True)):
        answer = world.explainer.explain(DOC, [user("joe")], groups)
        assert (answer["permitted"], answer["status"]) == (permitted, "CHAIN_OK")
        assert answer["rescued"]["status"] == "INHERITANCE_DATA_MISSING"
        assert "policy rules decide (access.policy-rescues-broken)" in answer["reason"]
        assert "policy rules decide" in explanation_text(answer, "joe")
    world.members({"eng": [user("moe")], "hr": [user("moe"), user("joe")]})
    assert [one["name"] for one in world.explainer.who(DOC)["users"]] == ["moe"]
    (row,) = world.explainer.broken()["broken"]
    assert (row["url"], row["rescued"]) == (DOC, True)
    world.put(Acl("http://h.test/nowhere", (), "", Inheritance.CHILD_OVERRIDES))
    assert world.explainer.explain(DOC, [user("joe")])["permitted"]
    assert world.explainer.explain(DOC, [user("joe")])["rescued"] is None
    assert world.explainer.broken()["broken"] == []


def test_a_chain_that_is_too_deep_is_listed(world: World) -> None:
    urls = [f"http://h.test/{number}" for number in range(1_001)]
    above = ["", *urls]
    world.put(
        *(
            Acl(url, (permit(user("joe")),), above[n], Inheritance.CHILD_OVERRIDES)
            for n, url in enumerate(urls)
        )
    )
    assert [row["url"] for row in world.explainer.broken()["broken"]] == [urls[-1]]
    assert world.explainer.broken(limit=1)["more"] is False


def test_without_an_acl_the_source_decides_and_what_is_not_known_is_said(world: World) -> None:
    public = world.explainer.explain(OPEN, ())
    assert (public["permitted"], public["status"]) == (True, "PUBLIC")
    secret = world.explainer.explain(SECRET, [user("joe")])
    assert (secret["permitted"], secret["reason"]) == (
        False, "it has no ACL and its source is not public (access = secure): nobody may see it",
    )  # fmt: skip
    row = world.visitor.id(OPEN)
    world.catalog.writer.transaction(lambda w: w.access.secure(row, Applied(), secured=True))
    assert "authmethod" in world.explainer.explain(OPEN, ())["reason"]
    unknown = world.explainer.explain("h.test/never", [user("joe")])
    assert (unknown["permitted"], unknown["document"]) == (False, None)
    assert "not known as a document" in unknown["reason"]


def test_a_share_that_is_no_document_says_so(world: World) -> None:
    world.put(Acl(SHARE, (permit(user("joe")),), "", Inheritance.CHILD_OVERRIDES))
    answer = world.explainer.explain(SHARE, [user("joe")])
    assert (answer["permitted"], answer["sees"]) == (True, False)
    assert (
        answer["reason"]
        == f"{SHARE} permits the user joe; it is not known as a document, so there is nothing to see"
    )


def test_without_a_catalog_nothing_is_claimed() -> None:
    explainer = AccessExplainer(AccessParts(acls=lambda: None, groups=lambda: None, document=lambda _: None))  # type: ignore[arg-type,return-value]
    assert explainer.explain(DOC, [user("joe")])["reason"] == "there is no catalog yet"
    assert explainer.broken() == {"broken": [], "more": False}
    assert explainer.who(DOC)["users"] == []


def test_who_sees_it_is_every_user_who_is_permitted_and_no_other(world: World) -> None:
    world.put(*EXAMPLE)
    world.members(MEMBERS)
    answer = world.explainer.who(DOC)
    assert [(one["text"], one["by"]) for one in answer["users"]] == [
        ("joe", ["joe"]),
        ("moe", ["moe", "eng-berlin", "ENG"]),
    ]
    assert [one["text"] for one in answer["groups"]] == ["eng"]
    assert (answer["everybody"], answer["more"]) == (False, False)
    assert seeing_text(answer, 1_000).splitlines()[-1] == "  moe  by moe > eng-berlin > ENG"
    assert world.explainer.who(DOC, limit=1)["more"]
    assert world.explainer.who(OPEN)["everybody"]
    assert world.explainer.who(SECRET)["users"] == []
    reader = AccessReader(world.catalog.writer.path)
    members = GroupReader(world.catalog.writer.path)
    for name in ("joe", "moe", "adam", "eve"):
        permitted = decide(reader.chain_of(DOC), user(name), expand(members, [user(name)]).groups).permitted
        assert permitted is (name in {one["name"] for one in answer["users"]})
    reader.close()
    members.close()


def test_a_membership_that_goes_changes_the_answer_at_once(world: World) -> None:
    world.put(*EXAMPLE)
    world.members(MEMBERS)
    assert world.explainer.explain(DOC, [user("moe")])["permitted"]
    clean_up(world.catalog.writer.transaction, "ad")
    assert not world.explainer.explain(DOC, [user("moe")])["permitted"]


def test_gsa_11_3_a_name_without_case_is_shown_as_it_is_written_and_compared_folded(world: World) -> None:
    writ = Principal(PrincipalScope.USER, "User1", "CORP", "Default", case_sensitive=False)
    other = Principal(PrincipalScope.USER, "User2", "", "Partners", case_sensitive=False)
    world.members({"eng": [writ, other]})
    world.put(Acl(DOC, (permit(group("eng")),)))
    assert [one["text"] for one in world.explainer.who(DOC)["users"]] == ["CORP\\User1", "User2 (Partners)"]
    folded = replace(writ, name="uSER1", domain="corp", namespace="dEFAULT")
    assert world.explainer.explain(DOC, [folded])["permitted"]


def test_a_name_that_an_earlier_release_kept_folded_has_no_namespace_shown_if_it_is_the_usual_one(
    world: World,
) -> None:
    world.members({"eng": [Principal(PrincipalScope.USER, "User1", case_sensitive=False)]})
    world.catalog.writer.transaction(lambda w: w.syndication.query("update party set written = null"))
    world.put(Acl(DOC, (permit(group("eng")),)))
    assert [one["text"] for one in world.explainer.who(DOC)["users"]] == ["user1"]
