"""Searching, whole: what is found, counted, shown, and what helps when nothing is."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from ingather.access import Visible
from ingather.errors import CatalogDamagedError, QueryError
from ingather.index import QueryLimits
from ingather.ports.index import IndexDocument
from ingather.search import Order, SearchRequest, SearchService

Doc = Callable[..., IndexDocument]
NOW = 1_800_000_000
DAY = 86_400


def test_a_result_shows_all_that_is_known(site: Any, doc: Doc) -> None:
    site.put(
        doc(
            1, "Ask for holidays here.", title="Holiday form", language="en", kind="pdf", media_type="application/pdf",
            date_s=NOW - 5, size=77, path="/hr/form.pdf",
        )
    )  # fmt: skip
    answer = site.search("holiday")
    assert answer.total == 1
    assert answer.all_words
    assert not answer.partial
    result = answer.results[0]
    assert (result.rank, result.id, result.url) == (1, 1, "https://example.com/hr/form.pdf")
    assert (result.title, result.site, result.path) == ("Holiday form", "example.com", "/hr/form.pdf")
    assert (result.kind, result.media_type, result.language) == ("pdf", "application/pdf", "en")
    assert (result.date_s, result.size, result.source) == (NOW - 5, 77, "web")
    assert [s.text for s in result.title_segments if s.marked] == ["Holiday"]
    assert [s.text for f in result.snippet for s in f.segments if s.marked] == ["holidays"]
    assert result.score > 0


def test_totals_are_exact_and_pages_follow_one_another(site: Any, doc: Doc) -> None:
    site.put(*(doc(n, "alpha " * (n % 7 + 1) + "filler " * (n % 11)) for n in range(1, 451)))
    seen: list[str] = []
    for offset in range(0, 500, 50):
        answer = site.search("alpha", offset=offset, limit=50)
        assert answer.total == 450
        assert [r.rank for r in answer.results] == list(range(offset + 1, offset + 1 + len(answer.results)))
        seen += [r.url for r in answer.results]
    assert len(seen) == len(set(seen)) == 450
    assert site.search("alpha", limit=0).total == 450


def test_documents_with_some_of_the_words_stand_in_when_none_has_all(site: Any, doc: Doc) -> None:
    site.put(doc(1, "alpha"), doc(2, "beta"), doc(3, "other"))
    answer = site.search("alpha beta")
    assert answer.total == 2
    assert not answer.all_words
    site.put(doc(4, "alpha beta"))
    answer = site.search("alpha beta")
    assert (answer.total, answer.all_words) == (1, True)


def test_facets_count_everything_found_each_without_its_own_filter(site: Any, doc: Doc) -> None:
    site.put(
        doc(1, "alpha", kind="pdf", site="a.example", date_s=NOW - 10),
        doc(2, "alpha", kind="html", site="a.example", date_s=NOW - 3 * DAY),
        doc(3, "alpha", kind="html", site="b.example", date_s=NOW - 1000 * DAY),
        doc(4, "alpha", kind="html", site="b.example"),
        doc(5, "beta", kind="docx", site="c.example"),
    )
    facets = site.search("alpha").facets
    assert facets.kinds == {"html": 3, "pdf": 1}
    assert facets.sites == {"a.example": 2, "b.example": 2}
    assert facets.dates == {"day": 1, "week": 2, "month": 2, "year": 2}
    narrowed = site.search("alpha", kinds=("pdf",))
    assert narrowed.total == 1
    assert narrowed.facets.kinds == {"html": 3, "pdf": 1}
    assert narrowed.facets.sites == {"a.example": 1}
    narrowed = site.search("alpha", sites=("b.example",), date="week")
    assert narrowed.total == 0
    assert narrowed.facets.sites == {"a.example": 2}
    assert narrowed.help.without_filters == 4


def test_filters_narrow_by_type_site_and_date(site: Any, doc: Doc) -> None:
    site.put(
        doc(1, "alpha", kind="pdf", site="www.a.example", path="/x/1", date_s=NOW - 10),
        doc(2, "alpha", kind="html", site="a.example", path="/y/2", date_s=NOW - 20 * DAY),
        doc(3, "alpha", kind="docx", site="b.example", path="/3"),
    )
    assert site.search("alpha", kinds=("pdf", "DOCX")).total == 2
    assert site.search("alpha", sites=("a.example",)).total == 2
    assert site.search("alpha", sites=("https://A.example/y/",)).total == 1
    assert site.search("alpha", sites=("", " ")).total == 0
    assert site.search("alpha", date="week").total == 1
    assert site.search("alpha", date="month").total == 2
    assert site.search("alpha", since_s=NOW - 30 * DAY, until_s=NOW - 10).total == 1
    with pytest.raises(QueryError, match="no date filter 'fortnight'"):
        site.search("alpha", date="fortnight")


def test_newest_first_puts_documents_without_a_date_last(site: Any, doc: Doc) -> None:
    site.put(
        doc(1, "alpha", date_s=5), doc(2, "alpha"), doc(3, "alpha", date_s=50), doc(4, "alpha", date_s=-7)
    )
    assert [r.id for r in site.search("alpha", order=Order.DATE).results] == [3, 1, 4, 2]


def test_a_misspelt_word_is_corrected_out_of_titles(site: Any, doc: Doc) -> None:
    site.put(doc(1, "alpha", title="Holiday request"), doc(2, "alpha", title="Hospital visit"))
    answer = site.search("holidya request")
    assert answer.help.did_you_mean == "holiday request"
    assert answer.help.unknown == ("holidya",)
    assert not answer.all_words
    assert (
        site.search('holidya -"x y" site:example.com').help.did_you_mean == 'holiday -"x y" site:example.com'
    )
    assert site.search("qqqqqqqq").help.did_you_mean == ""
    assert site.search("alpha").help.unknown == ()


def test_words_are_completed_out_of_titles(site: Any, doc: Doc) -> None:
    site.put(doc(1, title="Holiday form"), doc(2, title="Holiday rules"), doc(3, title="Hotel"))
    view = Visible.of({1})
    assert site.service.complete("the ho", view) == ("the holiday", "the hotel")
    assert site.service.complete("hol", view, limit=1) == ("holiday",)
    assert site.service.complete("h", view) == ()
    assert site.service.complete("hol", Visible()) == ()


def test_a_page_that_forbids_excerpts_is_shown_without_one(site: Any, doc: Doc) -> None:
    site.put(doc(1, "alpha beta", snippet=False, meta={"description": ("about alpha",)}))
    result = site.search("alpha").results[0]
    assert result.snippet == ()


def test_what_was_found_by_other_words_shows_its_description_or_beginning(site: Any, doc: Doc) -> None:
    site.put(
        doc(1, "The beginning.", anchors=("needle",)),
        doc(2, "Text.", anchors=("thread",), meta={"description": ("Sum.",)}),
    )
    assert site.search("needle").results[0].snippet[0].segments[0].text == "The beginning."
    assert site.search("thread").results[0].snippet[0].segments[0].text == "Sum."


def test_lost_texts_cost_excerpts_and_not_results(site: Any, doc: Doc) -> None:
    site.put(doc(1, "alpha", title="Kept"))

    def broken(_rows: Any) -> Any:
        raise CatalogDamagedError("segment 3 does not read back")

    answer = SearchService(site.reader, broken, site.clock).search(SearchRequest("alpha"))
    assert [(r.title, r.snippet) for r in answer.results] == [("Kept", ())]


def test_a_query_of_nothing_finds_nothing(site: Any, doc: Doc) -> None:
    site.put(doc(1, "alpha"))
    for query in ("", "   ", "+++", '""'):
        assert site.search(query).total == 0
    assert site.search("site:example.com").total == 1


def test_windows_beyond_their_bounds_are_refused(site: Any, doc: Doc) -> None:
    site.put(doc(1, "alpha"))
    assert site.search("alpha", offset=9_990, limit=10).results == ()
    for window in ({"offset": 9_991}, {"offset": -1}, {"limit": 101}, {"limit": -1}):
        with pytest.raises(QueryError):
            site.search("alpha", **window)
    with pytest.raises(QueryError, match="too many filters"):
        site.search("alpha", kinds=("x",) * 257)


def test_a_query_that_would_read_too_much_is_refused_before_it_runs(site: Any, doc: Doc) -> None:
    site.put(*(doc(n, "alpha beta gamma") for n in range(1, 101)))
    tight = site.serve(limits=QueryLimits(work=250))
    with pytest.raises(QueryError, match="almost every document"):
        tight.search(SearchRequest("alpha beta gamma"))
    assert tight.search(SearchRequest("alpha beta")).total == 100
    few = site.serve(limits=QueryLimits(expansions=2))
    assert few.search(SearchRequest("alpha beta")).total == 100
    with pytest.raises(QueryError, match="too many words"):
        few.search(SearchRequest("alpha beta gamma"))


def test_when_time_is_up_the_extras_are_left_out_and_said_so(site: Any, doc: Doc) -> None:
    site.put(doc(1, "alpha beta", title="Alpha"))
    site.clock.step = 1.5
    answer = site.search("alpha")
    assert answer.total == 1
    assert answer.partial
    assert answer.results[0].snippet == ()


def test_the_heaviest_allowed_queries_answer(site: Any, doc: Doc) -> None:
    words = [f"word{n}" for n in range(250)]
    site.put(*(doc(n, " ".join(words)) for n in range(1, 30)))
    for query in (" ".join(words), " OR ".join(words), '"' + " ".join(words) + '"'):
        assert site.search(query[:2048].rpartition(" ")[0]).total == 29


def test_many_threads_get_the_same_answer_while_documents_arrive(site: Any, doc: Doc) -> None:
    site.put(*(doc(n, f"alpha beta{n}", title=f"Title {n}") for n in range(1, 60)))
    wrong: list[object] = []

    def ask() -> None:
        for n in range(1, 25):
            answer = site.search(f"alpha beta{n}")
            if [r.id for r in answer.results] != [n]:
                wrong.append(answer)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for n in range(100, 110):
        site.put(doc(n, "alpha gamma"))
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("strict", [False, True])
def test_a_document_that_its_source_raises_stands_before_its_equals(
    site: Any,
    doc: Doc,
    strict: bool,  # noqa: FBT001
) -> None:
    site.put(doc(1, "alpha"), doc(2, "alpha", boost=4), doc(3, "alpha", boost=1), doc(4, "alpha beta beta"))
    service = SearchService(site.reader, lambda _: {}, site.clock, strict=lambda: strict)
    found = [result.id for result in service.search(SearchRequest("alpha")).results]
    assert found[:2] == [2, 3]
    assert site.search("alpha").total == 4


def test_results_carry_the_address_to_show(site: Any, doc: Doc) -> None:
    site.put(doc(1, "alpha", display="https://shown.example/a"), doc(2, "beta"))
    shown, plain = site.search("alpha").results[0], site.search("beta").results[0]
    assert (shown.url, shown.display_url) == ("https://example.com/1.html", "https://shown.example/a")
    assert plain.display_url == ""
