import json
from pathlib import Path

import pytest

from ingather.app.robot.statefile import FILE, Kept, StateFile
from ingather.errors import IngatherError


def test_what_was_set_is_there_again_and_nothing_lies_around_by_default(tmp_path: Path) -> None:
    file = StateFile(tmp_path)
    assert file.read() == Kept()
    kept = Kept(state="paused", at=5.0, slowed={"a.example": 2.5}, blocked=["b.example:8080"])
    file.write(kept)
    assert StateFile(tmp_path).read() == kept
    file.write(Kept(at=6.0))
    assert list(tmp_path.iterdir()) == []


def test_it_lies_where_robot_state_dir_says_and_moves_there(tmp_path: Path) -> None:
    file = StateFile(tmp_path)
    file.write(Kept(state="off", why="stopped"))
    file.move("var/robot")
    assert not (tmp_path / FILE).exists()
    assert StateFile(tmp_path, "var/robot").read().why == "stopped"
    assert StateFile(tmp_path, str(tmp_path / "var" / "robot")).path == tmp_path / "var" / "robot" / FILE


def test_what_lay_in_the_home_is_found_when_the_folder_was_named_since(tmp_path: Path) -> None:
    StateFile(tmp_path).write(Kept(state="off", why="stopped"))
    assert StateFile(tmp_path, "var").read().why == "stopped"
    assert not (tmp_path / FILE).exists()
    assert StateFile(tmp_path, "var").read().why == "stopped"


def test_where_it_cannot_be_written_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    file = StateFile(tmp_path, "file")
    with pytest.raises(IngatherError) as caught:
        file.write(Kept(state="off"))
    assert "robot-state-dir" in str(caught.value)
    assert file.kept == Kept()
    good = StateFile(tmp_path)
    good.write(Kept(state="off"))
    with pytest.raises(IngatherError):
        good.move("file")
    assert good.folder == ""
    assert StateFile(tmp_path).read().state == "off"


@pytest.mark.parametrize("body", ["", "{", "[]", '{"state": 3}', json.dumps({"slowed": {"a": "x"}})])
def test_a_file_that_cannot_be_read_keeps_the_robot_off(tmp_path: Path, body: str) -> None:
    (tmp_path / FILE).write_text(body)
    kept = StateFile(tmp_path).read()
    assert kept.state == "off"
    assert FILE in kept.why
