"""``ingather overlay history|show|diff|publish|rollback``: external metadata as versions."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import print_json
from ingather.cli.overlay_verbs import office
from ingather.units import counted

__all__ = ["diff", "history", "publish", "rollback", "show"]

_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_SHOWN = 200
_SHOWN_OF_DIFF = 1_000


@click.command("show", short_help="Print the files of a version.")
@click.argument("version", default="current")
@click.argument("layer", default="")
@_json
@home_option
def show(version: str, layer: str, home: Path, *, as_json: bool) -> None:
    """Print what the layers say in VERSION: a number, current (in force, the default) or config (what stands in config/).

    LAYER picks one; it is printed alone, without a heading.
    """
    from ingather.errors import UsageError

    files = office(home).desk.files(version)
    if layer and layer not in files:
        raise UsageError(
            f"version {version} has no layer {layer}", hint=f"it has: {', '.join(sorted(files)) or 'none'}"
        )
    if as_json:
        print_json({layer: files[layer]} if layer else files)
        return
    for name, text in sorted(files.items()):
        if not layer:
            click.echo(f"=== {name} ===")
        if not layer or name == layer:
            click.echo(text, nl=bool(text) and not text.endswith("\n"))


@click.command("publish", short_help="Put what stands in the files in force now.")
@click.option("--note", default="", metavar="TEXT", help="Why, for the history.")
@_json
@home_option
def publish(note: str, home: Path, *, as_json: bool) -> int:
    """Put what stands in the files in force now; a process that gathers or serves does that by itself.

    With an error in a file nothing is changed, and the exit status is 1.
    """
    from ingather.app.publishing import author_here

    done = office(home).publish(author_here(), note)
    if as_json:
        print_json(done)
        return 1 if done["errors"] else 0
    for finding in (*done["errors"], *done["warnings"])[:_SHOWN]:
        click.echo(finding, err=True)
    if done["errors"]:
        click.echo("nothing was changed", err=True)
        return 1
    if done["changed"]:
        click.echo(f"version {done['version']} is in force; {counted(done['documents'], 'document')} changed")
    elif done["version"]:
        click.echo(f"version {done['version']} was in force already")
    else:
        click.echo("there is no external metadata")
    return 0


@click.command("diff", short_help="Compare a file or a version with what is in force, or two versions.")
@click.argument("states", nargs=-1, metavar="[[OLD] NEW]")
@click.option(
    "--source", default=None, metavar="NAME", help="Whose file NEW is; default: the file of all sources."
)
@_json
@home_option
def diff(states: Sequence[str], source: str | None, home: Path, *, as_json: bool) -> int:
    """Say what NEW would change of OLD, record by record, and in how many documents; nothing is put in force.

    NEW is a file, the number of a version, current (what is in force) or config (what stands in config/, the default).
    OLD is a version, current (the default) or config.

    Exit status 1 when anything would change, or a file has errors.
    """
    from ingather.errors import UsageError

    if len(states) > 2:  # noqa: PLR2004 - two sides
        raise UsageError("a comparison has two sides", hint="write: ingather overlay diff [[OLD] NEW]")
    new = states[-1] if states else "config"
    old = states[0] if len(states) > 1 else "current"
    if not _is_state(old):
        raise UsageError(
            f"{old!r} is no version, current or config", hint="list versions with: ingather overlay history"
        )
    found = _compared(old, new, source, home)
    if as_json:
        print_json(found)
    else:
        _tell_difference(found)
    return 1 if found["diff"] or found["documents"] or found["errors"] else 0


def _is_state(word: str) -> bool:
    return word in {"current", "config"} or (word.isascii() and word.isdecimal())


def _compared(old: str, new: str, source: str | None, home: Path) -> dict[str, Any]:
    from ingather.app.overlay.files import read_stable
    from ingather.errors import UsageError

    if _is_state(new):
        if source is not None:
            raise UsageError("--source says whose file NEW is", hint=f"{new} has the files of all sources")
        return office(home).desk.compare(old, new)
    file = Path(new)
    found = read_stable(file) if file.is_file() else None
    if found is None:
        raise UsageError(f"{new!r} is no file, and no version, current or config either")
    body, size = found
    return office(home).desk.diff(body, source or "", size, name=new, old=old)


def _tell_difference(found: dict[str, Any]) -> None:
    for line in found["diff"][:_SHOWN_OF_DIFF]:
        click.echo(line)
    if len(found["diff"]) > _SHOWN_OF_DIFF:
        click.echo(f"... and more lines, {found['records']} records in all; --json has them")
    click.echo(f"{counted(found['documents'], 'document')} would change")
    for one in found["sample"]:
        click.echo(f"  {one['url']}")
        click.echo(f"    {_said(one['before'])}  ->  {_said(one['after'])}")
    for finding in (*found["errors"], *found["warnings"])[:_SHOWN]:
        click.echo(finding, err=True)
    for text in (*found["problems"], *(f"note: {note}" for note in found["notes"])):
        click.echo(text, err=True)


def _said(values: dict[str, list[str]]) -> str:
    return "; ".join(f"{name}={' | '.join(each)}" for name, each in values.items()) or "nothing"


@click.command("history")
@_json
@home_option
def history(home: Path, *, as_json: bool) -> None:
    """List what was in force when, newest first: version, time, author, note."""
    rows = office(home).desk.history()
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo("no external metadata has been in force yet")
    for row in rows:
        at = datetime.fromtimestamp(row["at"], UTC).strftime("%Y-%m-%d %H:%M UTC")
        mark, by = "*" if row["in_force"] else " ", f"{row['author']}: " if row["author"] else ""
        click.echo(f"{mark} {row['version']:4}  {at}  {by}{row['note']}".rstrip())


@click.command("rollback")
@click.argument("version", type=int)
@home_option
def rollback(version: int, home: Path) -> None:
    """Put VERSION in force again: its files are written back into config/, its records set again."""
    from ingather.app.publishing import author_here

    done = office(home).rollback(version, author_here())
    click.echo(
        f"version {version} is in force" if done["changed"] else f"version {version} was in force already"
    )
