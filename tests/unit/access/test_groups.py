"""Memberships by source, and the groups of a user to a fixed point (GSA feeds specification, section 12)."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingather.access import Rights, decide
from ingather.access.groups import GroupExpander, expand
from ingather.access.principals import key_of, principal
from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.access.sqlite_groups_reader import GroupReader
from ingather.catalog.sqlite_changes import Applied
from ingather.errors import UsageError
from ingather.feeds.groups_applying import AT_CAPACITY, GroupReport, LoadMode, clean_up, load_groups
from ingather.feeds.groups_reading import read_group_items
from ingather.model.acl import Acl, AclEntry, Principal, PrincipalScope, Right
from ingather.model.feed import FeedEnd, FeedRejection, GroupMembership
from ingather.testing.contracts_catalog import SqliteUnderTest

USER, GROUP = PrincipalScope.USER, PrincipalScope.GROUP
WHOLE = FeedEnd(complete=True, repaired=False)
INCREMENTAL, FULL = LoadMode.INCREMENTAL, LoadMode.FULL


def who(text: str, scope: PrincipalScope = USER, *, case: bool = True) -> Principal:
    made = principal(text, scope, case_sensitive=case)
    assert made is not None
    return made


def group(text: str, *, case: bool = True) -> Principal:
    return who(text, GROUP, case=case)


def holds(above: str, *members: Principal) -> GroupMembership:
    return GroupMembership(1, 0, group(above), members)


class Board:
    """A catalog whose only business are groups."""

    def __init__(self, folder: Path) -> None:
        self.catalog = SqliteUnderTest(folder)
        self.reader = GroupReader(self.catalog.writer.path)

    def load(
        self,
        source: str,
        *items: GroupMembership | FeedRejection,
        mode: LoadMode = INCREMENTAL,
        end: FeedEnd = WHOLE,
        most: int = 1_000,
    ) -> GroupReport:
        return load_groups(self.catalog.writer.transaction, [*items, end], source, mode, now_s=1.0, most=most)

    def feed(self, source: str, body: str, mode: LoadMode = FULL) -> GroupReport:
        text = f"<?xml version='1.0'?><xmlgroups>{body}</xmlgroups>".encode()
        return load_groups(
            self.catalog.writer.transaction, read_group_items(BytesIO(text)), source, mode, now_s=1.0
        )

    def names(self, user: str, *, cut: bool = True) -> list[str]:
        return sorted(found.name for found in expand(self.reader, [who(user)], cut_domains=cut).groups)

    def clean_up(self, source: str) -> int:
        return clean_up(self.catalog.writer.transaction, source)

    def close(self) -> None:
        self.reader.close()
        self.catalog.close()


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    made = Board(tmp_path)
    yield made
    made.close()


def test_gsa_T41_groups_nested_three_levels_with_a_cycle_are_all_found(board: Board) -> None:
    report = board.feed(
        "ad",
        """
        <membership source="ad"><principal scope="GROUP" namespace="Default" case-sensitivity-type="EVERYTHING_CASE_SENSITIVE">team</principal>
          <members><principal scope="USER">joe</principal></members></membership>
        <membership><principal scope="GROUP">division</principal><members><principal scope="GROUP">team</principal></members></membership>
        <membership><principal scope="GROUP">company</principal>
          <members><principal scope="GROUP">division</principal><principal scope="GROUP">company</principal></members></membership>
        <membership><principal scope="GROUP">team</principal><members><principal scope="GROUP">company</principal></members></membership>
        <membership><principal scope="GROUP">other</principal><members><principal scope="USER">moe</principal></members></membership>
        <membership><principal scope="GROUP">empty</principal></membership>
        """,
        INCREMENTAL,
    )
    assert (report.groups, report.added, report.rejected, report.trouble) == (6, 6, 0, "")
    assert board.names("joe") == ["company", "division", "team"]
    found = expand(board.reader, [who("joe")])
    assert [one.name for one in found.way(group("company"))] == ["joe", "team", "division", "company"]
    assert board.names("nobody") == []


def test_gsa_T42_a_clean_up_of_repl1_after_repl2_was_loaded_leaves_only_the_new_ones(board: Board) -> None:
    """The adaptors' way of replacing: batches under the other name, then the first name goes."""
    board.load("foo-REPL1", holds("old", who("joe")), holds("both", who("joe")))
    board.load("foo-REPL2", holds("new", who("joe")))
    board.load("foo-REPL2", holds("both", who("joe")))
    assert board.names("joe") == ["both", "new", "old"]
    assert board.clean_up("foo-REPL1") == 2
    assert board.names("joe") == ["both", "new"]
    board.load("foo-REPL1", holds("next", who("joe")))
    board.clean_up("foo-REPL2")
    assert board.names("joe") == ["next"]
    assert [row.source for row in board.reader.sources()] == ["foo-REPL1"]


def test_the_same_group_of_two_sources_is_united_and_a_clean_up_keeps_the_others(board: Board) -> None:
    board.load("a", holds("eng", who("joe"), who("moe")))
    board.load("b", holds("eng", who("joe"), who("zoe")))
    assert [board.names(name) for name in ("joe", "moe", "zoe")] == [["eng"]] * 3
    board.clean_up("a")
    assert [board.names(name) for name in ("joe", "moe", "zoe")] == [["eng"], [], ["eng"]]


def test_full_replaces_its_own_source_and_no_other(board: Board) -> None:
    board.load("a", holds("old", who("joe")), holds("kept", who("joe")))
    board.load("b", holds("foreign", who("joe")))
    report = board.load("a", holds("kept", who("joe")), holds("new", who("joe")), mode=FULL)
    assert (report.replaced, report.added, report.removed) == (True, 2, 2)
    assert board.names("joe") == ["foreign", "kept", "new"]
    assert board.feed("a", "").removed == 2  # an empty one clears
    assert board.names("joe") == ["foreign"]


def test_a_replacement_is_seen_old_or_new(board: Board) -> None:
    board.load("a", holds("old", who("joe")))
    seen: list[list[str]] = []

    def items() -> Iterator[GroupMembership | FeedEnd]:
        for number in range(5_000):
            yield holds(f"g{number}", who("moe"))
            if number % 1_000 == 0:
                seen.append(board.names("joe"))
        yield holds("new", who("joe"))
        yield WHOLE

    load_groups(board.catalog.writer.transaction, items(), "a", FULL, now_s=1.0)
    assert seen == [["old"]] * 5
    assert board.names("joe") == ["new"]


def test_a_replacing_load_that_was_cut_off_changes_nothing(board: Board) -> None:
    board.load("a", holds("old", who("joe")))
    report = board.load(
        "a", holds("new", who("joe")), mode=FULL, end=FeedEnd(complete=False, repaired=False, trouble="torn")
    )
    assert (report.replaced, report.added, report.removed) == (False, 0, 0)
    assert report.trouble == "nothing was changed: torn"
    assert board.names("joe") == ["old"]
    cut = load_groups(board.catalog.writer.transaction, [holds("new", who("joe"))], "a", FULL, now_s=1.0)
    assert not cut.replaced


def test_a_replacing_load_with_broken_markup_adds_and_removes_nothing(board: Board) -> None:
    board.load("a", holds("old", who("joe")))
    report = board.load(
        "a",
        holds("new", who("joe")),
        holds("old", who("joe")),
        mode=FULL,
        end=FeedEnd(complete=True, repaired=True),
    )
    assert (report.replaced, report.added, report.removed) == (False, 1, 0)
    assert board.names("joe") == ["new", "old"]


def test_a_group_that_could_not_be_read_keeps_its_members(board: Board) -> None:
    """A lost member of a denied group would see more than before."""
    board.load("a", holds("corp\\interns", who("joe")), holds("gone", who("joe")))
    report = board.feed(
        "a",
        '<membership><principal scope="GROUP">corp\\interns</principal><members><principal scope="nonsense">joe</principal></members></membership>'
        '<membership><principal scope="GROUP">new</principal><members><principal scope="USER">joe</principal></members></membership>',
    )
    assert (report.rejected, report.replaced) == (1, True)
    assert board.names("joe") == ["interns", "new"]


def test_a_load_again_changes_nothing(board: Board) -> None:
    board.load("a", holds("eng", who("joe")))
    epoch = board.reader.epoch()
    assert board.load("a", holds("eng", who("joe"))).added == 0
    assert board.reader.epoch() == epoch


def test_a_load_that_died_is_dropped_by_the_next(board: Board) -> None:
    def dying() -> Iterator[GroupMembership]:
        yield from (holds(f"g{number}", who("joe")) for number in range(3_000))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_groups(board.catalog.writer.transaction, dying(), "a", FULL, now_s=1.0)
    assert board.names("joe") == []
    board.load("a", holds("eng", who("joe")), mode=FULL)
    assert board.names("joe") == ["eng"]
    assert board.catalog.writer.transaction(lambda w: w.groups.purge()) is False


def test_beyond_the_limit_a_load_does_not_take_effect(board: Board) -> None:
    board.load("a", holds("eng", who("joe"), who("moe")), most=3)
    report = board.load("b", holds("eng", who("x"), who("y")), mode=FULL, most=3)
    assert AT_CAPACITY in report.trouble
    assert (report.added, report.replaced) == (0, False)
    assert AT_CAPACITY in board.load("a", holds("eng", who("x"), who("y")), most=3).trouble
    assert board.names("x") == []
    assert board.load(
        "a", holds("eng", who("x"), who("y"), who("z")), mode=FULL, most=3
    ).replaced  # in place of its own


def test_a_name_that_is_no_text_costs_its_element(board: Board) -> None:
    report = board.load("a", holds("eng", who("joe\ud800")), holds("eng", who("moe")))
    assert (report.rejected, report.added) == (1, 1)
    assert board.names("joe\ud800") == []


def test_memberships_need_a_source(board: Board) -> None:
    with pytest.raises(UsageError):
        board.load(" ", holds("eng", who("joe")))


# -- whom a member names --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("member", "user", "found"),
    [
        (who("Joe"), "Joe", True),
        (who("Joe"), "joe", False),
        (who("Joe", case=False), "jOE", True),
        (who("STRASSE", case=False), "straße", True),
        (who("corp\\joe"), "joe@corp", True),
        (who("corp\\joe"), "joe", False),
        (who("corp\\joe"), "joe@corp.example.com", True),
        (who("CORP\\Joe", case=False), "joe@corp.example.com", True),
        (who("corp.example.com\\joe"), "joe@corp.example.com", True),
        (group("joe"), "joe", False),
    ],
)
def test_the_members_entry_decides_how_it_is_compared(
    board: Board, member: Principal, user: str, *, found: bool
) -> None:
    board.load("a", holds("eng", member))
    assert board.names(user) == (["eng"] if found else [])


def test_only_the_starting_users_domain_is_cut(board: Board) -> None:
    board.load("a", holds("corp.example.com\\team", who("corp\\joe")), holds("top", group("corp\\team")))
    assert board.names("joe@corp.example.com") == ["team"]
    assert board.names("joe@corp.example.com", cut=False) == []


def test_a_group_is_neutral_as_a_key_and_its_members_entry_decides(board: Board) -> None:
    board.load(
        "a",
        GroupMembership(1, 0, group("Eng", case=False), (who("joe"),)),
        holds("exact", group("Eng")),
        holds("folded", group("ENG", case=False)),
        holds("neither", group("eng")),
    )
    assert board.names("joe") == ["Eng", "exact", "folded"]


def test_a_group_known_as_a_member_first_is_found_folded_later(board: Board) -> None:
    board.load("a", holds("exact", group("Eng")))
    board.load("a", holds("folded", group("eng", case=False)))
    board.load("b", holds("Eng", who("joe")))
    assert board.names("joe") == ["Eng", "exact", "folded"]


def test_namespaces_are_worlds_of_their_own(board: Board) -> None:
    other = principal("joe", USER, namespace="Other")
    assert other is not None
    board.load("a", holds("eng", other))
    assert board.names("joe") == []
    assert [one.name for one in expand(board.reader, [who("joe"), other]).groups] == ["eng"]


def test_groups_of_the_directory_are_starting_points_too(board: Board) -> None:
    board.load("a", holds("top", group("Staff", case=False)), holds("staff", who("joe")))
    found = expand(board.reader, [who("moe")], [group("staff")])
    assert found.groups == (group("staff"), group("top"))
    assert found.way(group("top")) == (group("staff"), group("top"))


def test_a_revoked_membership_acts_at_once(board: Board) -> None:
    expander = GroupExpander(board.reader)
    chain = [Acl("http://h.test/", (AclEntry(Right.PERMIT, group("eng")),))]
    board.load("a", holds("eng", who("joe")))
    first = expander.expand([who("joe")])
    assert expander.expand([who("joe")]) is first
    assert decide(chain, who("joe"), first.groups).permitted
    board.clean_up("a")
    assert not decide(chain, who("joe"), expander.expand([who("joe")]).groups).permitted


def test_what_a_viewer_sees_follows_his_memberships(board: Board) -> None:
    acl = Acl(
        "http://h.test/", (AclEntry(Right.PERMIT, group("eng")), AclEntry(Right.DENY, group("interns")))
    )
    board.catalog.writer.transaction(lambda w: w.access.put_acl(acl, Applied()))
    acls = AccessReader(board.catalog.writer.path)
    rights, expander = Rights(acls), GroupExpander(board.reader)

    def sees() -> bool:
        found = expander.expand([who("joe")])
        return rights.visible(found.users, found.groups).sees(2)

    assert not sees()
    board.load("a", holds("eng", who("joe")))
    assert sees()
    board.load("b", holds("interns", who("joe")))
    assert not sees()
    board.load("b", mode=FULL)
    assert sees()
    board.clean_up("a")
    assert not sees()
    acls.close()


NAMES = st.sampled_from(["a", "A", "b", "ß", "ss"])
MEMBERS = st.builds(
    lambda name, scope, case: who(name, scope, case=case),
    NAMES,
    st.sampled_from([USER, GROUP]),
    st.booleans(),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(NAMES, MEMBERS), max_size=12), NAMES)
def test_the_expansion_is_that_of_the_written_rule(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, Principal]], user: str
) -> None:
    made = Board(tmp_path_factory.mktemp("board"))
    made.load("a", *(holds(above, member) for above, member in pairs))
    found = {one.name for one in expand(made.reader, [who(user)]).groups}
    made.close()
    reached: set[str] = set()
    while True:
        forms = {key_of(who(user, case=case)) for case in (True, False)}
        forms |= {key_of(group(name, case=case)) for name in reached for case in (True, False)}
        more = {above for above, member in pairs if key_of(member) in forms}
        if more <= reached:
            break
        reached |= more
    assert found == reached
