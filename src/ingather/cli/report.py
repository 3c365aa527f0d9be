"""``ingather report NAME``: what the robot found, denied and failed at, what is next and why."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.app.reports.desk import HomeReports
    from ingather.app.reports.table import Table

__all__ = ["command", "open_reports", "tell"]


@click.command("report")
@click.argument("name", required=False, default="", metavar="[NAME]")
@click.option("--run", default="", metavar="N", help="Of this run; last = the newest, which is the default.")
@click.option("--host", default="", metavar="HOST", help="The URLs of this host: a name, or an origin.")
@click.option(
    "--reason",
    default="",
    metavar="TEXT",
    help="URLs excluded for it: a category, a place like filter.conf:12, words.",
)
@click.option("--class", "class_", default="", metavar="CLASS", help="URLs with errors of this class.")
@click.option(
    "--what",
    default="",
    metavar="WHAT",
    help="rds: new, changed, unchanged or removed. sitemaps: missing, unlisted or files.",
)
@click.option("--group", default="", metavar="DIGEST", help="Members of this group of equal bodies.")
@click.option("--near", is_flag=True, help="Near-duplicates instead of equal bodies.")
@click.option("--limit", default="", metavar="N", help="Rows; default 100, 0 = all.")
@click.option("--after", default="", metavar="N", help="Go on where the last rows ended.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the report as CSV.")
@home_option
def command(name: str, home: Path, *, near: bool, as_json: bool, as_csv: bool, **given: str) -> None:
    """Show the report NAME; without NAME the list of reports.

    Reports read the catalog; the robot may run meanwhile. Rows are printed while they are found.

    \b
    Examples:
      ingather report errors
      ingather report errors --class http-404 --host www.example.org
      ingather report excluded --run last --reason filter.conf:12 --csv
    """  # noqa: D301 - click wants the control character
    from ingather.app.reports.desk import asked

    reports = open_reports(home)
    if not name:
        _catalogue(reports, as_json=as_json)
        return
    fields = {key.rstrip("_"): value for key, value in given.items() if value} | (
        {"near": "1"} if near else {}
    )
    options = {key: value for key, value in fields.items() if key != "limit"}
    report = reports.named(name, options)
    ask = asked(fields)
    with reports.context() as context:
        tell(name, report.make(context, ask), ask.limit, context.now_s, as_json=as_json, as_csv=as_csv)


def open_reports(home: Path) -> "HomeReports":
    """Return the reports of the home at *home*."""
    from ingather.app.reports.desk import HomeReports
    from ingather.app.robot.desk import HomeRobot
    from ingather.errors import IngatherError
    from ingather.log import configure

    configure(level="warning")
    place, read = open_home(home)

    def live() -> dict[str, Any]:
        try:
            return HomeRobot(place, read.settings).status()
        except IngatherError as error:
            return {"state": "unknown", "why": error.text}

    return HomeReports(place, read.settings, live)


def tell(name: str, table: "Table", limit: int, now_s: float, *, as_json: bool, as_csv: bool) -> None:  # noqa: PLR0913 - a report and its form
    """Print a report in one of its three forms, row by row.

    Raises:
        UsageError: two forms are wanted.
    """
    from ingather.app.reports import writing
    from ingather.errors import UsageError

    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other")
    pieces: Iterator[str]
    if as_json:
        pieces = writing.as_json(name, table, limit=limit, now_s=now_s)
    elif as_csv:
        pieces = writing.as_csv(table, limit=limit)
    else:
        pieces = writing.as_text(table, limit=limit)
    for piece in pieces:
        click.echo(piece, nl=False)


def _catalogue(reports: "HomeReports", *, as_json: bool) -> None:
    found = reports.catalogue()
    if as_json:
        print_json(found)
        return
    for report in found["reports"]:
        takes = f"  [{', '.join(f'--{option}' for option in report['options'])}]" if report["options"] else ""
        click.echo(f"{report['name']:<14} {report['about']}{takes}")
