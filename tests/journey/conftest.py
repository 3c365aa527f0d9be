"""Homes and sites for journeys: everything runs as it would for an operator, on loopback."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.testing.rig import Rig
from ingather.testing.site import Site


@pytest.fixture
def rig(home: Path) -> Rig:
    """A fresh home and its commands; commits wait for little company, because nobody else comes."""
    return Rig(home, **{"catalog.outcome-wait": "0.02s", "gather.batch-wait": "0.02s"}).init()


@pytest.fixture
def site() -> Iterator[Site]:
    """A site on loopback, empty at first."""
    with Site() as site:
        yield site
