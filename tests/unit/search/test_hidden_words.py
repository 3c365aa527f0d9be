"""A word that only hidden documents have is looked for once; then, and while it is, it takes the way of a word that is nowhere."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Self

import pytest

from ingather.access import ANONYMOUS, Visible
from ingather.index import ChainFilter, IndexFolder, Word
from ingather.ports.index import IndexDocument
from ingather.search import SearchRequest, SearchService, results_form
from ingather.testing.clock import FakeClock

Doc = Callable[..., IndexDocument]
SOMEBODY = Visible.of({1, 3}, last_evaluated=9)
HIDDEN, NOWHERE = "zqhidden", "zqnobody"
OTHERS = ("zqhidde2", "zqnobod2")
FRAMES = (
    "{}",
    "harbour {}",
    "harbour OR {}",
    "harbour -{}",
    '"harbour {}"',
    "title:{}",
    "title:{} harbour",
    "[{} harbour] lake",
    "author:{}",
    "author:{} harbour",
    "site:{}.test",
    "filetype:{} OR harbour",
    "category:{}",
    "{}:5",
)


def served(path: Path, documents: Sequence[IndexDocument], pauses: list[float]) -> SearchService:
    folder = IndexFolder(path)
    writer = folder.writer()
    writer.put(documents)
    writer.commit(1)
    writer.close()

    def texts(rows: Sequence[int]) -> Mapping[int, str]:
        return dict.fromkeys(rows, "text")

    return SearchService(
        folder.reader(),
        texts,
        FakeClock(monotonic_s=0),
        strict=lambda: True,
        pause=pauses.append,
        classes=lambda name: "text" if name == "author" else "",
    )


def world(doc: Doc, *words: str) -> list[IndexDocument]:
    seen = [
        doc(
            n, "harbour lake", title="Harbour", chain=n % 3 if n % 3 == 1 else 3, language=("en", "de")[n % 2]
        )
        for n in range(1, 40)
    ]
    hidden = [
        doc(
            n, f"harbour {word}", title=f"Lake {word}", chain=2, site=f"{word}.test", kind=word, categories=(word,), path=f"/{word}/{n}",
            classes={"author": (word,), word: ("5",)}, language=("en", "de")[n % 2],
        )
        for word, first in zip(words, (100, 200), strict=False) for n in range(first, first + 30)
    ]  # fmt: skip
    return [*seen, *hidden]


class Calls:
    """What is called meanwhile, by name: of ours and of the engine. The order of some calls depends on how words are hashed."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __enter__(self) -> Self:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "c_call" and arg.__qualname__.startswith(("Searcher.", "Query.")):
            self.names.append(arg.__qualname__)
        elif event == "call" and str(frame.f_globals.get("__name__", "")).startswith("ingather."):
            self.names.append(frame.f_code.co_qualname)

    @property
    def of_index(self) -> list[str]:
        """How often the engine was asked, and in what way."""
        return [name for name in self.names if name in {"Searcher.search", "Searcher.aggregate"}]


def calls(service: SearchService, query: str, viewer: Visible) -> Calls:
    with Calls() as made:
        service.search(SearchRequest(query, viewer=viewer))
    return made


@pytest.mark.parametrize("viewer", [SOMEBODY, ANONYMOUS], ids=["somebody", "anonymous"])
@pytest.mark.parametrize("frame", FRAMES)
def test_the_second_question_for_a_hidden_word_makes_the_very_calls_of_one_for_a_word_of_none(
    tmp_path: Path, doc: Doc, frame: str, viewer: Visible
) -> None:
    service = served(tmp_path / "index", world(doc, HIDDEN), [])
    for word in (HIDDEN, NOWHERE):
        service.search(SearchRequest(frame.format(word), viewer=viewer))
    one, other = (calls(service, frame.format(word), viewer) for word in (HIDDEN, NOWHERE))
    assert one.of_index
    assert sorted(one.names) == sorted(other.names)


@pytest.mark.parametrize("viewer", [SOMEBODY, ANONYMOUS], ids=["somebody", "anonymous"])
@pytest.mark.parametrize("frame", FRAMES)
def test_the_first_question_for_a_hidden_word_asks_the_index_as_often_as_one_for_a_word_of_none(
    tmp_path: Path, doc: Doc, frame: str, viewer: Visible
) -> None:
    service = served(tmp_path / "index", world(doc, HIDDEN, OTHERS[0]), [])
    for word in OTHERS:  # what is found out once for a state is found out
        service.search(SearchRequest(frame.format(word), viewer=viewer))
    one, other = (calls(service, frame.format(word), viewer).of_index for word in (HIDDEN, NOWHERE))
    assert one == other


@pytest.mark.parametrize("viewer", [SOMEBODY, ANONYMOUS], ids=["somebody", "anonymous"])
@pytest.mark.parametrize("frame", FRAMES)
def test_knowing_that_a_word_is_hidden_changes_no_answer(
    tmp_path: Path, doc: Doc, frame: str, viewer: Visible
) -> None:
    """Against a home without the hidden documents, before anything is known and after."""
    forms = []
    for name, words in (("plain", ()), ("deep", (HIDDEN,))):
        service = served(tmp_path / name, world(doc, *words), [])
        request = SearchRequest(frame.format(HIDDEN), viewer=viewer)
        forms += [results_form(service.search(request)) for _ in range(2)]
    assert all(form == forms[0] for form in forms[1:])


def test_the_first_question_for_what_nobody_sees_is_held_back_whether_it_is_hidden_or_nowhere(
    tmp_path: Path, doc: Doc
) -> None:
    pauses: list[float] = []
    service = served(tmp_path / "index", world(doc, HIDDEN), pauses)
    held = []
    for query in (HIDDEN, HIDDEN, NOWHERE, NOWHERE, "harbour", "harbour lake", "harbour -lake"):
        pauses.clear()
        service.search(SearchRequest(query, viewer=SOMEBODY))
        held.append(list(pauses))
    assert held == [[0.01], [], [0.01], [], [], [], []]


def test_what_somebody_may_not_see_is_told_from_what_another_may(tmp_path: Path, doc: Doc) -> None:
    service = served(tmp_path / "index", world(doc, HIDDEN), [])
    owner = Visible.of({1, 2}, last_evaluated=9)
    for _ in range(2):
        totals = [
            service.search(SearchRequest(HIDDEN, viewer=who)).total for who in (ANONYMOUS, owner, SOMEBODY)
        ]
        assert totals == [0, 30, 0]


def test_a_word_of_a_document_that_expires_is_known_until_then_and_not_after(
    tmp_path: Path, doc: Doc
) -> None:
    folder = IndexFolder(tmp_path / "index")
    writer = folder.writer()
    passing = doc(1, "harbour comet")
    passing.expires_s = int(FakeClock().wall()) + 10
    writer.put([passing, doc(2, "harbour")])
    writer.commit(1)
    writer.close()
    clock = FakeClock()
    service = SearchService(folder.reader(), lambda _: {}, clock, strict=lambda: True, pause=lambda _: None)

    def asked() -> tuple[int, bool, tuple[str, ...]]:
        found = service.search(SearchRequest("comet harbour"))
        return found.total, found.all_words, found.help.unknown

    assert asked() == asked() == (1, True, ())
    clock.advance(11)
    assert asked() == asked() == (1, False, ("comet",))


@pytest.mark.parametrize("limit", ["restricted", "expired"])
def test_scores_do_not_depend_on_documents_of_the_public_chain_that_not_everybody_sees(
    tmp_path: Path, doc: Doc, limit: str
) -> None:
    """They were counted as public: by them a word of a document that is restricted beside its chain became frequent."""
    scores = []
    for name, number in (("few", 1), ("many", 20)):
        others = [doc(n, "harbour comet", title="Comet") for n in range(100, 100 + number)]
        for one in others:
            if limit == "restricted":
                one.needs = (("user:zoe",),)
            else:
                one.expires_s = 5
        seen = [doc(n, f"harbour {'comet' * (n == 1)}") for n in range(1, 9)]
        service = served(tmp_path / name, [*seen, *others], [])
        scores.append([r.score for r in service.search(SearchRequest("comet harbour")).results])
    assert scores[0] == scores[1]


def test_a_document_that_was_revoked_lately_leaves_its_words_unknown(tmp_path: Path, doc: Doc) -> None:
    folder = IndexFolder(tmp_path / "index")
    writer = folder.writer()
    writer.put([doc(1, "harbour comet"), doc(2, "harbour")])
    writer.commit(1)
    writer.close()
    clauses = folder.reader().snapshot().clauses(strict=True)
    public = ChainFilter(only=(1,), needs=None)
    revoked = ChainFilter(only=(1,), needs=None, rows=(1,))
    for _ in range(2):
        assert clauses.sees(Word("comet"), public)
        assert not clauses.sees(Word("comet"), revoked)
        assert clauses.sees(Word("harbour"), revoked)
    # Another form of the same word: what one viewer does not see is not public knowledge.
    assert not clauses.sees(Word("comets"), revoked)
    assert clauses.sees(Word("comets"), public)
