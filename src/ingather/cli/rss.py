"""``ingather rss``: feeds that sites publish (RSS, Atom, JSON Feed) and sitemaps.

The verbs of the group stand in :data:`RSS_VERBS`, imported when they are called.
"""

import click

from ingather.cli.lazy import LazyGroup

__all__ = ["RSS_VERBS", "command"]

RSS_VERBS: dict[str, str] = {
    "check": "ingather.cli.rss_check:check",
}
"""Verb of the group to where its command is (``module:attribute``), in the order of the help."""


@click.group("rss", cls=LazyGroup, verbs=RSS_VERBS)
def command() -> None:
    """Feeds that sites publish: RSS, Atom, JSON Feed, sitemaps."""
