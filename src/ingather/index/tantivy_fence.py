"""What keeps documents out of an answer: the access filter and the chosen filters, as clauses of the engine."""

from functools import lru_cache
from typing import Final

from tantivy import FieldType, Occur, Query, Schema

from ingather.index.classes import facet_term
from ingather.index.laying import MOST_NEEDS
from ingather.index.question import ChainFilter, Filters
from ingather.index.tantivy_schema import MARKER_KEY, RESTRICTED, build, need_term

__all__ = ["among", "fence", "silent"]

_KEPT: Final = 256


def fence(
    schema: Schema, chains: ChainFilter, filters: Filters, *, but: str = ""
) -> list[tuple[Occur, Query]]:
    """Return the clauses that keep out what the viewer may not see and did not choose.

    *but* names a choice (``kinds``, ``sites``, ``dates``, ``class:NAME``) to leave out. Without the marker document, and
    failing closed: a chain that was not evaluated is kept out.
    """
    return [*_kept_out(schema, chains), *_chosen(schema, filters, but)]


def _kept_out(schema: Schema, chains: ChainFilter) -> list[tuple[Occur, Query]]:
    clauses = [(Occur.MustNot, Query.term_query(schema, "key", MARKER_KEY, "basic"))]
    if chains.now_s is not None:
        past = Query.range_query(schema, "expires", FieldType.Integer, None, chains.now_s)
        clauses.append((Occur.MustNot, past))
    for number in range(MOST_NEEDS) if chains.needs is not None else ():
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
    return Query.term_set_query(_schema(), field, list(numbers))


@lru_cache(1)
def _schema() -> Schema:
    return build()


def silent(query: Query) -> Query:
    """Return *query* without a score."""
    return Query.const_score_query(query, 0.0)
