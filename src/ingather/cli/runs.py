"""``ingather runs``: the history of runs, and two of them side by side."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import print_json
from ingather.cli.report import open_reports, tell

__all__ = ["command"]

_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_csv_option = click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")


@click.group("runs")
def command() -> None:
    """Runs of the robot: when, how many visits, what became of descriptions; what changed from one to another."""


@command.command("list")
@click.option("--limit", default="20", metavar="N", help="Runs; default 20, 0 = all.")
@click.option("--after", default="", metavar="N", help="Only runs before this number.")
@_json_option
@_csv_option
@home_option
def list_(limit: str, after: str, home: Path, *, as_json: bool, as_csv: bool) -> None:
    """List the runs, newest first."""
    from ingather.app.reports.desk import asked
    from ingather.app.reports.runs import history

    ask = asked({"limit": limit, "after": after})
    with open_reports(home).context() as context:
        tell("runs", history(context, ask), ask.limit, context.now_s, as_json=as_json, as_csv=as_csv)


@command.command("show")
@click.argument("run", default="last")
@_json_option
@home_option
def show(run: str, home: Path, *, as_json: bool) -> None:
    """Show RUN (a number, or last) with all its figures."""
    found = open_reports(home).run(run)
    if as_json:
        print_json(found)
        return
    click.echo(f"run {found['run']} ({found['kind']}): {found['state']}")
    click.echo(f"  started {_at(found['started'])}, ended {_at(found['ended'])}")
    if found["detail"]:
        click.echo(f"  {found['detail']}")
    for kind, counts in found["figures"].items():
        for name, count in counts.items():
            click.echo(f"  {kind:<9} {count:>10}  {_clean(name)}")
    for warning in found["warnings"]:
        click.echo(f"  warning: {_clean(warning)}")


@command.command("compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@_json_option
@_csv_option
@home_option
def compare(first: str, second: str, home: Path, *, as_json: bool, as_csv: bool) -> None:
    """Show the figures of the runs A and B side by side, with the difference."""
    from ingather.app.reports.desk import run_number
    from ingather.app.reports.runs import compared
    from ingather.app.reports.visits import run_named

    numbers = run_number(first), run_number(second)
    with open_reports(home).context() as context:
        one, other = (run_named(context, number).number for number in numbers)
        tell("compare", compared(context, one, other), 0, context.now_s, as_json=as_json, as_csv=as_csv)


def _at(wall_s: Any) -> str:
    return (
        "not yet" if wall_s is None else datetime.fromtimestamp(wall_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    )


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
