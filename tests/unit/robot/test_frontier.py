"""The keeper's hold on the frontier: nothing lost, nothing twice."""

from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st

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
