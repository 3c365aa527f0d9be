"""The clock that stands still."""

import pytest

from ingather.ports.clock import Clock
from ingather.testing.clock import FakeClock
from ingather.testing.contracts import ClockContract


class TestFakeClock(ClockContract):
    def make(self) -> Clock:
        return FakeClock()


def test_time_passes_only_when_told() -> None:
    clock = FakeClock(monotonic_s=5.0, wall_s=100.0)
    assert (clock.monotonic(), clock.wall()) == (5.0, 100.0)
    clock.advance(2.5)
    assert (clock.monotonic(), clock.wall()) == (7.5, 102.5)


def test_the_wall_clock_alone_can_jump() -> None:
    clock = FakeClock(monotonic_s=5.0, wall_s=100.0)
    clock.jump(-50.0)
    assert (clock.monotonic(), clock.wall()) == (5.0, 50.0)


def test_monotonic_time_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="does not go back"):
        FakeClock().advance(-1.0)
