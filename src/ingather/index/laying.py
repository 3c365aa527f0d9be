"""Metadata classes of one document: what the page says of them, and what external metadata lays over it.

The description itself is not changed. Values of an overlay are added to the page's own, but for title, date and format,
which have one speaker: the overlay, if it has one. The page's title is searched on, at lower weight.

Source: external metadata specification, section 7.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from ingather.conf.classes import BUILT_IN, ClassTable
from ingather.conf.sources.days import day_of, start_of_day
from ingather.model.description import AttributesView
from ingather.ports.index import IndexDocument

__all__ = ["MOST_NEEDS", "lay"]

MOST_NEEDS: Final = 4
"""So many lists of principals a document may have, of each of which a searcher must be one; with more, nobody sees it."""
_MAX_VALUES: Final = 256
_KIND_CHARS: Final = 32
_NOTHING: Final[Mapping[str, tuple[str, ...]]] = {}


def lay(  # noqa: PLR0913 - the parts of an answer
    document: IndexDocument,
    found: AttributesView,
    table: ClassTable,
    over: Mapping[str, tuple[str, ...]] = _NOTHING,
    *,
    expires_s: int | None = None,
    needs: Sequence[frozenset[str]] = (),
) -> None:
    """Fill in what *document* is by its metadata classes.

    Args:
        document: made of the description alone; changed in place.
        found: effective attributes of the description.
        table: the classes.
        over: class -> values that are laid over the page; days as ``2004-12-31``.
        expires_s: from when on nobody finds it.
        needs: lists of principals in the form of the index; a searcher must be one of each.
    """
    values = _of_page(document, found, table)
    if over:
        _lay_over(document, values, table, over)
    document.expires_s = expires_s
    if needs:
        few = needs if len(needs) <= MOST_NEEDS else [frozenset[str]()]
        document.needs = tuple(tuple(sorted(one)) for one in few)
    titles = (document.title, *document.titles)
    document.classes = {
        **({"t": titles} if document.title else {}),
        **({"f": (document.kind,)} if document.kind else {}),
        **{name: own[:_MAX_VALUES] for name, own in values.items()},
    }
    if values:
        document.shown = frozenset(values)
        document.facets = frozenset(name for name in values if table.of(name).facet)
        document.amounts = _amounts(values, table)


def _of_page(document: IndexDocument, found: AttributesView, table: ClassTable) -> dict[str, tuple[str, ...]]:
    values: dict[str, tuple[str, ...]] = {}
    for conf in table.mapped:
        own = tuple(
            dict.fromkeys(
                value
                for source in conf.sources
                for text in found.get(source, ())
                for value in conf.values(text)
            )
        )
        if not own:
            continue
        if conf.name == "t":
            document.title, document.titles = own[0], own[1:]
        elif conf.name == "f":
            document.kind = own[0].lower()[:_KIND_CHARS]
        elif conf.name == "d":
            document.date_s = next((s for text in own if (s := _second(text)) is not None), document.date_s)
        elif conf.name not in BUILT_IN:
            values[conf.name] = own
    return values


def _lay_over(
    document: IndexDocument,
    values: dict[str, tuple[str, ...]],
    table: ClassTable,
    over: Mapping[str, tuple[str, ...]],
) -> None:
    more: list[str] = []
    for name, said in over.items():
        if name in table.permissions or not said:
            continue
        if name == "t":
            if document.title and document.title != said[0]:
                document.title_original = document.title
            document.title, document.titles = said[0], said[1:]
        elif name == "d":
            document.date_s = _second(said[0])
        elif name == "f":
            document.kind = said[0].lower()[:_KIND_CHARS]
        elif name != "X":
            values[name] = tuple(dict.fromkeys((*values.get(name, ()), *said)))
            if table.of(name).content:
                more += said
    document.more = tuple(more)


def _amounts(values: Mapping[str, tuple[str, ...]], table: ClassTable) -> tuple[tuple[str, float], ...]:
    found: list[tuple[str, float]] = []
    for name, own in values.items():
        kind = table.of(name).type
        if kind == "date":
            found += [(name, float(s)) for value in own if (s := _second(value)) is not None]
        elif kind == "number":
            found += [(name, number) for value in own if (number := _number(value)) is not None]
    return tuple(found)


def _second(text: str) -> int | None:
    day = day_of(text[:10]) or day_of(text[:8])
    return None if day is None else start_of_day(day)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None
