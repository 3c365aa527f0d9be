"""Autoclassify: queries of the taxonomy and of classification.conf over the whole index, tags afterwards (section 13).

The tags lie in the layer ``classes``, which adds to what the robot's lines said. A run replaces the tags of the
run before; what did not change is not written.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.jobs import Job
from ingather.catalog.packing import pack_attributes
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf import Loaded
from ingather.errors import QueryError, UsageError
from ingather.filters.classifying import CATEGORIES
from ingather.index import ChainFilter, IndexFolder, QueryLimits, Question
from ingather.model.description import CLASSES
from ingather.search.language import parse

__all__ = ["Tagging", "autoclassify", "category_queries", "classes_job"]

_LIMITS = QueryLimits(chars=65_536, clauses=1_024, expansions=20_000, work=2_000_000_000)
_EVERYBODY = ChainFilter(only=None, needs=None)
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Tagging:
    """What a run did: queries asked, documents in a category by them, documents whose tags changed."""

    queries: int = 0
    documents: int = 0
    changed: int = 0

    def form(self) -> dict[str, int]:
        """Return it as JSON shows it."""
        return {"queries": self.queries, "documents": self.documents, "changed": self.changed}


def category_queries(loaded: Loaded) -> list[tuple[str, str, str]]:
    """Return (query, category, where it stands): those of classification.conf, then those of the taxonomy."""
    found = [
        (query.query, query.category, f"{query.place.file}:{query.place.line}")
        for query in loaded.classification.queries
    ]
    found += [
        (category.query, category.name, f"taxonomy.rdm, category {category.name}")
        for category in loaded.classification.taxonomy.categories.values()
        if category.query
    ]
    return found


def autoclassify(
    home: Home, loaded: Loaded, write: Callable[[Job], Any], *, tell: Callable[[str], None] | None = None
) -> Tagging:
    """Ask every query, write what changed by *write* (one transaction for some hundred documents).

    Raises:
        UsageError: a query cannot be asked; nothing is changed.
        IndexingError: the index cannot be read.
    """
    queries = category_queries(loaded)
    reader = SqliteReader(database_of(home), home.bodies)
    try:
        tags = _tags(home, queries, tell) if queries else {}
        most = loaded.classification.most or loaded.robot.max_categories
        before = reader.layer_rows(CLASSES)
        changed = 0
        for batch in _batches(_changes(reader, tags, before, most)):
            changed += int(write(classes_job(batch)))
    finally:
        reader.close()
    return Tagging(len(queries), len(tags), changed)


def _tags(
    home: Home, queries: list[tuple[str, str, str]], tell: Callable[[str], None] | None
) -> dict[int, tuple[str, ...]]:
    snapshot = IndexFolder(home.index).reader().snapshot()
    trees, troubles = [], []
    for query, category, where in queries:
        try:
            trees.append(
                (
                    snapshot.clauses(limits=_LIMITS).compile(Question(parse(query, _LIMITS), _EVERYBODY)),
                    category,
                )
            )
        except QueryError as error:
            troubles.append(f"{where}: {query!r} cannot be asked: {error.text}")
    if troubles:
        raise UsageError("\n".join(troubles), hint="mend the query; nothing was changed")
    found: dict[int, dict[str, None]] = {}
    for compiled, category in trees:
        rows = snapshot.matching(compiled)
        for row in rows:
            found.setdefault(row, {})[category] = None
        if tell is not None:
            tell(f"{category}: {len(rows)} documents")
    return {row: tuple(categories) for row, categories in found.items()}


def rows_matching(home: Home, query: str) -> list[int]:
    """Return the rows of all documents that a query finds, whoever may see them.

    Raises:
        UsageError: it cannot be asked.
        IndexingError: the index cannot be read.
    """
    snapshot = IndexFolder(home.index).reader().snapshot()
    try:
        compiled = snapshot.clauses(limits=_LIMITS).compile(Question(parse(query, _LIMITS), _EVERYBODY))
    except QueryError as error:
        raise UsageError(f"{query!r} cannot be asked: {error.text}", hint="mend the query") from error
    return list(snapshot.matching(compiled))


def _changes(
    reader: SqliteReader, tags: dict[int, tuple[str, ...]], before: dict[int, Any], most: int
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield (row, tags) of rows whose tags differ from those that they have."""
    rows = iter(sorted(tags.keys() | before.keys()))
    while group := list(islice(rows, _BATCH)):
        own = reader.page_values(group, CATEGORIES)
        for row in group:
            there = own.get(row, ())
            new = tuple(tag for tag in tags.get(row, ()) if tag not in there)[: max(most - len(there), 0)]
            if new != tuple(before.get(row, {}).get(CATEGORIES, ())):
                yield row, new


def _batches(changes: Iterator[tuple[int, tuple[str, ...]]]) -> Iterator[list[tuple[int, tuple[str, ...]]]]:
    while batch := list(islice(changes, _BATCH)):
        yield batch


def classes_job(batch: list[tuple[int, tuple[str, ...]]]) -> Job:
    """Return the writing of some tags; it answers how many documents it changed."""

    def job(writer: CatalogWriter, applied: Applied, now_s: float) -> int:
        for row, tags in batch:
            packed = pack_attributes({CATEGORIES: tags}, "") if tags else b""
            writer.registry.put_layer(row, CLASSES, packed, now_s, applied)
        return len(batch)

    return job
