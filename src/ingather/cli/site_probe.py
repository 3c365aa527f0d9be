"""``ingather site probe``: what a host is like before it is crawled."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

__all__ = ["probe", "report_lines"]

_SIGNS: Final = {"ok": "  ok      ", "note": "  note    ", "warning": "  warning ", "problem": "  PROBLEM "}


@click.command("probe")
@click.argument("names", nargs=-1, metavar="[HOST|URL|SITE-NAME]...")
@click.option("--no-dns", is_flag=True, help="Do not ask for canonical, other and reverse names.")
@click.option("--no-redirects", is_flag=True, help="Do not follow where the root leads.")
@click.option("--all", "domains", is_flag=True, help="Without a name: sites of type domain as well.")
@click.option("--json", "as_json", is_flag=True, help="Print the reports as JSON.")
@home_option
def probe(  # noqa: PLR0913 - options of one verb
    names: tuple[str, ...],
    home: Path,
    *,
    no_dns: bool,
    no_redirects: bool,
    domains: bool,
    as_json: bool,
) -> int:
    """Look at hosts before they are crawled: names, redirects, robots.txt, ports, certificate, sitemaps, feeds, logins.

    A name is a host, host:port, a URL, or a site of filterrules.conf; without one all its sites of type server are looked at. Each host is
    asked politely, as the robot would. Exit status 1: at one of them is a problem.
    """
    from ingather.app.siteprobe.desk import HomeProbe
    from ingather.log import configure

    if domains and names:
        raise click.UsageError("--all is for a probe without names")
    configure(level="error")
    place, read = open_home(home)
    looked = HomeProbe(place, read.settings, dict(read.sources)).probe(
        names, dns=not no_dns, redirects=not no_redirects, domains=domains
    )
    if as_json:
        print_json({"hosts": looked})
    else:
        for report in looked:
            for line in report_lines(report):
                click.echo(line)
    return 1 if any(report["level"] == "problem" for report in looked) else 0


def report_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield a report for a terminal: findings with what to do, the lines of robots.txt, the suggestion."""
    site = (
        f" (site {report['site']}, source {report['source']})"
        if report["site"]
        else f" (source {report['source']})"
    )
    yield f"{_clean(report['asked'])}{site}: {report['level']}"
    for one in report["findings"]:
        yield f"{_SIGNS[one['level']]}{one['about']}: {_clean(one['text'])}"
        if one["do"]:
            yield f"            -> {_clean(one['do'])}"
    names = report["names"] or {}
    yield from (
        f"  name    {address} is {_clean(name)}" for address, name in names.get("reverse", {}).items()
    )
    robots = report["robots"] or {"lines": ()}
    yield from (f"  robots.txt:{line['number']}: {_clean(line['text'])}" for line in robots["lines"])
    if report["server"]:
        yield f"  server  {_clean(report['server'])}"
    if report["suggestion"]:
        yield "  a site for config/filterrules.conf:"
        yield from (f"    {_clean(line)}" for line in report["suggestion"].splitlines())


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
