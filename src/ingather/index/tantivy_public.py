"""What everybody may know of the words in an index: counts among public documents, for strict ranking."""

import math
from typing import Final

from tantivy import Occur, Query, Schema, Searcher

from ingather.index.tantivy_fence import among, silent

__all__ = ["PublicCounts"]

_PUBLIC_CHAIN: Final = 1
_KEPT: Final = 50_000
_STEP: Final = 64


class PublicCounts:
    """Counts in one state of the index, kept as they are asked for; any thread may ask."""

    def __init__(self, schema: Schema, searcher: Searcher) -> None:
        self._schema = schema
        self._searcher = searcher
        self._public = silent(among("chain", (_PUBLIC_CHAIN,)))
        self._counts: dict[tuple[str, str], int] = {}
        self.total = self._found(self._public)
        """Public documents."""

    def count(self, field: str, term: str) -> int:
        """Return how many public documents have *term* in *field*."""
        known = self._counts.get((field, term))
        if known is None:
            having = silent(Query.term_query(self._schema, field, term, "basic"))
            found = self._found(Query.boolean_query([(Occur.Must, self._public), (Occur.Must, having)]))
            if len(self._counts) >= _KEPT:
                self._counts.clear()
            known = self._counts[field, term] = found
        return known

    def rarity(self, field: str, term: str) -> float:
        """Return the inverse document frequency of BM25, rounded to a multiple of 1/64 above 0."""
        having = self.count(field, term)
        exact = math.log1p((self.total - having + 0.5) / (having + 0.5))
        return max(1, round(exact * _STEP)) / _STEP

    def _found(self, query: Query) -> int:
        return int(self._searcher.search(query, 1).count or 0)  # type: ignore[attr-defined] # missing in tantivy's own stub
