"""``ingather rss check``: the items of a feed with link and dates as they are understood; without ``--source`` no home is needed."""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.units import counted

if TYPE_CHECKING:
    from ingather.app.syndication.checking import Fetched

__all__ = ["check", "clean", "report_lines"]

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_PATIENCE_S: Final = 10.0


@click.command("check")
@click.argument("document", metavar="URL|FILE")
@click.option("--url", default="", help="Where FILE would be found: relative links are resolved against it.")
@click.option(
    "--address",
    "addresses",
    multiple=True,
    metavar="CIDR",
    help="A private range that may be asked, several times.",
)
@click.option(
    "--source",
    default="",
    help="Ask for URL as this source does: its reach, proxies and logins; wants a home.",
)
@home_option
@click.option("--limit", default=20, show_default=True, type=click.IntRange(0), help="Items to show; 0: all.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, with all items.")
def check(  # noqa: PLR0913, PLR0917 - one an option
    document: str, url: str, addresses: tuple[str, ...], source: str, home: Path, limit: int, *, as_json: bool
) -> int:
    """Show how a feed or sitemap is understood: its items with link and dates, its hints, what is odd.

    URL is asked for once, redirects followed. A web page shows the feeds that it names. Exit status 1: it is no feed, or cannot be had.
    """
    from ingather.app.syndication.checking import check_document, fetch_document, read_file

    if document.lower().startswith(("http://", "https://")):
        if url:
            raise click.UsageError("--url is for a file")
        if source and addresses:
            raise click.UsageError(
                "--address is for who asks without --source: addresses of the source count"
            )
        if source:
            fetched = _as_source(home, source, document)
        else:
            fetched = asyncio.run(fetch_document(document, addresses=_ranges(addresses), user_agent=_agent()))
    else:
        if source:
            raise click.UsageError("--source is for a URL")
        path = Path(document)
        if not path.is_file():
            raise click.UsageError(f"{document!r} is neither an http(s) URL nor a file")
        fetched = read_file(path, url)
    report = check_document(fetched, timeout_s=_PATIENCE_S)
    if as_json:
        print_json(report)
    else:
        for line in report_lines(report, limit):
            click.echo(line)
    return 1 if report["error"] else 0


def _as_source(home: Path, name: str, document: str) -> "Fetched":
    from ingather.app.syndication.probing import feed_url, fetch_through
    from ingather.errors import UsageError
    from ingather.log import configure

    configure(level="error")
    place, _ = open_home(home)
    settings = place.settings()
    if name not in settings.sources:
        raise UsageError(
            f"there is no source {name!r}", hint=f"there are: {', '.join(sorted(settings.sources))}"
        )
    return fetch_through(place, settings.settings, settings.sources[name], feed_url(document))


def _ranges(addresses: tuple[str, ...]) -> tuple[str, ...]:
    from ipaddress import ip_network

    for address in addresses:
        try:
            ip_network(address, strict=False)
        except ValueError:
            raise click.UsageError(f"--address {address}: not an address or a range of them") from None
    return addresses


def _agent() -> str:
    from ingather import __version__

    return f"Ingather/{__version__}"


def report_lines(report: Mapping[str, Any], limit: int) -> Iterator[str]:
    """Yield how a feed was understood, for a terminal; *limit*: items that are shown, 0 = all."""
    items = report.get("items", ())
    what = " ".join(part for part in (report["kind"] or "no feed", report.get("version", "")) if part)
    flags = ", malformed" if report["malformed"] else ""
    yield f"{report['url']}: {what}{flags}"
    if report.get("title"):
        yield f"  title: {clean(report['title'])}"
    if report["error"]:
        yield f"  error: {clean(report['error'])}"
    for feed in report.get("feeds", ()):
        yield f"  names the feed {feed}"
    yield from (f"  {hint}" for hint in _hints(report.get("hints", {})))
    yield from (f"  remark: {clean(remark)}" for remark in report["remarks"])
    shown = items[:limit] if limit else items
    for item in shown:
        yield f"  {item['link']}"
        dates = [f"{name} {clean(item[name])}" for name in ("published", "modified") if item[name]]
        yield f"      {', '.join(dates) or 'no date'}{'; ' + clean(item['title']) if item.get('title') else ''}"
    if len(items) > len(shown):
        yield f"  and {len(items) - len(shown)} more"
    for rejected in report.get("rejected", ()):
        yield f"  rejected: item {rejected['number']}: {clean(rejected['reason'])}"
    for stone in report.get("tombstones", ()):
        yield f"  deleted: {clean(stone['ref'])} {clean(stone['when'])}".rstrip()
    rejections = report.get("rejected_count", 0)
    yield f"  {counted(len(items), 'item')}{f', {rejections} rejected' if rejections else ''}"


def _hints(hints: dict[str, Any]) -> Iterator[str]:
    if hints.get("ttl_minutes") is not None:
        yield f"ttl: {hints['ttl_minutes']} min"
    if hints.get("skip_hours"):
        yield f"skip hours (GMT): {', '.join(map(str, sorted(hints['skip_hours'])))}"
    if hints.get("skip_days"):
        yield f"skip days (GMT): {', '.join(_DAYS[day] for day in sorted(hints['skip_days']))}"
    for name, word in (
        ("next_url", "next page"),
        ("prev_archive", "older archive"),
        ("self_url", "calls itself"),
    ):
        if hints.get(name):
            yield f"{word}: {hints[name]}"
    yield from (f"hub: {hub}" for hub in hints.get("hubs", ()))
    for flag in ("complete", "archive", "expired"):
        if hints.get(flag):
            yield flag


def clean(text: str) -> str:
    """Return *text* without what a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in text)
