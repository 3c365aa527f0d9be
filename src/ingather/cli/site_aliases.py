"""``ingather site aliases``: hosts with two names."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.app.hostaliases.desk import AliasDesk

__all__ = ["aliases"]

_json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")


@click.group("aliases", invoke_without_command=True)
@home_option
@_json_option
@click.pass_context
def aliases(context: click.Context, home: Path, *, as_json: bool) -> None:
    """Hosts that show the same under two names: proposed by what they show, chosen by you, applied to the keys of URLs.

    Without a verb: `list`.
    """
    if context.invoked_subcommand is None:
        _show(home, as_json=as_json)
    elif any(
        context.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in ("home", "as_json")
    ):
        raise click.UsageError(
            f"write options behind the verb: ingather site aliases {context.invoked_subcommand} --home ..."
        )


@aliases.command("list")
@home_option
@_json_option
def list_(home: Path, *, as_json: bool) -> None:
    """Show what is proposed, applied, refused, and what smart-host-heuristics folds."""
    _show(home, as_json=as_json)


def _show(home: Path, *, as_json: bool) -> None:
    found = _desk(home).listed()
    if as_json:
        print_json({"aliases": found})
        return
    for one in found:
        who = f" by {one['who']}" if one["who"] else ""
        click.echo(f"{one['alias']} -> {one['host']}: {one['state']}{who} {one['at']}".rstrip())
        if one["evidence"]:
            click.echo(f"  {_clean(one['evidence'])}")
    if not found:
        click.echo("no alias is known; look for some with: ingather site aliases propose")


@aliases.command("propose")
@home_option
@_json_option
def propose(home: Path, *, as_json: bool) -> None:
    """Look for hosts with the same documents at the same paths; nothing follows from it until you apply one."""
    done = _desk(home).propose()
    if as_json:
        print_json(done)
        return
    for one in done["proposed"]:
        click.echo(f"{one['alias']} -> {one['host']}: {_clean(one['evidence'])}")
        click.echo(f"  to choose it: ingather site aliases apply {one['alias']} {one['host']}")
    for one in done["refused"]:
        click.echo(f"{one['alias']} and {one['host']} show the same, but: {_clean(one['why'])}")
    if not (done["proposed"] or done["refused"]):
        click.echo("nothing new")


@aliases.command("apply")
@click.argument("alias")
@click.argument("host")
@click.option("--note", default="", help="Why, for the history.")
@home_option
@_json_option
def apply(alias: str, host: str, note: str, home: Path, *, as_json: bool) -> None:
    """Give URLs of ALIAS the keys of HOST from now on.

    What is described under the old keys is proposed for deletion (reason "its host is an alias now") and its counterparts are visited.
    """
    done = _desk(home).apply(alias, host, _by(note))
    _say(
        done,
        f"{done['alias']} is an alias of {done['host']}: {done['visits']} URLs are looked at again",
        as_json=as_json,
    )


@aliases.command("refuse")
@click.argument("alias")
@click.option("--note", default="", help="Why, for the history.")
@home_option
@_json_option
def refuse(alias: str, note: str, home: Path, *, as_json: bool) -> None:
    """Refuse ALIAS, also one that is applied: it is not proposed again."""
    done = _desk(home).refuse(alias, _by(note))
    _say(done, f"{done['alias']} is refused as an alias of {done['host']}", as_json=as_json)


@aliases.command("remove")
@click.argument("alias")
@click.option("--note", default="", help="Why, for the history.")
@home_option
@_json_option
def remove(alias: str, note: str, home: Path, *, as_json: bool) -> None:
    """Forget ALIAS: its URLs have their own keys again, and it may be proposed again."""
    done = _desk(home).remove(alias, _by(note))
    _say(done, f"{done['alias']} is no alias of {done['host']} any more", as_json=as_json)


def _desk(home: Path) -> "AliasDesk":
    from ingather.app.hostaliases.desk import HomeAliases
    from ingather.log import configure

    configure(level="warning")
    place, read = open_home(home)
    return HomeAliases(place, read.settings, read.sources).desk


def _by(note: str) -> Any:
    from ingather.app.publishing import author_here
    from ingather.model.decided import By

    return By.of(author_here(), note)


def _say(done: Mapping[str, Any], text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(done)
    else:
        click.echo(text)


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
