"""``ingather rss import-opml|export-opml``: lists of feeds from and for other readers."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.cli.rss_check import clean
from ingather.units import counted

__all__ = ["export_opml", "import_opml"]


@click.command("import-opml")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--source",
    "name",
    default="",
    metavar="NAME",
    help="Source that gets all feeds; default: each outermost folder is a source.",
)
@click.option("--yes", is_flag=True, help="Write it; without, only what would be written is shown.")
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
@home_option
def import_opml(file: Path, name: str, home: Path, *, yes: bool, as_json: bool) -> None:
    """Take over the feeds of an OPML FILE: show the plan, and with --yes write them into ingather.toml.

    Exit status 1: it is no OPML.
    """  # fmt: skip
    from ingather.app.syndication.subscribing import Subscribing
    from ingather.errors import WebFeedError

    place, _ = open_home(home)
    try:
        plan = Subscribing(place).import_opml(file.read_bytes(), name, write=yes)
    except WebFeedError as error:
        raise WebFeedError(f"{file}: {error}") from error
    if as_json:
        print_json(plan)
        return
    for line in _lines(plan):
        click.echo(line)
    if not plan["sources"]:
        click.echo("nothing is to be written")
    elif plan["written"]:
        click.echo(f"{plan['written']} has them; a running serve takes them over when it is started anew")
    else:
        click.echo("nothing is written; write it with --yes")


def _lines(plan: Mapping[str, Any]) -> Iterator[str]:
    for source in plan["sources"]:
        folder = f" (folder {clean(source['folder'])})" if source["folder"] else ""
        yield f"{'new source' if source['new'] else 'source'} {source['name']}{folder}: {counted(len(source['feeds']), 'feed')}"
        for feed in source["feeds"]:
            yield f"  {feed['url']}{'  ' + clean(feed['title']) if feed['title'] else ''}"
    for feed in plan["duplicates"]:
        folders = "/".join(map(clean, feed["folders"]))
        yield f"listed twice: {feed['url']}{f' (in {folders})' if folders else ''}; the first counts"
    yield from (f"known: {feed['url']} is a feed of the source {feed['source']}" for feed in plan["known"])
    yield from (f"remark: {clean(remark)}" for remark in plan["remarks"])


@click.command("export-opml")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@home_option
def export_opml(file: Path | None, home: Path) -> None:
    """Write the feeds of all sources of kind rss as OPML, a folder each source, into FILE or to standard output."""
    from ingather.cli.rss_verbs import office

    body = office(home).opml()
    if file is None:
        sys.stdout.write(body.decode())
    else:
        file.write_bytes(body)
