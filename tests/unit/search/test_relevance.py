"""Ranking, on judged queries over a small intranet: every signal together beats plain BM25."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from ingather.index import PLAIN_BM25, RANKING, TantivyReader, Weights
from ingather.search import SearchRequest, SearchService


def measured(judged: ModuleType, reader: TantivyReader, weights: Weights) -> tuple[float, float]:
    class Clock:
        def monotonic(self) -> float:
            return 0.0

        def wall(self) -> float:
            return 1.8e9

    service = SearchService(reader, lambda _rows: {}, Clock(), weights=weights)

    def ask(query: str) -> Sequence[str]:
        return [result.url for result in service.search(SearchRequest(query)).results]

    found = judged.quality(ask, judged.judgements())
    return found.mrr, found.ndcg


def test_the_judged_corpus_is_whole(judged: ModuleType) -> None:
    paths = {page.path for page in judged.pages()}
    assert len(judged.judgements()) >= 50
    assert len(paths) == len(judged.pages()) >= 120
    assert all(path in paths for one in judged.judgements() for path in one.grades)
    assert all(path in paths for page in judged.pages() for path, _ in page.links)
    assert {page.language for page in judged.pages()} >= {"en", "de", "fr", "ja", "zh", "ko"}


def test_full_ranking_beats_plain_bm25(judged: ModuleType, tmp_path: Path) -> None:
    bare = judged.build(tmp_path / "bare", anchored=False)
    full = judged.build(tmp_path / "full")
    plain_mrr, plain_ndcg = measured(judged, bare, PLAIN_BM25)
    mrr, ndcg = measured(judged, full, RANKING)
    assert mrr >= 0.97
    assert ndcg >= 0.97
    assert mrr > plain_mrr + 0.05
    assert ndcg > plain_ndcg + 0.05
    assert mrr > measured(judged, full, PLAIN_BM25)[0]
    assert mrr > measured(judged, bare, RANKING)[0]


def test_the_page_that_links_call_a_holiday_form_comes_before_one_full_of_the_words(
    intranet: SearchService,
) -> None:
    answer = intranet.search(SearchRequest("holiday form"))
    assert answer.results[0].path == "/hr/forms/holiday-request.html"
    assert answer.results[0].snippet
