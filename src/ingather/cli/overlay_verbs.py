"""``ingather overlay explain|stats|diff|history|rollback|expired|hide|unhide``: what is laid over documents, and why."""

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


@click.command("diff")
@click.argument("new", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--source", default="", metavar="NAME", help="Whose file; default: the file of all sources.")
@_json
@home_option
def diff(new: Path, source: str, home: Path, *, as_json: bool) -> int:
    """Say what the file NEW would change, in how many documents; nothing is put in force.

    Exit status 1 when anything would change, or the file has errors.
    """
    from ingather.app.overlay.files import read_stable

    body, size = read_stable(new) or (b"", 0)
    found = office(home).desk.diff(body, source, size)
    if as_json:
        print_json(found)
    else:
        for line in found["changes"][:_SHOWN]:
            click.echo(line)
        if len(found["changes"]) > _SHOWN:
            click.echo(f"... and {len(found['changes']) - _SHOWN} more lines")
        click.echo(f"{found['documents']} documents would change")
        for one in found["sample"]:
            click.echo(f"  {one['url']}")
            click.echo(f"    {_said(one['before'])}  ->  {_said(one['after'])}")
        for finding in (*found["errors"], *found["warnings"])[:_SHOWN]:
            click.echo(finding, err=True)
    return 1 if found["changes"] or found["errors"] else 0


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
