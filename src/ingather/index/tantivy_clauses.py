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
from dataclasses import dataclass, replace
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
    ChainFilter,
    ClassRange,
    ClassValue,
    FileType,
    Filters,
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
from ingather.index.tantivy_leaves import Held, Leaves, any_of, sum_of
from ingather.index.tantivy_public import PUBLIC_CHAIN, PublicCounts
from ingather.index.tantivy_ranks import Ranks, text_of
from ingather.index.tantivy_visible import Unit, VisibleUnits, units, within
from ingather.index.weights import Weights

__all__ = ["Clauses", "Compiled"]

_MAX_RANKED: Final = 32
_DROPPED: Final = ((), ("near",), ("near", "phrase"))
"""Signals that are left out, one after another, while a question is too rich."""
_SCORED: Final = (Word, Phrase, Title, Obligatory, AnyOf)
_BY_PLACE: Final = "place"
_PUBLIC_ALONE: Final = (PUBLIC_CHAIN,)
_NO_LIMITS: Final = Limits(expiring=False, lists=())
_MOST_VIEWERS: Final = 64
_MOST_LOOKED_FOR: Final = 32  # as much as the words of one question may take before it is asked


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
        visible: what is known of viewers of this state; what is learnt is added.

    Attributes:
        missed: whether something was looked for, for the first time in this state, that a viewer sees nowhere.
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
        visible: dict[ChainFilter, VisibleUnits] | None = None,
    ) -> None:
        self._schema = schema
        self._searcher = searcher
        self._public = public
        self._viewers = {} if visible is None else visible
        self._visible: VisibleUnits | None = None
        self.missed = False
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
        self._look(question)
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

    # --- what the viewer may know of -----------------------------------------------------------

    def sees(self, unit: Unit, chains: ChainFilter) -> bool:
        """Return whether *unit* occurs in any document that *chains* let through; strict ranking looks once for a viewer and a state."""
        if self._public is None:
            return self._occurs(self._match(self._slots, unit), chains)
        visible = self._turn_to(chains)
        known = visible.known(unit)
        if known is None:
            known = self._by_public(unit, chains)
            if known is None:
                known = self._occurs(self._presence(unit)[0], chains)
            self._note(visible, unit, seen=known)
        return known

    def learn(self, question: Question, late: Callable[[], bool]) -> None:
        """Look for all that *question* names, because nothing was found, until it is *late*."""
        for unit, _ in units(question) if self._public is not None else ():
            if late():
                return
            self.sees(unit, question.chains)

    def _look(self, question: Question) -> None:
        """Look for what *question* names before it is asked: the way that it takes must not depend on hidden documents.

        What is needed and not public waits: looking for it takes as long as asking. If it is hidden nothing is found, and then
        :meth:`learn` looks.
        """
        if self._public is None:
            return
        chains = question.chains
        visible = self._turn_to(chains)
        patience = _MOST_LOOKED_FOR
        for unit, needed in units(question):
            if visible.known(unit) is not None:
                continue
            seen = self._by_public(unit, chains)
            if seen is None and not needed and patience > 0:
                patience -= 1
                seen = self._occurs(self._presence(unit)[0], chains)
            if seen is not None:
                self._note(visible, unit, seen=seen)

    def _note(self, visible: VisibleUnits, unit: Unit, *, seen: bool) -> None:
        self.missed |= not seen
        visible.note(unit, () if seen else self._presence(unit)[1], seen=seen)

    def _by_public(self, unit: Unit, chains: ChainFilter) -> bool | None:
        """Return whether *chains* let *unit* be seen if the public documents tell, else ``None``; what they tell holds for all viewers."""
        public = self._public
        if public is None:
            return None
        having = public.knows(unit)
        if having is None:
            leaves = self._leaves
            his, leaves.absent = leaves.absent, {}  # what this viewer does not see may be public nevertheless
            # Most words are public where they are most frequent, and that is counted for ranking anyway.
            common = isinstance(unit, Word) and public.count(*leaves.commonest(self._slots, unit.text)) > 0
            having = common or public.look(*self._presence(unit))
            public.note(unit, seen=having)
            leaves.absent = his
        if having:
            return True if _lets_public_through(chains) else None
        alone = chains.only == _PUBLIC_ALONE and self._limited == _NO_LIMITS
        return False if alone else None

    def _presence(self, unit: Unit) -> tuple[Query, Held]:
        if isinstance(unit, Word):
            return self._leaves.presence(self._slots, unit.text)
        return self._match(self._slots, unit), []

    def _occurs(self, query: Query, chains: ChainFilter) -> bool:
        kept = fence(self._schema, chains, Filters(), limited=self._limited)
        return bool(self._searcher.search(_fenced(silent(query), kept), 1).hits)

    def _turn_to(self, chains: ChainFilter) -> VisibleUnits:
        """Let what is known of a viewer decide from now on."""
        key = chains if chains.now_s is None else replace(chains, now_s=None)
        visible = self._viewers.get(key)
        if visible is None:
            if len(self._viewers) >= _MOST_VIEWERS:
                self._viewers.clear()
            visible = self._viewers[key] = VisibleUnits(lasting=not self._limited.expiring)
        self._visible, self._leaves.absent = visible, visible.absent
        return visible

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
                queries = [*_in_slots(slots, "text", text, leaves.loose), *([] if url is None else [url])]
                found = self._any_of(node, queries)
            case Phrase(text):
                found = self._any_of(node, _in_slots(slots, "text", text, leaves.strict))
            case Title(text):
                found = self._any_of(node, _in_slots(slots, "title", text, leaves.strict))
            case Site() | FileType() | Category() | ClassValue() | ClassRange():
                found = self._operator(node)
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

    def _any_of(self, node: Node, queries: Sequence[Query]) -> Query:
        """Return what matches any of *queries*; without any, what finds nothing does so as a word of hidden documents would."""
        if queries or self._visible is None or self._missed(node):
            return any_of(queries)
        return self._leaves.nobodys()

    def _missed(self, node: Node) -> bool:
        """Whether the viewer is known to see no document with what *node* names."""
        visible = self._visible
        return visible is not None and any(visible.known(unit) is False for unit in within(node))

    def _operator(self, node: Site | FileType | Category | ClassValue | ClassRange) -> Query:
        if self._missed(node):
            self._leaves.expansions += 1
            return Query.empty_query()
        return self._leaves.of_class(node) if isinstance(node, ClassValue | ClassRange) else self._whole(node)

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


def _lets_public_through(chains: ChainFilter) -> bool:
    """Whether all that is public is seen: nothing of it was revoked that the index still has."""
    if chains.rows:
        return False
    if chains.only is not None:
        return PUBLIC_CHAIN in chains.only
    return PUBLIC_CHAIN not in chains.without and (chains.last is None or chains.last >= PUBLIC_CHAIN)
