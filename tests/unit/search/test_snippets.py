"""Excerpts: the right words marked, no markup, nothing but the document's text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.index import nfc
from ingather.search import Fragment, Highlighter, Segment, parse


def shown(query: str, text: str, language: str = "en") -> list[str]:
    return [
        "".join(f"[{s.text}]" if s.marked else s.text for s in f.segments)
        for f in fragments(query, text, language)
    ]


def fragments(query: str, text: str, language: str = "en") -> tuple[Fragment, ...]:
    return Highlighter(parse(query)).fragments(text, language)


@pytest.mark.parametrize(
    ("query", "text", "language", "expected"),
    [
        ("holiday form", "Ask for holidays with this form.", "en", "Ask for [holidays] with this [form]."),
        ("studies", "study studied studying student", "en", "[study] [studied] [studying] student"),
        ("happy", "happiness, happily, happier, hap", "en", "[happiness], happily, happier, hap"),
        ("cafe", "Café CAFÉ cafe\u0301 cafés", "en", "[Café] [CAFÉ] [café] [cafés]"),
        ("résumé", "a resume", "en", "a [resume]"),
        ("strasse", "Die Straße, Straßen", "de", "Die [Straße], [Straßen]"),
        ("haus", "Häuser und Hausbau", "de", "[Häuser] und Hausbau"),
        ("cheval", "les chevaux", "fr", "les [chevaux]"),
        ("istanbul", "İstanbul ve İzmir", "tr", "[İstanbul] ve İzmir"),
        ("كتاب", "هذا الكتاب جميل", "ar", "هذا [الكتاب] جميل"),
        ("e-mail", "an e-mail, a mail, e", "en", "an [e-mail], a mail, e"),
        ('"holiday form"', "form, holiday; holiday form", "en", "form, holiday; [holiday form]"),
        ("入門", "Python入門とデータ", "ja", "Python[入門]とデータ"),
        ("python 入門", "これはPython入門です", "ja", "これは[Python入門]です"),
        ('"python 入門"', "PythonとPython 入門", "ja", "Pythonと[Python 入門]"),
        ("データベース設計", "データベースの設計", "ja", "[データベース]の[設計]"),
        ("水泵", "诺维克水泵 pumps", "zh", "诺维克[水泵] pumps"),
        ("pump", "诺维克水泵pumps和", "zh", "诺维克水泵[pumps]和"),
        ("int", "print interface int", "en", "print interface [int]"),
        ("a OR b", "a b c", "en", "[a] [b] c"),
        ("alpha -beta", "alpha beta", "en", "[alpha] beta"),
        ("title:alpha", "alpha", "en", "[alpha]"),
    ],
)
def test_found_words_are_marked(query: str, text: str, language: str, expected: str) -> None:
    assert shown(query, text, language) == [expected]


def test_nothing_found_is_no_excerpt() -> None:
    assert fragments("missing", "Some text") == ()
    assert fragments("site:example.com", "Some text") == ()
    assert fragments("x", "") == ()


def test_at_most_two_fragments_of_about_one_line_each_in_the_texts_order() -> None:
    text = (
        "start. "
        + "filler words here. " * 40
        + "the alpha one. "
        + "filler words here. " * 40
        + "the beta one. "
        + "more " * 200
    )
    found = fragments("beta alpha", text)
    assert len(found) == 2
    assert found[0].start < found[1].start
    assert all(fragment.before and fragment.after for fragment in found)
    assert all(sum(len(s.text) for s in fragment.segments) <= 200 for fragment in found)
    many = "alpha " + "x " * 300
    assert len(fragments("alpha", many * 20)) == 2


def test_the_place_with_most_of_the_words_is_shown() -> None:
    text = "alpha " * 10 + "filler " * 100 + "alpha beta gamma." + " filler" * 100
    assert any("[alpha] [beta] [gamma]" in fragment for fragment in shown("alpha beta gamma", text))


def test_words_late_in_a_long_text_are_found() -> None:
    text = "filler words " * 20_000 + "the needle" + " filler" * 1000
    assert any("[needle]" in fragment for fragment in shown("needle", text))


def test_offsets_are_characters_of_the_composed_text() -> None:
    text = "e\u0301 " * 100 + "\u6c34 needle"
    found = fragments("needle", text)[0]
    whole = "".join(s.text for s in found.segments)
    assert nfc(text)[found.start : found.start + len(whole)] == whole


def test_segments_are_text_and_never_markup() -> None:
    found = fragments("script", "<script>alert(1)</script> & <b>")
    assert found[0].segments == (
        Segment("<"), Segment("script", marked=True), Segment(">alert(1)</"), Segment("script", marked=True), Segment("> & <b>"),
    )  # fmt: skip


def test_a_title_is_marked_whole() -> None:
    marked = Highlighter(parse("form")).mark("Holiday forms", "en")
    assert marked == (Segment("Holiday "), Segment("forms", marked=True))


def test_the_beginning_stands_in_when_the_text_does_not_hold_the_words() -> None:
    lead = Highlighter(parse("x")).lead("First sentence. " * 50)
    assert lead[0].segments[0].text.startswith("First sentence.")
    assert lead[0].after
    assert Highlighter(parse("x")).lead("  ") == ()


WORDS = st.sampled_from(
    [
        "alpha",
        "beta",
        "é",
        "e\u0301",
        "水",
        "ß",
        "İ",
        "\n",
        "-",
        "a",
        "alphas",
        "\U0001f600",
        "\ud800",
        "x" * 90,
    ]
)


@given(
    st.lists(WORDS, max_size=60),
    st.sampled_from(["alpha", '"alpha beta"', "水 alpha", "x", "é", "ss"]),
    st.sampled_from(["en", "de", "ja", "", "ar"]),
)
def test_fragments_are_cuts_of_the_text(words: list[str], query: str, language: str) -> None:
    text = " ".join(words)
    composed = nfc(text).replace("\n", " ")
    found = fragments(query, text, language)
    assert len(found) <= 2
    for fragment in found:
        whole = "".join(s.text for s in fragment.segments)
        assert composed[fragment.start : fragment.start + len(whole)] == whole
        assert any(s.marked for s in fragment.segments)
        assert all(s.text for s in fragment.segments)
    for first, second in pairwise(found):
        assert first.start + sum(len(s.text) for s in first.segments) <= second.start
