"""``ingather feed``: what is pushed to this home, by whom, and what became of it.

The verbs of the group stand in :data:`FEED_VERBS`, imported when they are called.
"""

import click

from ingather.cli.lazy import LazyGroup

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
    "accept-from": "ingather.cli.feed_senders:accept_from",
    "fetch-from": "ingather.cli.feed_senders:fetch_from",
    "trust": "ingather.cli.feed_senders:trust",
    "token": "ingather.cli.feed_senders:token",
    "notify": "ingather.cli.feed_notify:notify",
}
"""Verb of the group to where its command is (``module:attribute``), in the order of the help."""


@click.group("feed", cls=LazyGroup, verbs=FEED_VERBS)
def command() -> None:
    """Pushed feeds: who may send them, what became of them; and feeds to push."""
