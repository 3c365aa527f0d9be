"""``ingather overlay explain|stats|diff|history|rollback|expired|hide|unhide``: what is laid over documents, and why."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.app.overlay.office import OverlayOffice

__all__ = ["diff", "expired", "explain", "hide", "history", "office", "rollback", "stats", "unhide"]

_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_SHOWN = 200
_SHOWN_OF_DIFF = 1_000


def office(home: Path) -> "OverlayOffice":
    """Return the commands on *home*."""
    from ingather.app.overlay.office import OverlayOffice

    return OverlayOffice(*open_home(home))


@click.command("explain")
@click.argument("url")
@_json
@home_option
def explain(url: str, home: Path, *, as_json: bool) -> None:
    """Say what is laid over URL: the lines that speak for it, and which line won each class."""
    found = office(home).desk.explain(url)
    if as_json:
        print_json(found)
        return
    for line in _explained(found):
        click.echo(line)


def _explained(found: dict[str, Any]) -> list[str]:
    lines = [found["canonical"]]
    if found["stripped"] != found["canonical"]:
        lines.append(f"  without its default page: {found['stripped']}")
    for layer in found["layers"]:
        lines += [
            f"  {layer['layer']}:{step['line']} {step['prefix']}{' (this page alone)' if step['exact'] else ''}"
            for step in layer["chain"]
        ]
        for story in layer["classes"]:
            values = " | ".join(story["values"]) or "(cleared)"
            lines.append(f"      {story['class']} = {values}, by line {story['line']}")
            lines += [
                f"          instead of {' | '.join(other['values']) or '(cleared)'}, line {other['line']}"
                for other in story["overrode"]
            ]
    if not any(layer["chain"] for layer in found["layers"]):
        lines.append("  no line speaks for it")
    if found["terms"]:
        lines.append(f"  terms: {' '.join(found['terms'])}")
    if found["expires"]:
        lines.append(f"  {'expired' if found['expired'] else 'expires'}: {found['expires']}")
    if found["restricted"]:
        lines.append("  restricted: a searcher must be named, and its access list must permit")
    if not found["described"]:
        lines.append("  the catalog has no description of it")
    return lines


@click.command("stats")
@click.option("--unused", is_flag=True, help="Only lines that touch no document.")
@_json
@home_option
def stats(home: Path, *, unused: bool, as_json: bool) -> None:
    """List for each line in force how many documents it touches, and all warnings."""
    found = office(home).desk.stats()
    if as_json:
        print_json(found)
        return
    for line in found["lines"]:
        if not unused or not line["documents"]:
            mark = "!" if not line["documents"] else " "
            alone = " (this page alone)" if line["exact"] else ""
            click.echo(
                f"{mark} {line['documents']:8}  {line['layer']}:{line['line']} {line['prefix']}{alone}"
            )
    for warning in found["warnings"][:_SHOWN]:
        click.echo(warning, err=True)
    if len(found["warnings"]) > _SHOWN:
        click.echo(f"... and {len(found['warnings']) - _SHOWN} more", err=True)


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
    click.echo(f"{found['documents']} documents would change")
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


@click.command("expired")
@_json
@home_option
def expired(home: Path, *, as_json: bool) -> None:
    """List the documents that nobody finds because their last day (class X) is over."""
    rows = office(home).desk.expired()
    if as_json:
        print_json(rows)
        return
    for row in rows:
        click.echo(
            f"{datetime.fromtimestamp(row['expired'], UTC).strftime('%Y-%m-%d %H:%M UTC')}  {row['url']}"
        )


@click.command("unhide")
@click.argument("url")
@home_option
def unhide(url: str, home: Path) -> None:
    """Let the document URL be found although its last day is over."""
    _set_hidden(url, home, hidden=False)


@click.command("hide")
@click.argument("url")
@home_option
def hide(url: str, home: Path) -> None:
    """Undo unhide: the last day of the document URL counts again."""
    _set_hidden(url, home, hidden=True)


def _set_hidden(url: str, home: Path, *, hidden: bool) -> None:
    from ingather.app.publishing import author_here

    done = office(home).set_hidden(url, author_here(), hidden=hidden)
    what = "is hidden when its last day is over" if hidden else "is found whatever its last day is"
    click.echo(f"{done['url']} {what}")
