"""A question ranked only in the languages in which something was found, and a fence without clauses that nothing needs."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ingather.index import AllOf, AnyOf, ChainFilter, Filters, Node, Not, Phrase, Question, Title, Word
from ingather.ports.index import IndexDocument

Doc = Callable[..., IndexDocument]

_WORDS = ("holiday", "form", "die", "plan", "chat", "休暇")
_WORD = st.sampled_from(_WORDS)
_NODE: st.SearchStrategy[Node] = st.one_of(
    st.builds(Word, _WORD),
    st.builds(Title, _WORD),
    st.builds(lambda a, b: Phrase(f"{a} {b}"), _WORD, _WORD),
    st.builds(lambda a, b: AnyOf((Word(a), Phrase(b))), _WORD, _WORD),
    st.builds(lambda a: Not(Word(a)), _WORD),
)


@pytest.fixture
def languages(index: Any, doc: Doc) -> Any:
    documents = []
    for number, language in enumerate(("en", "de", "fr", "en", "ja", "", "de", "en"), start=1):
        words = [_WORDS[(number * step + step) % len(_WORDS)] for step in range(1, 6)]
        path = f"/{_WORDS[number % 5]}/{number}.html"
        body = f"{' '.join(words)}. {' '.join(reversed(words))}"
        documents.append(doc(number, body, language=language, title=" ".join(words[:2]), path=path))
    index.put(*documents)
    return index


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(nodes=st.lists(_NODE, min_size=1, max_size=4), least=st.integers(0, 1), strict=st.booleans())
@example(nodes=[Word("die"), Not(Word("holiday"))], least=0, strict=False)
def test_ranking_in_the_found_languages_is_ranking_in_all(
    languages: Any, nodes: list[Node], least: int, *, strict: bool
) -> None:
    snapshot = languages.reader.snapshot()
    question = Question(AllOf(tuple(nodes)), ChainFilter(only=(1,)), Filters(), least)
    compiled = snapshot.clauses(strict=strict).compile(question)
    slots = snapshot.facets(compiled.matching, ("slot",))[0]["slot"]
    everywhere = snapshot.find(compiled, offset=0, limit=10)
    assert snapshot.find(compiled, offset=0, limit=10, slots=slots) == everywhere
    assert bool(slots) == bool(everywhere.total)


def test_the_first_document_that_expires_and_the_first_restricted_one_are_kept_out(
    index: Any, doc: Doc
) -> None:
    chains = ChainFilter(only=(1,), now_s=1_000, needs=("ann",))
    index.put(doc(1, "holiday"))
    assert index.rows(Word("holiday"), chains=chains) == [1]
    index.put(
        doc(2, "holiday", expires_s=999),
        doc(3, "holiday", expires_s=1_001),
        doc(4, "holiday", needs=(("ben",),)),
        doc(5, "holiday", needs=((), ("ann", "ben"))),
    )
    assert sorted(index.rows(Word("holiday"), chains=chains)) == [1, 3]


def test_one_chain_is_told_from_others(index: Any, doc: Doc) -> None:
    index.put(*(doc(row, "holiday", chain=chain) for row, chain in enumerate((1, 2, 256, 1 << 40), start=1)))
    for row, chain in enumerate((1, 2, 256, 1 << 40), start=1):
        assert index.rows(Word("holiday"), chains=ChainFilter(only=(chain,))) == [row]
    assert index.rows(Word("holiday"), chains=ChainFilter(only=(3,))) == []
