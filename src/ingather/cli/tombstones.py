"""``ingather tombstones``: what was deleted, what proves it, and what people decided."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.units import counted

if TYPE_CHECKING:
    from ingather.app.deletions import DeletionBook

__all__ = ["command", "open_book"]


def open_book(home: Path) -> "DeletionBook":
    """Return what the home at *home* knows of deletions."""
    from ingather.app.deletions import DeletionBook
    from ingather.app.homeparts import database_of

    place, _ = open_home(home)
    return DeletionBook(database_of(place))


@click.group("tombstones")
def command() -> None:
    """Show what was deleted, with what proves it: which answers, when, by which rule, in which run, and who wanted it."""


@command.command("list")
@home_option
@click.option("--run", default="", metavar="N", help="Those that run N made.")
@click.option("--reason", default="", metavar="TEXT", help="Those whose reason has TEXT in it, in any case.")
@click.option("--hold", default="", metavar="N", help="Those that the release of hold N made.")
@click.option("--source", default="", metavar="NAME", help="Those of this source.")
@click.option("--after", default="", metavar="N", help="Go on behind the row that --json named as next.")
@click.option("--limit", default="100", metavar="N", show_default=True, help="At most so many, 1000 at once.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(home: Path, *, as_json: bool, **form: str) -> int:
    """List deletions that can be undone. Exit status 1: there are none."""
    answer = open_book(home).tombstones(form)
    if as_json:
        print_json(answer)
        return 0 if answer["tombstones"] else 1
    from ingather.explain.proof import stone_line

    for stone in answer["tombstones"]:
        click.echo(f"{stone['url']}\n     {stone_line(stone)}")
    if answer["next"]:
        click.echo(f"there are more: --after {answer['next']}")
    if not answer["tombstones"]:
        click.echo("nothing was deleted")
    return 0 if answer["tombstones"] else 1


@command.command("show")
@click.argument("url")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(url: str, home: Path, *, as_json: bool) -> int:
    """Show why URL was deleted, or may be, and each answer that says so. Exit status 1: it was not deleted."""
    answer = open_book(home).tombstone(url)
    stone = answer["tombstone"]
    if as_json:
        print_json(answer)
        return 0 if stone else 1
    from ingather.explain.proof import evidence_line, stone_line

    click.echo(answer["url"])
    click.echo(f"deleted    {stone_line(stone)}" if stone else "it is not deleted")
    for one in answer["evidence"]:
        click.echo(f"evidence   {evidence_line(one)}")
    if stone:
        back = "with its description" if stone["kept"] else "and is then described anew"
        click.echo(f"undo with  ingather undelete {answer['url']} (it comes back {back})")
    return 0 if stone else 1


@command.command("decisions")
@home_option
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="At most so many."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def decisions(home: Path, limit: int, *, as_json: bool) -> None:
    """List what people decided about deletions, newest first: who, what, why, how many documents."""
    found = open_book(home).decisions(limit)
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("nobody decided anything")
    for one in found:
        note = f', "{one["note"]}"' if one["note"] else ""
        about = f" ({one['source']}: {one['reason']})" if one["source"] else ""
        click.echo(
            f"{one['at']}  {one['who'] or 'somebody'}  {one['verb']} {one['target']}{about}: {counted(one['documents'], 'document')}{note}"
        )
