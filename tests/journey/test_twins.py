"""Two homes that differ in hidden documents only give the same bytes to whoever may not see these."""

import random
from pathlib import Path

import pytest

from ingather.testing.twins import Twins
from ingather.testing.wordclock import WordClock

QUESTIONS = 10_000
"""Each takes 3.5 to 6 ms of processor time, of both twins together; `./run endure twins` asks a million."""


@pytest.mark.timeout(900)
def test_hidden_documents_leave_no_trace_in_any_answer(tmp_path: Path) -> None:
    seed = random.randrange(1 << 30)  # noqa: S311 - a test's dice
    with Twins(tmp_path, seed=seed, seen=20, hidden=20, brief=True) as twins:
        figures = twins.ask(QUESTIONS)
        assert figures.differences == []
        assert figures.found
        # The proof that the twins do differ, and that it is who asks that decides.
        hidden = "/api/v1/search?q=quokka+OR+zanzibar+OR+merger+OR+xylograph"
        assert twins.tells_apart("zoe", hidden)
        assert not twins.tells_apart("ann", hidden)
        assert not twins.tells_apart("", hidden)


def test_words_near_each_other_are_found_alike_however_rare_hidden_documents_make_them(
    tmp_path: Path,
) -> None:
    """Found by 60,000 questions: tantivy tries three words from the rarest on, and found them near each other in one twin only."""
    with Twins(tmp_path, seed=277157) as twins:
        assert not twins.tells_apart("nobody-known", "/api/v1/search?q=wagon+lower+glacier")


def test_answers_for_words_of_hidden_documents_are_to_the_byte_those_for_words_of_none(
    tmp_path: Path,
) -> None:
    """Headers included; what their time tells is measured by `./run endure twins --clock`."""
    with WordClock(tmp_path, seed=17, documents=80, words=2, frequencies=(1, 30)) as clock:
        for user in ("", "ann"):
            for frame in (
                "{}",
                "harbour {}",
                "harbour OR {}",
                '"{} lake"',
                "title:{}",
                "-{} lake",
                "site:{}",
            ):
                asked = [frame.format(word) for n in (0, 1, 30) for word in clock.words(n)]
                answers = {
                    clock.told(question, user, page=page)
                    for _ in range(2)
                    for question in asked
                    for page in (True, False)
                }
                assert len(answers) == 2, (user, frame)  # the page's and the API's
            heard = clock.listen(1, user=user, fresh=True)
            assert [(one.documents, one.words) for one in heard] == [(0, 4), (1, 4), (30, 4)]
        assert clock.found("zoe", clock.words(30)[0]) == 30
