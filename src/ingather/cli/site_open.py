"""``ingather site open``, and the look at the host that ``ingather site add`` ends with."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.cli.site_list import desk

if TYPE_CHECKING:
    from ingather.app.home import Home
    from ingather.app.siteprobe.finding import Finding
    from ingather.conf.settings.file import SettingsFile

__all__ = ["look_at", "open_"]

_SIGNS = {"note": "note", "warning": "warning", "problem": "PROBLEM"}


@click.command("open", short_help="Let a site's private addresses be asked, for good.")
@click.argument("site", metavar="NAME|URL")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def open_(site: str, home: Path, *, as_json: bool) -> int:
    """Write what the source of a site lacks to reach it into ingather.toml: its private addresses, its host; then look at it.

    The site is named by its name, its host or a URL of it. The addresses are those that name service gives now; whoever
    can change that name service cannot widen what is written.
    """
    from ingather.model.urlparts import split

    name = split(site).host if "://" in site else site
    found = look_at(home, desk(home).shown(name), {"yes": True, "as_json": as_json})
    if as_json:
        print_json(found)
    elif not found["opened"]:
        click.echo("nothing was to be opened")
    return 1 if any(one["level"] == "problem" for one in found["findings"]) else 0


def look_at(home: Path, site: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Ask the site's starting points what is in the way, and open private addresses if that is wanted.

    Returns:
        ``opened`` (``addresses`` and ``hosts`` that were written, or null), ``to_open`` (those that would have to be) and
        ``findings``, as JSON shows them.
    """
    import msgspec

    from ingather.app.siteprobe.desk import HomeProbe
    from ingather.app.sites.opening import open_addresses, opening_for
    from ingather.log import configure

    configure(level="error")
    place, read = open_home(home)
    starts = [start["url"] for start in site["starts"]]
    sources, told = dict(read.sources), not given["as_json"]
    owner = sources.get(site["source"])
    web = [url for url in starts if url.startswith(("http://", "https://"))]
    opening = opening_for(owner, web) if owner is not None else None
    opened = None
    if opening is not None and opening.needed:
        what = ", ".join([*opening.hosts, *(text.partition("/")[0] for text in opening.addresses)])
        if told:
            click.echo(
                f"the robot may not ask there yet: the source {opening.source} does not name {what}", err=True
            )
        if given["yes"] or (told and _asked(f"write {opening.lines()} into ingather.toml?")):
            where = open_addresses(place, opening)
            opened = {"addresses": opening.addresses, "hosts": opening.hosts}
            _visit_again(place, read, starts)
            if told:
                click.echo(
                    f"{where}: {opening.lines()}; a running serve takes it over when it is started anew"
                )
            place, read = open_home(home)
            sources, opening = dict(read.sources), None
        elif told:
            click.echo(f"  to open it: ingather site open {site['name']}", err=True)
    found: list[Finding] = []
    if opening is None or not opening.needed:
        found = HomeProbe(place, read.settings, sources).glance(web, site["source"])
        if told:
            _say(found, web)
    to_open = None
    if opening is not None and opening.needed:
        to_open = {"addresses": opening.addresses, "hosts": opening.hosts}
    return {"opened": opened, "to_open": to_open, "findings": [msgspec.to_builtins(one) for one in found]}


def _visit_again(home: "Home", read: "SettingsFile", starts: list[str]) -> None:
    """Have the next visit of what was refused until now come soon."""
    from ingather.app.homeparts import database_of
    from ingather.app.robot.desk import HomeRobot
    from ingather.errors import IngatherError

    if starts and database_of(home).exists():
        with suppress(IngatherError):  # they were never met, or a crawl has the home
            HomeRobot(home, read.settings).command("recheck", url=" ".join(starts))


def _say(found: "list[Finding]", starts: list[str]) -> None:
    for one in found:
        click.echo(f"{_SIGNS[one.level]}: {one.text}" + (f" -> {one.do}" if one.do else ""), err=True)
    if starts and not any(one.level in {"warning", "problem"} for one in found):
        click.echo(f"{starts[0]} answers, nothing is in the way")


def _asked(question: str) -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty() and click.confirm(question, err=True)
