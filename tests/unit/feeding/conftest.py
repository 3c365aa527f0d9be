"""One home for a module, a real feed worker below it; each test has a data source and a host of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.app.feeds.process import FeedProcess
from ingather.testing.feedrobot import FeedRobot
from ingather.testing.feeds import FeedRig


@pytest.fixture(scope="module")
def process() -> Iterator[FeedProcess]:
    """One feed worker for a module: it starts slowly."""
    made = FeedProcess()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory, process: FeedProcess) -> Iterator[FeedRig]:
    made = FeedRig(Path(tmp_path_factory.mktemp("feeding")) / "home", process)
    yield made
    made.close()


@pytest.fixture
def own(tmp_path: Path, process: FeedProcess) -> Iterator[FeedRig]:
    """A home of a test's own."""
    made = FeedRig(tmp_path / "home", process)
    yield made
    made.close()


@pytest.fixture
def robot(own: FeedRig) -> FeedRobot:
    """Visits what feeds listed in the test's own home."""
    return FeedRobot(own)
