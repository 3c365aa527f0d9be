from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingather.catalog.frontier.sqlite_budget import BudgetLimits
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[SqliteUnderTest]:
    made = SqliteUnderTest(tmp_path)
    made.put_source("web", "public")
    made.put_source("vault", "secure")
    yield made
    made.close()


@pytest.fixture
def visitor(catalog: SqliteUnderTest) -> Iterator[Visitor]:
    made = Visitor(catalog)
    yield made
    made.close()


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Callable[[BudgetLimits], Visitor]]:
    made: list[Visitor] = []

    def make(limits: BudgetLimits) -> Visitor:
        made.append(Visitor(SqliteUnderTest(tmp_path, budgets=limits)))
        return made[-1]

    yield make
    for visitor in made:
        visitor.close()
