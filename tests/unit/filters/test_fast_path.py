"""The tables give what a plain loop over the lines gives: the same verdict, reason and line."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import re2
from ingather.conf.patterns.dialects import PatternError, compile_pattern
from ingather.conf.sites.rules import Match
from ingather.conf.text.parameters import quoted
from ingather.filters import Engine
from ingather.filters.denying import DenySteps
from ingather.filters.matching import NONE, FirstMatch
from ingather.filters.patternset import Member, PatternSet
from ingather.model.candidate import Candidate
from ingather.model.diagnostic import Place
from ingather.model.resource import Response

MakeEngine = Callable[..., Engine]
PLACE = Place("f", 1)
MANY = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

WORDS = ["a", "b", "www", "shop", "x1"]
word = st.sampled_from(WORDS)
url = st.builds(
    "{}://{}.{}.example{}/{}/{}{}".format,
    st.sampled_from(["http", "https"]),
    word,
    word,
    st.sampled_from(["", ":8080"]),
    word,
    word,
    st.sampled_from(["", ".html", ".HTML", "?a=b", "/b/"]),
)
literal_text = st.one_of(
    st.builds("{}.{}.example".format, word, word), st.builds("/{}/{}".format, word, word), word, url
)
pattern_text = st.one_of(
    st.builds("\\\\*.{}.example".format, word),
    st.builds("*.{}.example~www.{}.example".format, word, word),
    st.builds("*/{}/*~*.html".format, word),
    st.builds("*.example*~www.*".format),
    st.builds("/{}/[a-z]+".format, word),
    st.builds("{}.*{}$".format, word, word),
    st.builds(r"\.(html?|{})$".format, word),
    st.builds("^{}".format, literal_text),
    literal_text,
    st.just("all"),
    st.just("^$"),
)
SOURCES = ["host", "path", "url", "protocol", "query", "type"]


@st.composite
def line(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["exact", "prefix", "regex", "regex"]))
    value = draw(pattern_text if kind == "regex" else st.one_of(literal_text, st.just("all")))
    side = draw(st.sampled_from(["deny"] * 9 + ["allow"]))
    phase = draw(st.sampled_from(["MetaData"] * 3 + ["Data"]))
    return f"{phase} fn=filter-by-{kind} src={draw(st.sampled_from(SOURCES))} {side}={quoted(side, value)}"


lines = st.lists(line(), min_size=1, max_size=14).map("\n".join)


@MANY
@given(lines, lines, st.lists(url, min_size=1, max_size=5), st.sampled_from(["noaction", "empty"]))
def test_rows_of_lines_deny_as_the_plain_loop_does(
    engine: MakeEngine, one: str, more: str, urls: list[str], undefined: str
) -> None:
    made = engine(one, f"{one}\n{more}", robot=f"undefined-source={undefined}")
    for address in urls:
        candidate = Candidate(address, depth=1)
        response = Response(url=address, status=200, headers=(("content-type", "text/html"),), body=b"x")
        fast = made.evaluation(candidate)
        if made.metadata(fast):
            made.respond(fast, response, None)
            assert made.data(fast) is None
        plain = made.decide(candidate, response, trace=True)
        assert fast.enumeration == plain.enumeration
        assert fast.generation == plain.generation


def test_ten_lines_are_one_step_and_the_line_that_denies_is_named(engine: MakeEngine) -> None:
    text = "\n".join(f"MetaData fn=filter-by-prefix src=path deny=/{i}/" for i in range(10))
    made = engine(text)
    assert [type(step) for step in made._metadata.common] == [DenySteps]
    ev = made.evaluation(Candidate("http://a.example/7/x", depth=0))
    assert not made.metadata(ev)
    assert ev.enumeration.where == "filter.conf:9"
    assert ev.generation.where == "filter.conf:21"
    assert ev.enumeration.reason == "filter-by-prefix: path is /7/"


def test_a_line_behind_the_one_that_denies_does_not_ask_for_its_source(engine: MakeEngine) -> None:
    text = "\n".join(f"MetaData fn=filter-by-prefix src=path deny=/{i}/" for i in range(5))
    made = engine(f"{text}\nMetaData fn=filter-by-exact src=IP deny=127.0.0.1")

    def resolve() -> str:
        pytest.fail("resolved")

    ev = made.evaluation(Candidate("http://a.example/3/", depth=0), ip=resolve)
    assert not made.metadata(ev)


def test_a_source_that_fails_denies_in_the_name_of_its_line(engine: MakeEngine) -> None:
    text = "\n".join(f"MetaData fn=filter-by-prefix src=path deny=/{i}/" for i in range(5))
    made = engine(f"{text}\nMetaData fn=filter-by-exact src=IP deny=127.0.0.1")

    def resolve() -> str:
        raise RuntimeError("no resolver")

    ev = made.evaluation(Candidate("http://a.example/x/", depth=0), ip=resolve)
    assert not made.metadata(ev)
    assert ev.enumeration.where == "filter.conf:7"
    assert "no resolver" in ev.enumeration.reason


# --- rules -------------------------------------------------------------------------------------------

METHODS = ["is", "contains", "begins-with", "ends-with", "regex"]


@st.composite
def rule(draw: st.DrawFn, source: str) -> Match:
    method = draw(st.sampled_from(METHODS))
    value = draw(pattern_text if method == "regex" else literal_text)
    if method != "regex":
        return Match(source, method, value, PLACE, ignore_case=draw(st.booleans()))
    try:
        return Match(source, method, value, PLACE, compile_pattern(value, source))
    except PatternError:
        return Match(source, "contains", value, PLACE)


def holds(match: Match, forms: tuple[str, ...]) -> bool:
    """What one Match line says, by the words of the specification."""
    if match.pattern is not None:
        return match.pattern.any(forms)
    fold = match.ignore_case or match.source in {"host", "protocol", "type"}
    value = match.value.lower() if fold else match.value
    texts = [form.lower() if fold else form for form in forms]
    return any(
        {
            "is": text == value,
            "contains": value in text,
            "begins-with": text.startswith(value),
            "ends-with": text.endswith(value),
        }[match.method]
        for text in texts
    )


@MANY
@given(
    st.sampled_from(["host", "path", "url"]).flatmap(
        lambda source: st.lists(rule(source), min_size=1, max_size=25)
    ),
    st.lists(st.one_of(url, literal_text), min_size=1, max_size=2),
)
def test_the_first_rule_that_matches_is_that_of_the_plain_loop(rules: list[Match], forms: list[str]) -> None:
    chosen = tuple(forms)
    expected = next((n for n, match in enumerate(rules) if holds(match, chosen)), NONE)
    assert FirstMatch(enumerate(rules)).first_of(chosen) == expected


# --- sets ----------------------------------------------------------------------------------------------


def members(count: int) -> list[Member]:
    made = [compile_pattern(rf"/x{i}[0-9]+/.*y{i}$", "path") for i in range(count)]
    return [Member(i, p.expression, p.matches) for i, p in enumerate(made)]


def test_a_set_that_cannot_be_built_is_halved_and_still_denies() -> None:
    small = PatternSet(members(50), folded=False, max_mem=20_000)
    sets, alone = small.parts
    assert sets > 1
    assert alone == 0
    tiny = PatternSet(members(50), folded=False, max_mem=1_000)
    assert tiny.parts == (0, 50)
    for found in (small, tiny):
        assert found.first("/x175/y1") == 1
        assert found.first("/x49999/y49") == 49
        assert found.first("/x49999/y49", 10) == 10
        assert found.first("/nothing") == NONE


def test_a_set_that_errs_while_matching_does_not_turn_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    found = PatternSet(members(50), folded=False)
    assert found.parts == (1, 0)
    monkeypatch.setattr(re2.Set, "Match", lambda _self, _text: None)  # what RE2 says when memory ran out
    assert found.first("/x49999/y49") == 49
    assert found.first("/nothing") == NONE
