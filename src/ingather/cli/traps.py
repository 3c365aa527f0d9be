"""``ingather traps``: crawler traps that were found, and the rules that would stop them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.cli.site_common import asked, edit_options, editing, say

if TYPE_CHECKING:
    from ingather.app.traps.desk import TrapDesk

__all__ = ["command"]


@click.group("traps")
def command() -> None:
    """Show crawler traps, publish the rule that stops one, or say that it is none.

    The robot looks for them by itself: addresses that go on for ever and bring nothing new.
    """


@command.command("list")
@home_option
@click.option(
    "--state", default="", metavar="STATE", help="Only those that are open, dismissed or published."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(home: Path, *, state: str, as_json: bool) -> None:
    """List traps, the open ones first."""
    found = _desk(home).listed(state)
    if as_json:
        print_json(found)
        return
    if not found["traps"]:
        click.echo("no crawler traps are known")
    for trap in found["traps"]:
        click.echo(f"{trap['id']}  {trap['state']}  {trap['kind']}  {trap['place']}  {trap['urls']} URLs")
        click.echo(f"     {trap['why']}")


@command.command("show")
@click.argument("number", type=click.IntRange(1))
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(number: int, home: Path, *, as_json: bool) -> None:
    """Show trap NUMBER: what it is, examples, the rule that would stop it and what that would cost."""
    trap = _desk(home).shown(number)
    if as_json:
        print_json(trap)
        return
    click.echo(f"trap {trap['id']}, {trap['state']}: {trap['kind']} at {trap['place']}")
    click.echo(f"  {trap['why']}")
    click.echo(
        f"  {trap['urls']} URLs, {trap['visited']} visited, {trap['contents']} contents; seen {trap['first']} to {trap['last']}"
    )
    for url in trap["examples"]:
        click.echo(f"  {url}")
    if trap["rule"]:
        click.echo(
            f"rule: excludes {trap['excludes']} known URLs, {trap['good_documents']} documents with a content of their own"
        )
        click.echo(trap["rule"], nl=False)
    else:
        click.echo("no rule is known that would stop it")
    if trap["advice"]:
        click.echo(f"better: {trap['advice']}")


@command.command("publish")
@click.argument("number", type=click.IntRange(1))
@home_option
@edit_options
def publish(number: int, home: Path, **given: Any) -> int:
    """Put the rule of trap NUMBER into filterrules.conf, first of the rules of the sites that it is about."""
    answer = _desk(home).publish(number, asked(given))
    return say(answer, f"rule {answer['rule']} added", given=given)


@command.command("dismiss")
@click.argument("number", type=click.IntRange(1))
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def dismiss(number: int, home: Path, *, as_json: bool) -> None:
    """Say that trap NUMBER is none: nobody is told of it again."""
    from ingather.app.publishing import author_here

    trap = _desk(home).dismiss(number, author_here())
    if as_json:
        print_json(trap)
    else:
        click.echo(f"trap {number} dismissed: {trap['place']}")


def _desk(home: Path) -> "TrapDesk":
    from ingather.app.homeparts import database_of
    from ingather.app.operating import Operations
    from ingather.app.traps.desk import TrapDesk

    place, read = open_home(home)
    operations = Operations(place, read.settings, read.sources)
    return TrapDesk(database_of(place), operations.do, editing(home))
