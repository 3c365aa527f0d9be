"""``ingather remove`` and ``ingather undelete``: documents out at once, and back."""

from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

__all__ = ["remove", "undelete"]

_TARGET = "URL|PREFIX"


@click.command("remove")
@click.argument("target", metavar=_TARGET)
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def remove(target: str, home: Path, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Take a document out of search at once, or everything below a prefix that ends in / or *.

    What is removed is not gathered again until it is undeleted. Exit status 1: nothing was there.
    """
    from ingather.app.operating import Operations

    place, read = open_home(home)
    answer = Operations(place, read.settings, read.sources).remove(target)
    if as_json:
        print_json(answer)
    else:
        click.echo(f"{answer['removed']} removed; undo with: ingather undelete {target}")
    return 0 if answer["removed"] else 1


@click.command("undelete")
@click.argument("target", metavar=_TARGET)
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def undelete(target: str, home: Path, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Undo deletions of a document, or of everything below a prefix that ends in / or *.

    Exit status 1: nothing was deleted there.
    """
    from ingather.app.operating import Operations

    place, read = open_home(home)
    answer = Operations(place, read.settings, read.sources).undelete(target)
    if as_json:
        print_json(answer)
    else:
        click.echo(f"{answer['restored']} restored")
    return 0 if answer["restored"] else 1
