"""``ingather secret``: passwords and keys by which we show ourselves to hosts, kept encrypted."""

import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.errors import UsageError

if TYPE_CHECKING:
    from ingather.app.secrets import SecretStore
    from ingather.conf.settings.file import SettingsFile

__all__ = ["command"]


@click.group("secret")
def command() -> None:
    """Keep passwords, keys and tokens for hosts: encrypted in the home, their key outside it. No value is ever shown."""


@command.command("set", options_metavar="[OPTIONS]")
@click.argument("name")
@click.argument("rest", nargs=-1, metavar="", type=click.UNPROCESSED)
@home_option
def set_(name: str, rest: tuple[str, ...], home: Path) -> None:
    """Keep a secret as NAME. On a terminal it is asked for; else it is what comes by standard input, without the line end.

    A credential that hosts refused is tried again with it.
    """
    from ingather.app.secrets import is_secret_name

    if rest:  # not repeated: it may be the secret
        raise UsageError(
            "a secret is not taken from the command line, where others see it", hint=f"ingather secret set {name}, and type it there"
        )  # fmt: skip
    store, _ = _opened(home)
    if not is_secret_name(name):
        raise UsageError(
            f"{name!r} cannot name a secret", hint="letters, digits and . _ - , at most 64, no sign first"
        )
    if sys.stdin.isatty():
        value = str(click.prompt("Secret", hide_input=True, confirmation_prompt=True, err=True))
    else:
        try:
            value = sys.stdin.buffer.read(1 << 20).decode()
        except UnicodeDecodeError as error:
            raise UsageError("that is no secret: it is not UTF-8") from error
        value = value.removesuffix("\n").removesuffix("\r")
    made = store.set(name, value, time.time())
    click.echo(f"secret {name} is kept in {store.path}")
    if made:
        click.echo(
            f"its key was made: {store.key.path}. Keep a copy of it elsewhere: no backup of the home holds it.", err=True
        )  # fmt: skip


@command.command("list")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """List names of secrets, when they were set, and which credentials want them; never a value. Refused credentials stand below."""
    from ingather.app.home import Home
    from ingather.app.reaching.ledger import refusals

    store, read = _opened(home)
    place = Home.open(home)
    kept = store.names()
    users: dict[str, list[str]] = {}
    for one in read.credentials.values():
        for name in one.secrets:
            users.setdefault(name, []).append(one.name)
    rows = [
        {"name": name, "set": _when(kept[name]) if name in kept else None, "credentials": users.get(name, [])}
        for name in sorted({*kept, *users})
    ]
    refused = [
        {
            "credential": one.name, "state": "suspended" if one.suspended else "waiting", "refused": one.refused, "why": one.text,
            "last": _when(one.last_s),
        } for one in refusals(place.run)
    ]  # fmt: skip
    if as_json:
        print_json({"secrets": rows, "refused": refused})
        return
    if not rows:
        click.echo("no secrets; keep one with: ingather secret set NAME")
    for row in rows:
        said = f"set {row['set']}" if row["set"] else "not set"
        wanted = f"for {', '.join(row['credentials'])}" if row["credentials"] else "for no credential"
        click.echo(f"{row['name']}  {said}  {wanted}")
    for entry in refused:
        click.echo(
            f"credential {entry['credential']} is {entry['state']} since {entry['last']}: {entry['refused']} refusals in a row; {entry['why']}"
        )


@command.command("delete")
@click.argument("name")
@home_option
def delete(name: str, home: Path) -> None:
    """Forget the secret NAME; credentials that want it are not sent any more."""
    _opened(home)[0].delete(name)
    click.echo(f"secret {name} is deleted")


@command.command("resume")
@click.argument("credential")
@home_option
def resume(credential: str, home: Path) -> int:
    """Let CREDENTIAL be tried again although hosts refused it. Exit status 1: nothing was against it."""
    from ingather.app.reaching.ledger import forget

    place, _ = open_home(home)
    if not forget(place.run, credential):
        click.echo(f"nothing is against credential {credential}")
        return 1
    click.echo(f"credential {credential} is tried again")
    return 0


@command.command("rekey")
@home_option
def rekey(home: Path) -> None:
    """Make a new key and encrypt everything anew; backups of secrets.json that were made before want the old key."""
    store, _ = _opened(home)
    count = store.rekey()
    click.echo(f"{count} secrets are encrypted with a new key: {store.key.path}")


def _opened(path: Path) -> "tuple[SecretStore, SettingsFile]":
    from ingather.app.secrets import KeyFile, SecretStore

    home, read = open_home(path)
    return SecretStore(
        home.path, KeyFile.of(home.path, read.settings.text("secrets.key-file"), os.environ)
    ), read


def _when(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
