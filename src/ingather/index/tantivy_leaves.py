"""Elementary queries of the engine: a term, a phrase, a range; and what they cost together.

A term that a field has never seen gives no query at all, so that ten languages cost little more than one.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from tantivy import FieldType, Occur, Query, Schema, Searcher

from ingather.index.classes import MARK, amount_range, class_words
from ingather.index.languages import CJK, PLAIN, clean, is_cjk
from ingather.index.question import ClassRange, ClassValue
from ingather.index.tantivy_analysers import positions
from ingather.index.tantivy_fence import silent
from ingather.index.tantivy_public import PublicCounts
from ingather.index.tantivy_schema import FAMILIES, MARKER_KEY

__all__ = ["Held", "Leaves", "Terms", "all_of", "any_of", "sum_of"]

_NEAR_WORK: Final = 5
_PHRASE_WORK: Final = 3
_PAIR: Final = 2
_SHORT_RUN: Final = 3
_RUN_SHARE: Final = 0.6
_DATE_CLASS: Final = "d"

Terms = Sequence[tuple[int, str]]
"""Positions and terms."""
Held = list[tuple[str, str | Terms]]
"""Fields, and a term or several that stand in them."""


class Leaves:
    """Makes elementary queries to one state of the index; sums up what they cost since :meth:`restart`.

    Args:
        schema: of the index.
        searcher: the state that will be searched (document frequencies).
        public: how many public documents have a term in a field, and how many there are: strict ranking.
        frequencies: what is known of this state's document frequencies; learnt ones are added.

    Attributes:
        expansions: elementary queries.
        work: postings that they will read.
        absent: (field, term or terms) that are taken to occur nowhere, because only documents that the viewer may not see have them.
    """

    def __init__(
        self,
        schema: Schema,
        searcher: Searcher,
        public: PublicCounts | None = None,
        frequencies: dict[tuple[str, str], int] | None = None,
    ) -> None:
        self.public = public
        self.absent: Mapping[tuple[str, object], int] = {}
        self.expansions = self.work = 0
        self._schema = schema
        self._searcher = searcher
        self._analysed: dict[tuple[str, str], Terms] = {}
        self._frequencies = {} if frequencies is None else frequencies

    def restart(self) -> None:
        """Count anew."""
        self.expansions = self.work = 0

    def everything(self) -> Query:
        """Return all documents."""
        self.work += self.public.total if self.public else self._searcher.num_docs
        return silent(Query.all_query())

    def loose(self, family: str, slot: str, text: str) -> Query | None:
        """Return *text* as a term or phrase; a long unbroken run of ideographs need not match whole."""
        terms = self.terms(slot, text)
        if slot == CJK and len(terms) > _SHORT_RUN and family == "text" and is_cjk(text):
            return None if ("text_cjk", terms) in self.absent else self._ideographs(terms)
        return self.strict(family, slot, text)

    def _ideographs(self, terms: Terms) -> Query | None:
        """Return neighbouring pairs of *terms*, most of which must occur: nobody writes blanks between words."""
        pairs = [q for a, b in pairwise(terms) if (q := self.of_terms("text_cjk", (a, b), 0)) is not None]
        least = max(1, int(_RUN_SHARE * (len(terms) - 1) + 0.5))
        if len(pairs) < least:
            return None
        whole = self.of_terms("text_cjk", terms, 0)
        loose = Query.boolean_query([(Occur.Should, q) for q in pairs], minimum_number_should_match=least)
        return loose if whole is None else Query.boolean_query([(Occur.Must, loose), (Occur.Should, whole)])

    def strict(self, family: str, slot: str, text: str) -> Query | None:
        """Return *text* as a term or phrase in a family of fields."""
        terms = self.terms(slot, text)
        if family == "marked" and len(terms) > 1:
            return None  # it has no positions
        return self.of_terms(f"{family}_{slot}", terms, 0) if terms else None

    def commonest(self, slots: Sequence[str], text: str) -> tuple[str, str]:
        """Return the (field, term) by which most documents have *text* as a word; one that none has if it is nowhere."""
        best, most = ("url", text), 0
        for field, slot in [*((f"text_{slot}", slot) for slot in slots), ("url", PLAIN)]:
            terms = self.terms(slot, text)
            if len(terms) == 1 and (number := self.frequency(field, terms[0][1])) > most:
                best, most = (field, terms[0][1]), number
        return best

    def presence(self, slots: Sequence[str], text: str) -> tuple[Query, Held]:
        """Return what finds *text* as a word in any slot or in URLs, and the (field, term or terms) that there are of it.

        What is nowhere gives a query all the same, for a document that nobody sees: looking for it takes no other way.
        """
        queries: list[Query] = []
        held: Held = []
        for field, slot in [*((f"text_{slot}", slot) for slot in slots), ("url", PLAIN)]:
            terms = self.terms(slot, text)
            if len(terms) == 1:
                key = field, terms[0][1]
                if self.frequency(*key):
                    queries.append(Query.term_query(self._schema, *key, "basic"))
                    held += [(name, key[1]) for name in _with_parts(field)]
            elif terms:
                found = self.in_url(text) if field == "url" else self.loose("text", slot, text)
                if found is not None:
                    queries.append(found)
                    held += [(name, terms) for name in _with_parts(field)]
        return any_of(queries or [self.nobodys()]), held

    def nobodys(self) -> Query:
        """Return what finds the one document that nobody sees."""
        return Query.term_query(self._schema, "key", MARKER_KEY, "basic")

    def phrase(self, family: str, slot: str, text: str, slop: int = 0) -> Query | None:
        """Return *text* as a phrase with up to *slop* words between; ``None`` if it is a single term."""
        terms = self.terms(slot, text)
        return self.of_terms(f"{family}_{slot}", terms, slop) if len(terms) > 1 else None

    def of_terms(self, field: str, terms: Terms, slop: int) -> Query | None:
        """Return a term or phrase query; ``None`` if a term does not occur in *field* at all."""
        if len(terms) == 1:
            return self._single(field, terms)
        if self.public:
            self.expansions += len(terms)
        there = [self.frequency(field, term) for _, term in terms]
        if self.public:
            self.work += self._public_cost(field, terms, there) * (_NEAR_WORK if slop else _PHRASE_WORK)
        if not all(there) or (self.absent and (field, tuple(terms)) in self.absent):
            return None
        if not self.public:
            self.expansions += len(terms)
            self.work += sum(there) * (_NEAR_WORK if slop else _PHRASE_WORK)
        start = terms[0][0]
        if slop and self.public and len(terms) > _PAIR:
            # With three words tantivy goes from the rarest on, and rare counts hidden documents, too: what it finds depends on the order.
            found = Query.boolean_query(
                [(Occur.Must, self._near(field, pair, slop)) for pair in pairwise(terms)]
            )
        else:
            found = Query.phrase_query(self._schema, field, [(at - start, term) for at, term in terms], slop)
        return self._scored(found, field, terms)

    def _near(self, field: str, pair: tuple[tuple[int, str], tuple[int, str]], slop: int) -> Query:
        (first, one), (second, other) = pair
        return Query.phrase_query(self._schema, field, [(0, one), (second - first, other)], slop)

    def _single(self, field: str, terms: Terms) -> Query | None:
        """Return the query for one term, as :meth:`of_terms`: most are such, a hundred for a question."""
        term = terms[0][1]
        key = field, term
        frequency = 0 if key in self.absent else self._frequencies.get(key)
        if frequency is None:
            frequency = self.frequency(field, term)
        if self.public is None:
            if not frequency:
                return None
            self.expansions += 1
            self.work += frequency
            return Query.term_query(self._schema, field, term, "freq")
        self.expansions += 1
        if not frequency:
            return None
        self.work += self.public.count(field, term)
        return self._scored(Query.term_query(self._schema, field, term, "freq"), field, terms)

    def _scored(self, query: Query, field: str, terms: Terms) -> Query:
        """Return *query* with the engine's score, or with the constant of strict ranking."""
        if self.public is None:
            return query
        return Query.const_score_query(query, sum(self.public.rarity(field, term) for _, term in terms))

    def _cost(self, field: str, term: str) -> int:
        """Return how many postings a term is taken to have: in strict ranking those that everybody may know of."""
        return self.public.count(field, term) if self.public else self.frequency(field, term)

    def _public_cost(self, field: str, terms: Terms, there: Sequence[int]) -> int:
        """Return how many postings *terms*, *there* so often, are taken to have together: none if one of them is in no public document.

        What only hidden documents have costs what is nowhere costs, else the bounds of a question would tell.
        """
        counts = [self._cost(field, term) if n else 0 for (_, term), n in zip(terms, there, strict=True)]
        return sum(counts) if all(counts) else 0

    def in_url(self, text: str) -> Query | None:
        """Return *text* among the words of URLs."""
        terms = self.terms(PLAIN, text)
        if self.public:
            self.expansions += len(terms)
        there = [self.frequency("url", term) for _, term in terms]
        if self.public:
            self.work += self._public_cost("url", terms, there)
        if not terms or not all(there) or (len(terms) > 1 and ("url", terms) in self.absent):
            return None
        if not self.public:
            self.expansions += len(terms)
            self.work += sum(there)
        return all_of(
            [
                self._scored(Query.term_query(self._schema, "url", term, "freq"), "url", [(at, term)])
                for at, term in terms
            ]
        )

    def of_class(self, node: ClassValue | ClassRange) -> Query:
        """Return what a metadata class holds: a filter, so without a score."""
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
        terms = [(at, f"{word}_{name}") for at, word in enumerate(words)]
        for _, term in terms if self.public else ():
            self._cost("class", term)  # counted whether a hidden document has it or none: it takes as long
        found = self.of_terms("class", terms, 0)
        return Query.empty_query() if found is None else silent(found)

    def _in_range(self, name: str, low: float | None, high: float | None) -> Query:
        """Return the documents with a number or date of a class in a range; the class ``d`` is the document's date."""
        if name == _DATE_CLASS:
            self.expansions += 1
            since, until = (None if bound is None else int(bound) for bound in (low, high))
            if since is None and until is None:
                return silent(Query.exists_query("date"))
            return silent(
                Query.range_query(
                    self._schema, "date", FieldType.Integer, since, until, include_upper=until is None
                )
            )
        wanted = amount_range(name, low, high)
        self.expansions += 1
        self.work += sum(self._cost("amount", term) for term in wanted)
        return silent(Query.term_set_query(self._schema, "amount", wanted)) if wanted else Query.empty_query()

    def raw(self, field: str, value: str) -> Query:
        """Return *value* as it stands in an unanalysed field."""
        self.expansions += 1
        self.work += self._cost(field, value)
        return Query.term_query(self._schema, field, value, "basic")

    def searchable(self, text: str) -> bool:
        """Whether any letter or digit is in *text*: punctuation alone is passed over."""
        return bool(self.terms(PLAIN, text)) or bool(self.terms(CJK, text))

    def terms(self, slot: str, text: str) -> Terms:
        """Return the terms of *text* in *slot*."""
        known = self._analysed.get((slot, text))
        if known is None:
            known = self._analysed[slot, text] = positions(slot, clean(text))
        return known

    def frequency(self, field: str, term: str) -> int:
        """Return how many documents have *term* in *field*, deleted ones included; 0 if it is taken to be absent."""
        if (field, term) in self.absent:
            return 0
        known = self._frequencies.get((field, term))
        if known is None:
            known = self._frequencies[field, term] = self._searcher.doc_freq(field, term)
        return known


def _with_parts(field: str) -> list[str]:
    """Return *field* and those that hold parts of it: a text has all words of its title, headings and what it sets off."""
    family, _, slot = field.partition("_")
    return [f"{part}_{slot}" for part in FAMILIES] if family == "text" else [field]


def any_of(queries: Sequence[Query]) -> Query:
    """Return what matches any of *queries*, scored as the best of them."""
    if not queries:
        return Query.empty_query()
    return queries[0] if len(queries) == 1 else Query.disjunction_max_query(list(queries))


def sum_of(queries: Sequence[Query]) -> Query:
    """Return what matches any of *queries*, scores added up."""
    if not queries:
        return Query.empty_query()
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, q) for q in queries])


def all_of(queries: Sequence[Query]) -> Query:
    """Return what matches all of *queries*."""
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Must, q) for q in queries])
