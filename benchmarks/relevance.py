"""How well does ranking rank? MRR and nDCG@10 with every signal, and with each one switched off.

usage: python benchmarks/relevance.py [--site DIR]

On the judged queries that the tests carry (tests/unit/search/judgements): seconds. With ``--site``,
the folder that ``benchmarks/site.py`` filled, also on four manuals, whose own printed indexes say which
page treats what: a minute.
"""

import argparse
import dataclasses
import importlib.util
import math
import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from _manuals import MANUALS, read

from ingather.index import PLAIN_BM25, RANKING, TantivyReader, Weights
from ingather.search import SearchRequest, SearchResult, SearchService

_JUDGED = Path(__file__).parents[1] / "tests/unit/search/judgements/judged.py"
SIGNALS = [f.name for f in dataclasses.fields(Weights) if f.name != "text"]


class _Stopped:
    """A clock that stands still."""

    def monotonic(self) -> float:
        return 0.0

    def wall(self) -> float:
        return 1.8e9


def searcher(reader: TantivyReader, weights: Weights) -> Callable[[str], Sequence[SearchResult]]:
    service = SearchService(reader, lambda _rows: {}, _Stopped(), weights=weights)
    return lambda query: service.search(SearchRequest(query)).results


def small(folder: Path) -> None:
    """The corpus of the tests."""
    judged = _load()
    queries = judged.judgements()
    full = judged.build(folder / "full")
    bare = judged.build(folder / "bare", anchored=False)

    def measure(label: str, reader: TantivyReader, weights: Weights) -> None:
        ask = searcher(reader, weights)
        found = judged.quality(lambda query: [result.url for result in ask(query)], queries)
        print(f"{label:<36} {found.mrr:8.3f} {found.ndcg:8.3f}")

    print(f"{len(judged.pages())} pages, {len(queries)} queries\n")
    print(f"{'ranking':<36} {'MRR':>8} {'nDCG@10':>8}")
    measure("plain BM25 of title and text", bare, PLAIN_BM25)
    measure("BM25 of the combined text (anchors)", full, PLAIN_BM25)
    measure("all signals", full, RANKING)
    measure("  without anchors at all", bare, RANKING)
    for signal in SIGNALS:
        measure(f"  without {signal}", full, RANKING.without(signal))
    for signal in SIGNALS:
        measure(
            f"plain BM25 + {signal}",
            bare,
            dataclasses.replace(PLAIN_BM25, **{signal: getattr(RANKING, signal)}),
        )


def manuals(site: Path, folder: Path) -> None:
    """Four manuals and their own indexes."""
    books = [(manual.name, read(site, manual)) for manual in MANUALS]
    readers = [book.build(folder / name) for name, book in books]
    bare = []
    for name, book in books:
        without = [dataclasses.replace(d, anchors=()) for d in book.documents]
        bare.append(dataclasses.replace(book, documents=without).build(folder / f"{name}-bare"))
    for name, book in books:
        print(f"\n{name}: {len(book.documents)} pages, {len(book.queries)} queries", end="")
    print(f"\n\n{'ranking, nDCG@10 / MRR':<36}" + "".join(f" {name:>15}" for name, _ in books))

    def measure(label: str, of: Sequence[TantivyReader], weights: Weights) -> None:
        cells = []
        for reader, (_, book) in zip(of, books, strict=True):
            ask = searcher(reader, weights)
            answers = [([result.id for result in ask(query)], rows) for query, rows in book.queries.items()]
            ndcg = sum(_ndcg(*answer) for answer in answers) / len(answers)
            mrr = sum(_reciprocal(*answer) for answer in answers) / len(answers)
            cells.append(f"{ndcg:.3f} / {mrr:.3f}")
        print(f"{label:<36}" + "".join(f" {cell:>15}" for cell in cells), flush=True)

    measure("plain BM25 of title and text", bare, PLAIN_BM25)
    measure("BM25 of the combined text (anchors)", readers, PLAIN_BM25)
    measure("all signals", readers, RANKING)
    for signal in SIGNALS:
        measure(f"  without {signal}", readers, RANKING.without(signal))


def _ndcg(found: Sequence[int], rows: Collection[int]) -> float:
    gained = sum(1 / math.log2(place + 1) for place, row in enumerate(found[:10], start=1) if row in rows)
    return gained / sum(1 / math.log2(place + 1) for place in range(1, min(10, len(rows)) + 1))


def _reciprocal(found: Sequence[int], rows: Collection[int]) -> float:
    return next((1 / place for place, row in enumerate(found[:10], start=1) if row in rows), 0.0)


def _load() -> Any:
    spec = importlib.util.spec_from_file_location("judged", _JUDGED)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["judged"] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--site", type=Path, help="folder of the benchmark site")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small(Path(folder))
        if chosen.site:
            manuals(chosen.site, Path(folder))


if __name__ == "__main__":
    main()
