"""The tutorial of feeds, followed line by line against a running serve."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ingather.testing.rig import Rig
from ingather.testing.running import PATIENCE_S, wait_until

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "push-your-first-feed.md").read_text(
    "utf-8"
)
FINDS = {
    "ingather search --home ./home walrus": 2,
    "ingather search --home ./home sleeps": 0,
    "ingather search --home ./home --user joe sleeps": 1,
    "ingather search --home ./home --user eve sleeps": 0,
}
"""How many documents each search finds while all are there."""


def blocks(info: str) -> list[str]:
    return re.findall(rf"^```{info}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.timeout(300)  # a dozen commands, one after the other
def test_every_line_works(tmp_path: Path) -> None:
    lines = [line[2:] for block in blocks("console") for line in block.splitlines()]
    push, delete = blocks("python")
    rig = Rig(tmp_path / "home")
    program = tmp_path / "bin" / "ingather"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ingather "$@"\n', "utf-8")
    program.chmod(0o755)

    def shell(line: str) -> "subprocess.CompletedProcess[str]":
        environment = {**rig.environment(), "PATH": f"{program.parent}:{os.environ['PATH']}"}
        return subprocess.run(
            ["/bin/sh", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True,
            timeout=PATIENCE_S, check=False,
        )  # fmt: skip

    serve = lines.index("ingather serve --home ./home")
    for line in lines[:serve]:
        assert shell(line).returncode == 0, line
    with rig.serving() as served:
        found = wait_until(lambda: re.search(r"http://127\.0\.0\.1:(\d+)/xmlfeed", served.running.out))
        here = f"127.0.0.1:{found.group(1)}"
        (tmp_path / "push.py").write_text(push.replace("localhost", here), "utf-8")
        (tmp_path / "delete.py").write_text(delete.replace("localhost", here), "utf-8")
        finds = dict(FINDS)
        for line in lines[serve + 1 :]:
            spoken = line.replace("--to localhost", f"--to {here}").replace(
                "python3", shlex.quote(sys.executable)
            )
            done = shell(spoken)
            if line in finds:
                assert done.returncode == (0 if finds[line] else 1), (line, done.stdout, done.stderr)
                assert done.stdout.count("\n   http://papers.example/") == finds[line], done.stdout
                continue
            if line.startswith("ingather access"):
                assert done.returncode == 1, (done.stdout, done.stderr)  # she may not see it
                continue
            assert done.returncode == 0, (line, done.stdout, done.stderr)
            if "push" in line or line == "python3 delete.py":
                wait_until(lambda: _indexed(served.admin("/api/v1/feeds?limit=100")[1]), pause_s=0.1)
            if line == "python3 delete.py":
                finds["ingather search --home ./home --user joe sleeps"] = 0


def _indexed(told: dict[str, list[dict[str, object]]]) -> bool:
    return bool(told["feeds"]) and all(
        feed["ended"] is not None and feed["indexed"] for feed in told["feeds"]
    )
