"""Looking for words fast is looking for them: lower case without accents, candidates for corrections, long texts."""

from hypothesis import given
from hypothesis import strategies as st

from ingather.index import AllOf, Word, nfc
from ingather.search.finding import _lowered
from ingather.search.snippets import Highlighter
from ingather.search.suggestions import correction, distance

_SIGNS = st.characters(min_codepoint=0x80, max_codepoint=0xBF) | st.characters(
    min_codepoint=0x2000, max_codepoint=0x2FFF
)
_TEXTS = st.text(st.sampled_from("Aa zZ09.") | _SIGNS) | st.text()


@given(_TEXTS)
def test_lower_case_is_that_of_the_language(text: str) -> None:
    low, plain = _lowered(nfc(text))
    assert low == nfc(text).replace("\u0130", "I").lower()
    if plain:
        assert all(ord(letter) < 0xC0 or 0x2000 <= ord(letter) < 0x2E80 for letter in low)


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
