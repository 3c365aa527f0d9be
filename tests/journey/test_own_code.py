"""Code of one's own in a real crawl: a summarizer, a function that asks to stop, a converter; and one that breaks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ingather.app.demo import Resource, StaticServer
from ingather.cli import run

PAGES = {
    f"{n}.html": Resource("text/html", f"<title>Page {n}</title><p>Text {n}".encode()) for n in range(30)
}
SITE = {
    "": Resource(
        "text/html", "".join(f"<a href=/{name}>{name}</a> " for name in (*PAGES, "a.thing")).encode()
    ),
    "a.thing": Resource("application/x-thing", b"\x00\x01thing"),
    **PAGES,
}
PLUGIN = """from ingather.plugins import *
from ingather.model.page import Converted

@converter("application/x-thing")
def thing(body, name):
    return Converted(text="what the thing says", metadata={"title": name})

@raf(phases={Phase.GENERATE})
def stop_at(params, filter, resource):
    return EXIT("seen enough") if resource.url.endswith("/3.html") else PROCEED

@raf(phases={Phase.GENERATE})
def breaks(params, filter, resource):
    if resource.url.endswith("/5.html"):
        raise RuntimeError("no luck")
"""
SUMMARIZER = """#!/bin/sh
case "$(cat "$1")" in *"Text 7"*) exit 1;; esac
printf 'Said{5}:\\thello\\n'
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    assert run(["init", str(home)]) == 0
    (home / "plugins").mkdir(mode=0o755)
    (home / "plugins" / "mine.py").write_text(PLUGIN, "utf-8")
    (home / "plugins" / "mine.py").chmod(0o644)
    bindir = tmp_path / "bin"
    bindir.mkdir()
    (bindir / "Mine.sum").write_text(SUMMARIZER, "utf-8")
    (bindir / "Mine.sum").chmod(0o755)
    with (home / "config" / "robot.conf").open("a") as robot:
        robot.write(f"\nbindir={bindir}\n")
    return home


def crawl(home: Path, *lines: str, data: str = "") -> "subprocess.CompletedProcess[str]":
    filters = home / "config" / "filter.conf"
    text = filters.read_text("utf-8")
    first = text.rindex("Generate fn=extract-html-meta")
    last = text.rindex("Shutdown fn=")
    more = "".join(f"{line}\n" for line in lines)
    filters.write_text(f"{text[:first]}{data}\n{text[first:last]}{more}{text[last:]}", "utf-8")
    with StaticServer(SITE) as server:
        command = [
            sys.executable,
            "-m",
            "ingather",
            "crawl",
            "--home",
            str(home),
            server.url,
            "--own-host",
            server.address,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=90)
    assert done.returncode == 0, done.stderr
    return done


def found(home: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    capsys.readouterr()
    run(["search", "--home", str(home), "--json", "--limit", "50", *words])
    return sorted(hit["url"].rsplit("/", 1)[-1] for hit in json.loads(capsys.readouterr().out)["results"])


def test_what_own_code_says_is_found_and_what_breaks_is_contained(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = crawl(
        home, "Generate fn=harvest-summarizer summarizer=Mine.sum", "Generate fn=breaks",
        data="Data fn=convert-to-html type=application/x-thing",
    )  # fmt: skip
    said = found(home, capsys, "hello")
    assert "7.html" not in said  # its program failed: described without
    assert "5.html" not in said  # its function failed: denied
    assert len(said) == len(PAGES) - 2 + 2
    assert found(home, capsys, "filetype:html") == sorted({*PAGES, ""} - {"5.html"})
    assert found(home, capsys, '"what the thing says"') == ["a.thing"]
    assert "summarizer failed" in done.stderr
    assert "no luck" in done.stderr


def test_a_function_that_asks_to_stop_ends_the_run(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = crawl(home, "Generate fn=stop_at")
    assert "a filter asked to stop" in done.stderr
    assert "seen enough" in done.stderr
    assert "3.html" in found(home, capsys, "filetype:html")
