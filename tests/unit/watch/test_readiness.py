"""Ready or not: every reason is told by name, searching goes on as long as it can."""

from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from ingather.app.disk import Headroom
from ingather.app.watch import Facts, WatchMetrics, readiness
from ingather.app.watch.metering import REASONS
from ingather.web import Readiness

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "http.md"
TROUBLES = {
    "stopping": Facts(stopping=True),
    "keeper": Facts(keeper_failed=True),
    "index": Facts(index_broken=True),
    "disk": Facts(disk_full=True),
    "clock": Facts(clock_trusted=False),
    "gatherers": Facts(robot="running", waiting=1, gatherers=0),
    "lag": Facts(lag=5_001),
    "damage": Facts(findings=2),
    "canary": Facts(canary="not found again for 20 minutes"),
}


@pytest.mark.parametrize("reason", TROUBLES)
def test_each_reason_has_its_name(reason: str) -> None:
    found = readiness(TROUBLES[reason], searching=False)
    assert [name for name, _ in found.reasons] == [reason]
    searching = {"stopping", "keeper", "index"}
    assert readiness(TROUBLES[reason], searching=True).ready is (reason not in searching)
    assert f"| `{reason}` |" in PAGE.read_text("utf-8")


def test_nothing_wrong_is_ready_and_what_was_wanted_is_a_note() -> None:
    assert readiness(Facts(), searching=False) == Readiness()
    paused = readiness(Facts(robot="paused", waiting=9, gatherers=0), searching=False)
    assert (paused.ready, paused.notes) == (True, ("the robot is paused",))


def test_every_reason_has_a_series(tmp_path: Path) -> None:
    assert set(REASONS) == set(TROUBLES)
    registry = CollectorRegistry()
    found = readiness(TROUBLES["disk"], searching=False)
    WatchMetrics(registry, lambda: found, lambda: Headroom(tmp_path, 7, 9), tmp_path / "none.db")
    text = generate_latest(registry).decode()
    assert "ingather_ready 0.0" in text
    assert 'ingather_not_ready_reason{reason="disk"} 1.0' in text
    assert text.count("ingather_not_ready_reason{") == len(REASONS)
    assert "ingather_disk_free_bytes 7.0" in text
