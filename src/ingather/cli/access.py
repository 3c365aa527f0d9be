"""``ingather access``: who may see what, and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.app.access.accessing import HomeAccess

__all__ = ["command"]

_json_option = click.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
_limit_option = click.option(
    "--limit", type=click.IntRange(1, 100_000), default=1_000, show_default=True, help="At most so many."
)


@click.group("access")
def command() -> None:
    """Say who may see a document and why; `broken` lists those that nobody may see for a broken ACL."""


@command.command("explain")
@click.argument("url")
@click.option(
    "--user",
    default="",
    help="Who asks: a local user, or one as access lists spell him. Without: nobody in particular.",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    help="A group that a directory would say the user is in; may be given again.",
)
@home_option
@_json_option
def explain(url: str, user: str, groups: tuple[str, ...], home: Path, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Say whether a user may see URL: the verdict, every ACL with the entries that name him, his groups with the way to each.

    Exit status 0: the user may see it; 1: not.
    """
    answer = _asked(home, lambda desk: desk.explain(url, user, groups), url)
    if as_json:
        print_json(answer)
    else:
        from ingather.explain.access_printing import explanation_text

        click.echo(explanation_text(answer, user))
    return 0 if answer["permitted"] else 1


@command.command("broken")
@_limit_option
@home_option
@_json_option
def broken(limit: int, home: Path, as_json: bool) -> int:  # noqa: FBT001
    """List URLs whose chain of ACLs cannot be evaluated, each with the reason: nobody may see them.

    Exit status 1: there are some.
    """
    answer = _asked(home, lambda desk: desk.broken(limit=limit))
    if as_json:
        print_json(answer)
    else:
        for row in answer["broken"]:
            instead = "; policy rules decide instead" if row["rescued"] else ""
            click.echo(f"{row['url']}\n    {row['status']}: {row['reason']}{instead}")
        if answer["more"]:
            click.echo(f"and more than these {limit}")
        if not answer["broken"]:
            click.echo("every chain of ACLs can be evaluated")
    return 1 if answer["broken"] else 0


@command.command("who")
@click.argument("url")
@_limit_option
@home_option
@_json_option
def who(url: str, limit: int, home: Path, as_json: bool) -> int:  # noqa: FBT001
    """List who can see URL: users that ACLs or memberships name, and the groups that permit.

    Exit status 1: nobody.
    """
    answer = _asked(home, lambda desk: desk.who(url, limit=limit), url)
    if as_json:
        print_json(answer)
    else:
        from ingather.explain.access_printing import seeing_text

        click.echo(seeing_text(answer, limit))
    return 0 if answer["everybody"] or answer["users"] or answer["groups"] else 1


@command.group("ldap")
def ldap() -> None:
    """Ask the directory that ingather.toml names in [directory]."""


@ldap.command("test")
@click.option("--user", default="", help="Look this person up, too: the entry and all groups.")
@click.option(
    "--password-stdin", "stdin", is_flag=True, help="Read the user's password from standard input and try it."
)
@home_option
@_json_option
def ldap_test(user: str, stdin: bool, home: Path, as_json: bool) -> int:  # noqa: FBT001
    """Try every server of the directory, and say what works.

    Exit status 1: something does not.
    """
    import sys

    from ingather.app.access.directory import directory_of, try_directory
    from ingather.app.clock import SystemClock
    from ingather.errors import UsageError

    place, read = open_home(home)
    directory = directory_of(place, read.settings, SystemClock())
    if directory is None:
        raise UsageError("no directory is set", hint="write directory.servers into ingather.toml")
    if stdin and not user:
        raise UsageError("whose password is that?", hint="add --user NAME")
    password = sys.stdin.readline().rstrip("\r\n") if stdin else None
    answer = try_directory(directory, user=user, password=password)
    if as_json:
        print_json(answer)
    else:
        for server in answer["servers"]:
            click.echo(f"{server['server']}: {server['trouble'] or 'works'}")
        if (found := answer["user"]) is not None:
            click.echo(f"{user}: {found['dn'] or 'not found'}")
            if found["found"]:
                click.echo(f"  name {found['name']}, {len(found['groups'])} groups")
                for group in found["groups"]:
                    click.echo(f"    {group}")
            if found["login"] is not None:
                click.echo(f"  password: {'right' if found['login'] else 'wrong'}")
            if found["trouble"]:
                click.echo(f"  {found['trouble']}")
    return 0 if answer["works"] else 1


def _asked(home: Path, question: Any, url: str = "") -> Any:
    from ingather.errors import UrlError, UsageError

    try:
        return question(_desk(home))
    except UrlError as error:
        raise UsageError(f"{url!r} is not a URL: {error.text}") from error


def _desk(home: Path) -> "HomeAccess":
    from ingather.app.access.accessing import HomeAccess
    from ingather.app.access.directory import people_of
    from ingather.app.clock import SystemClock

    place, read = open_home(home)
    return HomeAccess(
        place,
        directory=people_of(place, read.settings, SystemClock()),
        cut_domains=read.settings.flag("access.cut-domains"),
    )
