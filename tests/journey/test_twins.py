"""Two homes that differ in hidden documents only give the same bytes to whoever may not see these."""

import random
from pathlib import Path

import pytest

from ingather.testing.twins import Twins


@pytest.mark.timeout(400)
def test_hidden_documents_leave_no_trace_in_any_answer(tmp_path: Path) -> None:
    with Twins(tmp_path, seed=random.randrange(1 << 30)) as twins:  # noqa: S311 - a test's dice
        figures = twins.ask(150)
        assert figures.differences == []
        assert figures.found
        # The proof that the twins do differ, and that it is who asks that decides.
        hidden = "/api/v1/search?q=quokka+OR+zanzibar+OR+merger+OR+xylograph"
        assert twins.tells_apart("zoe", hidden)
        assert not twins.tells_apart("ann", hidden)
        assert not twins.tells_apart("", hidden)
        clock = twins.clocked(2)  # what time tells is measured by `./run endure twins --clock`
        assert min(clock.hidden, clock.nowhere, clock.again) > 0
