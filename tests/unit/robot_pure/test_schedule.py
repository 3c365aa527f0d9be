"""The working set: turns, fairness, priorities, bounds; and a machine that tries every order of calls."""

from collections import Counter
from math import isinf

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ingather.robot.frontier.schedule import Schedule
from ingather.robot.politeness.hosts import HostClock, HostPolicy

OWN = HostPolicy(delay_s=0.0, max_connections=64, own=True)


def schedule_of(*hosts: str, policy: HostPolicy | None = None, max_items: int = 10_000) -> Schedule[str]:
    schedule: Schedule[str] = Schedule(max_items=max_items)
    for host in hosts:
        schedule.admit(HostClock(host, policy or HostPolicy(), 0.0, just_visited=False))
    return schedule


def fetch(schedule: Schedule[str], now: float) -> str:
    turn = schedule.next(now)
    assert not isinstance(turn, float)
    item, host = turn
    assert not schedule.must_wait(host, now)
    schedule.started(host, now)
    schedule.finished(host)
    return item


def test_a_host_rests_between_starts() -> None:
    s = schedule_of("a")
    for n in range(3):
        s.add("a", f"a{n}")
    assert fetch(s, 0.0) == "a0"
    assert s.next(0.25) == 0.75
    assert fetch(s, 1.0) == "a1"


def test_nothing_to_do_is_an_endless_wait() -> None:
    turn = schedule_of("a").next(0.0)
    assert isinstance(turn, float)
    assert isinf(turn)


def test_no_more_than_two_connections_to_a_host() -> None:
    s = schedule_of("a")
    for n in range(5):
        s.add("a", f"a{n}")
    for now in (0.0, 1.0):
        assert s.next(now) == (f"a{int(now)}", "a")
        s.started("a", now)
    turn = s.next(50.0)
    assert isinstance(turn, float)
    assert isinf(turn)
    s.finished("a")
    assert s.next(50.0) == ("a2", "a")


def test_while_one_waits_for_its_grant_no_other_of_its_host_comes_out() -> None:
    s = schedule_of("a")
    s.add("a", "a0")
    s.add("a", "a1")
    assert s.next(0.0) == ("a0", "a")
    assert isinstance(s.next(99.0), float)
    s.started("a", 99.0)
    assert s.next(99.5) == 0.5


def test_what_was_set_back_in_the_meantime_may_not_start() -> None:
    s = schedule_of("a")
    s.add("a", "a0")
    assert s.next(0.0) == ("a0", "a")
    s.back_off("a", 0.0, chance=0.0, asked_s=30.0)
    assert s.must_wait("a", 1.0) == 29.0
    s.put_back("a", "a0")
    assert s.next(1.0) == 29.0
    assert fetch(s, 30.0) == "a0"


def test_a_host_with_a_million_does_not_starve_one_with_ten() -> None:
    s = schedule_of("big", "small", policy=OWN, max_items=1_000_010)
    for _ in range(1_000_000):
        s.add("big", "big")
    for _ in range(10):
        s.add("small", "small")
    first = Counter(fetch(s, 0.0) for _ in range(22))
    assert first["small"] == 10


def test_polite_hosts_share_the_time() -> None:
    hosts = [f"h{n}" for n in range(20)]
    s = schedule_of(*hosts)
    for host in hosts:
        for _ in range(1000 if host == "h0" else 5):
            s.add(host, host)
    done: Counter[str] = Counter()
    now = 0.0
    while now < 5.0:
        turn = s.next(now)
        if isinstance(turn, float):
            now += turn
            continue
        done[turn[0]] += 1
        s.started(turn[1], now)
        s.finished(turn[1])
    assert all(done[host] == 5 for host in hosts)


def test_small_priorities_go_first_then_order_of_arrival() -> None:
    s = schedule_of("a", policy=OWN)
    for item, priority in (("x", 3), ("y", 1), ("z", 3), ("robots", -1), ("w", 1)):
        s.add("a", item, priority)
    assert [fetch(s, 0.0) for _ in range(5)] == ["robots", "y", "w", "x", "z"]


def test_behind_a_shut_gate_only_robots_comes_out() -> None:
    s = schedule_of("a", policy=OWN)
    s.add("a", "page")
    s.shut("a")
    assert isinstance(s.next(0.0), float)
    s.add("a", "robots", -1)
    assert s.next(0.0) == ("robots", "a")
    s.started("a", 0.0)
    assert isinstance(s.next(0.0), float)
    s.finished("a")
    assert isinstance(s.next(0.0), float)
    s.unshut("a")
    assert s.next(0.0) == ("page", "a")


def test_the_working_set_is_bounded_and_says_so() -> None:
    s = schedule_of("a", max_items=3)
    assert [s.add("a", str(n)) for n in range(5)] == [True, True, True, False, False]
    counts = s.counts()
    assert (counts.waiting, counts.room, counts.refused, counts.hosts) == (3, 0, 2, 1)
    assert not s.add("nobody's", "x")


def test_a_host_handed_back_returns_its_items_and_leaves_when_its_last_request_ends() -> None:
    s = schedule_of("a", policy=OWN)
    for item in "pqr":
        s.add("a", item, 2)
    s.add("a", "first", 1)
    assert s.next(0.0) == ("first", "a")
    s.started("a", 0.0)
    assert s.remove("a") == ["p", "q", "r"]
    assert s.holds("a")
    assert not s.add("a", "late")
    s.finished("a")
    assert not s.holds("a")
    assert s.counts().waiting == 0


def test_a_host_that_comes_back_while_leaving_keeps_its_connections() -> None:
    s = schedule_of("a")
    s.add("a", "one")
    assert s.next(0.0) == ("one", "a")
    s.started("a", 0.0)
    s.remove("a")
    s.admit(HostClock("a", HostPolicy(), 7.0))
    clock = s.clock("a")
    assert clock is not None
    assert (clock.open, clock.ready_at) == (1, 8.0)


def test_a_slow_host_is_reported_with_its_estimated_time() -> None:
    s = schedule_of("a", "b")
    for n in range(10):
        s.add("a", str(n))
    clock = s.clock("a")
    assert clock is not None
    clock.obey(86_400.0)
    [slow] = s.slow_hosts()
    assert (slow.host, slow.asked_s, slow.obeyed_s, slow.waiting, slow.estimated_s) == (
        "a",
        86_400.0,
        60.0,
        10,
        600.0,
    )


class ScheduleMachine(RuleBasedStateMachine):
    """Nothing lost, nothing twice, no host too fast or in too many connections, nothing starved."""

    @initialize()
    def start(self) -> None:
        self.schedule: Schedule[int] = Schedule(max_items=60)
        self.now = 0.0
        self.serial = 0
        self.waiting: dict[str, list[int]] = {}
        self.aside: dict[str, int] = {}
        self.open: Counter[str] = Counter()
        self.last: dict[str, float] = {}
        self.done: set[int] = set()
        self.passed: Counter[str] = Counter()

    @rule(host=st.sampled_from("abcd"), own=st.booleans())
    def admit(self, host: str, own: bool) -> None:  # noqa: FBT001
        if self.schedule.holds(host):
            return
        policy = HostPolicy(0.0, 3, own=True) if own else HostPolicy()
        self.schedule.admit(HostClock(host, policy, self.now))
        self.waiting[host] = []
        self.last[host] = self.now

    @rule(host=st.sampled_from("abcd"), priority=st.integers(-1, 3), count=st.integers(1, 9))
    def add(self, host: str, priority: int, count: int) -> None:
        for _ in range(count):
            self.serial += 1
            taken = self.schedule.add(host, self.serial, priority)
            room = sum(map(len, self.waiting.values())) < 60
            assert taken == (host in self.waiting and room)
            if taken:
                self.waiting[host].append(self.serial)

    @rule(step=st.sampled_from((0.0, 0.1, 0.5, 1.0, 7.0)))
    def wait(self, step: float) -> None:
        self.now += step

    @rule()
    def take(self) -> None:
        turn = self.schedule.next(self.now)
        if isinstance(turn, float):
            ready = [
                h
                for h, items in self.waiting.items()
                if items
                and h not in self.aside
                and self._rested(h)
                and self.open[h] < self._clock(h).max_open
            ]
            assert not ready
            return
        item, host = turn
        self.waiting[host].remove(item)
        assert host not in self.aside
        self.aside[host] = item
        self.passed[host] = 0

    @precondition(lambda self: self.aside)
    @rule(data=st.data(), back=st.booleans())
    def begin(self, data: st.DataObject, back: bool) -> None:  # noqa: FBT001
        host = data.draw(st.sampled_from(sorted(self.aside)))
        item = self.aside.pop(host)
        may = self._rested(host)
        if back:
            self.schedule.put_back(host, item)
        elif self.schedule.must_wait(host, self.now):
            assert not may
            self.schedule.put_back(host, item)
        else:
            assert may
            self.schedule.started(host, self.now)
            self.last[host] = self.now
            self.open[host] += 1
            self.done.add(item)
            return
        if host in self.waiting:
            self.waiting[host].append(item)

    @precondition(lambda self: any(self.open.values()))
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        host = data.draw(st.sampled_from(sorted(+self.open)))
        self.schedule.finished(host)
        self.open[host] -= 1

    @rule(host=st.sampled_from("abcd"))
    def remove(self, host: str) -> None:
        if host in self.aside or host not in self.waiting:
            return
        assert sorted(self.schedule.remove(host)) == sorted(self.waiting.pop(host))
        self.passed[host] = 0
        if self.open[host]:
            # It is leaving; take it in again so that the model stays simple.
            assert self.schedule.holds(host)
            self.schedule.admit(HostClock(host, HostPolicy(), self.now))
            self.waiting[host] = []
            self.last[host] = self.now
        else:
            assert not self.schedule.holds(host)

    @rule(host=st.sampled_from("abcd"), asked=st.sampled_from((None, 0.0, 5.0)))
    def refuse(self, host: str, asked: float | None) -> None:
        if host in self.waiting:
            self.schedule.back_off(host, self.now, chance=0.0, asked_s=asked)

    def _clock(self, host: str) -> HostClock:
        clock = self.schedule.clock(host)
        assert clock is not None
        return clock

    def _rested(self, host: str) -> bool:
        clock = self._clock(host)
        return self.now >= self.last[host] + clock.delay_s and not clock.backing_off(self.now)

    @invariant()
    def nothing_is_lost(self) -> None:
        counts = self.schedule.counts()
        assert counts.waiting == sum(map(len, self.waiting.values()))
        assert counts.in_flight == len(self.aside) + self.open.total()
        assert all(self.open[h] <= self._clock(h).max_open for h in self.waiting)

    def teardown(self) -> None:
        # Everything that waits comes out in the end, each once.
        for host in list(self.aside):
            self.schedule.put_back(host, self.aside[host])
            self.waiting[host].append(self.aside.pop(host))
        for host, count in self.open.items():
            for _ in range(count):
                self.schedule.finished(host)
        left = {item for items in self.waiting.values() for item in items}
        while left:
            turn = self.schedule.next(self.now)
            if isinstance(turn, float):
                assert not isinf(turn)
                self.now += max(turn, 1e-6)
                continue
            item, host = turn
            left.remove(item)
            assert item not in self.done
            self.schedule.started(host, self.now)
            self.schedule.finished(host)


TestScheduleMachine = ScheduleMachine.TestCase
TestScheduleMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
