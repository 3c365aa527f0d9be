"""Who gets which host's URLs: one hand a host, everybody fed, nothing lost."""

from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ingather.robot.frontier.allotment import (
    BUCKETS,
    Allotment,
    AllotmentLimits,
    Batch,
    batch_size,
    bucket_of,
)


@pytest.mark.parametrize(
    ("delay", "size"), [(0.0, 200), (0.1, 200), (1.0, 60), (2.0, 30), (5.0, 20), (60.0, 20)]
)
def test_a_batch_is_sized_by_the_delay(delay: float, size: int) -> None:
    assert batch_size(delay) == size


def test_buckets_are_the_same_everywhere() -> None:
    assert bucket_of("intranet.example") == 679
    spread = Counter(bucket_of(f"host{n}.example") for n in range(50_000))
    assert len(spread) == BUCKETS
    assert max(spread.values()) < 100


def test_a_host_stays_in_the_hand_it_is_in() -> None:
    a = Allotment()
    a.join("g1")
    a.join("g2")
    a.waiting("h.example", 1_000_000)
    assert a.batch("g1", 1000, 0.0) == [Batch("h.example", 60, fresh=True)]
    assert a.batch("g2", 1000, 0.0) == []
    a.done("h.example", 59)
    assert a.batch("g1", 1000, 0.0) == [Batch("h.example", 59, fresh=False)]
    assert a.holder("h.example") == "g1"


def test_a_host_is_topped_up_when_half_of_its_batch_is_done() -> None:
    a = Allotment()
    a.join("g1")
    a.waiting("h.example", 1000)
    a.batch("g1", 1000, 0.0)
    a.done("h.example", 29)
    assert a.batch("g1", 1000, 0.0) == []
    a.done("h.example", 1)
    assert a.batch("g1", 1000, 0.0) == [Batch("h.example", 30, fresh=False)]


def test_a_host_without_delay_may_have_several_batches_out() -> None:
    a = Allotment()
    a.join("g1")
    a.waiting("own.example", 100_000, delay_s=0.0)
    counts = [b.count for _ in range(10) for b in a.batch("g1", 1000, 0.0)]
    assert counts == [200] * 8


def test_many_hosts_share_the_room() -> None:
    a = Allotment()
    a.join("g1")
    for n in range(40):
        a.waiting(f"h{n}.example", 1000)
    batches = a.batch("g1", 1000, 0.0)
    assert len(batches) == 40
    assert {b.count for b in batches} == {25}


def test_two_gatherers_share_the_hosts() -> None:
    a = Allotment()
    a.join("g1")
    a.join("g2")
    for n in range(60):
        a.waiting(f"h{n}.example", 1000)
    hosts = {g: {b.host for b in a.batch(g, 600, 0.0)} for g in ("g1", "g2")}
    assert not hosts["g1"] & hosts["g2"]
    assert len(hosts["g1"]) == len(hosts["g2"]) == 30


def test_an_idle_gatherer_takes_over_a_bucket_with_nothing_out() -> None:
    a = Allotment()
    a.join("g1")
    a.join("g2")
    a.waiting("h.example", 20)
    assert a.batch("g1", 100, 0.0) == [Batch("h.example", 20, fresh=True)]
    a.done("h.example", 20)
    a.waiting("h.example", 5)
    assert a.batch("g2", 100, 0.0) == [Batch("h.example", 5, fresh=True)]
    a.done("h.example", 5)
    a.waiting("h.example", 7)
    assert a.batch("g1", 100, 0.0) == [Batch("h.example", 7, fresh=True)]


def test_a_host_that_backs_off_gives_nothing_and_holds_nobody_up() -> None:
    a = Allotment()
    a.join("g1")
    a.waiting("slow.example", 10, not_before=100.0)
    a.waiting("fast.example", 10)
    assert a.batch("g1", 1000, 0.0) == [Batch("fast.example", 10, fresh=True)]
    assert list(a.backing_off(40.0)) == [("slow.example", 60.0)]
    assert a.batch("g1", 1000, 100.0) == [Batch("slow.example", 10, fresh=True)]


def test_a_dead_gatherers_hosts_go_to_the_others() -> None:
    a = Allotment()
    a.join("g1")
    a.join("g2")
    a.waiting("h.example", 100)
    a.batch("g1", 100, 0.0)
    assert a.leave("g1") == ["h.example"]
    a.waiting("h.example", 100)
    assert a.batch("g2", 100, 0.0) == [Batch("h.example", 60, fresh=True)]
    assert a.batch("g1", 100, 0.0) == []
    assert a.totals() == (1, 40, 60)


class AllotmentMachine(RuleBasedStateMachine):
    """Never two hands, never more out than claimed, and in the end everything came out once."""

    HOSTS = tuple(f"h{n}.example" for n in range(6))

    @initialize()
    def start(self) -> None:
        self.book = Allotment(AllotmentLimits(min_batch=2, max_batch=8, horizon_s=6.0, ahead=2))
        self.now = 0.0
        self.names = 0
        self.live: list[str] = []
        self.waiting: Counter[str] = Counter()
        self.out: dict[str, Counter[str]] = {}

    @rule()
    def join(self) -> None:
        if len(self.live) < 3:
            self.names += 1
            name = f"g{self.names}"
            self.live.append(name)
            self.out[name] = Counter()
            self.book.join(name)

    @rule(host=st.sampled_from(HOSTS), count=st.integers(1, 30), delay=st.sampled_from((0.0, 1.0, 9.0)))
    def discover(self, host: str, count: int, delay: float) -> None:
        self.waiting[host] += count
        self.book.waiting(host, self.waiting[host], delay_s=delay)

    @precondition(lambda self: self.live)
    @rule(data=st.data(), room=st.integers(0, 40))
    def claim(self, data: st.DataObject, room: int) -> None:
        gatherer = data.draw(st.sampled_from(self.live))
        batches = self.book.batch(gatherer, room, self.now)
        assert sum(b.count for b in batches) <= room
        for b in batches:
            others = [g for g in self.live if g != gatherer and self.out[g][b.host]]
            assert not others, "two hands"
            assert 0 < b.count <= self.waiting[b.host]
            self.waiting[b.host] -= b.count
            self.out[gatherer][b.host] += b.count

    @precondition(lambda self: any(c.total() for c in self.out.values()))
    @rule(data=st.data())
    def report(self, data: st.DataObject) -> None:
        pairs = sorted((g, h) for g, c in self.out.items() for h in +c)
        gatherer, host = data.draw(st.sampled_from(pairs))
        count = data.draw(st.integers(1, self.out[gatherer][host]))
        self.out[gatherer][host] -= count
        self.book.done(host, count)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def die(self, data: st.DataObject) -> None:
        gatherer = data.draw(st.sampled_from(self.live))
        self.live.remove(gatherer)
        lost = +self.out.pop(gatherer)
        assert sorted(self.book.leave(gatherer)) == sorted(lost)
        for host, count in lost.items():
            self.waiting[host] += count
            self.book.waiting(host, self.waiting[host])

    @invariant()
    def the_books_agree(self) -> None:
        _, waiting, out = self.book.totals()
        assert waiting == self.waiting.total()
        assert out == sum(c.total() for c in self.out.values())
        assert all(self.book.out(g) == c.total() for g, c in self.out.items())

    def teardown(self) -> None:
        if not self.live:
            self.join()
        for _ in range(2000):
            if not self.waiting.total():
                return
            for gatherer in self.live:
                for host, count in self.out[gatherer].items():
                    self.book.done(host, count)
                self.out[gatherer].clear()
                for b in self.book.batch(gatherer, 10, self.now):
                    self.waiting[b.host] -= b.count
                    self.out[gatherer][b.host] += b.count
        raise AssertionError("starved")


TestAllotmentMachine = AllotmentMachine.TestCase
TestAllotmentMachine.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
