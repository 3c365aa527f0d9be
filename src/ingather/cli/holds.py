"""``ingather holds``: deletions that wait for a person."""

from datetime import UTC, datetime
from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

__all__ = ["command"]


@click.group("holds")
def command() -> None:
    """List deletions that wait for you, carry them out or drop them."""


@command.command("list")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print the holds as JSON.")
def list_(home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """List the open holds with their cause."""
    from ingather.app.operating import Operations

    place, read = open_home(home)
    found = Operations(place, read.settings, read.sources).holds()
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("no deletions are held")
    for hold in found:
        opened = datetime.fromtimestamp(hold["opened"], UTC).strftime("%Y-%m-%d %H:%M UTC")
        click.echo(
            f"{hold['id']}  source {hold['source']}: {hold['documents']} documents, {hold['reason']}, since {opened}"
        )
        for url in hold["sample"]:
            click.echo(f"     {url}")


@command.command("release")
@click.argument("number", type=int)
@home_option
def release(number: int, home: Path) -> None:
    """Carry the deletions of hold NUMBER out (undoable with: ingather undelete)."""
    _close(number, home, release=True)


@command.command("discard")
@click.argument("number", type=int)
@home_option
def discard(number: int, home: Path) -> None:
    """Drop the deletions of hold NUMBER: its documents stay."""
    _close(number, home, release=False)


def _close(number: int, home: Path, *, release: bool) -> None:
    from ingather.app.operating import Operations

    place, read = open_home(home)
    answer = Operations(place, read.settings, read.sources).close_hold(number, release=release)
    click.echo(f"{answer['documents']} documents {'deleted' if release else 'stay'}")
