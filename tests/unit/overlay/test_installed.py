"""The original's command, started as a pre_index_command starts it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ingather.app.home import Home

NAME = "ValidateExternalMetadata"
ROOT = Path(__file__).parents[3]
INSTALLED = Path(sys.executable).with_name(NAME)
COMMAND = [str(INSTALLED)] if INSTALLED.exists() else [sys.executable, "-m", "ingather.cli.overlay_original"]


def test_it_is_a_command_of_the_package() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts[NAME] == "ingather.cli.overlay_original:main"


@pytest.mark.parametrize(
    ("text", "words", "status", "said"),
    [
        ("s.com/ x:1\n", ["mode=check"], 0, "accepted: 0 bad of 1 records"),
        ("s.com/ x:1\nbad line\n", ["mode=check"], 1, "refused: 1 bad of 2 records"),
        ("s.com/ x:1\n", ["mode=check", "errorThreshold=1.5"], 2, "errorThreshold=1.5"),
        (None, ["mode=check"], 3, "external_metadata.cfg"),
    ],
)
def test_exit_statuses(tmp_path: Path, text: str | None, words: list[str], status: int, said: str) -> None:
    home = Home.create(tmp_path / "home")
    file = home.config / "sources/web/external_metadata.cfg"
    if text is None:  # what cannot be read, even by root
        file.mkdir(parents=True)
    else:
        file.parent.mkdir(parents=True)
        file.write_text(text)
    ran = subprocess.run(
        [*COMMAND, "collection=web", *words, f"home={home.path}"], capture_output=True, text=True, timeout=120, check=False
    )  # fmt: skip
    assert ran.returncode == status, ran.stderr
    assert said in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
