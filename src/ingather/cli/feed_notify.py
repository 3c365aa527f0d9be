"""``ingather feed notify``: who is told of feeds that ended with errors."""

from datetime import UTC, datetime
from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home

__all__ = ["notify"]


@click.group("notify")
def notify() -> None:
    """Try the webhook that ingather.toml names in [notices]."""


@notify.command("test")
@home_option
def test(home: Path) -> int:
    """Post a notice of the kind `test`, once, and say what came of it.

    Exit status 1: it was not taken.
    """
    from ingather.app.clock import SystemClock
    from ingather.app.notices import Notice, webhook_of
    from ingather.errors import UsageError

    place, read = open_home(home)
    clock = SystemClock()
    webhook = webhook_of(place, read.settings, clock)
    if webhook is None:
        raise UsageError("nobody is told", hint="write notices.url into ingather.toml")
    now = datetime.fromtimestamp(clock.wall(), UTC)
    at = now.isoformat(timespec="seconds").replace("+00:00", "Z")
    said = webhook.send(
        Notice(f"test-{now:%Y%m%d%H%M%S}", "test", at, {"text": "a test of ingather feed notify test"})
    )
    click.echo(said.trouble or f"{webhook.place} took it ({said.status})")
    return 1 if said.trouble else 0
