"""``ingather overlay explain|stats|expired|hide|unhide``: what is laid over documents, and why."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.app.overlay.office import OverlayOffice

__all__ = ["expired", "explain", "hide", "office", "stats", "unhide"]

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
