"""Folders for a moment: whoever comes next removes what killed processes left, and nothing that anybody uses."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.app.confined.scratch import Scratch, emptied

HOLDER = """
import sys, time
from ingather.app.confined.scratch import Scratch
made = Scratch("kit-")
(made.path / "file").write_text("x")
print(made.path, flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def holder() -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_what_a_killed_process_left_is_removed_by_the_next_and_not_before(
    parent: Path, holder: "subprocess.Popen[str]"
) -> None:
    assert holder.stdout is not None
    theirs = Path(holder.stdout.readline().strip())
    with Scratch("kit-") as ours:
        assert (theirs / "file").exists()
        assert set(parent.iterdir()) == {theirs, ours.path}
    assert list(parent.iterdir()) == [theirs]
    holder.send_signal(signal.SIGKILL)
    holder.wait(60)
    assert theirs.exists()
    with Scratch("kit-") as ours:
        assert list(parent.iterdir()) == [ours.path]
        assert ours.path.stat().st_mode & 0o777 == 0o700
    assert list(parent.iterdir()) == []


def test_other_names_links_and_files_are_left_alone(parent: Path) -> None:
    (parent / "other-1").mkdir()
    (parent / "kit-file").write_text("x")
    (parent / "kit-link").symlink_to(parent / "other-1")
    (parent / ".kit-new").mkdir()
    (parent / ".kit-old").mkdir()
    os.utime(parent / ".kit-old", (0, 0))
    before = set(parent.iterdir())
    with Scratch("kit-"):
        pass
    assert set(parent.iterdir()) == before - {parent / ".kit-old"}


def test_a_folder_of_ours_alone_is_emptied(parent: Path) -> None:
    room = parent / "run" / "converters-0"
    assert emptied(room) == room
    (room / "converter-x").mkdir()
    (room / "converter-x" / "body").write_text("x")
    (room / "file").write_text("x")
    (parent / "kept").mkdir()
    (room / "link").symlink_to(parent / "kept")
    assert list(emptied(room).iterdir()) == []
    assert (parent / "kept").is_dir()
