"""``--home``: which home a verb works in, the same for every verb."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

__all__ = ["default_home", "home_option"]

_VARIABLE = "INGATHER_HOME"


def default_home() -> Path:
    """Return the home that is meant when none is named: $INGATHER_HOME, else here, else ``./home``."""
    named = os.environ.get(_VARIABLE)
    if named:
        return Path(named)
    return Path() if Path("ingather.toml").exists() else Path("home")


def home_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--home PATH`` to a command; its function gets ``home: Path``."""
    return click.option(
        "--home",
        type=click.Path(path_type=Path),
        default=default_home,
        metavar="PATH",
        help=f"The home folder; default: ${_VARIABLE}, else this folder if it is one, else ./home.",
    )(function)
