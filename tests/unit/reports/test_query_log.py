"""rdm.log: what users asked, in the old layout and as JSON."""

import json
import re
import threading
from pathlib import Path

import pytest

from ingather.access import PUBLIC, Visible
from ingather.app.querylog import QueryLog
from ingather.errors import QueryError
from ingather.search import SearchRequest, SearchResults
from ingather.testing.clock import FakeClock

LINE = re.compile(r"\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d\]  \d+@0: (INFO|WARNING): (search|rdm): .*")


def answering(request: SearchRequest) -> SearchResults:
    if request.query.startswith("!"):
        raise QueryError("the query has too many words")
    return SearchResults(request.query, 12)


def lines(folder: Path) -> tuple[list[str], list[dict[str, object]]]:
    text = (folder / "rdm.log").read_text("utf-8").splitlines()
    return text, [json.loads(line) for line in (folder / "rdm.jsonl").read_text("utf-8").splitlines()]


def test_each_query_is_a_line_in_the_old_layout_and_one_of_json(tmp_path: Path) -> None:
    log = QueryLog(tmp_path, FakeClock())
    search = log.watch(answering, "search")
    assert search(SearchRequest('red "fish"\nERROR: x', offset=10, kinds=("pdf",))).total == 12
    log.watch(answering, "rdm")(SearchRequest("\ud800", viewer=Visible.of({PUBLIC, 7})))
    text, told = lines(tmp_path)
    assert all(LINE.fullmatch(line) for line in text)
    assert text[0].endswith('search: "red \\"fish\\" ERROR: x": 12 found, from 11 at most 10, type pdf, 0 ms')
    assert [line["query"] for line in told] == ['red "fish"\nERROR: x', "?"]
    assert [line.get("known", False) for line in told] == [False, True]
    assert log.failed == ""


def test_a_refused_query_is_logged_and_stays_refused(tmp_path: Path) -> None:
    search = QueryLog(tmp_path, FakeClock()).watch(answering, "search")
    with pytest.raises(QueryError):
        search(SearchRequest("!"))
    text, told = lines(tmp_path)
    assert "WARNING: search: " in text[0]
    assert told[0]["error"] == "the query has too many words"


def test_lines_of_many_threads_are_whole_and_the_files_are_bounded(tmp_path: Path) -> None:
    log = QueryLog(tmp_path, FakeClock(), max_bytes=4_000, keep=50)
    search = log.watch(answering, "search")
    threads = [
        threading.Thread(target=lambda n=n: [search(SearchRequest(f"q{n}-{i}")) for i in range(25)])
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    files = sorted(tmp_path.glob("rdm.log*"))
    found = [line for file in files for line in file.read_text("utf-8").splitlines()]
    assert len(found) == 100
    assert all(LINE.fullmatch(line) for line in found)
    assert len(files) > 1
    assert all(file.stat().st_size < 4_300 for file in files)


def test_a_log_that_cannot_be_written_costs_no_answer(tmp_path: Path) -> None:
    log = QueryLog(tmp_path / "missing", FakeClock())
    assert log.watch(answering, "search")(SearchRequest("fish")).total == 12
    assert "missing" in log.failed
