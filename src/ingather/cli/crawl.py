"""``ingather crawl URL...``: one run, with progress and a summary."""

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home
from ingather.cli.way_line import way_line
from ingather.units import counted

if TYPE_CHECKING:
    from ingather.app.crawling import CrawlSummary, Progress
    from ingather.app.runhosts import Resolved

__all__ = ["command"]

_MEGA = 1_000_000


@click.command("crawl")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@home_option
@click.option(
    "--depth", type=click.IntRange(min=-1), help="Links followed from the given URLs; -1 = no limit."
)
@click.option("--max-pages", type=click.IntRange(min=1), default=None, help="End after so many visits.")
@click.option(
    "--delay", metavar="DURATION", help='Between two visits of a host ("2s", "500ms"); 0 only for own hosts.'
)
@click.option(
    "--own-host",
    "own_hosts",
    multiple=True,
    metavar="HOST[:PORT]",
    help="A host of yours: no delay, no address limits.",
)
@click.option("--source", default="web", show_default=True, help="The source that the pages belong to.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON on standard output.")
@click.option("--quiet", is_flag=True, help="No progress; only what went wrong.")
def command(  # noqa: PLR0913, PLR0917 - one a flag
    urls: tuple[str, ...],
    home: Path,
    depth: int | None,
    max_pages: int | None,
    delay: str | None,
    own_hosts: tuple[str, ...],
    source: str,
    as_json: bool,  # noqa: FBT001 - click gives it so
    quiet: bool,  # noqa: FBT001
) -> int:
    """Gather the sites of the given URLs (or the configured ones) once, until nothing is left to visit.

    Exit status 0: done; 1: a starting point failed or nothing was indexed, the first line says why.
    """
    from ingather.app.crawling import Wanted, crawl, plan_crawl
    from ingather.app.memory import calm_collector
    from ingather.errors import HomeLockedError, UnitError, UsageError
    from ingather.log import configure
    from ingather.units import parse_seconds

    try:
        delay_s = parse_seconds(delay) if delay is not None else None
    except UnitError as error:
        raise UsageError(f"--delay: {error}") from error
    place, read = open_home(home)
    configure(level="warning" if quiet or sys.stderr.isatty() else read.settings.text("log.level"))
    wanted = Wanted(urls, depth, max_pages or 0, delay_s, own_hosts, source)
    plan, resolved = plan_crawl(place, read.sources, wanted)
    at_once = sys.stderr.isatty()  # elsewhere the first line is for what went wrong, if something does
    if at_once and not quiet:
        _say_addresses(resolved)
    display = _Display(quiet=quiet)

    async def main() -> "CrawlSummary":
        stop = asyncio.Event()
        calm_collector()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        try:
            return await crawl(place, read.settings, plan, tell=display.show, stop=stop)
        except HomeLockedError as locked:
            if urls and "ingather serve" in f"{locked.owner} {locked.text}":
                raise HomeLockedError(
                    locked.text, owner=locked.owner,
                    hint=f"serve gathers already; give it the work: ingather site add {urls[0]} (a site, for good), or "
                    f"ingather robot add {urls[0]} (a URL of a site that it has)",
                ) from locked  # fmt: skip
            raise

    summary = asyncio.run(main())
    display.end()
    _report(summary, as_json=as_json, quiet=quiet)
    if not (at_once or quiet):
        _say_addresses(resolved)
    if summary.interrupted:
        return 130
    return summary.status


def _say_addresses(resolved: "list[Resolved]") -> None:
    for item in resolved:
        if item.told:
            click.echo(item.told, err=True)
        elif item.trouble:
            click.echo(f"{item.host}: {item.trouble}", err=True)
        else:
            note = " (not public: opened for this run)" if item.private else ""
            if item.closed:
                note = f" ({item.closed}: no run can reach it)"
            click.echo(f"{item.host} is {', '.join(item.addresses)}{note}", err=True)


class _Display:
    """One line that moves on a terminal, a line every ten seconds elsewhere."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._last = 0.0
        self._drawn = False

    def show(self, progress: "Progress") -> None:
        if self._quiet:
            return
        bad = sum(
            progress.outcomes.get(name, 0)
            for name in ("failed", "server_error", "back_off", "robots_unreachable")
        )
        text = (
            f"{int(progress.elapsed_s)} s  {progress.visited} visited  {progress.pages_s:.0f}/s  {progress.queue} waiting  "
            f"{progress.out} in hand  {len(progress.hosts)} hosts  {bad} errors"
        )
        if progress.backing_off:
            text += f"  {len(progress.backing_off)} hosts left alone"
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
            self._drawn = True
        elif progress.elapsed_s - self._last >= 10:  # noqa: PLR2004 - seconds
            self._last = progress.elapsed_s
            click.echo(text, err=True)

    def end(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _say_what_went_wrong(summary: "CrawlSummary") -> None:
    if summary.stopped:
        click.echo(
            f"stopped: {summary.stopped}; run it again when that is mended, it goes on where it stood",
            err=True,
        )
    if summary.why_nothing:
        click.echo(f"nothing was indexed: {summary.why_nothing}", err=True)
    else:
        for item in summary.failed_starts:
            click.echo(f"{item['url']} failed: {item['why']}", err=True)
    if summary.index != "ok":
        click.echo(f"the index stopped: {summary.index}; run: ingather index rebuild", err=True)
    if summary.warnings:
        click.echo("warnings:", err=True)
    for text in summary.warnings:
        click.echo(f"  {text}", err=True)


def _report(summary: "CrawlSummary", *, as_json: bool, quiet: bool) -> None:
    _say_what_went_wrong(summary)
    if as_json:
        from dataclasses import asdict

        click.echo(json.dumps(asdict(summary), indent=2, sort_keys=True))
    elif not quiet:
        click.echo(
            f"{summary.visited} visits in {summary.elapsed_s:.1f} s, {summary.bytes / _MEGA:.1f} MB, "
            f"{counted(summary.documents, 'document')} in search"
            + (f": {summary.why_nothing}" if summary.why_nothing else "")
            + (", completed with warnings" if summary.state == "completed with warnings" else "")
        )
        for name, count in summary.outcomes.items():
            click.echo(f"  {count:>8}  {name.replace('_', ' ')}")
        for name, count in summary.limits.items():
            click.echo(f"  {count:>8}  refused by the limit {name}")
        for host, seconds in summary.left_alone.items():
            click.echo(f"  {host} is left alone for {seconds:.0f} s more")
        for item in summary.ways:
            click.echo(f"  {way_line(item)}")
        for item in summary.robots_unreachable:
            click.echo(
                f"  {item['host']}: robots.txt unreachable for {item['days']} days, nothing is fetched: {item['why']}"
            )
        if summary.waiting:
            click.echo(f"  {summary.waiting} URLs wait for another run")
