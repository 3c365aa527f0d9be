"""``ingather user``: people who log in to the search page with a password of their own."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.app.access.accounts import Accounts

__all__ = ["command"]

_stdin_option = click.option(
    "--password-stdin", "stdin", is_flag=True, help="Read the password from the first line of standard input."
)


@click.group("user")
def command() -> None:
    """Add, list and change people who log in to the search page; `list` shows them."""


@command.command("add")
@click.argument("name")
@home_option
@click.option("--domain", default="", help="Domain of the user in access lists; without it NAME says it.")
@click.option("--namespace", default="", help="Namespace of the user in access lists; default Default.")
@_stdin_option
def add(name: str, home: Path, domain: str, namespace: str, stdin: bool) -> None:  # noqa: FBT001 - click gives it so
    """Add a user who logs in as NAME; asks for the password."""
    accounts = _accounts(home)
    form = {"name": name, "password": _password(stdin=stdin), "domain": domain, "namespace": namespace}
    click.echo(f"user {accounts.add_user(form)['name']} added")


@command.command("list")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print the users as JSON.")
def list_(home: Path, as_json: bool) -> None:  # noqa: FBT001
    """List the users."""
    found = _accounts(home).users()["users"]
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("no users; add one with: ingather user add NAME")
    for user in found:
        click.echo(f"{user['name']}  {_spelt(user['principal'])}{'  disabled' if user['disabled'] else ''}")


@command.command("passwd")
@click.argument("name")
@home_option
@_stdin_option
def passwd(name: str, home: Path, stdin: bool) -> None:  # noqa: FBT001
    """Set the password of NAME; whoever is logged in so has to log in again."""
    accounts = _accounts(home)
    accounts.set_password({"name": name, "password": _password(stdin=stdin)})
    click.echo(f"password of {name} set")


@command.command("disable")
@click.argument("name")
@home_option
def disable(name: str, home: Path) -> None:
    """Let NAME in no more, and end what is open."""
    _accounts(home).set_disabled(name, disabled=True)
    click.echo(f"user {name} disabled")


@command.command("enable")
@click.argument("name")
@home_option
def enable(name: str, home: Path) -> None:
    """Let NAME in again."""
    _accounts(home).set_disabled(name, disabled=False)
    click.echo(f"user {name} enabled")


@command.command("delete")
@click.argument("name")
@home_option
def delete(name: str, home: Path) -> None:
    """Delete NAME, and end what is open."""
    _accounts(home).delete_user(name)
    click.echo(f"user {name} deleted")


def _accounts(home: Path) -> "Accounts":
    from ingather.app.access.accounts import HomeAccounts

    place, read = open_home(home)
    return HomeAccounts(place, read.settings, read.sources).accounts


def _password(*, stdin: bool) -> str:
    if stdin or not (sys.stdin.isatty() or _has_terminal()):
        return sys.stdin.readline().rstrip("\r\n")
    ask: Callable[..., Any] = click.prompt
    return str(ask("Password", hide_input=True, confirmation_prompt=True, err=True))


def _has_terminal() -> bool:
    try:
        Path("/dev/tty").open("rb").close()
    except OSError:
        return False
    return True


def _spelt(who: dict[str, str] | None) -> str:
    if who is None:
        return "-"
    name = f"{who['domain']}\\{who['name']}" if who["domain"] else who["name"]
    return name if who["namespace"] == "Default" else f"{name} ({who['namespace']})"
