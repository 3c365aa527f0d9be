"""``ingather classify``: documents into categories by queries of the index."""

from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.units import counted

__all__ = ["command"]


@click.command("classify")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """Ask the index the queries of classification.conf and the taxonomy, and tag what they find.

    The tags of the run before are replaced.
    """
    from ingather.app.operating import Operations

    place, read = open_home(home)
    tell = None if as_json else click.echo
    answer = Operations(place, read.settings, read.sources).classify(tell=tell)
    if as_json:
        print_json(answer)
        return
    click.echo(
        f"{answer['queries']} queries, {counted(answer['documents'], 'document')} in their categories, {answer['changed']} changed"
    )
