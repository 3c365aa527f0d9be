"""``ingather overlay``: external metadata, values laid over documents by URL prefix."""

import click

from ingather.cli.overlay_check import check, concatenate

__all__ = ["command"]


@click.group("overlay")
def command() -> None:
    """Look after external metadata: values laid over documents by URL prefix."""


command.add_command(check)
command.add_command(concatenate)
