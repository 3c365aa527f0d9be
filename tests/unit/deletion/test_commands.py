"""``ingather tombstones``, ``holds`` and ``undelete``, and the API beside them, on a home with a wave and single deletions."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ingather.app.deletions import DeletionBook
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.cli import run
from ingather.errors import UsageError
from ingather.model.lifecycle import Outcome
from ingather.testing.revisiting import GONE, Page, Revisits
from ingather.testing.visitor import SqliteUnderTest, Visitor

Call = Callable[..., tuple[int, str]]
PAGES = [f"http://site.test/{n}" for n in range(40)]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Pages 0 to 2 are gone and deleted, 3 to 27 are held, for one rule."""
    made = Home.create(tmp_path / "home")
    made.prepare()
    catalog = SqliteUnderTest(made.catalog)
    catalog.put_source("web", "public")
    robot = Revisits(catalog, Visitor(catalog))
    robot.site(40)
    for url in PAGES[:3]:
        robot.web[url] = GONE
    robot.run("serve")
    robot.pass_time(2)
    for url in PAGES[3:28]:
        robot.web[url] = Page(outcome=Outcome.NOINDEX, rule="filter.conf:7", detail="robots meta: noindex")
    robot.run("serve")
    robot.visitor.close()
    return made


@pytest.fixture
def call(home: Home, capsys: pytest.CaptureFixture[str]) -> Call:
    def made(*arguments: str) -> tuple[int, str]:
        status = run([*arguments, "--home", str(home.path)])
        said = capsys.readouterr()
        return status, said.out + said.err

    return made


def test_tombstones_are_listed_and_shown_with_what_proves_them(call: Call) -> None:
    status, out = call("tombstones", "list")
    assert (status, out.count("not found (404)")) == (0, 3)
    status, out = call("tombstones", "list", "--reason", "NOT FOUND", "--limit", "2", "--json")
    answer = json.loads(out)
    assert [one["url"] for one in answer["tombstones"]] == PAGES[:2]
    status, out = call("tombstones", "list", "--after", str(answer["next"]), "--json")
    assert [one["url"] for one in json.loads(out)["tombstones"]] == PAGES[2:3]
    assert call("tombstones", "list", "--source", "other") == (1, "nothing was deleted\n")
    status, out = call("tombstones", "show", PAGES[0])
    assert status == 0
    assert out.count("evidence") == 2
    assert "not_found 404" in out
    assert f"ingather undelete {PAGES[0]}" in out
    status, out = call("tombstones", "show", PAGES[39])
    assert (status, "it is not deleted" in out) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tombstones", "show", "http://other.test/"), "was never met"),
        (("tombstones", "show", "no url at all"), "is not a URL"),
        (("tombstones", "list", "--run", "x"), "run: 'x' is not a number"),
        (("undelete",), "nothing says which deletions"),
        (("undelete", PAGES[0], "--run", "1"), "a URL or prefix goes with none of"),
        (("undelete", PAGES[0], "--dry-run"), "--dry-run is for"),
        (("undelete", "--hold", "-1"), "is not a number"),
        (("holds", "show", "99"), "there is no hold 99"),
        (("holds", "release", "99", "--note", "x"), "there is no open hold 99"),
    ],
)
def test_wrong_use_is_told_in_a_line_and_changes_nothing(
    call: Call, arguments: tuple[str, ...], said: str
) -> None:
    status, out = call(*arguments)
    assert status == 2
    assert said in out
    assert json.loads(call("tombstones", "decisions", "--json")[1]) == []


def test_undoing_by_run_counts_first_and_is_kept_with_who_and_why(call: Call) -> None:
    number = str(json.loads(call("tombstones", "list", "--json")[1])["tombstones"][0]["run"])
    assert call("undelete", "--run", number, "--dry-run") == (
        0,
        "3  source web: not found (404)\n3 would be restored\n",
    )
    assert call("undelete", "--run", number, "--note", "the\nserver\twas moved") == (0, "3 restored\n")
    assert call("undelete", "--run", number) == (1, "0 restored\n")
    [decided] = json.loads(call("tombstones", "decisions", "--json")[1])
    assert (decided["verb"], decided["target"], decided["documents"]) == ("undo", f"run {number}", 3)
    assert decided["note"] == "the server was moved"
    assert decided["who"]
    assert "undo run" in call("tombstones", "decisions")[1]


def test_a_hold_is_shown_closed_and_remembered(call: Call, home: Home) -> None:
    status, out = call("holds", "list")
    assert (status, "25 documents" in out, "of 41 documents of the source would go" in out) == (0, True, True)
    number = out.split()[0]
    status, out = call("holds", "show", number, "--limit", "2")
    assert out.count("robots meta: noindex (filter.conf:7)") == 2
    assert "there are more: --after" in out
    assert call("holds", "release", number, "--note", "it was meant so") == (0, "25 documents deleted\n")
    status, out = call("holds", "list", "--closed")
    assert "released" in out
    assert '"it was meant so"' in out
    assert "released 20" in call("holds", "show", number)[1]
    assert call("undelete", "--hold", number)[1] == "25 restored\n"
    assert json.loads(call("holds", "list", "--closed", "--json")[1])[0]["note"] == "it was meant so"
    assert database_of(home).exists()


def test_explain_tells_the_evidence(call: Call) -> None:
    _, out = call("explain", PAGES[0])
    assert "Not in search: deleted" in out.splitlines()[0]
    assert out.count("not_found 404") >= 2
    _, out = call("explain", PAGES[3])
    assert "held       in hold 1" in out
    assert "evidence" in out
    answer = json.loads(call("explain", PAGES[0], "--json")[1])
    assert [one["decision"] for one in answer["evidence"]] == ["wait", "delete"]
    assert answer["tombstone"]["by"] == "policy"


def test_a_home_without_a_catalog_has_nothing(tmp_path: Path) -> None:
    book = DeletionBook(tmp_path / "none.db")
    assert book.tombstones({}) == {"tombstones": [], "next": None}
    assert book.closed_holds() == book.decisions() == []
    with pytest.raises(UsageError, match="never met"):
        book.tombstone("http://a.test/")
    with pytest.raises(UsageError, match="no hold 1"):
        book.hold(1)


def test_a_prefix_is_counted_first_and_its_undo_restores_exactly_what_it_took(home: Home, call: Call) -> None:
    everything = "http://site.test/*"
    before = [
        one["url"] for one in DeletionBook(database_of(home)).tombstones({"limit": "100"})["tombstones"]
    ]
    assert before == PAGES[:3]
    status, out = call("remove", everything)
    assert status == 1
    assert "means 38 documents, for example http://site.test/, " in out
    assert "with --yes" in out
    status, out = call("remove", everything, "--dry-run", "--json")
    answer = json.loads(out)
    assert (status, answer["removed"], answer["decision"], len(answer["sample"])) == (0, 38, None, 5)
    assert "more than 50% of at least 10" in answer["too_much"]
    status, out = call("remove", everything, "--yes", "--json")
    answer = json.loads(out)
    assert (status, answer["removed"]) == (0, 38)
    assert call("undelete", "--reason", "404") == (1, "0 restored\n")  # a person does not want them now
    status, out = call("undelete", "--decision", str(answer["decision"]), "--json")
    assert (status, json.loads(out)["restored"]) == (0, 38)
    after = DeletionBook(database_of(home)).tombstones({"limit": "100"})["tombstones"]
    assert [(one["url"], one["by"]) for one in after] == [(url, "policy") for url in before]
    assert call("remove", PAGES[39])[0] == 0  # it may be gathered again, so it may go again
