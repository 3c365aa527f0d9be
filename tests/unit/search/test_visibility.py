"""Every answer is a function of what the viewer may see, and of nothing else."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingather.access import ANONYMOUS, Visible
from ingather.index import IndexFolder
from ingather.ports.index import IndexDocument
from ingather.search import Order, SearchRequest, SearchResults, SearchService, results_form

Doc = Callable[..., IndexDocument]


@pytest.fixture
def mixed(site: Any, doc: Doc) -> Any:
    site.put(
        doc(1, "alpha public", title="Plain words"),
        doc(2, "alpha secret", title="Secretword here", chain=2, kind="pdf", site="hidden.example"),
        doc(3, "alpha other", title="Otherword there", chain=3),
        doc(4, "alpha nobody", title="Nobodyword", chain=0),
    )
    return site


def ids(answer: SearchResults) -> list[int]:
    return sorted(r.id for r in answer.results)


def test_each_viewer_gets_his_own_documents(mixed: Any) -> None:
    assert ids(mixed.search("alpha")) == [1]
    assert ids(mixed.search("alpha", viewer=Visible.of({1, 2}, last_evaluated=3))) == [1, 2]
    assert ids(mixed.search("alpha", viewer=Visible.of({2, 3}, last_evaluated=3))) == [2, 3]
    assert ids(mixed.search("alpha", viewer=Visible.of({1, 2}, last_evaluated=2))) == [1, 2]
    assert ids(mixed.search("alpha", viewer=Visible(everything=True))) == [1, 2, 3]
    assert ids(mixed.search("alpha", viewer=Visible())) == []
    assert ids(mixed.search("-nothing", viewer=Visible())) == []


def test_a_chain_newer_than_the_evaluation_stays_hidden(mixed: Any) -> None:
    nearly_all = Visible.of({1, 2}, last_evaluated=2)
    assert nearly_all.form().kind == "except"
    assert ids(mixed.search("alpha", viewer=nearly_all)) == [1, 2]


def test_hidden_documents_leave_no_trace_in_counts_facets_or_help(mixed: Any) -> None:
    answer = mixed.search("alpha")
    assert answer.total == 1
    assert answer.facets.kinds == {"html": 1}
    assert answer.facets.sites == {"example.com": 1}
    for word in ("secretwrod", "otherwrod", "nobodywrod"):
        assert mixed.search(word).help.did_you_mean == ""
    seen = Visible.of({2}, last_evaluated=3)
    assert mixed.search("secretwrod", viewer=seen).help.did_you_mean == "secretword"
    assert mixed.search("secret").help.unknown == ("secret",)
    assert mixed.service.complete("secretw", ANONYMOUS) == ()
    assert mixed.search("alpha", kinds=("pdf",)).help.without_filters == 1


def _world(path: Path, documents: list[IndexDocument], order: int) -> SearchService:
    folder = IndexFolder(path)
    writer = folder.writer()
    writer.put(documents[::order])
    writer.commit(1)
    writer.close()
    texts = {d.id: d.body for d in documents}

    class Clock:
        def monotonic(self) -> float:
            return 0.0

        def wall(self) -> float:
            return 1.8e9

    return SearchService(folder.reader(), lambda rows: {row: texts[row] for row in rows}, Clock())


def test_two_worlds_that_differ_in_hidden_documents_answer_alike_to_the_byte(
    tmp_path: Path, doc: Doc
) -> None:
    """Documents shown to nobody, and the order of arrival, move neither scores nor order nor counts."""
    public = [
        doc(
            n,
            " ".join(f"w{(n * k) % 23}" for k in range(1, n % 9 + 3)),
            title=f"Title w{n % 13}",
            date_s=n % 5 or None,
        )
        for n in range(1, 400)
    ]
    hidden = [doc(n, "w1 w2 w3 w4 rare " * 9, title="Title w5 rareword", chain=0) for n in range(1000, 1400)]
    one = _world(tmp_path / "one", public, 1)
    two = _world(tmp_path / "two", public + hidden, -1)
    for query in (
        "w1",
        "w2 w3",
        "w5 OR w7",
        '"w1 w2"',
        "title:w5",
        "-w1",
        "w1 w2 w3 w4 w5 w6",
        "rareword",
        "raerword",
        "w1 nothing",
    ):
        for window in ({}, {"offset": 190, "limit": 20}, {"kinds": ("html",)}, {"order": Order.DATE}):
            forms = [json.dumps(results_form(s.search(SearchRequest(query, **window)))) for s in (one, two)]
            assert forms[0] == forms[1], query
