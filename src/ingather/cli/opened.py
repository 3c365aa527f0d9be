"""What most verbs begin with: the home opened, its settings checked."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ingather.app.home import Home
    from ingather.conf.settings.file import SettingsFile

__all__ = ["open_home", "print_json"]


def open_home(path: Path) -> "tuple[Home, SettingsFile]":
    """Open the home at *path* and read its settings.

    Raises:
        HomeError: there is none, or it cannot be read.
        ConfigurationError: ``ingather.toml`` has errors.
    """
    from ingather.app.home import Home

    home = Home.open(path)
    read = home.settings(environment=os.environ)
    if read.refused:
        from ingather.app.configuration import read_configuration

        read_configuration(
            home, environment=os.environ
        ).require()  # all mistakes at once, those of other files too
    return home, read


def print_json(value: object) -> None:
    """Print *value* as JSON on standard output."""
    import json

    import click

    click.echo(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False))
