"""What an RDM query finds, in the order that it asks for (specification 12.2).

The index finds and ranks; the catalog, which never lags, says who may see it. Other orders than by relevance and by
date need the values of everything found, so they are for at most :data:`WINDOW` descriptions.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from ingather.app.descriptions.selecting import Choice, Chosen, choose, data_of
from ingather.catalog.descriptions.sqlite_description_reader import DescribedRow, DescriptionReader
from ingather.catalog.descriptions.sqlite_descriptions import Parts
from ingather.conf.rd.rdm import RdmQuery
from ingather.conf.rd.rdschema import RdSchema, RdType, moment_of
from ingather.errors import UsageError
from ingather.index import Order
from ingather.model.description import Attributes
from ingather.search import SearchRequest, SearchResults

__all__ = ["WINDOW", "Finding", "Found"]

WINDOW: Final = 10_000
"""Hits that a query reaches."""
_MOST_HITS: Final = 1_000
_DEFAULT_HITS: Final = 10
_PAGE: Final = 100
_GROUP: Final = 200
_RELEVANCE: Final = frozenset({"score", "relevance"})
_NEWEST: Final = ((("last-modified", True),), (("date", False),), (("date", True),))
_EVERYTHING: Final = frozenset({"", "*"})


@dataclass(frozen=True, slots=True)
class Found:
    """*total*: how many there are, ``None`` = not counted; *chosen*: those of the window."""

    total: int | None
    chosen: Iterator[Chosen]


@dataclass(frozen=True, slots=True)
class Finding:
    """Finds for one query; the reader is the caller's, and is needed until everything found was read."""

    reader: DescriptionReader
    search: Callable[[SearchRequest], SearchResults]
    schema: RdSchema

    def found(self, query: RdmQuery) -> Found:
        """Return what an rd-request asks for.

        Raises:
            UsageError: too much is to be sorted.
            QueryError: the scope cannot be asked.
        """
        aliases = self.schema.aliases
        view = tuple(aliases.get(name, name) for name in query.attributes)
        first, hits = query.first - 1, min(_DEFAULT_HITS if query.hits < 0 else query.hits, _MOST_HITS)
        order = tuple((aliases.get(name, name), down) for name, down in query.order)
        everything = query.scope in _EVERYTHING
        newest = order in _NEWEST and not everything
        if order and order[0][0] not in _RELEVANCE and not newest:
            rows = self._sorted(self._rows(query.scope), order)
            return Found(len(rows), self._read(iter(rows[first : first + hits]), view))
        if everything:
            chosen = choose(self.reader, Choice(view=view, public=True), find=lambda _: iter(()))
            return Found(None, islice(chosen, first, first + hits))
        total, ids = self._ids(query.scope, first, hits, Order.DATE if newest else Order.RELEVANCE)
        return Found(total, self._read(iter(self._public(ids)), view))

    def urls(self, query: RdmQuery) -> list[str]:
        """Return the URLs of what an rd-delete-request asks for by its scope: all hits, or those of its window.

        Raises:
            UsageError: the scope is everything, or more than :data:`WINDOW`.
            QueryError: the scope cannot be asked.
        """
        if query.scope in _EVERYTHING:
            raise UsageError(
                "an rd-delete-request needs a scope",
                hint="a query, or a @DOCUMENT for each URL that is to go",
            )
        if query.hits >= 0:
            return [row.url for row in self._public(self._ids(query.scope, query.first - 1, query.hits)[1])]
        return [row.url for row in self._rows(query.scope)]

    # -- rows ---------------------------------------------------------------------------------

    def _rows(self, scope: str) -> list[DescribedRow]:
        """Return every row of a scope.

        Raises:
            UsageError: there are more than :data:`WINDOW`.
        """
        if scope in _EVERYTHING:
            rows = [
                row for rows in self.reader.walk() for row in rows if row.access == "public" and row.shown
            ] if sum(self.reader.databases().values()) <= WINDOW else None  # fmt: skip
        else:
            total, ids = self._ids(scope, 0, WINDOW)
            rows = self._public(ids) if total <= WINDOW else None
        if rows is None:
            raise UsageError(
                f"the scope has more than {WINDOW} descriptions, too many to sort or to delete at once",
                hint="narrow the scope, or let view-order be score or -last-modified",
            )
        return rows

    def _ids(
        self, scope: str, first: int, hits: int, order: Order = Order.RELEVANCE
    ) -> tuple[int, list[int]]:
        ids: list[int] = []
        while True:
            offset = first + len(ids)
            page = self.search(
                SearchRequest(
                    scope, offset, max(0, min(_PAGE, hits - len(ids), WINDOW - offset)), order=order
                )
            )
            ids += [result.id for result in page.results]
            if not page.results or len(ids) >= hits or first + len(ids) >= min(page.total, WINDOW):
                return page.total, ids

    def _public(self, ids: Sequence[int]) -> list[DescribedRow]:
        """The index may lag behind a change of rights by a moment; the catalog does not."""
        known = self.reader.described(ids)
        rows = [known[one] for one in ids if one in known]
        return [row for row in rows if row.access == "public" and row.shown]

    def _read(self, rows: Iterator[DescribedRow], view: tuple[str, ...]) -> Iterator[Chosen]:
        while group := list(islice(rows, _GROUP)):
            for row, description in self.reader.descriptions(group):
                yield Chosen(row, description, data_of(description, Parts.MERGED, view))

    # -- order --------------------------------------------------------------------------------

    def _sorted(
        self, rows: Sequence[DescribedRow], order: tuple[tuple[str, bool], ...]
    ) -> list[DescribedRow]:
        """Sort by the first values of attributes; what has none comes last, whichever way the order goes."""
        names = tuple(name for name, _ in order)
        keyed = [
            (one.row, [self._key(name, one.row.url, one.attributes) for name in names])
            for one in self._read(iter(rows), names)
        ]
        for place in range(len(order) - 1, -1, -1):
            there = [one for one in keyed if one[1][place] is not None]
            there.sort(key=lambda one: one[1][place], reverse=order[place][1])
            keyed = there + [one for one in keyed if one[1][place] is None]
        return [row for row, _ in keyed]

    def _key(self, name: str, url: str, attributes: Attributes) -> Any:
        """Return the value to compare, ``None`` if there is none or it is not of the attribute's type."""
        value = url if name == "url" else next(iter(attributes.get(name, ())), "").strip()
        match self.schema.attribute(name).type:
            case RdType.INTEGER:
                return int(value) if value.lstrip("-").isdecimal() and len(value) < 20 else None  # noqa: PLR2004 - digits
            case RdType.DATE:
                moment = moment_of(value)
                return None if moment is None else moment.timestamp()
            case _:
                return value.casefold() or None
