"""harvest-summarizer (robot specification, 14.2): real programs, under limits."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ingather.app.clock import SystemClock
from ingather.app.confined.pool import ConverterPool
from ingather.app.confined.summarizing import ProgramLimits, Summarizers, read_attributes
from ingather.conf import load_bodies
from ingather.conf.filters.programs import find_program
from ingather.errors import ExtractError, IsolationError
from ingather.filters import Engine
from ingather.model.candidate import Candidate
from ingather.model.page import Page
from ingather.model.resource import Response
from ingather.testing.running import children_are_gone, wait_until

Install = Callable[..., Path]
Attributes = Mapping[str, tuple[str, ...]]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Write an executable shell script into a folder and return the folder."""

    def make(text: str, name: str = "Text.sum", folder: str = "bin") -> Path:
        path = tmp_path / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        path.chmod(0o755)
        return path.parent

    return make


def summarize(
    bindir: Path | str,
    body: bytes = b"the body",
    *,
    program: str = "Text.sum",
    limits: ProgramLimits | None = None,
) -> Attributes:
    async def work() -> Attributes:
        async with ConverterPool(count=1, clock=SystemClock()) as pool:
            found = Summarizers(isolation=pool, bindir=str(bindir), limits=limits)
            return await found.summarize(program, body, content_type="text/html")

    return asyncio.run(work())


def test_a_program_gets_a_file_and_prints_attributes(install: Install) -> None:
    folder = install(r"""printf 'Title{5}:\tHello\n'; printf 'body{%d}:\t%s\n' "$(wc -c < "$1")" "$(cat "$1")"
printf 'keywords-1{1}:\ta\nkeywords-2{1}:\tb\n'; printf 'where{%d}:\t%s\n' ${#1} "$1"; printf 'args{1}:\t%s\n' $#""")
    found = dict(summarize(folder, b"$(touch evil) `id`"))
    where = Path(found.pop("where")[0])
    assert found == {
        "title": ("Hello",),
        "body": ("$(touch evil) `id`",),
        "keywords": ("a", "b"),
        "args": ("1",),
    }
    assert not where.exists()
    assert not where.parent.exists()


def test_it_sees_little_of_our_environment(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_OURS", "x")
    folder = install(
        r"""n=$(env | grep -c SECRET); printf 'n{1}:\t%s\n' "$n"; pwd > /dev/null; read -r line && printf 'x{1}:\tx\n'; exit 0"""
    )
    assert summarize(folder) == {"n": ("0",)}


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (r"printf 'a{1}:\tb\n'; echo went wrong >&2; exit 3", "died"),
        ("kill -9 $$", "died"),
        ("echo this is no SOIF at all", "output"),
        ("yes 0123456789", "output"),
        (r"printf 'a{2}:\tb\nnot an attribute\n'", "output"),
        (r"printf '@A { -\na{1}:\tb\n}\n@B { -\na{1}:\tb\n}\n'", "output"),
    ],
)
def test_what_goes_wrong_is_an_error_with_a_reason(install: Install, script: str, reason: str) -> None:
    with pytest.raises((ExtractError, IsolationError)) as caught:
        summarize(install(script))
    assert getattr(caught.value, "reason", "") == reason


def test_a_program_that_hangs_is_ended_with_its_children(install: Install, tmp_path: Path) -> None:
    named = tmp_path / "child"
    folder = install(f"sleep 600 & echo $! > {named}; wait")
    for wall_s in (0.5, 2.0, 8.0, 32.0):  # on a busy machine the shell may not get as far as its child
        with pytest.raises(IsolationError) as caught:
            summarize(folder, limits=ProgramLimits(wall_s=wall_s))
        assert caught.value.reason == "timeout"
        if named.exists() and named.read_text():
            break
    pid = int(named.read_text())
    wait_until(lambda: children_are_gone({pid: "sleep"}), timeout_s=60)


def test_output_is_read_leniently() -> None:
    assert read_attributes(b"A{1}:   b\n\nc{9}:\ttoo long\n") == {"a": ("b",), "c": ("too long",)}
    assert read_attributes(b"@FILE { http://a/\nA{1}:\tb\n}\n") == {"a": ("b",)}
    assert read_attributes(b"") == {}


HTML = b"""<html><head><title>Leave</title><meta name=Author content=Ann></head><body><h1>How to <b>apply</b></h1>
<p>Ask <a href=/boss>the boss</a>, <code>rm -rf</code> <em>early</em>.<img src=a.png><address>Room 7</address></body></html>"""


def test_html_sum_is_built_in_where_it_is_not_installed(install: Install) -> None:
    found = summarize("", HTML, program="HTML.sum")
    assert found == {
        "title": ("Leave",),
        "author": ("Ann",),
        "headings": ("How to apply",),
        "keywords": ("apply\nthe boss\nearly",),
        "body": ("Ask the boss, early.",),
        "url-references": ("/boss",),
        "images": ("a.png",),
        "address": ("Room 7",),
    }
    installed = install(r"printf 'Who{4}:\tours\n'", "HTML.sum")
    assert summarize(installed, HTML, program="HTML.sum") == {"who": ("ours",)}


def test_where_a_program_is_looked_for(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("bin", "harvest/lib/gatherer", "path"):
        (tmp_path / folder).mkdir(parents=True)
        for name in ("Text.sum", "shell"):
            install("exit 0", name, folder)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find_program("Text.sum") == tmp_path / "path" / "Text.sum"
    assert find_program("shell") is None  # along PATH only what is called as a summarizer is
    monkeypatch.setenv("HARVEST_HOME", str(tmp_path / "harvest"))
    assert find_program("Text.sum") == tmp_path / "harvest/lib/gatherer" / "Text.sum"
    assert find_program("shell") == tmp_path / "harvest/lib/gatherer" / "shell"
    assert find_program("Text.sum", bindir=str(tmp_path / "bin")) == tmp_path / "bin" / "Text.sum"
    assert find_program("None.sum", bindir=str(tmp_path / "bin")) is None
    for name in ("../bin/Text.sum", str(tmp_path / "bin" / "Text.sum"), "", "-x", "a b.sum"):
        assert find_program(name, bindir=str(tmp_path / "bin")) is None


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("None.sum", "E-FILE"),
        ("bash", "E-FILE"),
        ("/bin/sh", "E-RANGE"),
        ("", "E-PARAM-EMPTY"),
        ("html.SUM", ""),
    ],
)
def test_a_program_is_looked_up_when_the_configuration_is_loaded(name: str, code: str) -> None:
    text = f'<Filter name="enumeration-default">\n</Filter>\n<Filter name="generation-default">\nGenerate fn=harvest-summarizer summarizer="{name}"\n</Filter>'
    found = [d.code for d in load_bodies({"filter.conf": text.encode()}).diagnostics if d.is_error]
    assert found == ([code] if code else [])


def test_summaries_are_added_where_there_is_nothing_yet() -> None:
    text = (
        '<Filter name="enumeration-default">\n</Filter>\n<Filter name="generation-default">\nGenerate fn=extract-html-meta\n'
        "Generate fn=harvest-summarizer summarizer=HTML.sum\n</Filter>"
    )
    engine = Engine(load_bodies({"filter.conf": text.encode(), "robot.conf": b"enable-ip=no"}))
    assert engine.programs == ("HTML.sum",)
    page = Page(media_type="text/html", title="Page's own", metas={"author": ["Bob"]})
    response = Response("http://a.example/", 200, (("Content-Type", "text/html"),), HTML)
    printed = {
        "title": ("Other",),
        "headings": ("H",),
        "readacl": ("all",),
        "url": ("u",),
        "ip": ("1",),
        "empty": (),
    }
    decision = engine.decide(
        Candidate("http://a.example/"),
        response,
        read_page=lambda _: page,
        summarize=lambda _, __: printed,
        now_s=1.0,
    )
    assert decision.attributes == {"title": ("Page's own",), "author": ("Bob",), "headings": ("H",)}
    alone = engine.decide(Candidate("http://a.example/"), response, read_page=lambda _: page, now_s=1.0)
    assert alone.attributes == {"title": ("Page's own",), "author": ("Bob",)}
