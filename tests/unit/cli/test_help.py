"""What the command says of itself: grouped help, options behind the verb, answers as JSON."""

from pathlib import Path

import pytest

from ingather.app.home import Home
from ingather.cli import CHAPTERS, VERBS
from ingather.testing.rig import Rig


@pytest.fixture
def rig(home: Path) -> Rig:
    return Rig(home).init()


def test_every_verb_stands_in_a_chapter_of_what_people_do_and_no_chapter_is_long(rig: Rig) -> None:
    for chapter in CHAPTERS:
        assert 2 <= sum(verb.chapter == chapter for verb in VERBS.values()) <= 8
    assert {verb.chapter for verb in VERBS.values()} == set(CHAPTERS)
    out = rig.run("--help").out
    assert [out.index(f"\n{chapter}:") for chapter in CHAPTERS] == sorted(
        out.index(f"\n{c}:") for c in CHAPTERS
    )


def test_an_option_before_the_verb_is_named(rig: Rig) -> None:
    ran = rig.run("holds", "--home", "x")
    assert ran.status == 2
    assert ran.first.startswith(
        "ingather: --home stands behind the verb: ingather holds VERB --home ..., where VERB is discard or list or "
    )
    assert "--nonsense" in rig.run("holds", "--nonsense").first


def test_a_crawl_beside_serve_says_how_to_give_it_the_work(rig: Rig) -> None:
    with Home.open(rig.path).lock("ingather serve"):
        ran = rig.call("crawl", "http://wiki.example/")
    assert ran.status == 1
    assert "ingather site add http://wiki.example/" in ran.err
    assert "ingather robot add http://wiki.example/" in ran.err


def test_publishing_answers_as_json(rig: Rig) -> None:
    first = rig.call("conf", "publish", "--json").json
    assert first == {"version": 1, "changed": True, "running": False, "warnings": [], "waiting": False}
    assert rig.call("conf", "rollback", "1", "--json").json["changed"] is False
