"""Sources for operators: list, show, delete in two steps (GSA feeds specification, sections 8.6 and 14)."""

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from ingather.app.explaining import explainer_of
from ingather.app.feeds.process import FeedProcess
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.catalog.frontier.sqlite_frontier import FrontierQueries
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.cli import run
from ingather.cli.feed_receipts import records
from ingather.feeds.desk import FeedKind
from ingather.model.lifecycle import State
from ingather.testing.feeds import FeedRig, content, record
from ingather.testing.running import Ran


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FeedRig]:
    process = FeedProcess()
    made = FeedRig(tmp_path_factory.mktemp("sources") / "home", process)
    yield made
    process.stop()


GROUPS = b"<xmlgroups><membership><principal scope='GROUP'>staff</principal></membership></xmlgroups>"


def waiting(rig: FeedRig) -> set[str]:
    """Return the origins of the URLs that a crawler would be given."""
    path = database_of(rig.home)
    rows = Rows(open_reader(path), path)
    try:
        queries = FrontierQueries(rows)
        hosts = [host for host, *_ in queries.known_hosts()]
        given = {host for host in hosts if queries.refill(host, (-1, 0), 10)}
        assert given == set(queries.waiting_hosts())
        return {origin for host, (origin, _) in queries.names(hosts).items() if host in given}
    finally:
        rows.close()


def call(rig: Any, *arguments: str) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = run(["source", *arguments, "--home", str(rig.home.path)])
    return Ran(status, out.getvalue(), err.getvalue())


def test_records_that_a_feed_has_none_of_are_said_to_be_none(own: FeedRig) -> None:
    told = own.push(record("http://src.test/1", content("needle")), datasource="src")
    own.close()
    said = [
        CliRunner().invoke(records, [str(told["id"]), "--state", state, "--home", str(own.home.path)])
        for state in ("applied", "rejected")
    ]
    assert [one.exit_code for one in said] == [0, 0]
    assert "http://src.test/1" in said[0].stdout
    assert (said[1].stdout, said[1].stderr) == ("", "no such records\n")


def test_a_source_is_listed_shown_deleted_and_destroyed(own: FeedRig) -> None:
    urls = [f"http://src.test/{n}" for n in range(3)]
    own.push(*(record(url, content(f"text {url}")) for url in urls), record(""), datasource="HR")
    own.push(record("http://src.test/0"), datasource="lister", feedtype="metadata-and-url")
    own.push(record("http://elsewhere.test/"), datasource="web")
    own.local.close()

    found = {one["name"]: one for one in json.loads(call(own, "list", "--json").out)}
    wanted = {
        "kind": "gsa",
        "documents": 3,
        "pushed": 3,
        "feeds": 1,
        "open": 0,
        "backlog": 0,
        "rejected": 1,
        "datasource": "HR",
    }
    assert {key: found["HR"][key] for key in wanted} == wanted
    assert (found["feed-web"]["listed"], found["feed-web"]["datasource"]) == (1, "web")
    assert "HR  gsa, public: 3 documents, 1 feeds" in call(own, "list").out

    shown = json.loads(call(own, "show", "HR", "--json").out)
    assert shown["urls"] == {"done": 3}
    assert [feed["rejected"] for feed in shown["last_feeds"]] == [1]
    assert json.loads(call(own, "show", "lister", "--json").out)["also_lists"] == 1
    assert "3 done" in call(own, "show", "HR").out

    refused = call(own, "destroy", "HR")
    assert (refused.status, "still has 3 documents" in refused.err) == (2, True)
    assert "3 documents deleted" in call(own, "delete", "HR").out
    shown = json.loads(call(own, "show", "HR", "--json").out)
    assert (shown["documents"], [feed["feedtype"] for feed in shown["last_feeds"]]) == (
        0,
        ["deleted", "incremental"],
    )
    assert call(own, "destroy", "HR").out == "forgotten: 2 feeds of HR\n"
    assert "HR" not in {one["name"] for one in json.loads(call(own, "list", "--json").out)}


def test_urls_that_two_sources_name_are_listed(own: FeedRig) -> None:
    url = "http://both.test/a"
    own.push(record(url, content("x")), datasource="papers")
    assert call(own, "conflicts", "papers").out == "no source names a URL of another\n"
    own.push(record(url), record("http://both.test/b"), datasource="lists", feedtype="metadata-and-url")
    said = f"{url}  belongs to papers, named by lists, too\n"
    assert [call(own, "conflicts", name).out for name in ("papers", "lists", "")] == [said] * 3
    [one] = json.loads(call(own, "conflicts", "--json").out)
    assert (one["url"], one["owner"], one["listed_by"]) == (url, "papers", "lists")
    own.push(record(url, content("y")), datasource="lists")  # the last content owns it
    assert call(own, "conflicts", "papers").out == f"{url}  belongs to lists, named by papers, too\n"
    assert json.loads(call(own, "conflicts", "--after", str(one["id"]), "--json").out) == []
    own.push(record(url), record("http://both.test/c"), datasource="more", feedtype="metadata-and-url")
    own.push(record("http://both.test/c", content("z")), datasource="papers")
    pages, after = [], 0
    while page := json.loads(call(own, "conflicts", "--after", str(after), "--limit", "1", "--json").out):
        pages += [(one["url"], one["listed_by"]) for one in page]
        after = page[-1]["id"]
    assert sorted(pages) == [(url, "more"), (url, "papers"), ("http://both.test/c", "more")]
    wrong = call(own, "conflicts", "nobody")
    assert (wrong.status, wrong.err.count("\n")) == (2, 1)


def test_what_was_gathered_is_no_data_source(own: FeedRig) -> None:
    own.push(record("http://x.test/", content("x")), datasource="some")
    own.local.close()
    for verb, name in (("delete", "web"), ("destroy", "web"), ("show", "nobody"), ("delete", "nobody")):
        answer = call(own, verb, name)
        assert (answer.status, answer.out) == (2, "")
        assert "source" in answer.err


def test_what_web_feeds_list_goes_with_their_data_source_unless_another_lists_it(own: FeedRig) -> None:
    mine, both = "http://listed.test/mine", "http://listed.test/both"
    own.push(record(both), datasource="first", feedtype="metadata-and-url")
    own.push(record(mine), record(both), datasource="second", feedtype="metadata-and-url")
    own.local.close()
    assert waiting(own) == {"http://listed.test"}
    assert "1 document deleted" in call(own, "delete", "second").out
    found = {one["name"]: one for one in json.loads(call(own, "list", "--json").out)}
    assert (found["first"]["listed"], found["second"]["listed"]) == (1, 0)
    own.local = own._open()
    rows = {url: own.row(url) for url in (mine, both)}
    assert {url: row and row.state for url, row in rows.items()} == {mine: State.GONE, both: State.WAITING}
    own.local.close()


def test_a_disabled_source_rests_and_keeps_its_documents(own: FeedRig) -> None:
    """Its feeds are taken and wait, also across restarts; groups go on; nothing of it is deleted."""
    own.push(record("http://rest.test/1", content("one")), datasource="rest")
    own.push(record("http://rest.test/page"), datasource="rest", feedtype="metadata-and-url")
    own.local.close()
    assert call(own, "disable", "rest").out == "rest is disabled\n"
    assert call(own, "disable", "rest").out == "rest is disabled already\n"
    assert "rest  gsa, public, disabled: 1 document" in call(own, "list").out
    refused = call(own, "delete", "rest")
    assert (refused.status, "is disabled" in refused.err) == (2, True)

    own.local = own._open()
    kept = own.push(record("http://rest.test/1", content("two")), datasource="rest", feedtype="full")
    assert (kept["state"], kept["rests"]) == ("accepted", True)
    assert own.local.feeding.backlog() == 0
    assert own.local.feeding.open_feeds() == 1
    groups = own.take(GROUPS, "rest", "incremental", kind=FeedKind.GROUPS)
    own.local.apply()
    assert own.local.office.feed(groups.name)["state"] == "completed"
    other = own.push(record("http://other.test/", content("other")), datasource="other")
    assert other["state"] == "completed"
    assert own.text("http://rest.test/1") == "one"
    assert waiting(own) == set()
    explained = explainer_of(own.home, own.read.settings, own.read.sources).explain("http://rest.test/page")
    assert "its source rest is disabled since" in explained["answer"]
    own.local.close()

    assert call(own, "enable", "rest").out == "rest is enabled\n"
    own.local = own._open()
    assert own.local.office.feed(kept["name"])["state"] == "completed"
    assert own.text("http://rest.test/1") == "two"
    assert waiting(own) == {"http://rest.test"}
    own.local.close()


def test_a_home_that_gathered_nothing_has_no_sources(tmp_path: Path) -> None:
    home = Home.create(tmp_path / "home")
    rig = SimpleNamespace(home=home)
    assert call(rig, "list", "--json") == Ran(0, "[]\n", "")
    assert call(rig, "list") == Ran(0, "nothing was gathered or pushed so far\n", "")
    assert call(rig, "show", "nobody").status == 2
    assert call(rig, "add", "intranet", "access=secure").status == 0
    assert [one["name"] for one in json.loads(call(rig, "list", "--json").out)] == ["intranet"]
    assert call(rig, "disable", "intranet").status == 0
    (found,) = [one for one in json.loads(call(rig, "list", "--json").out) if one["name"] == "intranet"]
    assert (found["disabled"] is not None, found["access"], found["kind"]) == (True, "secure", "site")
