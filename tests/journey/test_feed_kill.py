"""``kill -9`` while clients push: what was acknowledged is applied, to the last record, once and in order."""

import random
from pathlib import Path

import pytest

from ingather.testing.feedcrash import FeedCrash


@pytest.mark.timeout(400)
def test_gsa_T47_what_was_acknowledged_is_applied_after_kill_9(tmp_path: Path) -> None:
    trial = FeedCrash(tmp_path, seed=random.randrange(1 << 30), kills=20, clients=8)  # noqa: S311 - a test's dice
    figures = trial.run()
    assert figures.troubles == [], figures
    assert figures.kills.total() >= 20
    assert figures.acknowledged
