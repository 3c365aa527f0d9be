"""When the index is committed: within 2 s while fewer than 200 documents a second come, within 15 s at full speed."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.app import wiring
from ingather.conf.settings.values import Settings
from ingather.robot.indexing.pace import CommitPace, FollowLimits
from ingather.testing.clock import FakeClock

SERVED = wiring.follow_limits(Settings())
BUSY = [(0.1, 100)] * 20  # 1,000 documents a second for two seconds


def waits(arrivals: Iterable[tuple[float, int]], limits: FollowLimits = SERVED) -> list[tuple[float, float]]:
    """Play (pause before it, documents) and a long silence; return (taken up, how long until committed) of each."""
    clock, pace, taken, told = FakeClock(), CommitPace(), list[float](), list[tuple[float, float]]()
    start = clock.monotonic()

    def look() -> None:
        if pace.due(clock.monotonic(), limits, 0, hidden=False):
            told.extend((at - start, clock.monotonic() - at) for at in taken)
            taken.clear()
            pace.committed()

    for pause, count in [*arrivals, (3600.0, 0)]:
        comes = clock.monotonic() + pause
        while (wait := pace.wait_s(clock.monotonic())) is not None and clock.monotonic() + wait < comes:
            clock.advance(wait)
            look()
        clock.advance(comes - clock.monotonic())
        if count:
            taken.append(clock.monotonic())
            pace.took(count, clock.monotonic())
        look()
    assert not taken
    return told


def test_one_document_is_committed_after_the_quiet_interval() -> None:
    [(_, wait)] = waits([(5.0, 1)])
    assert wait == pytest.approx(SERVED.quiet_s)


def test_at_full_speed_it_is_committed_at_the_busy_interval() -> None:
    told = waits([(0.1, 30)] * 300)
    assert max(wait for _, wait in told) == pytest.approx(SERVED.busy_s, abs=0.11)


def test_a_document_alone_behind_a_burst_waits_no_longer_than_any_that_comes_slowly() -> None:
    for pause in (2.1, 2.5, 3.0, 4.0, 10.0):
        told = waits([*BUSY, (pause, 1)])
        assert told[-1][1] <= 2.0


def test_what_is_left_of_a_burst_does_not_wait_for_the_busy_interval() -> None:
    assert max(wait for at, wait in waits(BUSY) if at > 1.9) <= 2.0 + SERVED.calm_s


def test_a_stall_of_a_moment_at_full_speed_costs_no_commit() -> None:
    told = waits([*BUSY, (2.0, 100), *BUSY])
    assert len({round(at + wait, 3) for at, wait in told}) == 1


@given(st.lists(st.tuples(st.floats(0.01, 4.0), st.integers(1, 400)), min_size=1, max_size=60))
def test_who_comes_slowly_is_committed_within_two_seconds_and_everybody_within_fifteen(
    arrivals: list[tuple[float, int]],
) -> None:
    told = waits(arrivals)
    assert len(told) == len(arrivals)
    assert max(wait for _, wait in told) <= 15.0
    times = [sum(pause for pause, _ in arrivals[: number + 1]) for number in range(len(arrivals))]
    for number, (at, wait) in enumerate(told):
        around = sum(
            count for (_, count), when in zip(arrivals, times, strict=True) if at - 2.1 <= when <= at + wait
        )
        if around < 2 * SERVED.busy_rate:
            assert wait <= 2.0, (number, at)
