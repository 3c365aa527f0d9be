from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ingather.app.home import Home
from ingather.app.reports.desk import HomeReports
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.lifecycle import Outcome
from ingather.model.report import Denial, HostReport, Report
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor


class Robot(Visitor):
    """A visitor with runs, over the catalog of a home."""

    @property
    def writer(self) -> CatalogWriter:
        """The catalog's writer."""
        assert isinstance(self.catalog, SqliteUnderTest)
        return self.catalog.writer

    def begin(self) -> int:
        run, _ = self.writer.transaction(lambda w: w.registry.begin_run("crawl", self.now_s))
        return int(run)

    def end(self, run: int) -> None:
        self.now_s += 1
        self.writer.transaction(lambda w: w.registry.end_run(run, self.now_s, "done"))
        self.now_s += 1

    def deny(self, url: str, category: str, where: str, reason: str, outcome: Outcome) -> None:
        """Visit *url*, which a directive denies."""
        row = self.claim(url)
        denial = Denial(category, where, reason, 1)
        self.settle(
            Report(id=row.id, outcome=int(outcome), status=0, at_s=self.now_s, version=1, denial=denial), row
        )

    def fail(self, url: str, outcome: Outcome, *, status: int = 0, detail: str = "", ms: int = 10) -> None:
        """Visit *url*, which goes wrong."""
        row = self.claim(url)
        self.settle(
            Report(
                id=row.id, outcome=int(outcome), status=status, at_s=self.now_s, version=1, detail=detail,
                elapsed_s=ms / 1000, address="192.0.2.1",
            ),
            row,
        )  # fmt: skip

    def host(self, origin: str, report: HostReport) -> None:
        """Keep what a gatherer learnt of a host."""

        def work(w: Any) -> None:
            report.id = w.applier.host(origin)
            w.applier.hosts([report])

        self.writer.transaction(work)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.create(tmp_path / "home")


@pytest.fixture
def robot(home: Home) -> Iterator[Robot]:
    catalog = SqliteUnderTest(home.catalog)
    catalog.put_source("web", "public")
    made = Robot(catalog)
    yield made
    made.close()


@pytest.fixture
def live() -> dict[str, Any]:
    """What the robot says of itself; tests fill it in."""
    return {"state": "off"}


@pytest.fixture
def reports(home: Home, robot: Robot, live: dict[str, Any]) -> HomeReports:
    def said() -> Mapping[str, Any]:
        return live

    return HomeReports(home, home.settings().settings, said, now=lambda: robot.now_s)
