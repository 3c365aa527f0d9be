"""What a spawned process begins with reaches it, and one that is killed before it has read that holds up nobody."""

import os
import signal
from multiprocessing import get_context, resource_tracker, util
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from ingather.robot.handing import Handed, begin

BODY = b"x" * 3_000_000


def process(path: Path, handed: Handed) -> Any:
    return get_context("spawn").Process(target=begin, args=(Path.write_bytes, handed, path), daemon=True)


def test_what_is_handed_over_arrives(tmp_path: Path) -> None:
    with Handed(BODY) as handed:
        child = process(tmp_path / "one", handed)
        child.start()
    child.join(60)
    assert child.exitcode == 0
    assert (tmp_path / "one").read_bytes() == BODY
    child.close()


def test_a_child_that_is_killed_before_it_reads_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource_tracker.ensure_running()  # else it is the first that is killed, and the next test is told so
    spawn = util.spawnv_passfds

    def killed(*arguments: Any) -> int:
        pid: int = spawn(*arguments)
        os.kill(pid, signal.SIGKILL)
        return pid

    monkeypatch.setattr(util, "spawnv_passfds", killed)
    with Handed(BODY) as handed:
        child = process(tmp_path / "one", handed)
        starting = Thread(target=child.start, daemon=True)
        starting.start()
        starting.join(60)
        assert not starting.is_alive()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    child.close()
    assert not (tmp_path / "one").exists()
