"""``ingather conf``: the robot's languages as files: check them, and what else people do with them.

The verbs of the group stand in :data:`CONF_VERBS`, one file each, imported when it is called.
"""

import click

from ingather.cli.lazy import LazyGroup

__all__ = ["CONF_VERBS", "command"]

CONF_VERBS: dict[str, str] = {
    "check": "ingather.cli.conf_check:check",
    "history": "ingather.cli.conf_versions:history",
    "show": "ingather.cli.conf_versions:show",
    "diff": "ingather.cli.conf_versions:diff",
    "publish": "ingather.cli.conf_versions:publish",
    "rollback": "ingather.cli.conf_versions:rollback",
    "import": "ingather.cli.conf_import:import_",
    "explain": "ingather.cli.conf_language:explain",
    "new-site": "ingather.cli.conf_language:new_site",
}
"""Verb of the group to where its command is (``module:attribute``), in the order of the help."""


@click.group("conf", cls=LazyGroup, verbs=CONF_VERBS)
def command() -> None:
    """Work with the files of config/: robot.conf, filter.conf, filterrules.conf and what they name."""
