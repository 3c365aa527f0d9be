"""Logs that are bounded, and what happens when one cannot be written."""

from pathlib import Path

from structlog.testing import capture_logs

from ingather.robot.logs.logfile import LogFile


def test_a_full_log_becomes_an_old_one_and_the_oldest_goes(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "a.log", max_bytes=10, keep=2)
    for number in range(4):
        log.append(b"%d" % number * 11 + b"\n")
    assert (tmp_path / "a.log.1").read_bytes().startswith(b"3")
    assert (tmp_path / "a.log.2").read_bytes().startswith(b"2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.log.1", "a.log.2"]


def test_what_cannot_be_written_is_said_once_and_again_when_it_is_over(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "a.log"
    log = LogFile(path)
    with capture_logs() as said:
        log.append(b"lost\n")
        log.append(b"lost as well\n")
        path.parent.mkdir()
        log.append(b"kept\n")
    assert [(line["log_level"], line["file"]) for line in said] == [
        ("error", str(path)),
        ("warning", str(path)),
    ]
    assert log.failed == ""
    assert path.read_bytes() == b"kept\n"


def test_a_failure_stands_until_it_is_written_again(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "none" / "a.log")
    log.append(b"x\n")
    assert log.failed.startswith(str(tmp_path / "none" / "a.log"))
