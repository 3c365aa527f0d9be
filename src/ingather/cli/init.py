"""``ingather init``: make a home."""

import json
from pathlib import Path

import click

from ingather.app.home import Home
from ingather.cli.home_option import default_home

__all__ = ["command"]


@click.command()
@click.argument("home", type=click.Path(path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def command(home: Path | None, *, as_json: bool) -> None:
    """Make a home in the folder HOME (default: $INGATHER_HOME or ./home).

    The folder may be missing or empty. In a home that is there already, what is missing is added and
    nothing that exists is changed.

    \b
    Examples:
      ingather init ./home
      ingather init /srv/ingather
    """  # noqa: D301 - click wants the control character
    path = default_home() if home is None else home
    there = Home(path).settings_file.exists()
    made = Home.create(path)
    if as_json:
        click.echo(json.dumps({"home": str(made), "created": not there}))
        return
    if there:
        click.echo(f"{made} is a home already; nothing that exists was changed")
        return
    click.echo(
        f"made the home {made}\n"
        f"  {made.settings_file.name:16} settings, all of them as comments with their defaults\n"
        "  config/          what is crawled and how: robot.conf, filter.conf, filterrules.conf\n"
        "  admin-token      secret of the admin pages, readable by you only\n"
        f"next: ingather crawl --home {path} https://intranet.example/"
    )
