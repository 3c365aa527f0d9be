"""Figures of runs and hosts: counted with what they count, or not at all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ingather.catalog.reports.sqlite_figures import KEPT_RUNS
from ingather.catalog.reports.sqlite_reports import ReportReader
from ingather.errors import CatalogError
from ingather.model.error_class import error_class
from ingather.model.lifecycle import Outcome
from ingather.robot.settling.settle import SettleRules, settle
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

URL = "http://a.test/"


@pytest.fixture
def reader(catalog: SqliteUnderTest, tmp_path: Path) -> Iterator[ReportReader]:
    assert catalog.seed
    made = ReportReader(tmp_path / "catalog.db")
    yield made
    made.close()


def begin(catalog: SqliteUnderTest) -> int:
    run, _ = catalog.writer.transaction(lambda w: w.registry.begin_run("crawl", 1.0))
    return int(run)


def test_a_run_that_goes_on_after_a_restart_goes_on_counting(
    catalog: SqliteUnderTest, visitor: Visitor, reader: ReportReader
) -> None:
    run = begin(catalog)
    visitor.start(URL)
    visitor.visit(URL, "hello", [visitor.discovery("http://b.test/", depth=1, denied="site")])
    catalog.restart()
    assert begin(catalog) == run
    visitor.visit(URL, "changed")
    visitor.answer(URL, Outcome.UNCHANGED, status=304)
    visitor.answer(URL, Outcome.NOT_FOUND, status=404)
    visitor.delete(URL)
    visitor.undelete(URL)
    found = reader.figures(run)
    assert found["visits"] == {"all": 4, "answered": 4, "bytes": 12, "ms": 0}
    assert found["outcome"] == {"indexed": 2, "not_found": 1, "unchanged": 1}
    assert found["error"] == {"http-404": 1}
    assert found["rds"] == {"new": 1, "changed": 1, "unchanged": 1, "removed": 1, "restored": 1}
    assert list(found["excluded"].values()) == [1]


def test_what_was_not_kept_is_not_counted(
    catalog: SqliteUnderTest, visitor: Visitor, reader: ReportReader
) -> None:
    run = begin(catalog)
    visitor.start(URL)
    row = visitor.claim(URL)
    good = visitor.report(row, URL, "hello")
    bad = msgspec.structs.replace(good, title=None)
    with pytest.raises((CatalogError, TypeError)):
        catalog.settle([settle(one, row, rules=SettleRules(), chance=0.5) for one in (good, bad)], 1.0)
    assert reader.figures(run) == {}
    visitor.visit(URL, "hello")
    assert reader.figures(run)["rds"] == {"new": 1}
    (host,) = reader.hosts()
    assert host.visits == 1


def test_figures_of_a_host_add_up_over_batches(visitor: Visitor, reader: ReportReader) -> None:
    visitor.start(URL)
    for ms, address in ((100, "192.0.2.1"), (300, "192.0.2.2"), (200, "")):
        row = visitor.claim(URL)
        report = visitor.report(row, URL, f"body {ms}")
        visitor.settle(msgspec.structs.replace(report, elapsed_s=ms / 1000, address=address), row)
        visitor.now_s += 1
    (host,) = reader.hosts()
    assert (host.visits, host.ms, host.slowest_ms, host.bytes, host.errors) == (3, 600, 300, 24, 0)
    assert host.address == "192.0.2.2"
    assert (host.first_s, host.last_s) == (visitor.now_s - 3, visitor.now_s - 1)


def test_figures_of_old_runs_are_forgotten(
    catalog: SqliteUnderTest, visitor: Visitor, reader: ReportReader
) -> None:
    first = begin(catalog)
    visitor.start(URL)
    visitor.visit(URL, "hello")

    def much_later(w: Any) -> None:
        w.registry.end_run(first, 2.0, "")
        w._db.execute("insert into run (id, started, ended, kind) values (?, 1, 2, 'crawl')", (first + KEPT_RUNS - 1,))  # fmt: skip
        w.registry.begin_run("crawl", 3.0)

    catalog.writer.transaction(much_later)
    assert reader.figures(first) == {}


def test_reasons_without_end_are_one_figure(
    catalog: SqliteUnderTest, visitor: Visitor, reader: ReportReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingather.catalog.reports.sqlite_figures._MOST_NAMES", 3)
    run = begin(catalog)
    for n in range(6):
        visitor.discover(visitor.discovery(f"{URL}{n}", denied=f"category {n}"))
    visitor.discover(visitor.discovery(f"{URL}again", denied="category 0"))
    found = reader.figures(run)["excluded"]
    assert (found["others"], sum(found.values()), len(found)) == (3, 7, 4)


@pytest.mark.parametrize(
    ("outcome", "status", "detail", "name"),
    [
        (Outcome.NOT_FOUND, 410, "", "http-410"),
        (Outcome.FAILED, 0, "tls: certificate expired", "tls"),
        (Outcome.FAILED, 200, "too-large", "too-large"),
        (Outcome.FAILED, 0, "something odd: x", "failed"),
        (Outcome.FAILED, 0, "", "failed"),
        (Outcome.BACK_OFF, 0, "", "back-off"),
        (Outcome.ROBOTS_UNREACHABLE, 500, "", "robots-unreachable"),
        (Outcome.INDEXED, 200, "", ""),
        (Outcome.ROBOTS, 0, "x", ""),
    ],
)
def test_every_error_has_a_class(outcome: Outcome, status: int, detail: str, name: str) -> None:
    assert error_class(outcome, status, detail) == name
