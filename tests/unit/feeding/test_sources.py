"""Sources for operators: list, show, delete in two steps (GSA feeds specification, sections 8.6 and 14)."""

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout

import pytest

from ingather.app.feeds.process import FeedProcess
from ingather.cli import run
from ingather.testing.feeds import FeedRig, content, record
from ingather.testing.running import Ran


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FeedRig]:
    process = FeedProcess()
    made = FeedRig(tmp_path_factory.mktemp("sources") / "home", process)
    yield made
    process.stop()


def call(rig: FeedRig, *arguments: str) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = run(["source", *arguments, "--home", str(rig.home.path)])
    return Ran(status, out.getvalue(), err.getvalue())


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


def test_what_was_gathered_is_no_data_source(own: FeedRig) -> None:
    own.push(record("http://x.test/", content("x")), datasource="some")
    own.local.close()
    for verb, name in (("delete", "web"), ("destroy", "web"), ("show", "nobody"), ("delete", "nobody")):
        answer = call(own, verb, name)
        assert (answer.status, answer.out) == (2, "")
        assert "source" in answer.err
