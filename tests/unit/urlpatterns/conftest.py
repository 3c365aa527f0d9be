"""A real catalog with an open and a closed source."""

from collections.abc import Iterator
from pathlib import Path

import pytest

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
