"""``ingather rss add``: a URL is looked at, and its feeds are written into ingather.toml when that is wanted."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.cli.rss_check import clean, report_lines
from ingather.units import counted

__all__ = ["add"]


@click.command("add")
@click.argument("url")
@click.argument("assignments", nargs=-1, metavar="[KEY=VALUE]...")
@click.option(
    "--source",
    "name",
    default="",
    metavar="NAME",
    help="Source that gets the feed; default: made of the host's name.",
)
@click.option("--all", "every", is_flag=True, help="Of a web page that names several feeds take all.")
@click.option("--yes", is_flag=True, help="Write it; without, only what would be written is shown.")
@click.option(
    "--limit",
    default=10,
    show_default=True,
    type=click.IntRange(0),
    help="Items to show of each feed; 0: all.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found and the plan as JSON.")
@home_option
def add(  # noqa: PLR0913 - one parameter an option
    url: str,
    assignments: tuple[str, ...],
    name: str,
    limit: int,
    home: Path,
    *,
    every: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Look at URL (a feed, a sitemap, or a web page that names feeds), show what would be gathered, and with --yes write it down.

    KEY=VALUE are settings of a source that is new, for example: discovery-interval=30m access=secure

    Exit status 1: there is no feed, or the page names several and neither --all nor one of them was given.
    """  # fmt: skip
    from ingather.app.syndication.subscribing import Subscribing
    from ingather.log import configure

    configure(level="error")
    place, _ = open_home(home)
    found = Subscribing(place).add(url, name, assignments, every=every, write=yes)
    plan, why = found["plan"], found["objection"]
    if as_json:
        print_json(found)
    else:
        for line in _lines(found, plan, limit):
            click.echo(line)
        several = len(plan["feeds"]) > 1
        click.echo(f"{clean(why)}{' (--all)' if several else ''}" if why else _last(plan, found["written"]))
    return 1 if why else 0


def _lines(found: Mapping[str, Any], plan: Mapping[str, Any], limit: int) -> Iterator[str]:
    if found["page"]:
        yield f"{found['url']}: a web page that names {counted(found['named'], 'feed')}"
        if found["named"] > len(found["feeds"]):
            yield f"  the first {len(found['feeds'])} are looked at"
    for feed in found["feeds"]:
        yield from report_lines(feed, limit)
        if feed["url"] != feed["asked"]:
            yield f"  found by way of {feed['asked']}"
        if feed["robots"]:
            yield f"  robots.txt forbids it: {clean(feed['robots'])}"
    if plan["feeds"]:
        yield from _plan(plan)
    yield from (f"  {url} is a feed of the source {name} already" for url, name in plan["known"].items())
    yield from (f"  left out: {url}: {clean(why)}" for url, why in plan["refused"].items())


def _plan(plan: Mapping[str, Any]) -> Iterator[str]:
    from ingather.units import counted, format_seconds

    yield "plan:"
    yield f"  {'a new' if plan['new'] else 'the'} source {plan['source']} of kind {plan['kind']} gets"
    for url in plan["feeds"]:
        pace = plan["polls"][url]
        yield f"    {url}, polled every {format_seconds(pace['seconds'])} ({pace['why']})"
    hosts = ", ".join(f"{count} of {host}" for host, count in plan["hosts"].items())
    yield f"  {counted(plan['documents'], 'document')} to fetch{': ' + hosts if hosts else ''}"
    if plan["beyond"]:
        yield f"  {counted(plan['beyond'], 'link')} left out: beyond the source's scope"


def _last(plan: Mapping[str, Any], written: str) -> str:
    if not plan["feeds"]:
        return "nothing is to be written"
    if not written:
        return "nothing is written; write it with --yes"
    return f"{written} has it; a running serve takes it over when it is started anew"
