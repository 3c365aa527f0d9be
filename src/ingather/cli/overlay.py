"""``ingather overlay``: external metadata, values laid over documents by URL prefix.

The verbs of the group stand in :data:`OVERLAY_VERBS`, imported when they are called.
"""

import click

from ingather.cli.lazy import LazyGroup

__all__ = ["OVERLAY_VERBS", "command"]

OVERLAY_VERBS: dict[str, str] = {
    "check": "ingather.cli.overlay_check:check",
    "concatenate": "ingather.cli.overlay_check:concatenate",
    "explain": "ingather.cli.overlay_verbs:explain",
    "stats": "ingather.cli.overlay_verbs:stats",
    "diff": "ingather.cli.overlay_versions:diff",
    "history": "ingather.cli.overlay_versions:history",
    "show": "ingather.cli.overlay_versions:show",
    "publish": "ingather.cli.overlay_versions:publish",
    "rollback": "ingather.cli.overlay_versions:rollback",
    "list": "ingather.cli.overlay_records:records",
    "set": "ingather.cli.overlay_records:put",
    "unset": "ingather.cli.overlay_records:unset",
    "load": "ingather.cli.overlay_records:load",
    "expired": "ingather.cli.overlay_verbs:expired",
    "unhide": "ingather.cli.overlay_verbs:unhide",
    "hide": "ingather.cli.overlay_verbs:hide",
}
"""Verb of the group to where its command is (``module:attribute``), in the order of the help."""


@click.group("overlay", cls=LazyGroup, verbs=OVERLAY_VERBS)
def command() -> None:
    """Look after external metadata: values laid over documents by URL prefix."""
