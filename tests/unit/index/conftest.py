"""An index folder, documents to put in, questions to ask."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ingather.index import (
    AllOf,
    ChainFilter,
    Filters,
    Found,
    IndexFolder,
    Node,
    Order,
    Question,
    TantivyReader,
    TantivyWriter,
)
from ingather.ports.index import IndexDocument

PUBLIC = ChainFilter(only=(1,))


def made(row: int, body: str = "", **given: Any) -> IndexDocument:
    """Return a public English HTML document with plausible fields."""
    path = given.pop("path", f"/pages/{row}.html")
    site = given.pop("site", "example.com")
    fields: dict[str, Any] = {
        "chain": 1,
        "title": f"Page {row}",
        "language": "en",
        "media_type": "text/html",
        "kind": "html",
        "date_s": 1_700_000_000 + row,
        "size": 100 + row,
        "source": "web",
    } | given
    return IndexDocument(row, f"https://{site}{path}", body=body, site=site, path=path, **fields)


class Index:
    """One index with its writer and reader, as the keeper holds it."""

    def __init__(self, path: Path) -> None:
        self.folder = IndexFolder(path)
        self.writer: TantivyWriter = self.folder.writer()
        self.reader: TantivyReader = self.folder.reader()
        self.sequence = 0

    def put(self, *documents: IndexDocument) -> None:
        self.sequence += 1
        self.writer.put(documents)
        self.writer.commit(self.sequence)
        self.reader.reload()

    def remove(self, *rows: int) -> None:
        self.sequence += 1
        self.writer.remove(rows)
        self.writer.commit(self.sequence)
        self.reader.reload()

    def ask(
        self,
        *nodes: Node,
        chains: ChainFilter = PUBLIC,
        filters: Filters | None = None,
        least: int = 0,
        order: Order = Order.RELEVANCE,
    ) -> Found:
        snapshot = self.reader.snapshot()
        question = Question(AllOf(nodes), chains, filters or Filters(), least)
        return snapshot.find(snapshot.clauses().compile(question), offset=0, limit=10, order=order)

    def rows(self, *nodes: Node, **given: Any) -> list[int]:
        found = self.ask(*nodes, **given)
        rows = [hit.card.id for hit in found.hits]
        assert found.total == len(rows)
        return rows


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    opened = Index(tmp_path / "index")
    yield opened
    opened.writer.close()


@pytest.fixture
def doc() -> Callable[..., IndexDocument]:
    return made
