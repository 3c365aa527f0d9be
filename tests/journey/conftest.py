"""Homes and sites for journeys: everything runs as it would for an operator, on loopback."""

import os
import shutil
import subprocess
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


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 40 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    asked = [str(mount), "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(folder)]
    if os.getuid() or not (mount and umount) or subprocess.run(asked, check=False).returncode:
        pytest.skip("a file system of its own needs root: run the suite as root")
    yield folder
    subprocess.run([str(umount), "-l", str(folder)], check=True)
