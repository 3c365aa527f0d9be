"""Who watches the gatherers: silence counts from their first sign of life, starting may take longer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.robot.slot import Slot
from ingather.robot.supervising import Supervisor
from ingather.testing.clock import FakeClock
from ingather.testing.jobs import stand_by


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def supervisor(tmp_path: Path, clock: FakeClock) -> Iterator[Supervisor]:
    made = Supervisor(stand_by, (), tmp_path, clock, count=1, parse_s=1.0, silent_s=2.0, start_s=60.0)
    made.start()
    yield made
    made.stop(0.0)


def test_a_gatherer_that_still_starts_is_left_alone(supervisor: Supervisor, clock: FakeClock) -> None:
    clock.advance(50.0)
    assert supervisor.check() == []
    clock.advance(11.0)
    [death] = supervisor.check()
    assert (death.hung, death.culprit) == (True, 0)


def test_after_its_first_sign_of_life_silence_counts(
    supervisor: Supervisor, clock: FakeClock, tmp_path: Path
) -> None:
    clock.advance(30.0)
    slot = Slot(tmp_path / "gatherer-0.slot")
    slot.beat(clock.monotonic())
    clock.advance(1.5)
    assert supervisor.check() == []
    clock.advance(1.0)
    [death] = supervisor.check()
    assert death.hung
    slot.close()


def test_process_ids_can_be_asked_for_while_another_thread_stops_everybody(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    [pid] = supervisor.pids()
    [child] = supervisor._children.values()
    close, told = child.process.close, []

    def closed() -> None:
        close()
        told.extend(supervisor.pids())  # as the keeper's clock does at that moment

    monkeypatch.setattr(child.process, "close", closed)
    supervisor.stop(0.0)
    assert told == [pid]
    assert supervisor.pids() == []
