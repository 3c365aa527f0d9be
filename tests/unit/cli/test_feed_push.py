"""``ingather feed make`` and ``ingather feed push``, to a real gate."""

import io
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from ingather.cli import run
from ingather.testing.feedgate import RunningGate, open_gate
from ingather.testing.running import Ran


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[RunningGate]:
    with open_gate(tmp_path / "gate") as gate:
        yield gate


def call(*arguments: str) -> Ran:
    """Run ``ingather feed``; no home is needed."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = run(["feed", *arguments])
    return Ran(status, out.getvalue(), err.getvalue())


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.html").write_text("<p>walrus")
    return folder


def test_a_folder_is_made_a_feed_and_pushed(gate: RunningGate, papers: Path) -> None:
    feed, place = papers / "feed.xml", f"127.0.0.1:{gate.address[1]}"
    for _ in range(2):  # the feed itself is no document
        made = call(
            "make",
            str(papers),
            "--url-prefix",
            "http://p.example/",
            "-o",
            str(feed),
            "--source",
            "papers",
        )
        assert (made.status, made.out) == (0, f"{feed}: 1 files, {feed.stat().st_size} bytes\n")
    pushed = call("push", str(feed), "--to", place)
    assert pushed.status == 0
    assert f"taken by {place} as papers_" in pushed.out
    taken = gate.desk.last
    assert (taken.fields.datasource, taken.fields.feedtype) == ("papers", "incremental")
    assert taken.body == feed.read_bytes()
    assert call("push", str(feed), "--to", place, "--source", "b", "--type", "FULL").status == 0
    assert (gate.desk.last.fields.datasource, gate.desk.last.fields.feedtype) == ("b", "full")
    assert call("push", "--to", place, "--source", "ad", "--groups", "cleanup").status == 0
    assert gate.desk.last.fields.cleanup


def test_a_full_feed_is_whole_or_not_written(papers: Path) -> None:
    with (papers / "big").open("wb") as big:
        big.truncate((30 << 20) + 1)
    feed = papers.parent / "feed.xml"
    arguments = ("make", str(papers), "--url-prefix", "http://p.example", "-o", str(feed))
    ran = call(*arguments, "--type", "full")
    assert ran.status == 1
    assert f"{papers / 'big'}: left out" in ran.err
    assert not feed.exists()
    assert call(*arguments).status == 1
    assert feed.exists()
    assert [path.name for path in papers.parent.iterdir() if path.name.startswith(".")] == []


def test_an_empty_folder_is_no_feed(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    feed = tmp_path / "feed.xml"
    ran = call("make", str(tmp_path / "none"), "--url-prefix", "http://p.example", "-o", str(feed))
    assert ran.status == 1
    assert "there are no files" in ran.err
    assert not feed.exists()


def test_a_refusal_is_told(gate: RunningGate, papers: Path) -> None:
    place = f"127.0.0.1:{gate.address[1]}"
    ran = call("push", str(papers / "a.html"), "--to", place, "--source", "web", "--type", "full")
    assert ran.status == 1
    assert "the server answered 400" in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("push", "--to", "gsa"),
        ("push", "/nowhere", "--to", "gsa", "--source", "a", "--type", "full"),
        ("make", "/nowhere", "--url-prefix", "http://a.example", "-o", "x"),
        ("push", "FILE", "--to", "gsa", "--source", "a b", "--type", "full"),
        ("push", "FILE", "--to", "gsa", "--source", "a", "--type", "all"),
        ("push", "FILE", "--to", "a b", "--source", "a", "--type", "full"),
        ("push", "FILE", "--to", "gsa", "--jsonl"),
        ("make", "DIR", "--url-prefix", "papers", "-o", "x"),
        ("make", "DIR", "--url-prefix", "http://a.example", "-o", "x", "--source", "1"),
    ],
)
def test_wrong_use_is_one_line(papers: Path, arguments: tuple[str, ...]) -> None:
    words = [{"FILE": str(papers / "a.html"), "DIR": str(papers)}.get(word, word) for word in arguments]
    ran = call(*words)
    assert ran.status == 2, ran
    assert len(ran.err.splitlines()) == 1
    assert "no such" not in ran.err
