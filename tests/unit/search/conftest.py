"""The judged corpus and a search service over it; small indexes made on the spot."""

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ingather.index import RANKING, IndexFolder, QueryLimits, Weights
from ingather.ports.index import IndexDocument
from ingather.search import SearchRequest, SearchResults, SearchService

JUDGED = Path(__file__).parent / "judgements" / "judged.py"


class StoppedClock:
    """Time stands still, or goes by *step* seconds with every look at it."""

    def __init__(self, wall: float = 1_800_000_000.0, step: float = 0.0) -> None:
        self.now = 0.0
        self.step = step
        self.date = wall

    def monotonic(self) -> float:
        self.now += self.step
        return self.now

    def wall(self) -> float:
        return self.date


class Site:
    """A small index with its texts, and a service to ask."""

    def __init__(self, path: Path) -> None:
        self.folder = IndexFolder(path)
        self.writer = self.folder.writer()
        self.reader = self.folder.reader()
        self.texts: dict[int, str] = {}
        self.clock = StoppedClock()
        self.sequence = 0
        self.service = self.serve()

    def serve(self, *, limits: QueryLimits | None = None, weights: Weights = RANKING) -> SearchService:
        def texts(rows: Sequence[int]) -> Mapping[int, str]:
            return {row: self.texts[row] for row in rows if row in self.texts}

        return SearchService(self.reader, texts, self.clock, limits=limits, weights=weights)

    def put(self, *documents: IndexDocument) -> None:
        self.sequence += 1
        self.writer.put(documents)
        self.writer.commit(self.sequence)
        self.texts |= {d.id: d.body for d in documents}
        self.reader.reload()

    def search(self, query: str, **given: Any) -> SearchResults:
        return self.service.search(SearchRequest(query, **given))

    def urls(self, query: str, **given: Any) -> list[str]:
        return [result.url for result in self.search(query, **given).results]


def page(row: int, body: str = "", **given: Any) -> IndexDocument:
    path = given.pop("path", f"/{row}.html")
    site = given.pop("site", "example.com")
    fields: dict[str, Any] = {
        "chain": 1, "title": f"Page {row}", "language": "en", "media_type": "text/html", "kind": "html",
        "size": 10 * row, "source": "web",
    }  # fmt: skip
    return IndexDocument(row, f"https://{site}{path}", body=body, site=site, path=path, **(fields | given))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path / "index")
    yield made
    made.writer.close()


@pytest.fixture
def doc() -> Callable[..., IndexDocument]:
    return page


@pytest.fixture(scope="session")
def judged() -> ModuleType:
    spec = importlib.util.spec_from_file_location("judged_corpus", JUDGED)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["judged_corpus"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def intranet(judged: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> SearchService:
    """The judged corpus, served."""
    reader = judged.build(tmp_path_factory.mktemp("intranet"))
    texts = judged.texts(judged.pages())
    return SearchService(reader, lambda rows: {row: texts[row] for row in rows}, StoppedClock())
