"""Wrong calls, broken configuration, homes that cannot be had: one clear message, nothing changed."""

import hashlib
import os
import re
import signal
import socket
from pathlib import Path

import pytest

from ingather.cli import run
from ingather.testing.rig import Rig, wait_until
from ingather.testing.site import Site

PLACE = re.compile(r"^[^:\n]+:\d+:\d+: (error|warning) [EW]-")


def picture(folder: Path) -> dict[str, str]:
    """Every file below *folder* with its digest."""
    return {
        str(path.relative_to(folder)): hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name != "run"
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ["crawl", "--depth", "x"], ["crawl", "--depth", "-2", "http://a/"], ["crawl", "--max-pages", "0", "http://a/"],
        ["crawl", "--delay", "soon", "http://a/"], ["crawl", "--delay", "-1s", "http://a/"], ["crawl", "--own-host", "http://a/b", "http://a/"],
        ["crawl", "http://"], ["crawl", "gopher://a/"], ["crawl", "http://a:99999/"], ["crawl"], ["crawl", "--source", "no such", "http://a/"],
        ["search"], ["search", "--limit", "0", "x"], ["search", "--limit", "many", "x"], ["search", "--nonsense", "x"],
        ["explain"], ["explain", "not a url at all"], ["explain", "http://a/", "more"],
        ["catalog"], ["catalog", "burn"], ["index"], ["index", "burn"], ["holds"], ["holds", "release"], ["holds", "release", "x"], ["holds", "release", "7"],
        ["remove"], ["remove", "::"], ["undelete"], ["undelete", "::"], ["serve", "--nonsense"], ["serve", "more"], ["nonsense"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_wrong_call_is_one_line_and_status_2(
    rig: Rig, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    takes_home = len(arguments) > 1 or arguments[0] not in {"catalog", "index", "holds", "nonsense"}
    status = run(
        [*arguments, "--home", str(rig.path)] if takes_home and arguments[0] != "nonsense" else arguments
    )
    said = capsys.readouterr()
    assert (status, said.out) == (2, ""), said
    assert len(said.err.splitlines()) == 1, said.err
    assert said.err.startswith("ingather: ")


def break_everything(rig: Rig) -> None:
    """Put mistakes into every file."""
    for name, before, after in (
        ("ingather.toml", "[gather]\n", '[gather]\ngatherrs = 2\nconverters = "many"\n'),
        ("ingather.toml", "[disk]\n", "[nonsense]\nx = 1\n[disk]\n"),
        ("config/robot.conf", "max-connections=8\n", "max-connections=lots\n"),
        ("config/filter.conf", "Data fn=filterrules-process\n", "Data fn=no-such-function\n"),
        ("config/filterrules.conf", "<Rule", '<Site name="a" host="a.example" type=server source=nowhere>\n</Site>\n<Rule name="r" action=maybe>\n</Rule>\n<Rule'),
    ):  # fmt: skip
        path = rig.path / name
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after, 1))


MISTAKES = {
    "ingather.toml": ("gatherrs", "converters", "nonsense"), "robot.conf": ("max-connections",), "filter.conf": ("no-such-function",),
    "filterrules.conf": ("nowhere", "maybe"),
}  # fmt: skip


@pytest.mark.parametrize(
    "verb",
    [["crawl", "http://127.0.0.1:1/"], ["serve"], ["config", "check"]],
    ids=["crawl", "serve", "check"],
)
def test_broken_configuration_lists_every_error_with_its_place_and_changes_nothing(
    rig: Rig, verb: list[str]
) -> None:
    break_everything(rig)
    before = picture(rig.path)
    ran = rig.run(*verb)
    lines = (ran.out if verb[0] == "config" else ran.err).splitlines()
    assert ran.status == 1
    assert "Traceback" not in ran.err
    errors = [line for line in lines if PLACE.match(line) and " error " in line]
    for name, words in MISTAKES.items():
        for word in words:
            assert any(line.startswith(f"{name}:") and word in line for line in errors), (word, lines)
    assert any("gatherers" in line for line in errors), "the nearest name is offered"
    assert picture(rig.path) == before


def test_configuration_that_breaks_later_leaves_what_was_gathered_alone(rig: Rig, site: Site) -> None:
    site.page("/", "Start", text="quetzal")
    assert rig.crawl(site.url("/")).status == 0
    (rig.path / "config" / "robot.conf").write_text("nonsense\n")
    before = picture(rig.path)
    assert rig.crawl(site.url("/")).status == 1
    assert picture(rig.path) == before
    assert rig.found("quetzal") == [site.url("/")]
    assert rig.complaints() == []


@pytest.mark.parametrize("what", ["nothing", "file", "empty", "foreign"])
@pytest.mark.parametrize(
    "verb", ["crawl", "serve", "search", "explain", "catalog", "index", "holds", "remove"]
)
def test_a_place_that_is_no_home_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str, verb: str
) -> None:
    place = tmp_path / "place"
    if what == "file":
        place.write_text("text")
    elif what != "nothing":
        place.mkdir()
        if what == "foreign":
            (place / "letter.txt").write_text("text")
    rest = {"crawl": ["http://127.0.0.1:1/"], "search": ["x"], "explain": ["http://a/"], "catalog": ["stats"], "index": ["check"],
            "holds": ["list"], "remove": ["http://a/"], "serve": []}[verb]  # fmt: skip
    status = run([verb, *rest, "--home", str(place)])
    said = capsys.readouterr()
    assert (status, said.out) == (1, "")
    assert len(said.err.splitlines()) == 1
    assert "ingather init" in said.err
    assert str(place) in said.err


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything: run the suite as another user")
def test_an_unreadable_home_is_said_with_its_owner(rig: Rig) -> None:
    rig.path.chmod(0)
    try:
        ran = rig.run("crawl", "http://127.0.0.1:1/")
    finally:
        rig.path.chmod(0o700)
    assert ran.status == 1
    assert len(ran.err.splitlines()) == 1
    assert "Permission denied" in ran.err


def test_a_home_has_one_owner_and_the_second_is_told_which_at_once(rig: Rig, site: Site) -> None:
    rig.site(site.origin)
    with rig.serving() as served:
        for verb in (["crawl", site.url("/")], ["serve"], ["index", "rebuild"]):
            with rig.start(*verb) as second:
                ran = second.end()  # the owner stays: who waited for it would wait for ever
            assert ran.status == 1
            line = ran.err.splitlines()[0]
            assert str(served.running.pid) in line
            assert "ingather serve" in line
            assert "in use" in line


def test_an_owner_that_was_killed_blocks_nobody(rig: Rig, site: Site) -> None:
    site.page("/", "Start")
    rig.site(site.origin)
    rig.tune("listen.search", "127.0.0.1:0").tune("listen.admin", "127.0.0.1:0")
    with rig.start("serve") as running:
        wait_until(lambda: "admin page" in running.out)
        running.signal(signal.SIGKILL)
        running.end()
        assert rig.crawl().status == 0
    assert rig.complaints() == []


@pytest.mark.parametrize("listener", ["search", "admin"])
def test_a_port_that_is_taken_is_named_and_nothing_begins(rig: Rig, listener: str) -> None:
    before = picture(rig.path)
    rig.tune("listen.search", "127.0.0.1:0").tune("listen.admin", "127.0.0.1:0")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = rig.tune(f"listen.{listener}", f"127.0.0.1:{port}").run("serve")
    assert ran.status == 1
    assert len(ran.err.splitlines()) == 1
    assert f"127.0.0.1:{port}" in ran.err
    assert f"listen.{listener}" in ran.err
    assert picture(rig.path) == before
