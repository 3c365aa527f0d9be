"""The signals of ranking as clauses: where a word stands, and what raises a document that matches anyway."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from tantivy import Occur, Query

from ingather.index.languages import exact
from ingather.index.question import (
    AllOf,
    AnyOf,
    ClassRange,
    ClassValue,
    FileType,
    Node,
    Not,
    Obligatory,
    Phrase,
    Site,
    Title,
    Word,
)
from ingather.index.tantivy_fence import silent
from ingather.index.tantivy_leaves import Leaves, any_of, sum_of
from ingather.index.tantivy_schema import MOST_BOOST, boost_term
from ingather.index.weights import Weights

__all__ = ["Ranks", "text_of"]

_NEAR_SLOP: Final = 8
_MAX_PHRASE_WORDS: Final = 8


class Ranks:
    """Makes the scored clauses of one question.

    Args:
        leaves: elementary queries.
        slots: language slots to look into.
        weights: what counts how much.
        match: what a node matches, in the same slots; what is scored matches exactly that.
    """

    def __init__(
        self, leaves: Leaves, slots: Sequence[str], weights: Weights, match: Callable[[Node], Query]
    ) -> None:
        self._leaves = leaves
        self._slots = slots
        self._weights = weights
        self._match = match

    def scored(self, node: Node) -> Query:
        """Return what *node* matches with the word signals."""
        match node:
            case Word(text):
                return self._word(text)
            case Phrase(text):
                leaves, weight = self._leaves, self._weights.title_phrase
                titles = [_weighted(leaves.strict("title", slot, text), weight) for slot in self._slots]
                more = [(Occur.Should, q) for q in titles if q is not None]
                found = self._match(node)
                return Query.boolean_query([(Occur.Must, found), *more]) if more else found
            case AnyOf(nodes):
                return sum_of([self.scored(n) for n in dict.fromkeys(nodes)])
            case Obligatory(inner):
                return self.scored(inner)
            case _:
                return self._match(node)

    def _word(self, text: str) -> Query:
        leaves, weights = self._leaves, self._weights
        per_slot = []
        for slot in self._slots:
            must = _weighted(leaves.loose("text", slot, text), weights.text)
            if must is None:
                continue
            marked = _weighted(leaves.loose("marked", slot, text), weights.marked)
            title = _weighted(leaves.loose("title", slot, text), weights.title)
            more = [(Occur.Should, q) for q in (marked, title) if q is not None]
            per_slot.append(Query.boolean_query([(Occur.Must, must), *more]) if more else must)
        url = leaves.in_url(text)
        if url is None:
            return any_of(per_slot)
        scored = Query.boost_query(url, weights.url) if weights.url else silent(url)
        return sum_of([any_of(per_slot), scored]) if per_slot else scored

    def bonuses(self, tree: AllOf) -> list[Query]:
        """Return what raises a document that matches anyway: nearness, headings, whole titles and anchors, its source."""
        wanted = [
            n.text if isinstance(n, Phrase) else text_of(n)
            for n in tree.nodes
            if isinstance(n, Word | Phrase | Obligatory)
        ]
        found = [*self._near(tree)]
        if wanted and self._weights.heading:
            found += [self._all_in_head(slot, wanted) for slot in self._slots]
        whole = exact(" ".join(wanted))
        if whole and not any(isinstance(n, Title | AnyOf | AllOf) for n in tree.nodes):
            found += self._exactly(whole)
        return [q for q in (*found, *self._boosts()) if q is not None]

    def _near(self, tree: AllOf) -> Iterable[Query | None]:
        leaves, weights = self._leaves, self._weights
        for run in _runs(tree.nodes):
            together = " ".join(run[:_MAX_PHRASE_WORDS])
            for slot in self._slots:
                yield _weighted(leaves.phrase("title", slot, together), weights.title_phrase)
                yield _weighted(leaves.phrase("text", slot, together), weights.phrase)
                yield _weighted(leaves.phrase("text", slot, together, slop=_NEAR_SLOP), weights.near)

    def _all_in_head(self, slot: str, wanted: Iterable[str]) -> Query | None:
        """Return a constant for documents with all words of the query in title and headings."""
        leaves = self._leaves
        musts = []
        for term in sorted({term for text in wanted for _, term in leaves.terms(slot, text)}):
            fields = (f"title_{slot}", f"head_{slot}")
            places = [q for f in fields if (q := leaves.of_terms(f, [(0, term)], 0)) is not None]
            if not places:
                return None
            musts.append((Occur.Must, sum_of(places)))
        return Query.const_score_query(Query.boolean_query(musts), self._weights.heading) if musts else None

    def _exactly(self, whole: str) -> Iterable[Query]:
        leaves, weights = self._leaves, self._weights
        for letter, weight in (("t", weights.exact_title), ("a", weights.exact_anchor)):
            term = f"{letter}:{whole}"
            if weight and (leaves.public or leaves.frequency("exact", term)):
                leaves.expansions += 1
                yield Query.const_score_query(leaves.raw("exact", term), weight)

    def _boosts(self) -> Iterable[Query]:
        leaves, weight = self._leaves, self._weights.boost
        for steps in range(1, MOST_BOOST + 1) if weight else ():
            term = boost_term(steps)
            if leaves.public or leaves.frequency("exact", term):
                yield Query.const_score_query(leaves.raw("exact", term), steps * weight)


def text_of(node: Node) -> str:
    """Return the word of a word, obligatory or not."""
    while isinstance(node, Obligatory):
        node = node.node
    return node.text if isinstance(node, Word) else ""


def _weighted(query: Query | None, weight: float) -> Query | None:
    if query is None or weight == 0:
        return None
    return query if weight == 1 else Query.boost_query(query, weight)


def _runs(nodes: Sequence[Node]) -> list[list[str]]:
    """Return the runs of two and more neighbouring words and phrases, at most three."""
    runs: list[list[str]] = [[]]
    for node in nodes:
        if isinstance(node, Word | Obligatory):
            runs[-1].append(text_of(node))
        elif runs[-1] and not isinstance(node, Not | Site | FileType | ClassValue | ClassRange):
            runs.append([])
    return [run for run in runs if len(run) > 1][:3]
