"""``ingather feed list|show|records|retry|replay|delete|load``: what became of pushed feeds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ingather.cli.feed_common import json_option, moment, open_feeds, tell_list
from ingather.cli.home_option import home_option
from ingather.cli.opened import print_json

__all__ = ["delete", "list_", "load", "records", "replay", "retry", "show"]

_STATES = ("applied", "rejected", "waiting", "deleted", "held", "unchanged", "superseded", "needs-scope")
_TYPES = ("full", "incremental", "metadata-and-url")


@click.command("list")
@home_option
@click.option("--source", default="", help="Only feeds of this data source.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Feeds at most.")
@json_option
def list_(home: Path, source: str, limit: int, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """List pushed feeds, newest first."""
    found = open_feeds(home).office.feeds(datasource=source, limit=limit)
    tell_list(
        found, _line, nothing="no feeds were pushed; see: ingather feed accept-from --help", as_json=as_json
    )


@click.command("show")
@click.argument("name")
@home_option
@json_option
def show(name: str, home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """Show the feed NAME (or number): its state, its counts, what is to be said of it."""
    feed = open_feeds(home).office.feed(name)
    if as_json:
        print_json(feed)
        return
    click.echo(_line(feed))
    click.echo(f"  pushed by {feed['sender']}, {feed['size']} bytes, sha256 {feed['sha256']}")
    if feed["ended"] is None:
        click.echo(f"  {feed['done']} records done, about {feed['waiting']} to go")
    if feed["rests"]:
        click.echo("  its source is disabled: it waits until somebody enables it")
    if feed["held"]:
        click.echo(f"  {feed['held']} deletions are held; see: ingather holds list")
    if feed["detail"]:
        click.echo(f"  {feed['detail']}")
    click.echo(f"  all of it is in search: {'yes' if feed['indexed'] else 'not yet'}")


@click.command("records")
@click.argument("name")
@home_option
@click.option(
    "--state", type=click.Choice(_STATES), help="Only records that were applied so, or are so by now."
)
@click.option("--after", type=int, default=0, help="Begin behind this record.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=1000, show_default=True, help="Records at most."
)
@json_option
def records(  # noqa: PLR0913, PLR0917 - click gives it so
    name: str, home: Path, state: str | None, after: int, limit: int, as_json: bool  # noqa: FBT001
) -> None:  # fmt: skip
    """Print the receipts of feed NAME: one line a record, as the log of an appliance."""
    found = open_feeds(home).office.records(name, after=after, limit=limit, state=state or "")
    if as_json:
        print_json(found)
        return
    for record in found:
        click.echo(record["log"])
    if not found:
        click.echo("no such records", err=True)


@click.command("retry")
@click.argument("name")
@home_option
def retry(name: str, home: Path) -> None:
    """Apply the feed NAME from its beginning once more."""
    _done(open_feeds(home).retry(name))


@click.command("replay")
@click.argument("name")
@home_option
def replay(name: str, home: Path) -> None:
    """Push the file of feed NAME again, as a feed of its own."""
    _done(open_feeds(home).replay(name))


@click.command("delete")
@click.argument("name")
@home_option
@click.option("--documents", is_flag=True, help="NAME is a data source: delete what its feeds brought.")
def delete(name: str, home: Path, documents: bool) -> None:  # noqa: FBT001 - click gives it so
    """Forget the feed NAME with its receipts and its file; what it brought stays.

    With --documents: delete the documents of the data source NAME, at once.
    """
    if documents:
        _done(open_feeds(home).delete_documents(name))
        return
    click.echo(f"forgotten: {open_feeds(home).forget(name)['forgotten']}")


@click.command("load")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@home_option
@click.option("--source", required=True, metavar="NAME", help="Data source whose feed it is.")
@click.option(
    "--type",
    "feedtype",
    type=click.Choice(_TYPES),
    default="incremental",
    show_default=True,
    help="What it does.",
)
@click.option("--jsonl", is_flag=True, help="The file has JSON lines.")
@json_option
def load(  # noqa: PLR0913, PLR0917 - click gives it so
    file: Path, home: Path, source: str, feedtype: str, jsonl: bool, as_json: bool  # noqa: FBT001
) -> int:  # fmt: skip
    """Apply FILE as if it had been pushed, without `serve`; a running `serve` is pushed to instead."""
    feed = open_feeds(home).load(file, source, feedtype, jsonl=jsonl)
    if as_json:
        print_json(feed)
    else:
        click.echo(_line(feed))
        if feed["detail"]:
            click.echo(f"  {feed['detail']}")
    return 0 if feed["state"] == "completed" else 1


def _line(feed: Mapping[str, Any]) -> str:
    at = moment(feed["received"])
    counts = f"{feed['applied']} applied, {feed['rejected']} rejected"
    if feed["deleted"]:
        counts += f", {feed['deleted']} left out and deleted"
    rests = " (its source is disabled)" if feed["rests"] else ""
    return f"{feed['id']}  {at}  {feed['name']}: {feed['state']}{rests}, {counts}"


def _done(feed: Mapping[str, Any]) -> None:
    click.echo(_line(feed))
