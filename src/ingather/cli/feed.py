"""``ingather feed``: what is pushed to this home, by whom, and what became of it.

The verbs of the group stand in :data:`FEED_VERBS`, imported when they are called.
"""

from importlib import import_module

import click

__all__ = ["FEED_VERBS", "command"]

FEED_VERBS: dict[str, str] = {
    "list": "ingather.cli.feed_receipts:list_",
    "show": "ingather.cli.feed_receipts:show",
    "records": "ingather.cli.feed_receipts:records",
    "retry": "ingather.cli.feed_receipts:retry",
    "replay": "ingather.cli.feed_receipts:replay",
    "delete": "ingather.cli.feed_receipts:delete",
    "load": "ingather.cli.feed_receipts:load",
    "push": "ingather.cli.feed_push:push",
    "make": "ingather.cli.feed_push:make",
    "check": "ingather.cli.feed_check:check",
    "trust": "ingather.cli.feed_senders:trust",
    "token": "ingather.cli.feed_senders:token",
    "notify": "ingather.cli.feed_notify:notify",
}
"""Verb of the group to where its command is (``module:attribute``), in the order of the help."""


class _FeedGroup(click.Group):
    """Finds a command in the table and imports it then."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(FEED_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = FEED_VERBS.get(cmd_name)
        if target is None:
            return None
        module, _, name = target.partition(":")
        found: click.Command = getattr(import_module(module), name)
        return found


@click.group(cls=_FeedGroup)
def command() -> None:
    """Pushed feeds: who may send them, what became of them; and feeds to push."""
