"""What keeps documents out of an answer: the access filter and the chosen filters, as clauses of the engine."""

from functools import lru_cache
from typing import Final, NamedTuple

from tantivy import FieldType, Occur, Query, Schema, Searcher

from ingather.index.classes import facet_term
from ingather.index.laying import MOST_NEEDS
from ingather.index.question import ChainFilter, Filters
from ingather.index.tantivy_schema import MARKER_KEY, RESTRICTED, build, need_term

__all__ = ["ALL_LIMITS", "Limits", "among", "fence", "limits_in", "restricted", "silent"]

_KEPT: Final = 256


class Limits(NamedTuple):
    """Which limits beside chains any document of a state has; one that none has needs no clause, which costs each query.

    ``expiring``: some date of expiry; ``lists``: numbers of the lists of principals in use.
    """

    expiring: bool
    lists: tuple[int, ...]


ALL_LIMITS: Final = Limits(expiring=True, lists=tuple(range(MOST_NEEDS)))


def limits_in(searcher: Searcher) -> Limits:
    """Return the limits of a state of the index."""
    expiring = bool(searcher.search(Query.exists_query("expires"), 1).hits)
    numbers = (n for n in range(MOST_NEEDS) if searcher.doc_freq("need", need_term(n, RESTRICTED)))
    return Limits(expiring, tuple(numbers))


def fence(
    schema: Schema, chains: ChainFilter, filters: Filters, *, limited: Limits = ALL_LIMITS, but: str = ""
) -> list[tuple[Occur, Query]]:
    """Return the clauses that keep out what the viewer may not see and did not choose.

    *limited*: of the state that will be searched, and of no other.
    *but* names a choice (``kinds``, ``sites``, ``dates``, ``class:NAME``) to leave out. Without the marker document, and
    failing closed: a chain that was not evaluated is kept out.
    """
    return [*_kept_out(schema, chains, limited), *_chosen(schema, filters, but)]


def restricted(schema: Schema, limited: Limits) -> list[Query]:
    """Return what matches the documents that not everybody of their chain sees, or not for ever."""
    lists = [
        Query.term_query(schema, "need", need_term(number, RESTRICTED), "basic") for number in limited.lists
    ]
    return [*lists, Query.exists_query("expires")] if limited.expiring else lists


def _kept_out(schema: Schema, chains: ChainFilter, limited: Limits) -> list[tuple[Occur, Query]]:
    clauses = [(Occur.MustNot, Query.term_query(schema, "key", MARKER_KEY, "basic"))]
    if chains.now_s is not None and limited.expiring:
        past = Query.range_query(schema, "expires", FieldType.Integer, None, chains.now_s)
        clauses.append((Occur.MustNot, past))
    for number in limited.lists if chains.needs is not None else ():
        others = [(Occur.Must, Query.term_query(schema, "need", need_term(number, RESTRICTED), "basic"))]
        if chains.needs:
            his = [need_term(number, need) for need in chains.needs]
            others.append((Occur.MustNot, Query.term_set_query(schema, "need", his)))
        clauses.append((Occur.MustNot, Query.boolean_query(others)))
    if chains.rows:
        clauses.append((Occur.MustNot, among("doc", chains.rows)))
    if chains.only is not None:
        clauses.append((Occur.Must, silent(among("chain", chains.only))))
    else:
        if chains.without:
            clauses.append((Occur.MustNot, among("chain", chains.without)))
        if chains.last is not None:
            newer = Query.range_query(
                schema,
                "chain",
                FieldType.Unsigned,
                chains.last,
                None,
                include_lower=False,
                include_upper=True,
            )
            clauses.append((Occur.MustNot, newer))
        clauses.append((Occur.Must, silent(Query.exists_query("chain"))))
    return clauses


def _chosen(schema: Schema, filters: Filters, but: str) -> list[tuple[Occur, Query]]:
    clauses: list[tuple[Occur, Query]] = []
    if filters.kinds and but != "kinds":
        clauses.append((Occur.Must, silent(Query.term_set_query(schema, "kind", list(filters.kinds)))))
    if filters.sites and but != "sites":
        clauses.append((Occur.Must, silent(Query.term_set_query(schema, "place", list(filters.sites)))))
    for name, values in filters.classes:
        if but != f"class:{name}":
            wanted = [facet_term(name, value) for value in values]
            clauses.append((Occur.Must, silent(Query.term_set_query(schema, "value", wanted))))
    if filters.databases:
        clauses.append(
            (Occur.Must, silent(Query.term_set_query(schema, "database", list(filters.databases))))
        )
    if (filters.since_s is not None or filters.until_s is not None) and but != "dates":
        dates = Query.range_query(
            schema,
            "date",
            FieldType.Integer,
            filters.since_s,
            filters.until_s,
            include_lower=True,
            include_upper=filters.until_s is None,
        )
        clauses.append((Occur.Must, silent(dates)))
    return clauses


@lru_cache(_KEPT)
def among(field: str, numbers: tuple[int, ...]) -> Query:
    """Return what matches any of *numbers*; a long list takes milliseconds to make and is asked for again and again."""
    if (
        len(numbers) == 1
    ):  # public alone: a set of one is made into an automaton and all its documents into a bit set
        return Query.term_query(_schema(), field, numbers[0], "basic")
    return Query.term_set_query(_schema(), field, list(numbers))


@lru_cache(1)
def _schema() -> Schema:
    return build()


def silent(query: Query) -> Query:
    """Return *query* without a score."""
    return Query.const_score_query(query, 0.0)
