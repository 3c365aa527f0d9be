"""What everybody may know of the words in an index: counts among public documents, for strict ranking."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from tantivy import Occur, Query, Schema, Searcher

from ingather.index.question import Node
from ingather.index.tantivy_fence import ALL_LIMITS, Limits, among, restricted, silent

__all__ = ["PUBLIC_CHAIN", "PublicCounts"]

PUBLIC_CHAIN: Final = 1
_KEPT: Final = 50_000
_STEP: Final = 64


class PublicCounts:
    """Counts in one state of the index, kept as they are asked for; any thread may ask.

    Public is what everybody sees as long as the state lasts: documents of the public chain that are neither restricted beside it
    nor expire.
    """

    def __init__(self, schema: Schema, searcher: Searcher, limited: Limits = ALL_LIMITS) -> None:
        self._schema = schema
        self._searcher = searcher
        everybody = silent(among("chain", (PUBLIC_CHAIN,)))
        others = [(Occur.MustNot, query) for query in restricted(schema, limited)]
        self._public = Query.boolean_query([(Occur.Must, everybody), *others]) if others else everybody
        self._counts: dict[tuple[str, str], int] = {}
        self._having: dict[Node, bool] = {}
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

    def knows(self, node: Node) -> bool | None:
        """Return whether a public document has *node*, ``None`` if nobody has looked."""
        return self._having.get(node)

    def note(self, node: Node, *, seen: bool) -> None:
        """Remember whether a public document has *node*."""
        if len(self._having) >= _KEPT:
            self._having.clear()
        self._having[node] = seen

    def look(self, query: Query, held: Iterable[tuple[str, str | Sequence[tuple[int, str]]]]) -> bool:
        """Return whether *query* finds a public document; if not, none has one of the (field, term) that it consists of."""
        seen = self._found(Query.boolean_query([(Occur.Must, self._public), (Occur.Must, silent(query))])) > 0
        for field, term in () if seen else held:
            if isinstance(term, str):
                self._counts[field, term] = 0
        return seen

    def rarity(self, field: str, term: str) -> float:
        """Return the inverse document frequency of BM25, rounded to a multiple of 1/64 above 0."""
        having = self.count(field, term)
        exact = math.log1p((self.total - having + 0.5) / (having + 0.5))
        return max(1, round(exact * _STEP)) / _STEP

    def _found(self, query: Query) -> int:
        return int(self._searcher.search(query, 1).count or 0)  # type: ignore[attr-defined] # missing in tantivy's own stub
