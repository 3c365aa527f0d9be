"""One home for a module, a real feed worker below it; each test has a data source and a host of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.app.feeds.process import FeedProcess
from ingather.testing.feeds import FeedRig


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FeedRig]:
    process = FeedProcess()
    made = FeedRig(Path(tmp_path_factory.mktemp("feeding")) / "home", process)
    yield made
    made.close()
    process.stop()
