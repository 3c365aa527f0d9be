"""A question's tree to queries of the engine: one that matches, one that matches and ranks.

Words are looked up in every language slot that the index uses, each with that slot's own
analyser; a word counts once, by the slot in which it scores best. What a slot has never seen
is left out at once, so that ten languages cost little more than one.

Costs are summed up before anything runs: elementary queries, and postings that they will read.
A question that is too rich first loses the optional signals, then is refused.

Strict ranking scores each word, wherever it stands, by a constant: its rarity among *public* documents, which all
searchers may see. Neither score, order, bounds nor what is left out then depends on documents that a viewer may not
see, however the engine sums up: constants are multiples of 1/64, so that sums are exact in any order.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tantivy import FieldType, Occur, Query, Schema, Searcher

from ingather.errors import QueryError
from ingather.index.categories import category_term
from ingather.index.classes import MARK, amount_range, class_words
from ingather.index.languages import CJK, PLAIN, clean, exact, is_cjk
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
from ingather.index.tantivy_analysers import positions
from ingather.index.tantivy_fence import fence, silent
from ingather.index.tantivy_public import PublicCounts
from ingather.index.tantivy_schema import MOST_BOOST, boost_term
from ingather.index.weights import Weights

__all__ = ["Clauses", "Compiled"]

_NEAR_SLOP: Final = 8
_PHRASE_WORK: Final = 3
_NEAR_WORK: Final = 5
_MAX_PHRASE_WORDS: Final = 8
_SHORT_RUN: Final = 3
_RUN_SHARE: Final = 0.6
_MAX_RANKED: Final = 32
_DROPPED: Final = ((), ("near",), ("near", "phrase"))
"""Signals that are left out, one after another, while a question is too rich."""
_SCORED: Final = (Word, Phrase, Title, Obligatory, AnyOf)
_BY_PLACE: Final = "place"
_DATE_CLASS: Final = "d"


Terms = Sequence[tuple[int, str]]
"""Positions and terms."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """``matching`` decides what is found, ``ranked`` finds the same and scores it; both carry the filters.

    Not ``scored``: there is no word to rank by (operators alone), all documents are equal.
    """

    matching: Query
    ranked: Query
    expansions: int
    work: int
    scored: bool = True


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
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what a state of the index is, and two tables
        self,
        schema: Schema,
        searcher: Searcher,
        slots: Sequence[str],
        weights: Weights,
        limits: QueryLimits,
        public: PublicCounts | None = None,
        frequencies: dict[tuple[str, str], int] | None = None,
    ) -> None:
        self._public = public
        self._schema = schema
        self._searcher = searcher
        self._slots = slots
        self._all_weights = self._weights = weights
        self._limits = limits
        self._analysed: dict[tuple[str, str], Terms] = {}
        self._frequencies = {} if frequencies is None else frequencies
        self._expansions = 0
        self._work = 0

    def compile(self, question: Question, *, but: str = "") -> Compiled:
        """Return the queries for *question*; *but* names a choice (``kinds``, ``sites``, ``dates``) to leave out.

        Raises:
            QueryError: it would take too much, said for searchers.
        """
        kept = fence(self._schema, question.chains, question.filters, but=but)
        matching = self._count(lambda: self._tree(question, self._match))
        self._refuse_excess()
        cost = (self._expansions, self._work)
        ranked, scored = matching, True
        if not any(isinstance(node, _SCORED) for node in question.tree.nodes):
            scored = False
        elif len(question.tree.nodes) <= _MAX_RANKED:
            for dropped in _DROPPED:
                self._weights = self._all_weights.without(*dropped)
                ranked = self._count(lambda: self._with_bonuses(question))
                if not self._excess():
                    break
            else:
                ranked, (self._expansions, self._work) = matching, cost
        return Compiled(
            self._fenced(matching, kept), self._fenced(ranked, kept), self._expansions, self._work, scored
        )

    # --- the tree -----------------------------------------------------------------------------

    def _tree(self, question: Question, leaf: Callable[[Node], Query]) -> Query:
        clauses: list[tuple[Occur, Query]] = []
        words: list[tuple[Occur, Query]] = []
        for node in dict.fromkeys(question.tree.nodes):  # what is said twice is asked once
            if isinstance(node, Not):
                clauses.append((Occur.MustNot, self._match(node.node)))
            elif isinstance(node, Word) and question.least:
                if self._searchable(node.text):
                    words.append((Occur.Should, leaf(node)))
            elif not isinstance(node, Word | Obligatory) or self._searchable(_text_of(node)):
                clauses.append((Occur.Must, leaf(node)))
        if words:
            least = min(question.least, len(words))
            clauses.append((Occur.Must, Query.boolean_query(words, minimum_number_should_match=least)))
        if not clauses:
            return Query.empty_query()
        if all(occur == Occur.MustNot for occur, _ in clauses):
            self._work += self._public.total if self._public else self._searcher.num_docs
            clauses.append((Occur.Must, silent(Query.all_query())))
        return clauses[0][1] if len(clauses) == 1 else Query.boolean_query(clauses)

    def _with_bonuses(self, question: Question) -> Query:
        base = self._tree(question, self._rank)
        bonuses = self._bonuses(question.tree)
        return (
            Query.boolean_query([(Occur.Must, base), *((Occur.Should, b) for b in bonuses)])
            if bonuses
            else base
        )

    def _match(self, node: Node) -> Query:
        """Return what *node* matches; scores are those of plain BM25 over the combined text."""
        match node:
            case Word(text):
                url = self._in_url(text)
                found = _any([*self._in_slots("text", text, self._loose), *([] if url is None else [url])])
            case Phrase(text):
                found = _any(self._in_slots("text", text, self._strict))
            case Title(text):
                found = _any(self._in_slots("title", text, self._strict))
            case Site() | FileType() | Category():
                found = self._whole(node)
            case ClassValue() | ClassRange():
                found = self._of_class(node)
            case Obligatory(inner):
                found = self._match(inner)
            case AnyOf(nodes):
                found = _sum([self._match(n) for n in dict.fromkeys(nodes)])
            case AllOf(nodes):
                found = Query.boolean_query([(Occur.Must, self._match(n)) for n in nodes])
            case _:
                everything = silent(Query.all_query())
                found = Query.boolean_query(
                    [(Occur.Must, everything), (Occur.MustNot, self._match(node.node))]
                )
        return found

    def _whole(self, node: Site | FileType | Category) -> Query:
        if isinstance(node, Category):
            term = category_term(node.value)
            return silent(self._raw("exact", term)) if term else Query.empty_query()
        return silent(self._raw("kind" if isinstance(node, FileType) else _BY_PLACE, node.value))

    def _rank(self, node: Node) -> Query:
        """Return what *node* matches with the word signals; matches exactly what :meth:`_match` does."""
        weights = self._weights
        match node:
            case Word(text):
                per_slot = []
                for slot in self._slots:
                    must = self._weighted(self._loose("text", slot, text), weights.text)
                    if must is None:
                        continue
                    marked = self._weighted(self._loose("marked", slot, text), weights.marked)
                    title = self._weighted(self._loose("title", slot, text), weights.title)
                    more = [(Occur.Should, q) for q in (marked, title) if q is not None]
                    per_slot.append(Query.boolean_query([(Occur.Must, must), *more]) if more else must)
                url = self._in_url(text)
                if url is None:
                    return _any(per_slot)
                scored = Query.boost_query(url, weights.url) if weights.url else silent(url)
                return _sum([_any(per_slot), scored]) if per_slot else scored
            case Phrase(text):
                titles = [
                    self._weighted(q, weights.title_phrase)
                    for q in self._in_slots("title", text, self._strict)
                ]
                more = [(Occur.Should, q) for q in titles if q is not None]
                return (
                    Query.boolean_query([(Occur.Must, self._match(node)), *more])
                    if more
                    else self._match(node)
                )
            case AnyOf(nodes):
                return _sum([self._rank(n) for n in dict.fromkeys(nodes)])
            case Obligatory(inner):
                return self._rank(inner)
            case _:
                return self._match(node)

    def _bonuses(self, tree: AllOf) -> list[Query]:
        """Return what raises a document that matches anyway: nearness, headings, whole titles and anchors."""
        weights = self._weights
        found: list[Query | None] = []
        wanted = [
            n.text if isinstance(n, Phrase) else _text_of(n)
            for n in tree.nodes
            if isinstance(n, Word | Phrase | Obligatory)
        ]
        for run in _runs(tree.nodes):
            together = " ".join(run[:_MAX_PHRASE_WORDS])
            for slot in self._slots:
                found.append(self._weighted(self._phrase("title", slot, together), weights.title_phrase))
                found.append(self._weighted(self._phrase("text", slot, together), weights.phrase))
                found.append(
                    self._weighted(self._phrase("text", slot, together, slop=_NEAR_SLOP), weights.near)
                )
        if wanted and weights.heading:
            found += [self._all_in_head(slot, wanted) for slot in self._slots]
        whole = exact(" ".join(wanted))
        if whole and not any(isinstance(n, Title | AnyOf | AllOf) for n in tree.nodes):
            for letter, weight in (("t", weights.exact_title), ("a", weights.exact_anchor)):
                if weight and (self._public or self._frequency("exact", f"{letter}:{whole}")):
                    self._expansions += 1
                    found.append(Query.const_score_query(self._raw("exact", f"{letter}:{whole}"), weight))
        for steps in range(1, MOST_BOOST + 1) if weights.boost else ():
            if self._public or self._frequency("exact", boost_term(steps)):
                raised = self._raw("exact", boost_term(steps))
                found.append(Query.const_score_query(raised, steps * weights.boost))
        return [q for q in found if q is not None]

    def _all_in_head(self, slot: str, wanted: Iterable[str]) -> Query | None:
        """Return a constant for documents with all words of the query in title and headings."""
        musts = []
        for term in sorted({term for text in wanted for _, term in self._terms(slot, text)}):
            places = [
                q
                for f in ("title", "head")
                if (q := self._terms_query(f"{f}_{slot}", [(0, term)], 0)) is not None
            ]
            if not places:
                return None
            musts.append((Occur.Must, _sum(places)))
        return Query.const_score_query(Query.boolean_query(musts), self._weights.heading) if musts else None

    # --- leaves -------------------------------------------------------------------------------

    def _in_slots(self, family: str, text: str, leaf: Callable[[str, str, str], Query | None]) -> list[Query]:
        return [q for slot in self._slots if (q := leaf(family, slot, text)) is not None]

    def _loose(self, family: str, slot: str, text: str) -> Query | None:
        """Return *text* as a term or phrase; a long unbroken run of ideographs need not match whole."""
        terms = self._terms(slot, text)
        if slot == CJK and len(terms) > _SHORT_RUN and family == "text" and is_cjk(text):
            return self._ideographs(terms)
        return self._strict(family, slot, text)

    def _ideographs(self, terms: Terms) -> Query | None:
        """Return neighbouring pairs of *terms*, most of which must occur: nobody writes blanks between words."""
        pairs = [q for a, b in pairwise(terms) if (q := self._terms_query("text_cjk", [a, b], 0)) is not None]
        least = max(1, int(_RUN_SHARE * (len(terms) - 1) + 0.5))
        if len(pairs) < least:
            return None
        whole = self._terms_query("text_cjk", terms, 0)
        loose = Query.boolean_query([(Occur.Should, q) for q in pairs], minimum_number_should_match=least)
        return loose if whole is None else Query.boolean_query([(Occur.Must, loose), (Occur.Should, whole)])

    def _strict(self, family: str, slot: str, text: str) -> Query | None:
        terms = self._terms(slot, text)
        if family == "marked" and len(terms) > 1:
            return None  # it has no positions
        return self._terms_query(f"{family}_{slot}", terms, 0) if terms else None

    def _phrase(self, family: str, slot: str, text: str, slop: int = 0) -> Query | None:
        terms = self._terms(slot, text)
        return self._terms_query(f"{family}_{slot}", terms, slop) if len(terms) > 1 else None

    def _terms_query(self, field: str, terms: Terms, slop: int) -> Query | None:
        """Return a term or phrase query; ``None`` if a term does not occur in *field* at all."""
        if self._public:
            self._expansions += len(terms)
        if not all(self._frequency(field, term) for _, term in terms):
            return None
        if not self._public:
            self._expansions += len(terms)
        work = sum(self._cost(field, term) for _, term in terms)
        if len(terms) == 1:
            self._work += work
            return self._scored(Query.term_query(self._schema, field, terms[0][1], "freq"), field, terms)
        self._work += work * (_NEAR_WORK if slop else _PHRASE_WORK)
        start = terms[0][0]
        found = Query.phrase_query(self._schema, field, [(at - start, term) for at, term in terms], slop)
        return self._scored(found, field, terms)

    def _scored(self, query: Query, field: str, terms: Terms) -> Query:
        """Return *query* with the engine's score, or with the constant of strict ranking."""
        if self._public is None:
            return query
        return Query.const_score_query(query, sum(self._public.rarity(field, term) for _, term in terms))

    def _cost(self, field: str, term: str) -> int:
        """Return how many postings a term is taken to have: in strict ranking those that everybody may know of."""
        return self._public.count(field, term) if self._public else self._frequency(field, term)

    def _in_url(self, text: str) -> Query | None:
        terms = self._terms(PLAIN, text)
        if self._public:
            self._expansions += len(terms)
        if not terms or not all(self._frequency("url", term) for _, term in terms):
            return None
        if not self._public:
            self._expansions += len(terms)
        self._work += sum(self._cost("url", term) for _, term in terms)
        return _all(
            [
                self._scored(Query.term_query(self._schema, "url", term, "freq"), "url", [(at, term)])
                for at, term in terms
            ]
        )

    def _of_class(self, node: ClassValue | ClassRange) -> Query:
        if isinstance(node, ClassValue):
            return self._in_class(node.name, node.text)
        return self._in_range(node.name, node.low, node.high)

    def _in_class(self, name: str, text: str) -> Query:
        """Return *text* as a phrase inside one value of a class; a filter, so without a score."""
        words = [word for piece in text.split() for word in ([MARK] if piece == MARK else class_words(piece))]
        if not words:
            return Query.empty_query()
        if name == _DATE_CLASS and words == [MARK]:
            return silent(Query.exists_query("date"))
        found = self._terms_query("class", [(at, f"{word}_{name}") for at, word in enumerate(words)], 0)
        return Query.empty_query() if found is None else silent(found)

    def _in_range(self, name: str, low: float | None, high: float | None) -> Query:
        """Return the documents with a number or date of a class in a range; the class ``d`` is the document's date."""
        if name == _DATE_CLASS:
            self._expansions += 1
            since, until = (None if bound is None else int(bound) for bound in (low, high))
            if since is None and until is None:
                return silent(Query.exists_query("date"))
            return silent(
                Query.range_query(
                    self._schema, "date", FieldType.Integer, since, until, include_upper=until is None
                )
            )
        wanted = amount_range(name, low, high)
        self._expansions += 1
        self._work += sum(self._cost("amount", term) for term in wanted)
        return silent(Query.term_set_query(self._schema, "amount", wanted)) if wanted else Query.empty_query()

    def _raw(self, field: str, value: str) -> Query:
        self._expansions += 1
        self._work += self._cost(field, value)
        return Query.term_query(self._schema, field, value, "basic")

    def _weighted(self, query: Query | None, weight: float) -> Query | None:
        if query is None or weight == 0:
            return None
        return query if weight == 1 else Query.boost_query(query, weight)

    def _searchable(self, text: str) -> bool:
        """Whether any letter or digit is in *text*: punctuation alone is passed over."""
        return bool(self._terms(PLAIN, text)) or bool(self._terms(CJK, text))

    def _terms(self, slot: str, text: str) -> Terms:
        known = self._analysed.get((slot, text))
        if known is None:
            known = self._analysed[slot, text] = positions(slot, clean(text))
        return known

    def _frequency(self, field: str, term: str) -> int:
        known = self._frequencies.get((field, term))
        if known is None:
            known = self._frequencies[field, term] = self._searcher.doc_freq(field, term)
        return known

    # --- bounds -------------------------------------------------------------------------------

    def _count(self, make: Callable[[], Query]) -> Query:
        self._expansions = self._work = 0
        return make()

    def _excess(self) -> bool:
        return self._expansions > self._limits.expansions or self._work > self._limits.work

    def _refuse_excess(self) -> None:
        if self._expansions > self._limits.expansions:
            raise QueryError("The query has too many words", hint="leave some out")
        if self._work > self._limits.work:
            raise QueryError(
                "The query is made of words that almost every document has",
                hint="add a rarer word, or leave some out",
            )

    @staticmethod
    def _fenced(query: Query, kept: list[tuple[Occur, Query]]) -> Query:
        return Query.boolean_query([(Occur.Must, query), *kept])


def _text_of(node: Node) -> str:
    """Return the word of a word, obligatory or not."""
    while isinstance(node, Obligatory):
        node = node.node
    return node.text if isinstance(node, Word) else ""


def _runs(nodes: Sequence[Node]) -> list[list[str]]:
    """Return the runs of two and more neighbouring words and phrases, at most three."""
    runs: list[list[str]] = [[]]
    for node in nodes:
        if isinstance(node, Word | Obligatory):
            runs[-1].append(_text_of(node))
        elif runs[-1] and not isinstance(node, Not | Site | FileType | ClassValue | ClassRange):
            runs.append([])
    return [run for run in runs if len(run) > 1][:3]


def _any(queries: Sequence[Query]) -> Query:
    if not queries:
        return Query.empty_query()
    return queries[0] if len(queries) == 1 else Query.disjunction_max_query(list(queries))


def _sum(queries: Sequence[Query]) -> Query:
    if not queries:
        return Query.empty_query()
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, q) for q in queries])


def _all(queries: Sequence[Query]) -> Query:
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Must, q) for q in queries])
