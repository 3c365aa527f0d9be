"""``ingather conf explain|new-site``: the robot's language for people."""

import os
from pathlib import Path
from typing import Any

import click

from ingather.cli.home_option import home_option
from ingather.errors import UsageError

__all__ = ["explain", "new_site"]


@click.command(short_help="Print a filter as numbered sentences.")
@home_option
@click.argument("filter_", metavar="[FILTER]", default="")
def explain(home: Path, filter_: str) -> None:
    """Print FILTER as numbered sentences, in the order in which its lines run; by default both that are in use.

    \b
    Examples:
      ingather conf explain
      ingather conf explain enumeration-default
    """  # noqa: D301 - click wants the control character
    from ingather.app.configuration import read_configuration
    from ingather.app.home import Home
    from ingather.conf.filters.prose import prose_of
    from ingather.conf.names import suggestion

    loaded = read_configuration(Home.open(home), environment=os.environ).require().loaded
    wanted = [filter_] if filter_ else [loaded.robot.enumeration_filter, loaded.robot.generation_filter]
    for number, name in enumerate(dict.fromkeys(wanted)):
        if name not in loaded.filters:
            hint = suggestion(name, loaded.filters) or f"defined: {', '.join(loaded.filters)}"
            raise UsageError(f"there is no filter {name!r}", hint=hint)
        if number:
            click.echo()
        for line in prose_of(loaded.filters[name]):
            click.echo(line)


@click.command("new-site", short_help='The old name of "ingather site add".')
@home_option
@click.option("--source", default="web", metavar="NAME", help="Source that owns its URLs; default web.")
@click.option(
    "--depth", type=click.IntRange(min=-1), metavar="N", help="Links from the start; -1 = no limit."
)
@click.option("--domain", is_flag=True, help="Subdomains belong to it.")
@click.argument("host")
def new_site(home: Path, host: str, **given: Any) -> int:
    """Write a site for HOST (or a URL to start from) into filterrules.conf and put it into force: "ingather site add"."""
    from ingather.cli.site_edit import add_site

    rest = dict.fromkeys(("name", "database", "delay", "connections", "credentials"))
    lists: dict[str, tuple[str, ...]] = dict.fromkeys(("starts", "protocols", "ports", "rules"), ())
    usual = {"no_start": False, "note": "", "etag": "", "yes": False, "dry_run": False, "as_json": False}
    return add_site(home, host, {**rest, **lists, **usual, **given})
