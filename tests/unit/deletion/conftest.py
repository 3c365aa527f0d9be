from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.testing.revisiting import Revisits
from ingather.testing.visitor import SqliteUnderTest, Visitor


@pytest.fixture
def robot(tmp_path: Path) -> Iterator[Revisits]:
    catalog = SqliteUnderTest(tmp_path)
    catalog.put_source("web", "public")
    catalog.put_source("vault", "secure")
    visitor = Visitor(catalog)
    yield Revisits(catalog, visitor)
    visitor.close()
