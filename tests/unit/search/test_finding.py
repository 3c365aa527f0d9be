"""Looking for words fast is looking for them: lower case without accents, candidates for corrections, long texts."""

from itertools import islice
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.index import AllOf, Word, nfc
from ingather.index.languages import slots_for
from ingather.search import finding
from ingather.search.finding import Finder, Span, lower, lower_signs
from ingather.search.snippets import Highlighter, _best
from ingather.search.suggestions import correction, distance

_SIGNS = st.characters(min_codepoint=0x80, max_codepoint=0xBF) | st.characters(
    min_codepoint=0x2000, max_codepoint=0x2FFF
)
_TEXTS = st.text(st.sampled_from("Aa zZ09.") | _SIGNS) | st.text()


@given(_TEXTS)
def test_lower_case_is_that_of_the_language(text: str) -> None:
    low, plain = lower(nfc(text))
    assert low == nfc(text).replace("\u0130", "I").lower()
    if plain:
        assert all(ord(letter) < 0xC0 or 0x2000 <= ord(letter) < 0x2E80 for letter in low)


@given(_TEXTS)
def test_text_of_signs_is_in_nfc_and_of_one_language(text: str) -> None:
    low = lower_signs(text)
    if low is not None:
        assert (nfc(text), slots_for("da", text), lower(text)) == (text, ("da",), (low, True))
        assert [lower(letter) for letter in text] == [(letter, True) for letter in low]  # cut anywhere


@given(st.text("ofxs _-\u2013\u00b6\u00e9"), st.sampled_from(["of", "ofx", "fo", "oo", "xsofs"]))
def test_words_are_found_by_their_first_letters(low: str, term: str) -> None:
    finder = Finder("xx", [(term, False)])
    for start in (term, term[:2]):
        known = [m.span() for m in finding._beginning(start).finditer(low) if m[0] == term]
        assert finder._begun(term, start, low) == list(islice(known, finding._MAX_HITS))


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 6), st.integers(0, 3)), max_size=40),
    st.integers(1, 60),
)
def test_windows_that_only_lose_words_need_no_look(steps: list[tuple[int, int, int]], width: int) -> None:
    spans: list[Span] = []
    for gap, length, number in steps:
        start = spans[-1][1] + gap if spans else gap
        spans.append((start, start + length, number))
    for held in (frozenset[int](), frozenset({1, 2})):
        # A piece that is taken and holds nothing: every window is looked at.
        assert _best(spans, width, 4, held, ()) == _best(spans, width, 4, held, [(-2, -1)])


@pytest.mark.parametrize("seed", range(3))
def test_excerpts_are_the_same_when_the_lower_case_of_the_beginning_is_not_known(seed: int) -> None:
    words = [
        "Heron",
        "egret",
        "herons",
        "\u2013",
        "caf\u00e9" if seed == 1 else "tea",
        "\u00b6",
        "bird's",
        "x-ray",
    ]
    text = " ".join(words[(i * i + seed) % 8] for i in range(9_000 * seed + 40))
    asked = AllOf(tuple(map(Word, ("heron", "egret", "tea"))))
    fast = Highlighter(asked).fragments(text, "en")
    with patch("ingather.search.snippets.lower_signs", return_value=None):
        assert Highlighter(asked).fragments(text, "en") == fast
    assert fast


@given(st.text("abcd", min_size=1, max_size=7), st.text("abcd", min_size=1, max_size=7))
def test_words_that_are_near_differ_in_few_letters(one: str, other: str) -> None:
    assert len(set(one) ^ set(other)) <= 2 * distance(one, other, 9)


def test_a_correction_may_change_swap_put_and_drop_letters() -> None:
    words = [("holiday", 3), ("folder", 2), ("hold", 9)]

    def lookup(prefix: str, _: int) -> list[tuple[str, int]]:
        return [(word, count) for word, count in words if word.startswith(prefix)]

    said = ("holyday", "hoilday", "holidday", "holday", "flolder", "holidqx")
    assert [correction(word, lookup) for word in said] == ["holiday"] * 4 + ["folder", ""]


def _text(*pieces: str) -> str:
    return (" filler words stand here" * 3_000).join(pieces)


def shown(query: str, text: str) -> str:
    found = Highlighter(AllOf(tuple(map(Word, query.split())))).fragments(text, "en")
    return " ... ".join("".join(s.text for s in fragment.segments) for fragment in found)


def test_the_piece_with_the_missing_word_is_read_for_all_words() -> None:
    text = _text("A heron stands here.", "A heron sleeps.", "The heron sees an egret now.", "An egret.")
    assert "heron sees an egret" in shown("heron egret", text)


def test_words_that_stand_together_at_the_beginning_are_enough() -> None:
    text = "The heron sees an egret. " + _text("First.", "The heron egret pair.")
    assert shown("heron egret", text).startswith("The heron sees an egret")


def test_words_apart_at_the_beginning_are_looked_for_together_further_on() -> None:
    text = "The heron. " + "filler words stand here. " * 40 + "An egret. " + "more words. " * 600
    assert "heron egret pair" in shown("heron egret", text + "The heron egret pair.")
