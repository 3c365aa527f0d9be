"""Plug-in folders, and engines that know them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ingather.conf import Loaded, load_bodies
from ingather.filters import Engine
from ingather.plugins import PlugIns

Plug = Callable[..., PlugIns]
Configure = Callable[..., Loaded]

HEAD = "from ingather.plugins import *\n"


@pytest.fixture
def plug(tmp_path: Path) -> Plug:
    """Write plug-in files (name without .py to text) and load the folder."""

    def make(**files: str) -> PlugIns:
        folder = tmp_path / "plugins"
        folder.mkdir(mode=0o755, exist_ok=True)
        for name, text in files.items():
            path = folder / f"{name}.py"
            path.write_text(HEAD + text, "utf-8")
            path.chmod(0o644)
        return PlugIns(folder, points=())

    return make


@pytest.fixture
def configured() -> Configure:
    """Load a configuration of a generation filter (and lines outside of it) with plug-ins."""

    def make(plugins: PlugIns, lines: str, *, outside: str = "", enumeration: str = "") -> Loaded:
        text = (
            f'{outside}\n<Filter name="enumeration-default">\n{enumeration}\n</Filter>\n'
            f'<Filter name="generation-default">\n{lines}\n</Filter>\n'
        )
        bodies = {"filter.conf": text.encode(), "robot.conf": b"enable-ip=no\n"}
        return load_bodies(bodies, vocabulary=plugins.vocabulary)

    return make


@pytest.fixture
def engine(configured: Configure) -> Callable[..., Engine]:
    """The engine of such a configuration."""

    def make(plugins: PlugIns, lines: str, **more: str) -> Engine:
        loaded = configured(plugins, lines, **more)
        assert loaded.ok, [str(d) for d in loaded.diagnostics]
        return Engine(loaded)

    return make
