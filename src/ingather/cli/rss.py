"""``ingather rss``: feeds that sites publish (RSS, Atom, JSON Feed) and sitemaps.

The verbs of the group stand in :data:`RSS_VERBS`, imported when they are called.
"""

import click

from ingather.cli.lazy import LazyGroup

__all__ = ["RSS_VERBS", "command"]

RSS_VERBS: dict[str, str] = {
    "add": "ingather.cli.rss_add:add",
    "check": "ingather.cli.rss_check:check",
    "list": "ingather.cli.rss_verbs:list_",
    "status": "ingather.cli.rss_verbs:status",
    "show": "ingather.cli.rss_verbs:show",
    "explain": "ingather.cli.rss_verbs:explain",
    "conflicts": "ingather.cli.rss_verbs:conflicts",
    "poll": "ingather.cli.rss_verbs:poll",
    "pause": "ingather.cli.rss_verbs:pause",
    "resume": "ingather.cli.rss_verbs:resume",
    "import-opml": "ingather.cli.rss_opml:import_opml",
    "export-opml": "ingather.cli.rss_opml:export_opml",
}
"""Verb of the group to where its command is (``module:attribute``), in the order of the help."""


@click.group("rss", cls=LazyGroup, verbs=RSS_VERBS)
def command() -> None:
    """Feeds that sites publish (RSS, Atom, JSON Feed, sitemaps): add, look at, poll."""
