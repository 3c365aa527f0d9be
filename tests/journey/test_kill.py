"""``kill -9`` at random moments: afterwards every page exactly once, index and catalog one, no host hurried."""

import random
from pathlib import Path

import pytest

from ingather.testing.crash import CrashTrial
from ingather.testing.crasheverything import EverythingTrial


@pytest.mark.timeout(600)  # seventeen lives; a busy machine needs its time
def test_seventeen_kills_at_random_moments_lose_nothing(tmp_path: Path) -> None:
    trial = CrashTrial(tmp_path / "home", seed=random.randrange(1 << 30), cycles=17)  # noqa: S311 - a test's dice
    figures = trial.run()
    assert figures.troubles == [], figures
    assert figures.kills.total() == 17


@pytest.mark.timeout(400)  # four lives, the last one until what is gone is deleted
def test_three_kills_with_logins_proxy_sitemaps_deletion_traps_and_files_lose_nothing(tmp_path: Path) -> None:
    trial = EverythingTrial(tmp_path / "home", seed=random.randrange(1 << 30), cycles=3, browser=False)  # noqa: S311 - a test's dice
    figures = trial.run()
    assert figures.troubles == [], figures
    assert figures.kills.total() == 3
