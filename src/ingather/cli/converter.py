"""``ingather converter``: which documents are converted, by media type.

The verbs of the group stand in :data:`CONVERTER_VERBS`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.lazy import LazyGroup
from ingather.cli.opened import print_json
from ingather.cli.site_common import asked, edit_options, editing, say

if TYPE_CHECKING:
    from ingather.app.sites.converters import ConverterDesk

__all__ = ["CONVERTER_VERBS", "command", "disable", "enable", "list_"]

CONVERTER_VERBS: dict[str, str] = {
    "list": "ingather.cli.converter:list_",
    "enable": "ingather.cli.converter:enable",
    "disable": "ingather.cli.converter:disable",
}
"""Verb of the group to where its command is (``module:attribute``), in the order of the help."""

_filter = click.option(
    "--filter",
    "filter_",
    default="",
    metavar="NAME",
    help="Another filter than the selected generation filter.",
)


@click.group("converter", cls=LazyGroup, verbs=CONVERTER_VERBS)
def command() -> None:
    """Conversion of documents into pages, by media type: the convert-to-html lines of filter.conf."""


@click.command("list", short_help="List the types, their readers, and whether they are converted.")
@home_option
@_filter
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(home: Path, filter_: str, *, as_json: bool) -> None:
    """List the convert-to-html lines of the generation filter: type, reader, on or off, where. Reader "-": none takes it."""
    found = _desk(home).listed(filter_)
    if as_json:
        print_json(found)
        return
    for mistake in found["mistakes"]:
        click.echo(mistake, err=True)
    rows = found["converters"]
    width = max((len(row["type"]) for row in rows), default=0)
    for row in rows:
        mark = "on " if row["enabled"] else "off"
        click.echo(f"{row['type']:{width}}  {row['reader'] or '-':9}  {mark}  {row['where']}")
    on = sum(row["enabled"] for row in rows)
    click.echo(f"{found['filter']}: {on} of {len(rows)} lines are on; etag {found['etag']}")


@click.command("enable", short_help="Convert documents of a type.")
@click.argument("media_type", metavar="TYPE")
@home_option
@_filter
@edit_options
def enable(media_type: str, home: Path, filter_: str, **given: Any) -> int:
    """Convert documents of TYPE, for example application/pdf: its lines in filter.conf are switched on, or one is written.

    The name of a reader ("pdf") means all types with lines that it takes.
    """
    return _switch(home, media_type, filter_, given, on=True)


@click.command("disable", short_help="Convert documents of a type no more.")
@click.argument("media_type", metavar="TYPE")
@home_option
@_filter
@edit_options
def disable(media_type: str, home: Path, filter_: str, **given: Any) -> int:
    """Convert documents of TYPE no more: its lines in filter.conf get enable=false, and enable takes that back."""
    return _switch(home, media_type, filter_, given, on=False)


def _switch(home: Path, media_type: str, filter_: str, given: dict[str, Any], *, on: bool) -> int:
    answer = _desk(home).switch(media_type, asked(given), on=on, filter_=filter_)
    return say(answer, f"converter {answer['type']} {'enabled' if on else 'disabled'}", given=given)


def _desk(home: Path) -> "ConverterDesk":
    from ingather.app.sites.converters import ConverterDesk

    return ConverterDesk(editing(home))
