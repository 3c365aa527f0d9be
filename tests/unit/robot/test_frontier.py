"""The keeper's hold on the frontier: nothing lost, nothing twice."""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ingather.model.report import HostGrant, Row
from ingather.robot.frontier.allotment import Allotment
from ingather.robot.frontier.hold import Frontier


class Waiting:
    """Waiting rows in memory, answered as the catalog answers."""

    def __init__(self, counts: dict[int, int]) -> None:
        self.rows = {host: [host * 10_000 + n for n in range(1, count + 1)] for host, count in counts.items()}

    def waiting_hosts(self) -> dict[int, int]:
        return {host: len(rows) for host, rows in self.rows.items() if rows}

    def refill(self, host: int, after: tuple[int, int], limit: int) -> list[tuple[int, Row]]:
        found = [(5, row_of(n, host)) for n in self.rows[host] if (5, n) > after]
        return found[:limit]

    def grants(self, hosts: list[int]) -> dict[int, HostGrant]:
        return {host: HostGrant(host, f"http://h{host}", f"h{host}", own=False) for host in hosts}

    def names(self, hosts: list[int]) -> dict[int, tuple[str, str]]:
        return {host: (f"http://h{host}", f"h{host}") for host in hosts}

    def settle(self, row: Row) -> None:
        self.rows[row.host].remove(row.id)


def row_of(number: int, host: int) -> Row:
    return Row(number, host, f"/{number}", 0, None, 1, 0, "", "", b"", None, None, 0, 0, None, None, None)


def made(counts: dict[int, int]) -> tuple[Frontier, Waiting]:
    source = Waiting(counts)
    frontier = Frontier(source, Allotment())
    frontier.load()
    return frontier, source


def test_every_waiting_url_goes_out_exactly_once() -> None:
    frontier, source = made({1: 300, 2: 7})
    frontier.join("g")
    seen: list[int] = []
    while True:
        rows, _, _ = frontier.take("g", 50, 0.0)
        if not rows:
            break
        seen += [row.id for row in rows]
        for row in rows:
            source.settle(row)
        frontier.settled(row.id for row in rows)
    assert sorted(seen) == sorted([10_000 + n for n in range(1, 301)] + [20_000 + n for n in range(1, 8)])
    assert (frontier.out, frontier.waiting) == (0, 0)


def test_of_a_host_that_is_shut_nothing_goes_out_and_all_comes_back() -> None:
    frontier, _ = made({1: 3, 2: 2})
    frontier.join("g")
    frontier.shut("h1", inf)
    frontier.host_state(1, delay_s=None, not_before=0.0)  # what is heard of it does not open it
    rows, _, _ = frontier.take("g", 10, 5.0)
    assert {row.host for row in rows} == {2}
    assert (frontier.waiting, frontier.waiting_now(5.0)) == (3, 0)
    assert [(q["host"], q["waiting"], q["in_s"]) for q in frontier.queues(5, 5.0)] == [("h1", 3, -1)]
    assert frontier.backing_off(5.0) == {}
    frontier.shut("h1", 9.0)
    assert frontier.take("g", 10, 8.0)[0] == []
    assert len(frontier.take("g", 10, 9.0)[0]) == 3
    frontier.shut("h2", 20.0)
    frontier.handed_back([row.id for row in rows])
    frontier.key_waits("h2", 12.0)
    frontier.unshut("h2")
    assert frontier.take("g", 10, 11.0)[0] == []  # its own wait counts on
    assert len(frontier.take("g", 10, 12.0)[0]) == 2


def test_what_a_dead_gatherer_had_waits_again_but_for_what_it_reported() -> None:
    frontier, source = made({1: 10})
    frontier.join("a")
    rows, _, _ = frontier.take("a", 6, 0.0)
    reported = rows[0]
    frontier.lost("a", keep={reported.id})
    assert frontier.out == 1
    source.settle(reported)
    frontier.settled([reported.id])
    frontier.join("b")
    again: list[int] = []
    while got := frontier.take("b", 100, 0.0)[0]:
        again += [row.id for row in got]
        for row in got:
            source.settle(row)
        frontier.settled(row.id for row in got)
    assert sorted(again) == [10_000 + n for n in range(2, 11)]


def test_a_host_that_wants_time_is_not_handed_out_before() -> None:
    frontier, _ = made({1: 5, 2: 5})
    frontier.join("g")
    frontier.key_waits("h1", 100.0)
    assert {row.host for row in frontier.take("g", 100, 0.0)[0]} == {2}
    assert frontier.waiting_now(0.0) == 0
    assert frontier.waiting_now(100.0) == 5
    assert {row.host for row in frontier.take("g", 100, 200.0)[0]} == {1}
    frontier.key_waits("h1", 100.0)
    assert frontier.backing_off(50.0) == {"h1": 50.0}


def test_claims_that_are_handed_back_go_out_again() -> None:
    frontier, _ = made({1: 3})
    frontier.join("g")
    rows, _, _ = frontier.take("g", 10, 0.0)
    frontier.handed_back(row.id for row in rows)
    assert frontier.out == 0
    assert sorted(row.id for row in frontier.take("g", 10, 0.0)[0]) == sorted(row.id for row in rows)


@settings(max_examples=60)
@given(
    st.dictionaries(st.integers(1, 4), st.integers(1, 40), min_size=1),
    st.lists(st.tuples(st.sampled_from(["take", "settle", "back", "die"]), st.integers(1, 30)), max_size=40),
)
def test_nothing_is_ever_in_two_hands_or_lost(counts: dict[int, int], steps: list[tuple[str, int]]) -> None:  # noqa: C901 - one walk
    frontier, source = made(counts)
    total = sum(counts.values())
    hand = 0
    frontier.join(hand)
    held: dict[int, Row] = {}
    done = 0
    for step, number in steps:
        if step == "take":
            for row in frontier.take(hand, number, 0.0)[0]:
                assert row.id not in held
                held[row.id] = row
        elif step == "settle":
            for row in list(held.values())[:number]:
                source.settle(row)
                frontier.settled([held.pop(row.id).id])
                done += 1
        elif step == "back":
            some = list(held)[:number]
            frontier.handed_back(some)
            for key in some:
                del held[key]
        else:
            frontier.lost(hand, keep=())
            held.clear()
            hand += 1
            frontier.join(hand)
        assert frontier.out == len(held)
    while True:
        for row in held.values():
            source.settle(row)
            frontier.settled([row.id])
            done += 1
        held = {row.id: row for row in frontier.take(hand, 1000, 0.0)[0]}
        if not held:
            break
    assert done == total


def test_what_rests_is_not_handed_out_and_what_goes_on_is() -> None:
    frontier, source = made({1: 10, 2: 5})
    frontier.join("g")
    rows, _, _ = frontier.take("g", 4, 0.0)
    resting = source.rows[1]
    source.rows[1] = [row.id for row in rows if row.host == 1]  # what is out is settled all the same
    frontier.reload()
    given: list[int] = []
    while more := frontier.take("g", 50, 0.0)[0]:
        given += [row.id for row in more]
    assert set(given).isdisjoint(set(resting) - {row.id for row in rows})
    assert frontier.waiting == 0
    source.rows[1] = resting
    frontier.reload()
    while more := frontier.take("g", 50, 0.0)[0]:
        given += [row.id for row in more]
    assert sorted([*given, *(row.id for row in rows)]) == sorted(resting + source.rows[2])


# -- ways of sources ----------------------------------------------------------------------------------

FAR, NEAR = 1, 2
WHY = ("far", "proxy http://127.0.0.1:9")


def mixed(far: int, near: int) -> tuple[Frontier, "Mixed"]:
    source = Mixed(far, near)
    frontier = Frontier(source, Allotment())
    frontier.load()
    frontier.join("g")
    return frontier, source


class Mixed(Waiting):
    """One host; its first rows are one source's, the others another's."""

    def __init__(self, far: int, near: int) -> None:
        super().__init__({1: far + near})
        self.far = set(self.rows[1][:far])

    def refill(self, host: int, after: tuple[int, int], limit: int) -> list[tuple[int, Row]]:
        found = super().refill(host, after, limit)
        return [(prio, replace(row, source=FAR if row.id in self.far else NEAR)) for prio, row in found]


def run_dry(frontier: Frontier, source: Mixed, now: float) -> list[Row]:
    """Visit all that goes out at *now*."""
    seen: list[Row] = []
    for _ in range(1000):
        rows = frontier.take("g", 50, now)[0]
        if not rows and not frontier.waiting_now(now):
            return seen
        for row in rows:
            source.settle(row)
            frontier.settled([row.id])
        seen += rows
    raise AssertionError("it never comes to an end")


def test_of_a_source_whose_way_rests_nothing_goes_out_and_the_other_one_is_gathered_to_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ingather.robot.frontier.hold._PASSES", 30)
    frontier, source = mixed(400, 40)  # more than are passed over at a time
    rows = frontier.take("g", 10, 0.0)[0]
    assert {row.source for row in rows} == {FAR}
    frontier.rest([row.id for row in rows], WHY, 100.0)
    assert frontier.out == 0
    assert {row.source for row in run_dry(frontier, source, 1.0)} == {NEAR}
    assert (frontier.waiting, frontier.waiting_now(99.0), frontier.waiting_now(100.0)) == (400, 0, 400)
    assert frontier.resting() == {WHY: (1, 400)}
    assert frontier.take("g", 10, 99.0)[0] == []
    assert len(run_dry(frontier, source, 100.0)) == 400
    assert (frontier.waiting, frontier.resting()) == (0, {})


def test_what_comes_meanwhile_is_found_and_a_way_that_leads_on_again_is_gone_at_once() -> None:
    frontier, source = mixed(30, 2)
    frontier.rest([row.id for row in frontier.take("g", 5, 0.0)[0]], WHY, 1e9)
    assert len(run_dry(frontier, source, 1.0)) == 2
    source.rows[1].insert(0, 1)  # before all the others
    frontier.woken({1: 1})
    assert frontier.waiting_now(2.0) > 0  # nobody says that all is done
    assert [row.id for row in run_dry(frontier, source, 60.0)] == [1]
    frontier.rests_on(WHY, -inf)
    assert len(run_dry(frontier, source, 61.0)) == 30


def test_two_ways_rest_apart_and_a_longer_rest_counts() -> None:
    frontier, source = mixed(3, 3)
    rows = frontier.take("g", 10, 0.0)[0]
    other = ("near", "PAC file http://wpad.example/proxy.pac")
    frontier.rest([row.id for row in rows if row.source == FAR], WHY, 10.0)
    frontier.rest([row.id for row in rows if row.source == NEAR], other, 20.0)
    assert run_dry(frontier, source, 1.0) == []
    frontier.rests_on(WHY, 30.0)
    assert {row.source for row in run_dry(frontier, source, 20.0)} == {NEAR}
    assert {row.source for row in run_dry(frontier, source, 30.0)} == {FAR}


@settings(max_examples=60)
@given(
    st.integers(0, 30),
    st.integers(0, 30),
    st.lists(
        st.tuples(
            st.sampled_from(["take", "settle", "back", "rest", "on", "off", "die"]), st.integers(1, 30)
        ),
        max_size=40,
    ),
)
def test_with_ways_that_rest_nothing_is_in_two_hands_or_lost(  # noqa: C901, PLR0912 - one walk
    far: int, near: int, steps: list[tuple[str, int]]
) -> None:
    frontier, source = mixed(far, near)
    now, hand, done, resting = 0.0, "g", 0, 0.0
    held: dict[int, Row] = {}
    for step, number in steps:
        now += 1.0
        some = list(held)[:number]
        if step == "take":
            for row in frontier.take(hand, number, now)[0]:
                assert row.id not in held
                assert row.source != FAR or now >= resting
                held[row.id] = row
        elif step == "settle":
            for key in some:
                source.settle(held.pop(key))
                frontier.settled([key])
                done += 1
        elif step == "back":
            frontier.handed_back(some)
            held = {key: row for key, row in held.items() if key not in some}
        elif step == "rest":
            claims = [key for key in some if held[key].source == FAR]
            if claims:
                frontier.rest(claims, WHY, now + number)
                resting = max(resting, now + number) if resting > now else now + number
                held = {key: row for key, row in held.items() if key not in claims}
        elif step == "on" and resting > now:
            resting = now + number
            frontier.rests_on(WHY, resting)
        elif step == "off":
            resting = 0.0
            frontier.rests_on(WHY, -inf)
        elif step == "die":
            frontier.lost(hand, keep=())
            held.clear()
            hand += "g"
            frontier.join(hand)
        assert frontier.out == len(held)
        assert frontier.waiting + len(held) + done >= far + near
    for key, row in held.items():
        source.settle(row)
        frontier.settled([key])
        done += 1
    if hand == "g":
        assert done + len(run_dry(frontier, source, now + 100)) == far + near
