"""``ingather plugins``: what code of one's own is installed, and what of it works."""

import os
from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import print_json

__all__ = ["command"]


@click.command("plugins")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print the plug-ins as JSON.")
def command(home: Path, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """List plug-ins: files of the plug-in folder and packages, with origin, state and what they bring.

    Exit status 1 when one of them, or a part of it, cannot be used.
    """
    from ingather.app.home import Home
    from ingather.app.plugging import plug_in_folder, plug_ins

    place = Home.open(home)
    settings = place.settings(environment=os.environ).settings
    found = plug_ins(place, settings).plugins
    rows = [
        {
            "name": plugin.name,
            "kind": plugin.kind,
            "origin": plugin.origin,
            "state": plugin.state,
            "trouble": plugin.trouble,
            "functions": list(plugin.functions),
            "converters": list(plugin.converters),
            "extractors": list(plugin.extractors),
            "fetchers": list(plugin.fetchers),
        }
        for plugin in found
    ]
    if as_json:
        print_json(rows)
    else:
        if not rows:
            click.echo(f"no plug-ins; put .py files into {plug_in_folder(place, settings)}")
        for row in rows:
            click.echo(f"{row['name']}  {row['state']}  {row['origin']}")
            for kind in ("functions", "converters", "extractors", "fetchers"):
                if row[kind]:
                    click.echo(f"    {kind}: {', '.join(row[kind])}")
            if row["trouble"]:
                click.echo(f"    {row['trouble']}")
    return 1 if any(row["trouble"] for row in rows) else 0
