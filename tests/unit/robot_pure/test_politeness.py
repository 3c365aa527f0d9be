"""Host clocks and the address book."""

from math import inf, isinf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.robot.politeness.addresses import AddressBook, AddressLimits, AddressState
from ingather.robot.politeness.backoff import BackOffLimits
from ingather.robot.politeness.hosts import HostClock, HostPolicy, HostState

WALL = 1_790_000_000.0


def test_the_delay_counts_from_start_to_start() -> None:
    clock = HostClock("a.example", HostPolicy(), 0.0, just_visited=False)
    assert clock.ready_at == 0.0
    clock.start(5.0)
    assert clock.ready_at == 6.0


def test_a_host_counts_as_just_visited_when_it_comes_in_hand() -> None:
    assert HostClock("a.example", HostPolicy(), 50.0).ready_at == 51.0


def test_an_operator_can_slow_any_host_down_and_takes_it_back() -> None:
    clock = HostClock("b.example", HostPolicy(delay_s=0.0, own=True), 0.0, just_visited=False)
    clock.start(5.0)
    clock.slow(30.0)
    assert (clock.delay_s, clock.ready_at) == (30.0, 35.0)
    clock.obey(40.0)
    assert clock.delay_s == 40.0
    clock.obey(10.0)
    assert clock.delay_s == 30.0
    clock.slow(0.0)
    assert clock.delay_s == 10.0
    assert clock.ready_at >= 35.0  # what was promised of the next start is kept


def test_no_delay_and_no_connection_limit_are_for_own_hosts_only() -> None:
    other = HostClock("a.example", HostPolicy(delay_s=0.0, max_connections=0), 0.0)
    assert (other.delay_s, other.max_open) == (1.0, 2)
    own = HostClock("b.example", HostPolicy(delay_s=0.0, max_connections=64, own=True), 0.0)
    assert (own.delay_s, own.max_open) == (0.0, 64)


@pytest.mark.parametrize(
    ("crawl_delay", "delay", "slow"),
    [
        (None, 1.0, False),
        (0.2, 1.0, False),
        (10.0, 10.0, False),
        (60.0, 60.0, False),
        (3600.0, 60.0, True),
        (inf, 60.0, True),
        (float("nan"), 1.0, False),
        (-5.0, 1.0, False),
    ],
)
def test_crawl_delay_can_only_raise_the_delay_and_is_obeyed_up_to_sixty_seconds(
    crawl_delay: float | None,
    delay: float,
    slow: bool,  # noqa: FBT001
) -> None:
    clock = HostClock("a.example", HostPolicy(), 0.0)
    clock.obey(crawl_delay)
    assert (clock.delay_s, clock.is_slow) == (delay, slow)
    assert clock.ready_at == delay
    assert clock.estimate_s(100) == 100 * delay


def test_a_request_that_left_late_moves_the_next_one() -> None:
    clock = HostClock("a.example", HostPolicy(), 0.0)
    clock.start(10.0)
    clock.sent(10.4)
    assert clock.ready_at == pytest.approx(11.4)
    clock.sent(3.0)
    assert clock.ready_at == pytest.approx(11.4)


def test_refusals_in_flight_together_count_once() -> None:
    clock = HostClock("a.example", HostPolicy(), 0.0)
    clock.back_off(10.0, chance=0.0)
    clock.back_off(10.5, chance=0.0, asked_s=120.0)
    assert clock.failures == 1
    assert clock.ready_at == 130.5
    clock.back_off(200.0, chance=0.0)
    assert clock.failures == 2


def test_a_normal_answer_ends_a_row_of_refusals_but_not_a_wait() -> None:
    clock = HostClock("a.example", HostPolicy(), 0.0)
    clock.back_off(10.0, chance=0.0, asked_s=60.0)
    clock.answered(11.0)
    assert (clock.failures, clock.backing_off(11.0)) == (1, 59.0)
    clock.answered(80.0)
    assert (clock.failures, clock.backing_off(80.0)) == (0, 0.0)


def test_a_back_off_and_a_crawl_delay_survive_a_restart() -> None:
    clock = HostClock("a.example", HostPolicy(), 1000.0)
    clock.obey(5.0)
    clock.back_off(1000.0, chance=0.0, asked_s=600.0)
    state = clock.export(1100.0, WALL)
    assert state == HostState("a.example", WALL + 500, 600.0, 1, 5.0)
    again = HostClock.restore(state, HostPolicy(), 7.0, WALL + 200)
    assert (again.ready_at, again.failures, again.delay_s) == (307.0, 1, 5.0)


def test_a_restored_host_counts_as_just_visited() -> None:
    again = HostClock.restore(HostState("a.example", failures=2), HostPolicy(), 100.0, WALL)
    assert (again.ready_at, again.failures) == (101.0, 2)


def test_a_wall_clock_set_back_does_not_prolong_a_back_off() -> None:
    state = HostState("a.example", WALL + 60, 60.0, 1)
    again = HostClock.restore(state, HostPolicy(), 0.0, WALL - 1e8)
    assert again.ready_at == 60.0


def test_nothing_to_remember_gives_no_state() -> None:
    assert HostClock("a.example", HostPolicy(), 0.0).export(1.0, WALL) is None


def book(**limits: float) -> AddressBook:
    return AddressBook(0.0, AddressLimits(**limits), just_visited=False)  # type: ignore[arg-type]


def test_an_address_bears_four_starts_a_second() -> None:
    b = book()
    for n in range(4):
        assert b.request("10.0.0.1", 10.0, ticket=n) == 10.0
        b.release("10.0.0.1")
    assert b.request("10.0.0.1", 10.0, ticket=4) == 11.0
    assert b.due(10.99) == []
    assert b.next_due() == 11.0
    assert [g.ticket for g in b.due(11.0)] == [4]


def test_an_address_bears_eight_connections() -> None:
    b = book(starts=100)
    assert all(b.request("10.0.0.1", 10.0) == 10.0 for _ in range(8))
    assert isinf(b.request("10.0.0.1", 10.0, ticket="ninth"))
    assert b.due(99.0) == []
    b.release("10.0.0.1")
    assert [g.ticket for g in b.due(99.0)] == ["ninth"]
    assert b.open("10.0.0.1") == 8


def test_addresses_do_not_wait_for_one_another() -> None:
    b = book()
    assert all(b.request(f"10.0.0.{n}", 10.0) == 10.0 for n in range(100))


def test_nobody_overtakes_in_a_queue() -> None:
    b = book()
    for n in range(7):
        b.request("10.0.0.1", 10.0, ticket=n)
    got = [g.ticket for at in (11.0, 12.0) for g in b.due(at)]
    assert got == [4, 5, 6]


def test_a_back_off_holds_up_everybody_who_waits_at_the_address() -> None:
    b = book()
    for n in range(5):
        b.request("10.0.0.1", 10.0, ticket=n)
    b.back_off("10.0.0.1", 10.5, chance=0.0, asked_s=100.0)
    assert b.due(11.0) == []
    assert b.next_due() == 110.5
    assert [g.ticket for g in b.due(110.5)] == [4]


def test_one_tenant_cannot_close_an_address_for_days() -> None:
    b = book()
    wait = b.back_off("10.0.0.1", 0.0, chance=0.9, asked_s=7 * 86_400.0)
    assert (wait.seconds, wait.capped) == (3600.0, True)


def test_what_a_dead_gatherer_held_is_free_again() -> None:
    b = book(starts=100)
    for n in range(8):
        b.request("10.0.0.1", 10.0, holder="dead" if n < 5 else "live")
    b.request("10.0.0.1", 10.0, holder="dead", ticket="void")
    b.request("10.0.0.1", 10.0, holder="live", ticket="next")
    b.drop("dead")
    assert [(g.holder, g.ticket) for g in b.due(10.0)] == [("live", "next")]
    b.release("10.0.0.1", holder="dead")
    assert b.open("10.0.0.1") == 4


def test_after_a_restart_every_address_counts_as_just_visited() -> None:
    b = AddressBook(100.0)
    assert b.request("10.0.0.1", 100.0) == 101.0
    assert AddressBook(100.0).request("10.0.0.1", 101.0) == 101.0


def test_an_addresss_back_off_survives_a_restart() -> None:
    b = book()
    b.back_off("10.0.0.1", 0.0, chance=0.0, asked_s=600.0)
    [state] = b.export(100.0, WALL)
    assert state == AddressState("10.0.0.1", WALL + 500, 600.0, 1)
    again = AddressBook(0.0)
    again.restore([state], 0.0, WALL + 100)
    assert again.request("10.0.0.1", 5.0) == 400.0


def test_idle_addresses_are_forgotten() -> None:
    b = book()
    for n in range(1000):
        b.request(f"10.0.{n >> 8}.{n & 255}", 0.0)
        b.release(f"10.0.{n >> 8}.{n & 255}")
    b.request("192.0.2.1", 1000.0)
    assert len(b._book) == 1


@given(
    st.lists(
        st.tuples(st.sampled_from(["request", "release", "due", "back-off"]), st.floats(0, 2)), max_size=120
    )
)
def test_no_order_of_calls_breaks_the_limits_of_an_address(calls: list[tuple[str, float]]) -> None:
    b, now, tickets, open_now = AddressBook(0.0), 0.0, 0, 0
    starts: list[float] = []
    quiet = 0.0
    for call, step in calls:
        now += step
        granted = 0
        if call == "request":
            tickets += 1
            granted = int(b.request("10.0.0.1", now, ticket=tickets) <= now)
        elif call == "release" and open_now:
            b.release("10.0.0.1")
            open_now -= 1
        elif call == "back-off":
            wait = b.back_off("10.0.0.1", now, chance=0.3, limits=BackOffLimits(base_s=3.0))
            quiet = max(quiet, now + wait.seconds)
        elif call == "due":
            granted = len(b.due(now))
        if granted:
            assert now >= quiet
        starts += [now] * granted
        open_now += granted
        assert open_now == b.open("10.0.0.1") <= 8
        assert all(late - early >= 1.0 for early, late in zip(starts, starts[4:], strict=False))
    # Whoever waits gets its turn in the end.
    for _ in range(10_000):
        if not b.waiting():
            break
        now = max(now, b.next_due()) if b.next_due() < inf else now
        open_now += len(b.due(now))
        while open_now:
            b.release("10.0.0.1")
            open_now -= 1
    assert b.waiting() == 0
