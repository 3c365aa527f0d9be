from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ingather.conf.sources.source import SourceConf
from ingather.testing.fedhome import FedHome, fed

FEED = "https://n.test/feed.xml"


@pytest.fixture
def home_of(tmp_path: Path) -> Iterator[Callable[..., FedHome]]:
    """Make homes; without sources one with the feed FEED."""
    made: list[FedHome] = []

    def make(*sources: SourceConf, **keys: Any) -> FedHome:
        confs = sources or (fed(feeds=(FEED,), **keys),)
        home = FedHome(tmp_path / f"catalog{len(made)}.db", {conf.name: conf for conf in confs})
        made.append(home)
        return home

    yield make
    for home in made:
        home.close()


@pytest.fixture
def home(home_of: Callable[..., FedHome]) -> FedHome:
    return home_of()
