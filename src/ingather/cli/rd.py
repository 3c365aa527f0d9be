"""``ingather rd``: resource descriptions in and out: export, import, list, show, count, edit, merge, delete, expire.

The verbs of the group stand in :data:`RD_VERBS`, imported when they are called.
"""

import click

from ingather.cli.lazy import LazyGroup

__all__ = ["RD_VERBS", "command"]

RD_VERBS: dict[str, str] = {
    "export": "ingather.cli.rd_out:export",
    "list": "ingather.cli.rd_out:list_",
    "show": "ingather.cli.rd_out:show",
    "count": "ingather.cli.rd_out:count",
    "import": "ingather.cli.rd_in:import_",
    "merge": "ingather.cli.rd_in:merge",
    "edit": "ingather.cli.rd_change:edit",
    "delete": "ingather.cli.rd_change:delete",
    "expire": "ingather.cli.rd_change:expire",
}
"""Verb of the group to where its command is (``module:attribute``), in the order of the help."""


@click.group("rd", cls=LazyGroup, verbs=RD_VERBS)
def command() -> None:
    """Bring resource descriptions (RDs) in and out as SOIF, look at them, edit them, delete them."""
