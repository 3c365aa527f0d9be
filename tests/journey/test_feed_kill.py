"""``kill -9`` while clients push: what was acknowledged is applied, to the last record, once and in order."""

import random
from pathlib import Path

import pytest

from ingather.testing.feedcrash import FeedCrash


@pytest.mark.timeout(400)
# Twenty kills in all, in pieces that several workers share.
@pytest.mark.parametrize("home", range(4))
def test_gsa_T47_what_was_acknowledged_is_applied_after_kill_9(tmp_path: Path, home: int) -> None:
    seed = random.randrange(1 << 30) * 4 + home  # noqa: S311 - a test's dice
    trial = FeedCrash(tmp_path, seed=seed, kills=5, clients=8, within_s=0.4)
    figures = trial.run()
    assert figures.troubles == [], figures
    assert figures.kills.total() >= 5
    assert figures.acknowledged
