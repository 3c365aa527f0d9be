"""``ingather rd``: resource descriptions in and out: export, import, list, show, count, edit, merge, delete, expire."""

import click

from ingather.cli.rd_change import delete, edit, expire
from ingather.cli.rd_in import import_, merge
from ingather.cli.rd_out import count, export, list_, show

__all__ = ["command"]


@click.group("rd")
def command() -> None:
    """Bring resource descriptions (RDs) in and out as SOIF, look at them, edit them, delete them."""


for _verb in (export, list_, show, count, import_, merge, edit, delete, expire):
    command.add_command(_verb)
