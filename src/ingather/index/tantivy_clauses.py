"""A question's tree to queries of the engine: one that matches, and then one that matches and ranks.

Words are looked up in every language slot that the index uses, each with that slot's own
analyser; a word counts once, by the slot in which it scores best. What a slot has never seen
is left out at once. The ranking query is made when it is known in which slots anything was found, and looks into
no others: in all of them it took twice as long to run, and five times to make. What must *not* be there is looked for
in all: a document that its address finds may say it in a language in which nothing else was found.

Costs are summed up before anything runs: elementary queries, and postings that they will read.
A question that is too rich first loses the optional signals, then is refused.

Strict ranking scores each word, wherever it stands, by a constant: its rarity among *public* documents, which all
searchers may see. Neither score, order, bounds nor what is left out then depends on documents that a viewer may not
see, however the engine sums up: constants are multiples of 1/64, so that sums are exact in any order.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from tantivy import Occur, Query, Schema, Searcher

from ingather.errors import QueryError
from ingather.index.categories import category_term
from ingather.index.limits import QueryLimits
from ingather.index.question import (
    AllOf,
    AnyOf,
    Category,
    ClassRange,
    ClassValue,
    FileType,
    Node,
    Not,
    Obligatory,
    Phrase,
    Question,
    Site,
    Title,
    Word,
)
from ingather.index.tantivy_fence import ALL_LIMITS, Limits, fence, silent
from ingather.index.tantivy_leaves import Leaves, any_of, sum_of
from ingather.index.tantivy_public import PublicCounts
from ingather.index.tantivy_ranks import Ranks, text_of
from ingather.index.weights import Weights

__all__ = ["Clauses", "Compiled"]

_MAX_RANKED: Final = 32
_DROPPED: Final = ((), ("near",), ("near", "phrase"))
"""Signals that are left out, one after another, while a question is too rich."""
_SCORED: Final = (Word, Phrase, Title, Obligatory, AnyOf)
_BY_PLACE: Final = "place"


@dataclass(frozen=True, slots=True)
class Compiled:
    """``matching`` decides what is found, :meth:`ranked` finds the same and scores it; both carry the filters.

    Not ``scored``: there is no word to rank by (operators alone), all documents are equal. ``expansions`` and ``work`` are
    what ``matching`` costs.
    """

    matching: Query
    expansions: int
    work: int
    scored: bool
    rank: Callable[[Collection[str] | None], Query]

    def ranked(self, slots: Collection[str] | None = None) -> Query:
        """Return the query that scores; *slots*: those of all documents that ``matching`` matches, if that is known."""
        return self.rank(slots)


class Clauses:
    """Compiles questions for one state of the index; made per question, keeps its counts.

    Args:
        schema: of the index.
        searcher: the state that will be searched (document frequencies).
        slots: language slots in use, most frequent first.
        weights: what counts how much.
        limits: bounds.
        public: how many public documents have a term in a field, and how many there are: strict ranking.
        frequencies: what is known of this state's document frequencies; learnt ones are added.
        limited: which limits any document has.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what a state of the index is
        self,
        schema: Schema,
        searcher: Searcher,
        slots: Sequence[str],
        weights: Weights,
        limits: QueryLimits,
        public: PublicCounts | None = None,
        frequencies: dict[tuple[str, str], int] | None = None,
        limited: Limits = ALL_LIMITS,
    ) -> None:
        self._schema = schema
        self._slots = slots
        self._weights = weights
        self._limits = limits
        self._limited = limited
        self._leaves = Leaves(schema, searcher, public, frequencies)

    def compile(self, question: Question, *, but: str = "") -> Compiled:
        """Return the queries for *question*; *but* names a choice (``kinds``, ``sites``, ``dates``) to leave out.

        Raises:
            QueryError: it would take too much, said for searchers.
        """
        kept = fence(self._schema, question.chains, question.filters, limited=self._limited, but=but)
        leaves = self._leaves
        leaves.restart()
        matching = self._tree(question, partial(self._match, self._slots))
        self._refuse_excess()
        fenced = _fenced(matching, kept)
        scored = any(isinstance(node, _SCORED) for node in question.tree.nodes)

        def rank(slots: Collection[str] | None) -> Query:
            if not scored or len(question.tree.nodes) > _MAX_RANKED:
                return fenced
            inside = self._slots if slots is None else [slot for slot in self._slots if slot in slots]
            ranked = self._ranked(question, inside)
            return fenced if ranked is None else _fenced(ranked, kept)

        return Compiled(fenced, leaves.expansions, leaves.work, scored, rank)

    def _ranked(self, question: Question, slots: Sequence[str]) -> Query | None:
        """Return what scores, with as many signals as the bounds allow; ``None`` if not even the fewest."""
        for dropped in _DROPPED:
            self._leaves.restart()
            ranked = self._with_bonuses(question, self._weights.without(*dropped), slots)
            if not self._excess():
                return ranked
        return None

    # --- the tree -----------------------------------------------------------------------------

    def _tree(self, question: Question, leaf: Callable[[Node], Query]) -> Query:
        clauses: list[tuple[Occur, Query]] = []
        words: list[tuple[Occur, Query]] = []
        for node in dict.fromkeys(question.tree.nodes):  # what is said twice is asked once
            if isinstance(node, Not):
                clauses.append((Occur.MustNot, self._match(self._slots, node.node)))
            elif isinstance(node, Word) and question.least:
                if self._leaves.searchable(node.text):
                    words.append((Occur.Should, leaf(node)))
            elif not isinstance(node, Word | Obligatory) or self._leaves.searchable(text_of(node)):
                clauses.append((Occur.Must, leaf(node)))
        if words:
            least = min(question.least, len(words))
            clauses.append((Occur.Must, Query.boolean_query(words, minimum_number_should_match=least)))
        if not clauses:
            return Query.empty_query()
        if all(occur == Occur.MustNot for occur, _ in clauses):
            clauses.append((Occur.Must, self._leaves.everything()))
        return clauses[0][1] if len(clauses) == 1 else Query.boolean_query(clauses)

    def _with_bonuses(self, question: Question, weights: Weights, slots: Sequence[str]) -> Query:
        ranks = Ranks(self._leaves, slots, weights, partial(self._match, slots))
        base = self._tree(question, ranks.scored)
        bonuses = [(Occur.Should, bonus) for bonus in ranks.bonuses(question.tree)]
        return Query.boolean_query([(Occur.Must, base), *bonuses]) if bonuses else base

    def _match(self, slots: Sequence[str], node: Node) -> Query:
        """Return what *node* matches; scores are those of plain BM25 over the combined text."""
        leaves = self._leaves
        match node:
            case Word(text):
                url = leaves.in_url(text)
                found = any_of(
                    [*_in_slots(slots, "text", text, leaves.loose), *([] if url is None else [url])]
                )
            case Phrase(text):
                found = any_of(_in_slots(slots, "text", text, leaves.strict))
            case Title(text):
                found = any_of(_in_slots(slots, "title", text, leaves.strict))
            case Site() | FileType() | Category():
                found = self._whole(node)
            case ClassValue() | ClassRange():
                found = leaves.of_class(node)
            case Obligatory(inner):
                found = self._match(slots, inner)
            case AnyOf(nodes):
                found = sum_of([self._match(slots, n) for n in dict.fromkeys(nodes)])
            case AllOf(nodes):
                found = Query.boolean_query([(Occur.Must, self._match(slots, n)) for n in nodes])
            case _:
                everything = silent(Query.all_query())
                found = Query.boolean_query(
                    [(Occur.Must, everything), (Occur.MustNot, self._match(self._slots, node.node))]
                )
        return found

    def _whole(self, node: Site | FileType | Category) -> Query:
        if isinstance(node, Category):
            term = category_term(node.value)
            return silent(self._leaves.raw("exact", term)) if term else Query.empty_query()
        return silent(self._leaves.raw("kind" if isinstance(node, FileType) else _BY_PLACE, node.value))

    # --- bounds -------------------------------------------------------------------------------

    def _excess(self) -> bool:
        leaves, limits = self._leaves, self._limits
        return leaves.expansions > limits.expansions or leaves.work > limits.work

    def _refuse_excess(self) -> None:
        if self._leaves.expansions > self._limits.expansions:
            raise QueryError("The query has too many words", hint="leave some out")
        if self._leaves.work > self._limits.work:
            raise QueryError(
                "The query is made of words that almost every document has",
                hint="add a rarer word, or leave some out",
            )


def _in_slots(
    slots: Sequence[str], family: str, text: str, leaf: Callable[[str, str, str], Query | None]
) -> list[Query]:
    return [q for slot in slots if (q := leaf(family, slot, text)) is not None]


def _fenced(query: Query, kept: list[tuple[Occur, Query]]) -> Query:
    return Query.boolean_query([(Occur.Must, query), *kept])
