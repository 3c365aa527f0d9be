"""Reading the index: one frozen state at a time, candidates with their prior, exact counts, facets."""

import math
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Final

import tantivy
from tantivy import DocAddress, Occur, Query, Searcher, SearchResult

from ingather.errors import IndexDamagedError, IndexingError, QueryError
from ingather.index.card import unpack
from ingather.index.check import damage
from ingather.index.classes import facet_prefix, value_terms
from ingather.index.languages import PLAIN, clean
from ingather.index.limits import QueryLimits
from ingather.index.prior import PRIOR_NAME, read_prior
from ingather.index.question import ChainFilter, Filters, Found, Hit, Order
from ingather.index.tantivy_analysers import register, terms
from ingather.index.tantivy_clauses import Clauses, Compiled
from ingather.index.tantivy_fence import Limits, fence, limits_in
from ingather.index.tantivy_public import PublicCounts
from ingather.index.tantivy_schema import MARKER_KEY, key_of
from ingather.index.tantivy_visible import VisibleUnits
from ingather.index.weights import RANKING, Weights
from ingather.log import get

__all__ = ["POOL", "Snapshot", "TantivyReader"]

POOL: Final = 200
"""Best candidates by the engine's score that are ordered anew with the prior."""

_MARGIN: Final = 32  # equal scores at the end of a window may come in any order: some more make it firm
_SEGMENT_SIZE: Final = 100_000
_SCORE_DIGITS: Final = 3
_CHUNK_BITS: Final = 16
_MAX_BUCKETS: Final = 30
_MAX_VALUES: Final = 1_000
_MAX_CLASSES: Final = 32
_MAX_PREFIXES: Final = 64  # a thousand words each, at most
_MAX_NAMES: Final = 1_000
_MAX_FREQUENCIES: Final = 100_000  # a question asks for some 200: each language has four fields of words


class Snapshot:
    """The index as it was at one commit, with the prior of that moment; safe for any number of threads.

    Searches release the interpreter lock; what is computed here in Python is bounded by
    :data:`POOL` and the window asked for.
    """

    def __init__(self, generation: Path, index: tantivy.Index, prior: "array[int]") -> None:
        self._generation = generation
        self._schema = index.schema
        self._searcher: Searcher = index.searcher()
        self._prior = prior
        self._frequencies: dict[tuple[str, str], int] = {}
        self._words: dict[tuple[str, ChainFilter, int], list[tuple[str, int]]] = {}
        self._viewers: dict[ChainFilter, VisibleUnits] = {}
        self._having_class: dict[tuple[str, ChainFilter], bool] = {}

    @property
    def count(self) -> int:
        """Documents in the index, hidden ones included: for operators, not for searchers."""
        return max(0, self._searcher.num_docs - bool(self._marker))

    @cached_property
    def sequence(self) -> int:
        """Sequence of the change log that this state has reached."""
        if not self._marker:
            return 0
        with self._guarded():
            return int(self._searcher.doc(self._marker[0]).get_first("sequence") or 0)

    def clauses(
        self, weights: Weights = RANKING, limits: QueryLimits | None = None, *, strict: bool = False
    ) -> Clauses:
        """Return a compiler for questions to this state; *strict*: nothing in score or order depends on hidden documents."""
        public = self._public if strict else None
        if len(self._frequencies) > _MAX_FREQUENCIES:
            self._frequencies = {}
        return Clauses(
            self._schema,
            self._searcher,
            self._slots,
            weights,
            limits or QueryLimits(),
            public,
            self._frequencies,
            self._limited,
            self._viewers,
        )

    def find(  # noqa: PLR0913 - a window of what is asked, and how it is ranked
        self,
        compiled: Compiled,
        *,
        offset: int,
        limit: int,
        order: Order = Order.RELEVANCE,
        weights: Weights = RANKING,
        slots: Collection[str] | None = None,
    ) -> Found:
        """Return hits *offset* to *offset + limit* and the exact total; *slots*: those that :meth:`facets` counted, if it did.

        By relevance the best :data:`POOL` candidates are ordered by score + prior, rounded to
        0.001, equal ones by a hash of their URL; later ones by score alone. By date, and when
        there is nothing to rank by, the newest come first.

        Raises:
            IndexDamagedError: a file of the index does not read as written.
        """
        with self._guarded():
            if limit <= 0:
                return Found(_count(self._searcher.search(compiled.matching, 1)))
            if order is Order.DATE or not compiled.scored:
                result = self._searcher.search(
                    compiled.matching, limit, offset=offset, order_by_field="newest", order=tantivy.Order.Desc
                )
                ordered = [(0.0, address) for _, address in result.hits]
            else:
                result = self._searcher.search(
                    compiled.ranked(slots), max(POOL, offset + limit + _MARGIN), weight_by_field="tie"
                )
                ordered = self._with_prior(result.hits[:POOL], weights.prior)
                if offset + limit > POOL:
                    ordered += self._steadied(result.hits[POOL:])
                ordered = ordered[offset : offset + limit]
            return Found(_count(result), tuple(self._hit(score, address) for score, address in ordered))

    def total(self, query: Query) -> int:
        """Return how many documents match *query*."""
        with self._guarded():
            return _count(self._searcher.search(query, 1))

    def facets(
        self, query: Query, fields: Sequence[str], starts: Sequence[int] = ()
    ) -> tuple[dict[str, dict[str, int]], list[int]]:
        """Return exact counts among what *query* matches, in one pass.

        First by value of each of *fields* (``kind``, ``site``, ``slot``: every document has one), frequent first; then, for each epoch
        second of *starts*, how many are dated then or later.
        """
        wanted: dict[str, object] = {
            field: {"terms": {"field": field, "size": _MAX_BUCKETS, "segment_size": _SEGMENT_SIZE}}
            for field in fields
        }
        edges = sorted(set(starts))
        if edges:
            ranges = [{"from": float(a), "to": float(b)} for a, b in pairwise(edges)]
            wanted["date"] = {"range": {"field": "date", "ranges": [*ranges, {"from": float(edges[-1])}]}}
        with self._guarded():
            found = self._searcher.aggregate(query, wanted)
        counts = {
            field: {str(b["key"]): int(b["doc_count"]) for b in found[field]["buckets"]} for field in fields
        }
        later: dict[int, int] = {}
        total = 0
        by_start = (
            {int(b["from"]): int(b["doc_count"]) for b in found["date"]["buckets"] if "from" in b}
            if edges
            else {}
        )
        for edge in reversed(edges):
            total += by_start.get(edge, 0)
            later[edge] = total
        ordered = {
            f: dict(sorted(c.items(), key=lambda item: (-item[1], item[0]))) for f, c in counts.items()
        }
        return ordered, [later[start] for start in starts]

    def class_facets(self, query: Query) -> dict[str, dict[str, int]]:
        """Return exact counts of the whole values of metadata classes among what *query* matches, frequent first.

        At most :data:`_MAX_CLASSES` classes, each with its most frequent values.
        """
        wanted = {"value": {"terms": {"field": "value", "size": _MAX_VALUES, "segment_size": _SEGMENT_SIZE}}}
        with self._guarded():
            if not self._has_values:
                return {}
            buckets = self._searcher.aggregate(query, wanted)["value"]["buckets"]
        counts: dict[str, dict[str, int]] = {}
        for bucket in buckets:
            name, _, value = str(bucket["key"]).partition(facet_prefix(""))
            own = counts.setdefault(name, {}) if len(counts) < _MAX_CLASSES else counts.get(name)
            if own is not None and len(own) < _MAX_BUCKETS:
                own[value] = int(bucket["doc_count"])
        return {
            name: dict(sorted(own.items(), key=lambda item: (-item[1], item[0])))
            for name, own in sorted(counts.items())
        }

    def has_class(self, name: str, chains: ChainFilter) -> bool:
        """Whether a document that *chains* let through has a value of metadata class *name*."""
        if not self._limited.expiring:
            chains = replace(chains, now_s=None)
        known = self._having_class.get((name, chains))
        if known is not None:
            return known
        term = value_terms(name, "").partition(" ")[0]
        with self._guarded():
            # Looked for although no document at all may have it: not to do so would tell of classes of hidden documents.
            having = Query.term_query(self._schema, "class", term, "basic")
            kept = fence(self._schema, chains, Filters(), limited=self._limited)
            seen = bool(self._searcher.search(Query.boolean_query([(Occur.Must, having), *kept]), 1).hits)
        if len(self._having_class) >= _MAX_NAMES:
            self._having_class = {}
        self._having_class[name, chains] = seen
        return seen

    @cached_property
    def _has_values(self) -> bool:
        return bool(self._searcher.search(Query.exists_query("value"), 1).hits)

    def words(self, prefix: str, chains: ChainFilter, limit: int) -> list[tuple[str, int]]:
        """Return unstemmed title words that begin with *prefix* (folded), counted in visible documents only."""
        folded = "".join(terms(PLAIN, clean(prefix)))
        if not folded:
            return []
        if not self._limited.expiring:
            chains = replace(chains, now_s=None)  # the same at any time
        known = self._words.get((folded, chains, limit))
        if known is None:
            visible = Query.boolean_query(fence(self._schema, chains, Filters(), limited=self._limited))
            with self._guarded():
                known = self._searcher.terms_with_prefix("title_words", folded, visible, limit)
            if len(self._words) >= _MAX_PREFIXES:
                self._words = {}
            self._words[folded, chains, limit] = known
        return known

    def rows(self) -> Iterator[tuple[int, int]]:
        """Yield (catalog row, how many documents carry it), ascending; memory stays bounded."""
        with self._guarded():
            newest = self._searcher.search(Query.exists_query("doc"), 1, order_by_field="doc").hits
            last = int(newest[0][0]) if newest else -1
            for chunk in range((last >> _CHUNK_BITS) + 1 if last >= 0 else 0):
                prefix = key_of(chunk << _CHUNK_BITS)[: -_CHUNK_BITS // 4]
                for key, times in self._searcher.terms_with_prefix("key", prefix, Query.all_query(), None):
                    yield int(key, 16), times

    def matching(self, compiled: Compiled) -> list[int]:
        """Return the catalog rows of all that *compiled* matches, ascending; no window, no order by rank."""
        with self._guarded():
            total = _count(self._searcher.search(compiled.matching, 1))
            hits = self._searcher.search(
                compiled.matching, max(total, 1), order_by_field="doc", order=tantivy.Order.Asc
            )
            return [int(row) for row, _ in hits.hits]

    def has(self, row: int) -> bool:
        """Whether catalog row *row* is in the index."""
        with self._guarded():
            query = Query.term_query(self._schema, "key", key_of(row), "basic")
            return bool(self._searcher.search(query, 1).hits)

    def _with_prior(
        self, hits: Sequence[tuple[float, DocAddress]], factor: float
    ) -> list[tuple[float, DocAddress]]:
        addresses = [address for _, address in hits]
        rows = self._searcher.fast_field_values("doc", addresses)
        ties = self._searcher.fast_field_values("tie", addresses)
        prior, known = self._prior, len(self._prior)
        scored = [
            (
                round(score + (factor * math.log1p(prior[row]) if row < known else 0.0), _SCORE_DIGITS),  # type: ignore[operator,index]
                tie,
                address,
            )
            for (score, address), row, tie in zip(hits, rows, ties, strict=True)
        ]
        scored.sort(key=lambda item: (-item[0], item[1]))
        return [(score, address) for score, _, address in scored]

    def _steadied(self, hits: Sequence[tuple[float, DocAddress]]) -> list[tuple[float, DocAddress]]:
        """Return *hits* with those of equal score in an order that does not depend on their arrival."""
        ties = self._searcher.fast_field_values("tie", [address for _, address in hits])
        steady = sorted(zip(hits, ties, strict=True), key=lambda pair: (-pair[0][0], pair[1]))
        return [(round(score, _SCORE_DIGITS), address) for (score, address), _ in steady]

    def _hit(self, score: float, address: DocAddress) -> Hit:
        packed = self._searcher.doc(address).get_first("card")
        return Hit(unpack(bytes(packed or b"")), score)

    @cached_property
    def _marker(self) -> list[DocAddress]:
        with self._guarded():
            query = Query.term_query(self._schema, "key", MARKER_KEY, "basic")
            return [address for _, address in self._searcher.search(query, 1).hits]

    @cached_property
    def _limited(self) -> Limits:
        with self._guarded():
            return limits_in(self._searcher)

    @cached_property
    def _public(self) -> PublicCounts:
        with self._guarded():
            return PublicCounts(self._schema, self._searcher, self._limited)

    @cached_property
    def _slots(self) -> tuple[str, ...]:
        """Language slots in use, most frequent first."""
        return tuple(self.facets(Query.all_query(), ("slot",))[0]["slot"])

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        with _told(self._generation):
            yield


class TantivyReader:
    """Keeps the latest state of an index at hand; :meth:`reload` on the writer's word.

    Args:
        locate: returns the current generation (raises what the folder raises).
        folder: the index folder, where the prior lies.
    """

    def __init__(self, locate: Callable[[], Path], folder: Path) -> None:
        self._locate = locate
        self._folder = folder
        self._generation: Path | None = None
        self._index: tantivy.Index | None = None
        self._prior: array[int] = array("I")
        self._prior_stamp: tuple[int, int, int] | None = None
        self._log = get("index")
        self._snapshot = self._load()

    def snapshot(self) -> Snapshot:
        """Return the latest loaded state; it stays as it is however long it is held."""
        return self._snapshot

    def reload(self) -> None:
        """Load the last commit and the last prior; later snapshots show them.

        Raises:
            IndexDamagedError: the index does not open; the state loaded before goes on answering.
        """
        self._snapshot = self._load()

    def _load(self) -> Snapshot:
        generation = self._locate()
        with _told(generation):
            if self._index is None or generation != self._generation:
                index = tantivy.Index.open(str(generation))
                register(index)
                index.config_reader("manual")
                self._index, self._generation = index, generation
            self._index.reload()
            self._load_prior()
            return Snapshot(generation, self._index, self._prior)

    def _load_prior(self) -> None:
        try:
            found = (self._folder / PRIOR_NAME).stat()
            stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        except OSError:
            stamp = None
        if stamp == self._prior_stamp:
            return
        try:
            self._prior = read_prior(self._folder)
        except IndexDamagedError as error:
            # Only ranking suffers: searching goes on without link counts until the next link pass.
            self._log.warning("prior-damaged", detail=error.text)
            self._prior = array("I")
        self._prior_stamp = stamp


@contextmanager
def _told(generation: Path) -> Iterator[None]:
    """Turn the engine's failures into ours, naming the damaged file if there is one."""
    try:
        yield
    except (QueryError, IndexingError, GeneratorExit):
        raise
    except (ValueError, OSError) as error:
        raise _trouble(generation, error) from error
    except BaseException as error:
        # A Rust panic is no Exception; on damaged files the engine may panic.
        if type(error).__name__ != "PanicException":
            raise
        raise _trouble(generation, error) from error


def _count(result: SearchResult) -> int:
    return int(result.count or 0)  # type: ignore[attr-defined] # missing in tantivy's own stub


def _trouble(generation: Path, error: BaseException) -> IndexingError:
    for broken in damage(generation):
        msg = f"the index is damaged: {broken}"
        return IndexDamagedError(msg, place=str(broken.file), hint="run: ingather index rebuild")
    return IndexingError(f"the index in {generation} cannot be read: {error}")
