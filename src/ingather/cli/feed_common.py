"""What the verbs about feeds and sources share: the home's feeds opened, lists and single things told, moments."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.app.feeds.commands import HomeFeeds

__all__ = ["json_option", "moment", "open_feeds", "tell_list"]

json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")


def open_feeds(home: Path) -> "HomeFeeds":
    """Return the feeds of the home at *home*."""
    from ingather.app.feeds.commands import HomeFeeds
    from ingather.log import configure

    configure(level="warning")
    place, read = open_home(home)
    return HomeFeeds(place, read.settings, read.sources)


def tell_list(
    found: Sequence[Mapping[str, Any]],
    line: Callable[[Mapping[str, Any]], str],
    *,
    nothing: str,
    as_json: bool,
) -> None:
    """Print *found*, a *line* each, or *nothing* if it is empty; as JSON all of it, and an empty list."""
    if as_json:
        print_json(found)
        return
    for text in [line(one) for one in found] or [nothing]:
        click.echo(text)


def moment(at_s: float) -> str:
    """Return a wall time in words."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
