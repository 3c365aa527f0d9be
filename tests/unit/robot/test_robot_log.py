"""robot.log: events by level, in the old layout, with JSON beside it."""

import json
import re
from pathlib import Path

import pytest

from ingather.model.lifecycle import Outcome
from ingather.model.report import Denial, Discovery, Report, Row, Settled
from ingather.robot.logs.robotlog import Level, RobotLog

ROW = Row(1, 1, "/", 0, None, 1, 0, "", "", b"", None, None, 0, 0, None, None, None)


def visit(outcome: Outcome, **rest: object) -> Settled:
    report = Report(id=1, outcome=int(outcome), status=200, at_s=0.0, version=1, size=7, **rest)  # type: ignore[arg-type]
    return Settled(report, ROW, 2, None, None, 0, None, 0, put=False, propose="", keep_description=False)


def written(folder: Path, level: int) -> list[str]:
    log = RobotLog(folder, level=level)
    denied = Discovery(
        1, "http://a.example", "/x.gif", 1, denial=Denial("rules", "filter.conf:9", "an image", 1)
    )
    visits = [
        visit(Outcome.INDEXED, found=[denied]),
        visit(Outcome.SERVER_ERROR, detail="500\nboom"),
        visit(Outcome.QUARANTINED, detail="kills its reader"),
    ]
    log.visits(
        visits,
        ["http://a.example/", "http://a.example/b", "http://a.example/c"],
        [("http://a.example/d", "host-urls")],
        0.0,
    )
    log.event(Level.SPAWNING, "gatherer spawned", 0.0)
    log.event(Level.PROGRESS, "progress: 3 visits", 0.0)
    log.serious("disk full", 0.0)
    log.flush()
    log.flush()
    assert not log.failed
    return (folder / "robot.log").read_text().splitlines()


@pytest.mark.parametrize(("level", "count"), [(0, 2), (1, 4), (2, 7), (3, 9), (4, 10), (5, 11), (100, 11)])
def test_a_level_tells_what_is_up_to_it(tmp_path: Path, level: int, count: int) -> None:
    lines = written(tmp_path, level)
    assert len(lines) == count, lines
    assert all(re.match(r"\[01/Jan/1970:00:00:00\]  \d+@0: (ERROR|WARNING|INFO): ", line) for line in lines)
    events = [json.loads(line) for line in (tmp_path / "robot.jsonl").read_text().splitlines()]
    assert [event["level"] <= level for event in events] == [True] * count


def test_lines_about_a_url_begin_with_it(tmp_path: Path) -> None:
    told = {line.partition(": ")[2] for line in written(tmp_path, 5)}
    assert "INFO: <URL:http://a.example/>: RD generated" in told
    assert "WARNING: <URL:http://a.example/b>: Error 200 (server error): 500 boom" in told
    assert "ERROR: <URL:http://a.example/c>: Error 200 (quarantined): kills its reader" in told
    assert "INFO: <URL:http://a.example/x.gif>: filtered by filter.conf:9: an image" in told


def test_a_log_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    log = RobotLog(tmp_path / "missing", level=1)
    log.serious("disk full", 0.0)
    log.flush()
    assert "robot.log" in log.failed


def test_logs_are_put_aside(tmp_path: Path) -> None:
    log = RobotLog(tmp_path, level=5, max_bytes=10, keep=2)
    for number in range(4):
        log.event(Level.PROGRESS, f"number {number}", 0.0)
        log.flush()
    assert sorted(path.name for path in tmp_path.glob("robot.log*")) == ["robot.log.1", "robot.log.2"]
