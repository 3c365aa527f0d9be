"""``ingather token``: keys of programs that search, push feeds or administer."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.app.access.accounts import Accounts

__all__ = ["command"]

_RIGHTS = ("searcher", "feeder", "administrator", "search-as")


@click.group("token")
def command() -> None:
    """Make, list and revoke tokens, with which programs show who they are."""


@command.command("add")
@click.argument("name")
@home_option
@click.option(
    "--right", "rights", multiple=True, required=True, type=click.Choice(_RIGHTS),
    help="What it is good for; may be given again. search-as: searches as whichever user it names.",
)  # fmt: skip
@click.option("--days", type=click.IntRange(1, 36_500), help="Days until it expires; without it never.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def add(name: str, home: Path, rights: tuple[str, ...], days: int | None, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """Make a token called NAME and print it, this once: only its digest is kept."""
    form = {"name": name, "rights": ",".join(rights), "days": "" if days is None else str(days)}
    made = _accounts(home).add_token(form)
    if as_json:
        print_json(made)
        return
    click.echo(made["token"])
    click.echo(
        f"token {name}: {', '.join(made['rights'])}; expires {made['expires'] or 'never'}; "
        "it is not shown again",
        err=True,
    )


@command.command("list")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print the tokens as JSON.")
def list_(home: Path, as_json: bool) -> None:  # noqa: FBT001
    """List the tokens, revoked ones too."""
    found = _accounts(home).tokens()["tokens"]
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("no tokens; make one with: ingather token add NAME --right searcher")
    for token in found:
        state = (
            f"revoked {token['revoked']}" if token["revoked"] else f"expires {token['expires'] or 'never'}"
        )
        click.echo(f"{token['name']}  {', '.join(token['rights'])}  made {token['created']}  {state}")


@command.command("revoke")
@click.argument("name")
@home_option
def revoke(name: str, home: Path) -> None:
    """Revoke the token called NAME: from now on it opens nothing."""
    _accounts(home).revoke_token(name)
    click.echo(f"token {name} revoked")


def _accounts(home: Path) -> "Accounts":
    from ingather.app.access.accounts import HomeAccounts

    place, read = open_home(home)
    return HomeAccounts(place, read.settings, read.sources).accounts
