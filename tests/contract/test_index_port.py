"""The real index passes the suite that the kit ships."""

from pathlib import Path

from ingather.index.folder import IndexFolder
from ingather.index.question import AllOf, ChainFilter, Question, Word
from ingather.ports.index import IndexWriter
from ingather.testing.contracts import IndexContract

PUBLIC = ChainFilter(only=(1,))


class TestTantivy(IndexContract):
    def open(self, folder: Path) -> IndexWriter:
        return IndexFolder(folder).writer()

    def find(self, folder: Path, word: str) -> set[int]:
        snapshot = IndexFolder(folder).reader().snapshot()
        compiled = snapshot.clauses().compile(Question(AllOf((Word(word),)), PUBLIC))
        return {hit.card.id for hit in snapshot.find(compiled, offset=0, limit=100).hits}
