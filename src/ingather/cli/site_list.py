"""``ingather site list|show``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import print_json
from ingather.cli.site_common import editing

if TYPE_CHECKING:
    from ingather.app.sites.sites import SiteDesk

__all__ = ["desk", "list_", "show"]

_HEAD = ("site", "host", "type", "on", "depth", "source", "delay", "conn.", "starts", "documents")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def desk(home: Path) -> "SiteDesk":
    """Return who answers about sites."""
    from ingather.app.sites.sites import SiteDesk

    return SiteDesk(editing(home))


@click.command("list", short_help="List the sites of filterrules.conf with their documents.")
@home_option
@click.option("--enabled", "which", flag_value="on", help="Only those that are enabled.")
@click.option("--disabled", "which", flag_value="off", help="Only those that are disabled.")
@_json
def list_(home: Path, which: str | None, *, as_json: bool) -> None:
    """List the sites in the order of the file: host or domain, on or off, limits, documents. "-" = not stated."""
    found = desk(home).listed()
    rows = [site for site in found["sites"] if which is None or site["enabled"] is (which == "on")]
    if as_json:
        print_json({**found, "sites": rows})
        return
    for mistake in found["mistakes"]:
        click.echo(mistake, err=True)
    cells = [_HEAD, *(_cells(site) for site in rows)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(_HEAD))]
    if rows:
        for row in cells:
            click.echo("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    sites = "1 site" if len(rows) == 1 else f"{len(rows)} sites"
    click.echo(f"{sites}; starting points: {found['starting_points']} defined; etag {found['etag']}")


@click.command("show", short_help="Show a site whole.")
@click.argument("name")
@home_option
@_json
def show(name: str, home: Path, *, as_json: bool) -> None:
    """Show the site NAME (its name or its host): every attribute and line, and how many documents it has."""
    site = desk(home).shown(name)
    if as_json:
        print_json(site)
        return
    click.echo(f"{site['name']} ({site['where']})")
    for key in (
        "host",
        "type",
        "enabled",
        "depth",
        "source",
        "database",
        "delay",
        "connections",
        "credentials",
        "documents",
    ):
        click.echo(f"  {key}: {_word(site[key])}")
    for start in site["starts"]:
        depth = "" if start["depth"] is None else f", depth {start['depth']}"
        click.echo(f"  starts at: {start['url']}{depth}")
    click.echo(f"  protocols: {', '.join(site['protocols'])}")
    click.echo(f"  ports: {', '.join(map(str, site['ports'])) or 'any'}")
    click.echo(f"  rules: {', '.join(site['rules'] or []) or 'none'}")


def _cells(site: dict[str, Any]) -> tuple[str, ...]:
    return (
        site["name"], site["host"], site["type"], "yes" if site["enabled"] else "no", _word(site["depth"]), site["source"],
        _word(site["delay"]), _word(site["connections"]), str(len(site["starts"])), str(site["documents"]),
    )  # fmt: skip


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g} s"
    return "-" if value in (None, "") else str(value)
