"""Excerpts from the beginning of a long text: what is read, and when the rest is."""

from ingather.index import AllOf, Word
from ingather.search.snippets import Highlighter

FIRST = "The quetzal sings. " + "filler words here " * 400
WHOLE = FIRST + "At the very end stands an axolotl."


def shown(highlighter: Highlighter, rest: str = WHOLE) -> tuple[str, list[int]]:
    asked: list[int] = []

    def give() -> str:
        asked.append(1)
        return rest

    found = highlighter.fragments(FIRST, "en", rest=give)
    return " … ".join("".join(s.text for s in fragment.segments) for fragment in found), asked


def test_the_rest_is_not_read_when_the_beginning_has_every_word() -> None:
    text, asked = shown(Highlighter(AllOf((Word("quetzal"), Word("sings")))))
    assert "quetzal sings" in text
    assert asked == []


def test_the_rest_is_read_for_a_word_that_the_beginning_lacks() -> None:
    text, asked = shown(Highlighter(AllOf((Word("quetzal"), Word("axolotl")))))
    assert "quetzal" in text
    assert "axolotl" in text
    assert asked == [1]


def test_nobody_looks_far_for_a_word_that_need_not_be_there() -> None:
    text, asked = shown(Highlighter(AllOf((Word("quetzal"), Word("axolotl"))), every=False))
    assert "quetzal" in text
    assert asked == []


def test_a_rest_that_is_gone_costs_the_far_word_alone() -> None:
    text, asked = shown(Highlighter(AllOf((Word("quetzal"), Word("axolotl")))), rest="")
    assert "quetzal" in text
    assert asked == [1]
