"""``ingather index``: the index is disposable; compare it with the catalog, make it anew."""

from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.units import counted

__all__ = ["command"]


@click.group("index")
def command() -> None:
    """Compare the index with the catalog, or rebuild it."""


@command.command("check")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def check(home: Path, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Check the index's files and compare it exactly with the catalog. Exit status 1: they differ."""
    from ingather.app.checking import check_index

    place, _ = open_home(home)
    found = check_index(place)
    if as_json:
        print_json(found)
    elif found["ok"]:
        click.echo(
            f"the index equals the catalog: {counted(found['documents'], 'document')}, change {found['sequence']}"
        )
    else:
        for line in found["findings"]:
            click.echo(line)
        click.echo("mend it with: ingather index rebuild")
    return 0 if found["ok"] else 1


@command.command("rebuild")
@home_option
def rebuild(home: Path) -> None:
    """Make the index anew from the catalog; the old one answers until the new one is ready."""
    from ingather.app.checking import rebuild_index
    from ingather.app.overlay.laying import Overlays

    place, read = open_home(home)
    with place.lock("ingather index rebuild"):
        Overlays(place, read.settings, read.sources, read.classes).ask_command()
        count = rebuild_index(
            place, read.settings, tell=lambda done: click.echo(f"{counted(done, 'document')}", err=True)
        )
    click.echo(f"{counted(count, 'document')} indexed")
