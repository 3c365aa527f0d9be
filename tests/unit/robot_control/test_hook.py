import asyncio
import os
from pathlib import Path

import pytest

from ingather.app.robot.hook import HookEnd, HookLimits, hook_variables, run_hook


def program(folder: Path, text: str) -> Path:
    made = folder / "cmdHook one"
    made.write_text(f"#!/bin/sh\n{text}\n")
    made.chmod(0o755)
    return made


def ran(
    command: str, home: Path, *, limits: HookLimits | None = None, bindir: str = "", tmpdir: str = ""
) -> HookEnd:
    variables = hook_variables(bindir=bindir, tmpdir=tmpdir, run=7)
    return asyncio.run(run_hook(command, home, variables=variables, limits=limits))


def test_it_runs_in_the_home_without_a_shell(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    hook = program(tmp_path, 'pwd >seen; echo "$INGATHER_RUN|$TMPDIR|${PATH%%:*}|$#|$1" >>seen; cat >>seen')
    ended = ran(f'"{hook}" "a b;touch x" $HOME', home, bindir="/opt/own", tmpdir="/var/own")
    assert (ended.code, ended.text) == (0, "exit 0")
    lines = (home / "seen").read_text().splitlines()
    assert Path(lines[0]).samefile(home)
    assert lines[1:] == ["7|/var/own|/opt/own|2|a b;touch x"]
    assert not (home / "x").exists()


def test_how_it_ended_is_said_with_its_last_words(tmp_path: Path) -> None:
    hook = program(tmp_path, "echo first; echo no such host >&2; exit 3")
    assert ran(f"'{hook}'", tmp_path).text == "exit 3: first no such host"


def test_much_output_is_read_and_its_end_is_kept(tmp_path: Path) -> None:
    hook = program(
        tmp_path,
        "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done; echo end; exit 1",
    )
    ended = ran(f"'{hook}'", tmp_path, limits=HookLimits(output_bytes=1000))
    assert ended.code == 1
    assert ended.said.endswith(" end")
    assert len(ended.said) <= 500


def test_at_its_time_it_ends_with_all_that_it_started(tmp_path: Path) -> None:
    hook = program(tmp_path, "sleep 3600 & echo $! >child; echo $$ >>child; wait")
    ended = ran(f"'{hook}'", tmp_path, limits=HookLimits(wall_s=1.0))
    assert (ended.code, ended.text) == (None, "failed: it took longer than 1 s")
    for pid in (tmp_path / "child").read_text().split() if (tmp_path / "child").exists() else ():
        state = Path(f"/proc/{pid}/stat")
        assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("relative/path", "full path"),
        ('"/unclosed', "cannot be read"),
        ("/no/such/program", "cannot be run"),
        ("/etc/passwd", "cannot be run"),
    ],
)
def test_what_cannot_be_called_is_said(tmp_path: Path, command: str, why: str) -> None:
    ended = ran(command, tmp_path)
    assert ended.code is None
    assert why in ended.said


def test_it_has_the_environment_of_the_robot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN", "value")
    found = hook_variables(bindir="", tmpdir="", run=1)
    assert found == {**os.environ, "INGATHER_RUN": "1"}
