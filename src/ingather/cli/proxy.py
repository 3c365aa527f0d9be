"""``ingather proxy test URL``: which proxy a URL takes, and why."""

import os
from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import print_json

__all__ = ["command"]


@click.group("proxy")
def command() -> None:
    """Proxies of the robot."""


@command.command("test")
@click.argument("url")
@home_option
@click.option(
    "--source", default="web", show_default=True, metavar="NAME", help="For which source it is asked for."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def test(url: str, home: Path, source: str, *, as_json: bool) -> int:
    """Say which proxy URL would take, which setting names it, what a PAC file answers, and what the gate says.

    The host is not asked for anything, and no proxy is connected to; a PAC file is fetched and run.

    Exit status 0: there is a way that the gate lets through; 1: there is none.
    """
    from ingather.app.home import Home
    from ingather.app.reaching.proxy_testing import proxy_text, try_proxy

    found = try_proxy(Home.open(home), url, source=source, environment=os.environ)
    if as_json:
        print_json(found)
    else:
        click.echo(proxy_text(found))
    return 0 if any(not way["refused"] for way in found["ways"]) else 1
