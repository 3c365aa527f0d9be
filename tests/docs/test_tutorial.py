"""The tutorial, followed line by line; the site that it speaks of stands on loopback."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ingather.app.demo import Resource, StaticServer

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = (ROOT / "docs" / "tutorial" / "first-search.md").read_text("utf-8")
OWN_FUNCTION = (ROOT / "docs" / "tutorial" / "write-a-raf.md").read_text("utf-8")
INTRANET = "https://intranet.example/"
SITE = {
    "": Resource(
        "text/html",
        b"<html lang=en><title>Intranet</title><p>Welcome. <a href=/forms/holiday.html>Holiday form</a>"
        b" <a href=/forms/travel.html>Travel</a></html>",
    ),
    "forms/holiday.html": Resource(
        "text/html",
        b"<html lang=en><title>Holiday form</title><h1>Holiday form</h1><p>Days of leave, please.</html>",
    ),
    "forms/travel.html": Resource("text/html", b"<html lang=en><title>Travel</title><p>By train.</html>"),
}
ELSEWHERE = ("./run ", "python3 -m venv", "ingather serve")
"""What installs, or stays up: shown by other tests."""
FINDS_NOTHING = "ingather search --home ./home holiday filetype:pdf"
"""The site here has no such file."""

Shell = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Run a line in an empty folder, with the command of this source in the path."""
    program = tmp_path / "bin" / "ingather"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ingather "$@"\n', "utf-8")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}

    def run(line: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["/bin/sh", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=90, check=False
        )  # fmt: skip

    return run


def blocks(info: str, text: str = TUTORIAL) -> list[str]:
    return re.findall(rf"^```{info}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def lines(text: str = TUTORIAL) -> list[str]:
    return [
        line[2:] for block in blocks("console", text) for line in block.splitlines() if line.startswith("$ ")
    ]


def test_every_line_of_the_tutorial_works(shell: Shell) -> None:
    said: dict[str, str] = {}
    with StaticServer(SITE) as server:
        for line in lines():
            if line.startswith(ELSEWHERE):
                continue
            spoken = line.replace(INTRANET, server.url).replace("intranet.example", "127.0.0.1")
            if line.startswith("ingather crawl"):
                spoken += f" --own-host {server.address}"
            done = shell(spoken)
            expected = 1 if line == FINDS_NOTHING else 0
            assert done.returncode == expected, (line, done.stdout, done.stderr)
            said[line] = done.stdout
    assert "Holiday form" in said['ingather search --home ./home "holiday form"']
    added = said[f"ingather site add {INTRANET} --depth 10 --yes --home ./home"]
    assert "answers, nothing is in the way" in added
    assert "depth: 10" in said["ingather site show intranet.example --home ./home"]
    holiday = f"{INTRANET}forms/holiday.html"
    assert said[f"ingather explain --home ./home {holiday}"].startswith("In search")
    assert said[f"ingather remove --home ./home {holiday}"].startswith("1 removed")
    assert said[f"ingather undelete --home ./home {holiday}"] == "1 restored\n"


def test_the_function_of_the_tutorial_does_its_work(shell: Shell, tmp_path: Path) -> None:
    (program,) = blocks("python", OWN_FUNCTION)
    (line,) = blocks("text", OWN_FUNCTION)
    said: dict[str, str] = {}
    filters = tmp_path / "home2" / "config" / "filter.conf"
    with StaticServer(SITE) as server:
        for command in lines(OWN_FUNCTION):
            spoken = command.replace(INTRANET, server.url)
            if command.startswith("ingather crawl"):
                spoken += f" --own-host {server.address}"
            done = shell(spoken)
            assert done.returncode == 0, (command, done.stdout, done.stderr)
            said[command] = done.stdout
            if command.startswith("mkdir"):
                plugin = tmp_path / "home2" / "plugins" / "reading_time.py"
                plugin.write_text(program, "utf-8")
                plugin.chmod(0o644)
            if command.startswith("ingather plugins"):
                text = filters.read_text("utf-8")
                last = text.rindex("Shutdown fn=")
                filters.write_text(f"{text[:last]}{line}{text[last:]}", "utf-8")
    assert "reading-time" in said["ingather plugins --home ./home2"]
    told = said[f"ingather explain --home ./home2 {INTRANET}forms/holiday.html"]
    assert "reading-time" in told
    wrong = filters.read_text("utf-8").replace("reading_time speed=200", "reading_time speed=7")
    filters.write_text(wrong, "utf-8")
    done = shell("ingather config check --home ./home2")
    assert done.returncode == 1
    assert "E-RANGE" in done.stdout
