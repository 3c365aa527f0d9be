"""``ingather overlay``: external metadata, values laid over documents by URL prefix.

The verbs of the group stand in :data:`OVERLAY_VERBS`, imported when they are called.
"""

from importlib import import_module

import click

__all__ = ["OVERLAY_VERBS", "command"]

OVERLAY_VERBS: dict[str, str] = {
    "check": "ingather.cli.overlay_check:check",
    "concatenate": "ingather.cli.overlay_check:concatenate",
    "explain": "ingather.cli.overlay_verbs:explain",
    "stats": "ingather.cli.overlay_verbs:stats",
    "diff": "ingather.cli.overlay_verbs:diff",
    "history": "ingather.cli.overlay_verbs:history",
    "rollback": "ingather.cli.overlay_verbs:rollback",
    "list": "ingather.cli.overlay_records:records",
    "set": "ingather.cli.overlay_records:put",
    "unset": "ingather.cli.overlay_records:unset",
    "load": "ingather.cli.overlay_records:load",
    "expired": "ingather.cli.overlay_verbs:expired",
    "unhide": "ingather.cli.overlay_verbs:unhide",
    "hide": "ingather.cli.overlay_verbs:hide",
}
"""Verb of the group to where its command is (``module:attribute``), in the order of the help."""


class _OverlayGroup(click.Group):
    """Finds a command in the table and imports it then."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(OVERLAY_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = OVERLAY_VERBS.get(cmd_name)
        if target is None:
            return None
        module, _, name = target.partition(":")
        found: click.Command = getattr(import_module(module), name)
        return found


@click.group("overlay", cls=_OverlayGroup)
def command() -> None:
    """Look after external metadata: values laid over documents by URL prefix."""
