"""How long an answer of the directory is believed, and what happens while it cannot be asked."""

from collections.abc import Iterator

import pytest

from ingather.app.access.directory import KnownPeople
from ingather.errors import DirectoryError
from ingather.model.acl import Principal, PrincipalScope
from ingather.testing.clock import FakeClock
from ingather.testing.company import ENTRIES, GROUPS, RIGHT, directory_at, dn
from ingather.testing.directory import ScriptedDirectory

JOE = Principal(PrincipalScope.USER, "joe", "CORP")


@pytest.fixture
def server() -> Iterator[ScriptedDirectory]:
    with ScriptedDirectory(ENTRIES) as made:
        yield made


def people(server: ScriptedDirectory, clock: FakeClock, **more: object) -> KnownPeople:
    directory = directory_at(server, domain="corp", **more)
    return KnownPeople(directory, clock, fresh_s=60, last_s=600)


def names(known: KnownPeople, who: Principal = JOE) -> set[str]:
    groups = known.groups_of(who)
    assert groups is not None
    assert {group.domain for group in groups} <= {"corp"}
    return {group.name for group in groups}


def test_an_answer_is_used_while_it_is_fresh_and_then_asked_for_again(server: ScriptedDirectory) -> None:
    clock = FakeClock()
    known = people(server, clock)
    assert names(known) == GROUPS
    asked = server.searches
    clock.advance(59)
    assert names(known, Principal(PrincipalScope.USER, "JOE")) == GROUPS
    assert server.searches == asked
    server.entries[dn("eng")]["member"] = []
    clock.advance(2)
    assert names(known) == {"Domain Users", "everyone"}


def test_the_last_answer_counts_for_a_bounded_time_and_then_nothing(server: ScriptedDirectory) -> None:
    clock = FakeClock()
    known = people(server, clock)
    names(known)
    server.code = 52
    clock.advance(599)
    assert names(known) == GROUPS
    clock.advance(2)
    for _ in range(2):
        with pytest.raises(DirectoryError, match="not known"):
            known.groups_of(JOE)
    server.code = 0
    clock.advance(6)
    assert names(known) == GROUPS


def test_somebody_who_was_never_asked_for_gets_nothing_while_it_is_down(server: ScriptedDirectory) -> None:
    clock = FakeClock()
    known = people(server, clock)
    server.code = 52
    with pytest.raises(DirectoryError):
        known.groups_of(JOE)
    asked = server.searches
    with pytest.raises(DirectoryError):  # a server that is down is left alone for a while
        known.groups_of(Principal(PrincipalScope.USER, "twin"))
    assert server.searches == asked


def test_a_clock_that_jumps_back_makes_no_answer_young(server: ScriptedDirectory) -> None:
    clock = FakeClock()
    known = people(server, clock)
    names(known)
    server.code = 52
    clock.jump(-10_000)
    with pytest.raises(DirectoryError):
        known.groups_of(JOE)


def test_it_answers_for_its_own_domain_and_namespace_alone(server: ScriptedDirectory) -> None:
    known = people(server, FakeClock())
    for domain, expected in (
        ("", True),
        ("corp", True),
        ("Corp", True),
        ("corp.example.com", True),
        ("other", False),
    ):
        assert known.responsible(Principal(PrincipalScope.USER, "joe", domain)) is expected
    assert not known.responsible(Principal(PrincipalScope.USER, "joe", "corp", "elsewhere"))
    assert known.groups_of(Principal(PrincipalScope.USER, "nobody")) is None


def test_whoever_logs_in_is_called_as_access_lists_call_him(server: ScriptedDirectory) -> None:
    known = people(server, FakeClock())
    for name in ("joe", "CORP\\JOE", "joe@corp", "corp/joe"):
        assert known.log_in(name, RIGHT) == "corp\\Joe"
    for name in ("other\\joe", "joe@other", "", " "):
        assert known.log_in(name, RIGHT) is None
    assert known.log_in("joe", "wrong") is None
