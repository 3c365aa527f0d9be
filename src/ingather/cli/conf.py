"""``ingather conf``: the robot's languages as files: check them, and what else people do with them.

The verbs of the group stand in :data:`CONF_VERBS`, one file each, imported when it is called.
"""

from importlib import import_module

import click

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


class _ConfGroup(click.Group):
    """Finds a command in the table and imports it then."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(CONF_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = CONF_VERBS.get(cmd_name)
        if target is None:
            return None
        module, _, name = target.partition(":")
        found: click.Command = getattr(import_module(module), name)
        return found


@click.group(cls=_ConfGroup)
def command() -> None:
    """Work with the files of config/: robot.conf, filter.conf, filterrules.conf and what they name."""
