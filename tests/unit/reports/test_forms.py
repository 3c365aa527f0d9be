"""The three forms, on the command line and over HTTP."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient

from ingather.app.reports.desk import REPORTS, HomeReports
from ingather.app.reports.table import Column, Table
from ingather.app.reports.writing import as_csv, as_json, as_text
from ingather.cli import run
from ingather.model.lifecycle import Outcome
from ingather.testing.clock import FakeClock
from ingather.web import AdminParts, Health, Secret, admin_app

if TYPE_CHECKING:
    from tests.unit.reports.conftest import Robot

    from ingather.app.home import Home

TOKEN = "Pwq3-a-token-that-is-long-enough-7fT"  # noqa: S105
VALUES = st.one_of(st.text(), st.integers(-(2**62), 2**62), st.none(), st.booleans())
KINDS = st.sampled_from(["text", "number"])


@pytest.fixture
def filled(robot: "Robot") -> "Robot":
    number = robot.begin()
    robot.start("http://a.test/")
    robot.visit("http://a.test/", "a", ["http://a.test/x", "http://a.test/y"])
    robot.fail("http://a.test/x", Outcome.NOT_FOUND, status=404)
    robot.deny("http://a.test/y", "url", "filter.conf:1", '=cmd|" \x1b[31m', Outcome.EXCLUDED)
    robot.end(number)
    return robot


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("name", REPORTS)
def test_every_report_has_its_three_forms_on_the_command_line(
    name: str, home: "Home", capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--home", str(home.path)]
    assert run(["report", name, "--json", *where]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["report"] == name
    assert all(list(row) == told["columns"] for row in told["rows"])
    assert run(["report", name, "--csv", *where]) == 0
    head, *lines = csv.reader(io.StringIO(capsys.readouterr().out))
    assert head == told["columns"]
    assert len(lines) == len(told["rows"])
    assert run(["report", name, *where]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.usefixtures("filled")
def test_the_command_line_lists_reports_and_runs_and_refuses_in_one_line(
    home: "Home", capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--home", str(home.path)]
    assert run(["report", *where]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(REPORTS)
    assert run(["runs", "list", "--json", *where]) == 0
    assert [row["run"] for row in json.loads(capsys.readouterr().out)["rows"]] == [1]
    assert run(["runs", "show", "1", *where]) == 0
    assert "http-404" in capsys.readouterr().out
    for words in (
        ["report", "nonsense"],
        ["report", "largest", "--run", "1"],
        ["report", "errors", "--json", "--csv"],
        ["runs", "show", "x"],
        ["runs", "compare", "1", "9"],
    ):
        assert run([*words, *where]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert len(said.err.splitlines()) == 1


def test_csv_disarms_formulas_and_a_terminal_gets_no_controls() -> None:
    table = Table(
        (Column("url"), Column("at", "time"), Column("n", "number")), [('=1+"2"\x1b[31m', 0, -5), ("", None, 7)]
    )  # fmt: skip
    assert list(as_csv(table, limit=0)) == [
        "url,at,n\r\n",
        '"\'=1+""2""\x1b[31m",1970-01-01T00:00:00Z,-5\r\n',
        ",,7\r\n",
    ]
    assert "\x1b" not in "".join(as_text(table, limit=0))


@given(st.lists(KINDS, min_size=1, max_size=4).flatmap(
    lambda kinds: st.tuples(st.just(kinds), st.lists(st.tuples(*(VALUES for _ in kinds)), max_size=6))
))  # fmt: skip
def test_whatever_stands_in_a_report_its_forms_are_well_formed(case: tuple[list[str], list[tuple[object, ...]]]) -> None:  # fmt: skip
    kinds, rows = case
    table = Table(tuple(Column(f"c{n}", kind) for n, kind in enumerate(kinds)), rows, note="n")
    told = json.loads("".join(as_json("x", table, limit=0, now_s=1.0)))
    assert [tuple(row.values()) for row in told["rows"]] == rows
    read = list(csv.reader(io.StringIO("".join(as_csv(table, limit=0)), newline="")))
    assert len(read) == len(rows) + 1 or any(len(kinds) == 1 and row[0] in (None, "") for row in rows)
    lines = "".join(as_text(table, limit=0)).split("\n")
    assert len(lines) == (len(rows) + 3 if rows else 3)


def test_rows_are_taken_one_by_one_and_no_more_than_asked() -> None:
    taken: list[int] = []

    def rows() -> Iterator[tuple[int, int]]:
        for n in range(1_000_000):
            taken.append(n)
            yield n, n + 1

    table = Table((Column("n", "number"),), rows(), numbered=True)
    told = json.loads("".join(as_json("x", table, limit=3, now_s=1.0)))
    assert ([row["n"] for row in told["rows"]], told["next"], told["more"]) == ([0, 1, 2], 3, True)
    assert len(taken) == 4


@pytest.fixture
def client(reports: HomeReports) -> Iterator[TestClient]:
    parts = AdminParts(
        token=Secret(TOKEN), clock=FakeClock(), registry=CollectorRegistry(), health=Health, explain=lambda *_: {},
        status=dict, operations=None, reports=reports,  # type: ignore[arg-type]  # nobody asks it here
    )  # fmt: skip
    with TestClient(admin_app(parts), base_url="http://127.0.0.1:8081", follow_redirects=False) as made:
        made.headers["authorization"] = f"Bearer {TOKEN}"
        yield made


@pytest.mark.usefixtures("filled")
def test_the_api_answers_reports_and_runs(client: TestClient) -> None:
    assert [r["name"] for r in client.get("/api/v1/reports").json()["reports"]] == list(REPORTS)
    for name in REPORTS:
        answer = client.get(f"/api/v1/reports/{name}")
        assert (answer.status_code, answer.json()["report"]) == (200, name)
    listed = client.get("/api/v1/reports/errors", params={"class": "http-404"}).json()["rows"]
    assert [row["url"] for row in listed] == ["http://a.test/x"]
    answer = client.get("/api/v1/reports/errors", params={"format": "csv"})
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.text == "class,server,urls\r\nhttp-404,http://a.test,1\r\n"
    assert client.get("/api/v1/runs").json()["rows"][0]["run"] == 1
    assert client.get("/api/v1/runs/last").json()["figures"]["rds"] == {"new": 1}


@pytest.mark.usefixtures("filled")
def test_the_api_refuses_by_name(client: TestClient) -> None:
    for address in (
        "reports/largest?run=1", "reports/errors?limit=0", "reports/errors?limit=5&limit=6",
        "reports/errors?format=xml", "reports/errors?colour=red", "runs/compare?a=1", "runs/compare?a=1&b=1",
    ):  # fmt: skip
        answer = client.get(f"/api/v1/{address}")
        assert answer.status_code == 400, address
        assert answer.json()["error"]["message"]
    for address in ("reports/nonsense", "runs/x", "runs/7", "runs/007"):
        answer = client.get(f"/api/v1/{address}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (
            404,
            f"no-such-{address.partition('s/')[0]}",
        )
    assert client.get("/api/v1/reports", headers={"authorization": "Bearer no"}).status_code == 401
    assert client.post("/api/v1/reports/errors").status_code == 405


def test_a_home_without_a_catalog_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", str(tmp_path / "home")]) == 0
    capsys.readouterr()
    assert run(["report", "errors", "--home", str(tmp_path / "home")]) == 1
    assert "there is no catalog" in capsys.readouterr().err
