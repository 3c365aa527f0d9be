"""How words become terms: stems, accents, ideographs, and what a document is found by."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.index import (
    AnyOf,
    FileType,
    Not,
    Phrase,
    Site,
    Title,
    Word,
    clean,
    exact,
    is_cjk,
    nfc,
    slot_of,
    terms,
)
from ingather.index.languages import CJK, PLAIN, SLOTS, read_body, slots_for
from ingather.index.tantivy_writer import places_of
from ingather.ports.index import IndexDocument

Doc = Callable[..., IndexDocument]


@pytest.mark.parametrize(
    ("language", "said", "asked"),
    [
        ("en", "The holidays began", "holiday"),
        ("en", "studying", "studied"),
        ("de", "Die Häuser am Fluss", "haus"),
        ("de-AT", "Anträge", "Antrag"),
        ("fr", "les chevaux", "cheval"),
        ("es", "canciones", "canción"),
        ("ru", "книги", "книга"),
        ("sv", "flickorna", "flicka"),
        ("tr", "İSTANBUL", "istanbul"),
        ("pl", "Żółw", "zolw"),
        ("", "Café", "cafe"),
        ("en", "résumé", "resume"),
        ("en", "cafe\u0301", "caf\u00e9"),
        ("en", "\uff21\uff22\uff23", "abc"),
    ],
)
def test_words_are_found_in_other_forms(index: Any, doc: Doc, language: str, said: str, asked: str) -> None:
    index.put(doc(1, said, language=language), doc(2, "something else", language=language))
    assert index.rows(Word(asked)) == [1]


def test_a_language_is_searched_beside_the_others(index: Any, doc: Doc) -> None:
    index.put(
        doc(1, "pump controllers"), doc(2, "die Regler", language="de"), doc(3, "chevaux", language="fr")
    )
    assert index.rows(Word("controller")) == [1]
    assert index.rows(Word("Reglern")) == [2]
    assert index.rows(Word("cheval")) == [3]


def test_words_of_every_field_find_the_document(index: Any, doc: Doc) -> None:
    index.put(
        doc(
            1,
            "inbody",
            title="Intitle",
            headings="Inheading\nOther",
            anchors=("inanchor",),
            path="/in_url/leaf.html",
            meta={"keywords": ("inmeta, second",), "author": ("Ms Author",)},
        )
    )
    for word in ("inbody", "intitle", "inanchor", "inmeta", "author", "url"):
        assert index.rows(Word(word)) == [1], word
    assert index.rows(Title("intitle")) == [1]
    assert index.rows(Title("inbody")) == []


def test_all_words_must_occur_wherever_they_stand(index: Any, doc: Doc) -> None:
    index.put(doc(1, "alpha beta"), doc(2, "alpha", title="beta"), doc(3, "alpha"))
    assert sorted(index.rows(Word("alpha"), Word("beta"))) == [1, 2]
    assert sorted(index.rows(Word("alpha"), Word("gamma"), least=1)) == [1, 2, 3]
    assert index.rows(Word("alpha"), Word("gamma"), least=2) == []


def test_a_phrase_is_words_side_by_side_in_that_order(index: Any, doc: Doc) -> None:
    index.put(doc(1, "the holiday form"), doc(2, "form for the holiday"), doc(3, "holiday and form"))
    assert index.rows(Phrase("holiday form")) == [1]
    assert index.rows(Phrase("holidays forms")) == [1]


def test_a_phrase_does_not_run_from_one_title_into_the_next(index: Any, doc: Doc) -> None:
    index.put(doc(1, "unrelated", title="Holiday form", anchors=("Pension fund",)))
    assert index.rows(Phrase("form holiday")) == []
    assert index.rows(Phrase("form pension")) == []
    assert index.rows(Phrase("holiday form")) == [1]


def test_a_word_of_several_terms_is_a_phrase(index: Any, doc: Doc) -> None:
    index.put(doc(1, "send an e-mail"), doc(2, "e is a number, mail is not"))
    assert index.rows(Word("e-mail")) == [1]


@pytest.mark.parametrize(
    ("said", "asked", "found"),
    [
        ("日本語の検索エンジン", "検索", True),
        ("日本語の検索エンジン", "索検", False),
        ("数据库教程", "数据", True),
        ("数据库教程", "据数", False),
        ("펌프 제어기 설명서", "제어기", True),
        ("Python入門とデータベース", "Python 入門", True),
        ("Python入門とデータベース", "入門 Python", False),
        ("ﾃﾞｰﾀ", "ﾃﾞｰﾀ", True),
    ],
)
def test_phrases_are_true_over_ideographs_and_letters(
    index: Any, doc: Doc, said: str, asked: str, *, found: bool
) -> None:
    index.put(doc(1, said, language="ja"))
    assert bool(index.rows(Phrase(asked))) is found


def test_letters_within_ideographs_are_words(index: Any, doc: Doc) -> None:
    index.put(doc(1, "これはPythonの入門書です", language="ja"))
    assert index.rows(Word("python"), Word("入門")) == [1]


def test_a_long_run_of_ideographs_need_not_stand_whole(index: Any, doc: Doc) -> None:
    index.put(
        doc(1, "情報セキュリティの教育を受ける", language="ja"),
        doc(2, "情報を受ける", language="ja"),
    )
    assert index.rows(Word("情報セキュリティ教育")) == [1]


def test_a_page_in_two_scripts_is_found_by_both(index: Any, doc: Doc) -> None:
    index.put(doc(1, "The pumps of Norvik. 诺维克水泵。 " + "More English text here. " * 20))
    assert index.rows(Word("pump")) == [1]
    assert index.rows(Word("水泵")) == [1]
    assert slots_for("en", "pumps 水泵 " + "more " * 50) == ("en", CJK)
    assert slots_for("zh", "水泵使用手册 P200") == (CJK,)


def test_mixed_text_is_found_by_both_scripts_and_across_them_in_one_line(index: Any, doc: Doc) -> None:
    menu = "Read this page in\nDeutsch\n日本語 version\n"
    index.put(doc(1, menu + "pumps run and run\n" * 50, language="en"))
    assert index.rows(Word("日本語")) == [1]
    assert index.rows(Word("pump")) == [1]
    assert index.rows(Phrase("日本語 version")) == [1]
    assert index.rows(Phrase("page in")) == [1]
    assert index.rows(Word("日本語"), Word("running")) == [1]


@given(st.text("aB1 .-\u2014\u2026\uff0e\u0301\u00e9\u0130\u6c34\u65e5\u1ea0\ud800"))
def test_one_look_at_a_body_sees_what_two_looks_see(text: str) -> None:
    assert read_body("de", text) == (clean(text), slots_for("de", clean(text)))


def test_operators_narrow_what_is_found(index: Any, doc: Doc) -> None:
    index.put(
        doc(1, "alpha", site="www.example.com", path="/docs/a.html"),
        doc(2, "alpha", site="example.com", path="/docs/sub/b.pdf", kind="pdf"),
        doc(3, "alpha", site="other.net:8080", path="/docs/c.html"),
    )
    assert sorted(index.rows(Word("alpha"), Site("example.com"))) == [1, 2]
    assert index.rows(Word("alpha"), Site("www.example.com")) == [1]
    assert index.rows(Word("alpha"), Site("example.com/docs/sub")) == [2]
    assert index.rows(Word("alpha"), Site("other.net")) == [3]
    assert index.rows(Word("alpha"), Site("other.net:8080/docs")) == [3]
    assert index.rows(Word("alpha"), Site("ample.com")) == []
    assert index.rows(Word("alpha"), FileType("pdf")) == [2]
    assert sorted(index.rows(Word("alpha"), Not(FileType("pdf")))) == [1, 3]
    assert sorted(index.rows(Word("alpha"), AnyOf((Site("www.example.com"), FileType("pdf"))))) == [1, 2]


def test_what_must_not_occur_keeps_documents_out(index: Any, doc: Doc) -> None:
    index.put(doc(1, "alpha beta"), doc(2, "alpha"))
    assert index.rows(Word("alpha"), Not(Word("beta"))) == [2]
    assert index.rows(Not(Word("beta"))) == [2]
    assert sorted(index.rows(Not(Word("nowhere")))) == [1, 2]


def test_punctuation_alone_asks_for_nothing(index: Any, doc: Doc) -> None:
    index.put(doc(1, "alpha"))
    assert index.rows(Word("+++")) == []
    assert index.rows(Word("alpha"), Word("&")) == [1]


def test_titles_and_anchors_are_compared_without_case_accents_and_numbering() -> None:
    assert exact("Chapter 5.1: Données  types") == "donnees types"
    assert exact("5. Data Types") == exact("data-types")
    assert exact("2024") == "2024"
    assert exact("...") == ""


def test_languages_go_to_their_slots() -> None:
    assert slot_of("de-AT") == "de"
    assert slot_of("nb") == "no"
    assert slot_of("pl") == slot_of("") == slot_of("x-nonsense") == PLAIN
    assert set(SLOTS) >= {"en", "de", "fr", CJK, PLAIN}


def test_ideographs_are_known_when_seen() -> None:
    assert is_cjk("a水")
    assert is_cjk("한")
    assert is_cjk("\U00020000")
    assert not is_cjk("\u201ccurly\u201d \u2013 caf\u00e9 \u20ac")


@given(st.text(max_size=80))
def test_cleaned_text_is_taken_by_every_analyser(text: str) -> None:
    cleaned = clean(text)
    assert len(cleaned) == len(nfc(text))
    assert nfc(nfc(text)) == nfc(text)
    for slot in SLOTS:
        terms(slot, cleaned)


def test_places_are_host_names_and_six_leading_levels_of_the_path() -> None:
    assert places_of("www.a.net:8080", "/b/c.html") == [
        "a.net", "net", "www.a.net", "www.a.net:8080",
        "www.a.net/b", "www.a.net:8080/b", "www.a.net/b/c.html", "www.a.net:8080/b/c.html",
    ]  # fmt: skip
    assert places_of("a", "/1/2/3/4/5/6/7")[-1] == "a/1/2/3/4/5/6"
    assert places_of("a", "/1/2/3/4/5/6")[-1] == "a/1/2/3/4/5/6"
    assert places_of("a", "/b//c") == ["a", "a/b"]
    assert places_of("a", "/b/") == ["a", "a/b"]
    assert places_of("a", "/") == places_of("a", "") == ["a"]
    assert places_of("a", "/b/" + "x" * 600) == ["a", "a/b"]


@pytest.mark.parametrize(("strict", "absent"), [(False, 0), (True, 1)])
def test_what_a_question_costs_is_summed_up_term_by_term(
    index: Any, doc: Doc, *, strict: bool, absent: int
) -> None:
    index.put(doc(1, "heron egret"), doc(2, "heron"))
    leaves = index.reader.snapshot().clauses(strict=strict)._leaves
    costs = []
    for asked in (["heron"], ["auk"], ["heron", "egret"], ["heron", "auk"], ["egret"]):
        leaves.restart()
        found = leaves.of_terms("text_en", list(enumerate(asked)), 0)
        costs.append((found is not None, leaves.expansions, leaves.work))
    # Two and one documents; a phrase reads three times as much. In strict ranking even absence costs, so that it is not told.
    assert costs == [(True, 1, 2), (False, absent, 0), (True, 2, 9), (False, 2 * absent, 0), (True, 1, 1)]
