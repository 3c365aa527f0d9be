"""A generation is shown as a whole: nothing is committed while half of it is in, and nobody waits for it too long."""

import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.index import IndexFolder, TantivyReader
from ingather.robot.indexing.flip import Flip
from ingather.robot.indexing.following import IndexFollower
from ingather.robot.indexing.pace import FollowLimits
from ingather.testing.rig import wait_until

from .test_indexing import Log

LIMIT_S = 10.0


class RealClock:
    """Time as it goes: the follower's thread sleeps by it."""

    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return self.monotonic()


def test_nothing_is_committed_until_all_that_was_pushed_is_taken_up() -> None:
    flip = Flip()
    flip.hold(1, 100.0)
    assert flip.left_s(5, 103.0, LIMIT_S) == 7.0
    flip.release(1, 9)
    assert not flip.due(8)
    assert flip.left_s(8, 104.0, LIMIT_S) == 6.0  # the rest lies in the queue
    assert flip.due(9)
    assert flip.left_s(9, 104.0, LIMIT_S) == 0.0
    flip.committed()
    assert not flip.due(9)


def test_two_that_overlap_are_shown_together_and_no_later_than_the_first_may_wait() -> None:
    flip = Flip()
    flip.hold(1, 100.0)
    flip.hold(2, 106.0)
    flip.release(1, 7)
    assert not flip.due(7)
    assert flip.left_s(7, 108.0, LIMIT_S) == 2.0
    assert flip.left_s(7, 111.0, LIMIT_S) == 0.0
    flip.committed()
    flip.release(2, 20)  # given up with the first: it is shown as it comes
    assert not flip.due(20)
    assert flip.left_s(15, 112.0, LIMIT_S) == 0.0


@given(
    st.lists(st.tuples(st.sampled_from(["hold", "release", "take", "wait"]), st.integers(1, 4)), max_size=40)
)
def test_whoever_holds_for_ever_and_in_whatever_order_a_commit_waits_no_longer_than_the_limit(
    steps: list[tuple[str, int]],
) -> None:
    flip, now, pushed, at, pending_since = Flip(), 0.0, 0, 0, None
    for what, number in steps:
        if what == "hold":
            flip.hold(number, now)
            pushed += number
            pending_since = now if pending_since is None else pending_since
        elif what == "release":
            flip.release(number, pushed)
        elif what == "take":
            at = min(pushed, at + number)
        else:
            now += number
        if pending_since is not None and at > 0 and not flip.left_s(at, now, LIMIT_S):
            flip.committed()
            pending_since = None
        if pending_since is not None and at > 0:
            assert now - pending_since < LIMIT_S


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[IndexFollower, Log, dict[int, list[int]]]]:
    """A follower that commits at once whatever it may, and what readers saw after the commit of each change."""
    log, seen = Log(), dict[int, list[int]]()
    folder = IndexFolder(tmp_path)
    reader: list[TantivyReader] = []

    def committed(sequence: int) -> None:
        if not reader:
            reader.append(folder.reader())
        reader[0].reload()
        seen[sequence] = sorted(row for row, _ in reader[0].snapshot().rows())

    limits = FollowLimits(quiet_docs=1, quiet_s=0.0, flip_s=3600.0, group=2)
    one = IndexFollower(folder.writer, lambda: log, RealClock(), committed=committed, limits=limits)
    one.start()
    yield one, log, seen
    one.stop()


def test_readers_see_the_old_or_the_new_however_many_groups_it_takes(
    served: tuple[IndexFollower, Log, dict[int, list[int]]],
) -> None:
    one, log, seen = served
    one.push([log.put(row, "old") for row in (1, 2, 3)])
    wait_until(lambda: 3 in seen)
    one.hold(7)
    one.push([log.put(row, "new") for row in (2, 3, 4, 5)])
    one.push([log.remove(1)])
    wait_until(lambda: one.lag == 0)
    one.push([log.put(6, "new")])
    wait_until(lambda: one.lag == 0)
    assert one.applied == 3
    one.release(7)
    wait_until(lambda: log.newest in seen)
    assert list(seen.items())[-1] == (9, [2, 3, 4, 5, 6])
    assert list(seen)[-2] == 3


def test_a_release_without_a_change_leaves_the_next_generation_its_time(
    served: tuple[IndexFollower, Log, dict[int, list[int]]],
) -> None:
    one, log, seen = served
    one.push([log.put(1, "old")])
    wait_until(lambda: 1 in seen)
    one.hold(7)
    one.release(7)
    one.hold(8)
    one.push([log.put(2, "new")])
    wait_until(lambda: one.lag == 0)
    one.push([log.put(3, "new")])
    wait_until(lambda: one.lag == 0)
    one.release(8)
    wait_until(lambda: log.newest in seen)
    assert seen == {1: [1], 3: [1, 2, 3]}


def test_a_generation_that_takes_too_long_is_shown_as_it_comes(tmp_path: Path) -> None:
    log = Log()
    limits = FollowLimits(quiet_docs=1, quiet_s=0.0, flip_s=0.0)
    one = IndexFollower(
        IndexFolder(tmp_path).writer, lambda: log, RealClock(), committed=lambda _: None, limits=limits
    )
    one.start()
    try:
        one.hold(7)
        for row in (1, 2):
            one.push([log.put(row, "new")])
            wait_until(partial(_applied, one, row))
        one.release(7)
    finally:
        one.stop()


def _applied(one: IndexFollower, upto: int) -> bool:
    return one.applied == upto


def test_who_waits_for_a_change_and_who_stops_are_served(
    served: tuple[IndexFollower, Log, dict[int, list[int]]],
) -> None:
    one, log, seen = served
    one.push([log.put(3, "old")])
    wait_until(lambda: 1 in seen)
    one.hold(7)
    one.push([log.put(1, "new")])
    found: list[bool] = []
    waiting = threading.Thread(target=lambda: found.append(one.flush(log.newest, 60)))
    waiting.start()
    wait_until(lambda: one.lag == 0)
    assert not found
    one.release(7)
    waiting.join(60)
    assert found == [True]
    one.hold(8)
    one.push([log.put(2, "new")])
    wait_until(lambda: one.lag == 0)
    one.stop()
    assert one.applied == log.newest
