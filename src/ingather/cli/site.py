"""``ingather site``: the sites of filterrules.conf, and what a host is like.

The verbs of the group stand in :data:`SITE_VERBS`, imported when they are called.
"""

import click

from ingather.cli.lazy import LazyGroup

__all__ = ["SITE_VERBS", "command"]

SITE_VERBS: dict[str, str] = {
    "list": "ingather.cli.site_list:list_",
    "show": "ingather.cli.site_list:show",
    "add": "ingather.cli.site_edit:add",
    "set": "ingather.cli.site_edit:set_",
    "enable": "ingather.cli.site_edit:enable",
    "disable": "ingather.cli.site_edit:disable",
    "delete": "ingather.cli.site_edit:delete",
    "open": "ingather.cli.site_open:open_",
    "probe": "ingather.cli.site_probe:probe",
    "aliases": "ingather.cli.site_aliases:aliases",
}
"""Verb of the group to where its command is (``module:attribute``), in the order of the help."""


@click.group("site", cls=LazyGroup, verbs=SITE_VERBS)
def command() -> None:
    """Look after sites: what is crawled, and what a host is like before it is."""
