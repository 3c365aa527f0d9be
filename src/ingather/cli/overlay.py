"""``ingather overlay``: external metadata, values laid over documents by URL prefix."""

import click

from ingather.cli.overlay_check import check, concatenate
from ingather.cli.overlay_records import load, put, records, unset
from ingather.cli.overlay_verbs import diff, expired, explain, hide, history, rollback, stats, unhide

__all__ = ["command"]


@click.group("overlay")
def command() -> None:
    """Look after external metadata: values laid over documents by URL prefix."""


for _verb in (explain, stats, diff, history, rollback, records, put, unset, load, expired, hide, unhide):
    command.add_command(_verb)
command.add_command(check)
command.add_command(concatenate)
