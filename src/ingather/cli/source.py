"""``ingather source``: what there is to gather and to be pushed, what each source owns, and away with one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ingather.cli.feed_common import json_option, moment, open_feeds, tell_list
from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.cli.removing import note_option
from ingather.units import counted

__all__ = ["command"]


@click.group("source")
def command() -> None:
    """Sources: list, show, conflicts, add, disable and enable, delete their documents, destroy what is left."""


@command.command("list")
@home_option
@json_option
def list_(home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """List the sources with what they own."""
    found = open_feeds(home).sources.listed()
    tell_list(found, _line, nothing="nothing was gathered or pushed so far", as_json=as_json)


@command.command("show")
@click.argument("name")
@home_option
@json_option
def show(name: str, home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """Show the source NAME: what it owns, in which states, its settings, its last feeds."""
    found = open_feeds(home).sources.shown(name)
    if as_json:
        print_json(found)
        return
    click.echo(_line(found))
    states = ", ".join(f"{count} {state}" for state, count in found["urls"].items())
    click.echo(
        f"  URLs: {states or 'none'}; listed by feeds: {found['listed']}, with content: {found['pushed']}"
    )
    if found["also_lists"]:
        click.echo(f"  it lists {found['also_lists']} URLs that belong to others")
    for one in found["needs_scope"]:
        click.echo(f"  needs-scope: {one['urls']} URLs: {one['needs']}")
    if found["acls"]:
        click.echo(f"  ACLs: {found['acls']}")
    if found["held"]:
        click.echo(f"  {found['held']} deletions are held; see: ingather holds list")
    for key, value in found["settings"].items():
        click.echo(f"  {key} = {value}")
    for feed in found["last_feeds"]:
        at = moment(feed["received"])
        counts = f"{feed['applied']} applied, {feed['rejected']} rejected"
        click.echo(f"  feed {feed['id']}  {at}  {feed['feedtype']}: {feed['state']}, {counts}")


@command.command("conflicts")
@click.argument("name", default="")
@click.option("--after", type=int, default=0, help="Begin behind this row.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=1000, show_default=True, help="At most so many."
)
@home_option
@json_option
def conflicts(name: str, after: int, limit: int, home: Path, as_json: bool) -> None:  # noqa: FBT001 - click gives it so
    """List URLs that one source owns and another names, too; with NAME those of that source.

    The owner's rules fetch and delete. Pushed content comes before feeds of sites, these before sitemaps, these before the crawl.
    """
    found = open_feeds(home).sources.conflicts(name, after=after, limit=limit)
    tell_list(
        found, lambda one: f"{one['url']}  belongs to {one['owner']}, named by {one['listed_by']}, too",
        nothing="no source names a URL of another", as_json=as_json,
    )  # fmt: skip


@command.command("add")
@click.argument("name")
@click.argument("assignments", nargs=-1, metavar="[KEY=VALUE]...")
@home_option
def add(name: str, assignments: tuple[str, ...], home: Path) -> None:
    """Write the source NAME into ingather.toml, with the keys that you give; everything else in the file stays.

    \b
    Examples:
      ingather source add intranet access=secure hosts=.corp.example addresses=10.0.0.0/8
      ingather source add products takes-over=no
    """  # noqa: D301 - click wants the control character
    from ingather.app.newsource import add_source

    place, _ = open_home(home)
    where = add_source(place, name, assignments)
    click.echo(f"{where} has a source {name}; a running serve takes it over when it is started anew")


@command.command("disable")
@click.argument("name")
@home_option
def disable(name: str, home: Path) -> None:
    """Let the source NAME rest: nothing is fetched for it, its feeds are taken and wait. Its documents stay in search.

    It rests across restarts, until you enable it.
    """
    done = open_feeds(home).switch_source(name, off=True)
    click.echo(f"{done['name']} is disabled{'' if done['changed'] else ' already'}")


@command.command("enable")
@click.argument("name")
@home_option
def enable(name: str, home: Path) -> None:
    """Let the source NAME go on, and apply the feeds that waited."""
    done = open_feeds(home).switch_source(name, off=False)
    click.echo(f"{done['name']} is enabled{'' if done['changed'] else ' already'}")


@command.command("delete")
@click.argument("name")
@home_option
@note_option
def delete(name: str, home: Path, note: str) -> None:
    """Delete the documents of the source NAME, at once and never held; `undelete --source NAME` undoes it.

    A source that is crawled (site, rss, sitemap) is disabled, so that nothing brings them back. What another source
    names, too, goes to that one. Feeds that were pushed stay with their receipts, until you destroy it.
    """
    from ingather.app.publishing import author_here
    from ingather.model.decided import By

    made = open_feeds(home).delete_source(name, By.of(author_here(), note))
    if "handed_over" not in made:
        click.echo(f"{made['name']}: {made['state']}, {counted(made['deleted'], 'document')} deleted")
        return
    click.echo(f"{made['name']}: {counted(made['deleted'], 'document')} deleted; it is disabled")
    if made["handed_over"]:
        click.echo(
            f"  {counted(made['handed_over'], 'document')} belong to other sources now, which name them, too"
        )


@command.command("destroy")
@click.argument("name")
@home_option
def destroy(name: str, home: Path) -> None:
    """Forget what was listed for the source NAME, which has no documents any more: feeds with receipts and files, sitemaps."""
    gone = open_feeds(home).destroy(name)
    click.echo(f"forgotten: {gone['forgotten']} feeds of {gone['source']}")
    if "still" not in gone:
        return
    click.echo(
        f"  {gone['feeds']} feeds and {gone['sitemaps']} sitemaps of sites, {gone['listed']} URLs that they listed"
    )
    if gone["still"]:
        click.echo("  it stays disabled, for the configuration has it still; take out, and destroy it again:")
    for said in gone["still"]:
        click.echo(f"    {said}")


def _line(one: Mapping[str, Any]) -> str:
    rests = ", disabled" if one["disabled"] is not None else ""
    said = f"{one['name']}  {one['kind']}, {one['access']}{rests}: {counted(one['documents'], 'document')}"
    if one["feeds"]:
        said += f", {one['feeds']} feeds"
    if one["open"]:
        said += f", {one['open']} of them not at their end, about {one['backlog']} records to go"
    return said
