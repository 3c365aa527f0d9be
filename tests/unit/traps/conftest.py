from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.testing.visitor import SqliteUnderTest, Visitor


@pytest.fixture
def catalog(tmp_path: Path) -> SqliteUnderTest:
    made = SqliteUnderTest(tmp_path)
    made.put_source("web", "public")
    made.put_source("vault", "secure")
    return made


@pytest.fixture
def visitor(catalog: SqliteUnderTest) -> Iterator[Visitor]:
    made = Visitor(catalog)
    yield made
    made.close()
