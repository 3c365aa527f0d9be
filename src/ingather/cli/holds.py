"""``ingather holds``: deletions that wait for a person."""

from datetime import UTC, datetime
from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.cli.removing import note_option
from ingather.cli.tombstones import open_book
from ingather.units import counted

__all__ = ["command"]


@click.group("holds")
def command() -> None:
    """List deletions that wait for you, carry them out or drop them."""


@command.command("list")
@home_option
@click.option("--closed", is_flag=True, help="Those that ended, with who ended them and why.")
@click.option("--json", "as_json", is_flag=True, help="Print the holds as JSON.")
def list_(home: Path, *, closed: bool, as_json: bool) -> None:
    """List the open holds with their cause."""
    if closed:
        _list_closed(home, as_json=as_json)
        return
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
            f"{hold['id']}  source {hold['source']}: {counted(hold['documents'], 'document')}, {hold['reason']}, since {opened}"
        )
        if hold.get("why"):
            click.echo(f"     {hold['why']}")
        for url in hold["sample"]:
            click.echo(f"     {url}")


def _list_closed(home: Path, *, as_json: bool) -> None:
    found = open_book(home).closed_holds()
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("no hold has ended yet")
    for hold in found:
        by = f" by {hold['who']}" if hold["who"] else ""
        note = f', "{hold["note"]}"' if hold["note"] else ""
        click.echo(
            f"{hold['id']}  source {hold['source']}: {hold['reason']}, {hold['opened']}; {hold['verdict']} {hold['closed']}{by}{note}"
        )


@command.command("show")
@click.argument("number", type=int)
@home_option
@click.option(
    "--after",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Go on behind the row that --json named as next.",
)
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="At most so many documents."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(number: int, home: Path, after: int, limit: int, *, as_json: bool) -> None:
    """Show hold NUMBER, open or closed, with what is in it and the answers that say so."""
    found = open_book(home).hold(number, after=after, limit=limit)
    if as_json:
        print_json(found)
        return
    from ingather.explain.proof import evidence_line

    state = f"{found['verdict']} {found['closed']}" if found["closed"] else "open"
    click.echo(
        f"{found['id']}  source {found['source']}: {found['reason']}, since {found['opened']}, {state}"
    )
    if found["why"]:
        click.echo(f"     {found['why']}")
    for item in found["items"]:
        click.echo(item["url"])
        for one in item["evidence"]:
            click.echo(f"     {evidence_line(one)}")
    if found["next"]:
        click.echo(f"there are more: --after {found['next']}")


@command.command("release")
@click.argument("number", type=int)
@home_option
@note_option
def release(number: int, home: Path, note: str) -> None:
    """Carry the deletions of hold NUMBER out (undoable with: ingather undelete)."""
    _close(number, home, note, release=True)


@command.command("discard")
@click.argument("number", type=int)
@home_option
@note_option
def discard(number: int, home: Path, note: str) -> None:
    """Drop the deletions of hold NUMBER: its documents stay, and for the cool-down none goes for that reason."""
    _close(number, home, note, release=False)


def _close(number: int, home: Path, note: str, *, release: bool) -> None:
    from ingather.app.operating import Operations
    from ingather.app.publishing import author_here
    from ingather.model.decided import By

    place, read = open_home(home)
    by = By.of(author_here(), note)
    answer = Operations(place, read.settings, read.sources).close_hold(number, release=release, by=by)
    click.echo(f"{counted(answer['documents'], 'document')} {'deleted' if release else 'stay'}")
