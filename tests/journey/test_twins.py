"""Two homes that differ in hidden documents only give the same bytes to whoever may not see these."""

import random
from pathlib import Path

import pytest

from ingather.testing.twins import Twins

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
        clock = twins.clocked(2)  # what time tells is measured by `./run endure twins --clock`
        assert min(clock.hidden, clock.nowhere, clock.again) > 0


def test_words_near_each_other_are_found_alike_however_rare_hidden_documents_make_them(
    tmp_path: Path,
) -> None:
    """Found by 60,000 questions: tantivy tries three words from the rarest on, and found them near each other in one twin only."""
    with Twins(tmp_path, seed=277157) as twins:
        assert not twins.tells_apart("nobody-known", "/api/v1/search?q=wagon+lower+glacier")
