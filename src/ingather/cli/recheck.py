"""``ingather recheck``: look again now, whatever was planned."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

__all__ = ["command"]


@click.command("recheck")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--prefix", default="", help="All URLs that begin with this one.")
@click.option("--host", default="", help="All URLs of a host: www.example.org, or https://www.example.org.")
@click.option("--query", default="", help="All documents that a query finds, whoever may see them.")
@click.option("--failed", is_flag=True, help="All URLs whose last visit failed.")
@click.option("--source", default="", help="Of this source alone; by itself: all of it.")
@click.option("--limit", type=int, default=10_000, show_default=True, help="At most so many.")
@click.option("--dry-run", is_flag=True, help="Say how many, and do nothing.")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def command(urls: tuple[str, ...], home: Path, as_json: bool, **chosen: Any) -> None:  # noqa: FBT001 - click gives it so
    """Visit URLs again now.

    They become due and go ahead of what else waits at their hosts; robots.txt, delays and budgets hold as always. When nobody
    serves the home, the next crawl or serve visits them.
    """
    from ingather.app.robot.desk import HomeRobot
    from ingather.log import configure

    configure(level="warning")
    place, read = open_home(home)
    fields = {name.replace("_", "-"): _text(value) for name, value in chosen.items()}
    answer = HomeRobot(place, read.settings).command("recheck", url="\n".join(urls), **fields)
    if as_json:
        print_json(answer)
        return
    for line in _told(answer):
        click.echo(line)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _told(answer: Mapping[str, Any]) -> list[str]:
    lines = [f"never met: {url}" for url in answer["unknown"]]
    lines += [f"left as they are: {count} {why}" for why, count in answer["left"].items()]
    if answer["more"]:
        lines.append("there are more: raise --limit, or call again when these are done")
    found = f"{answer['found']} found"
    if answer["dry_run"]:
        return [*lines, f"{found}; nothing was done (--dry-run)"]
    return [*lines, f"{found}: {answer['due']} are due now, {answer['waited']} waited already"]
