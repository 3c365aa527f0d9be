"""``ingather notify``: whether notices arrive."""

from datetime import UTC, datetime
from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

__all__ = ["command"]


@click.group("notify")
def command() -> None:
    """Try the channels that ingather.toml names in [notices]: a webhook, mail."""


@command.command("test")
@home_option
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def test(home: Path, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Send a notice of the kind `test` by every channel, once, and say what came of it.

    Exit status 1: one of them did not take it.
    """
    from ingather.app.clock import SystemClock
    from ingather.app.notices import Notice, mail_of, webhook_of
    from ingather.errors import UsageError

    place, read = open_home(home)
    clock = SystemClock()
    webhook, mail = webhook_of(place, read.settings, clock), mail_of(place, read.settings, clock)
    if webhook is None and mail is None:
        raise UsageError("nobody is told", hint="write notices.url or notices.mail-to into ingather.toml")
    now = datetime.fromtimestamp(clock.wall(), UTC)
    at = now.isoformat(timespec="seconds").replace("+00:00", "Z")
    notice = Notice(f"test-{now:%Y%m%d%H%M%S}", "test", at, {"text": "a test of ingather notify test"})
    told = []
    if webhook is not None:
        told.append(("webhook", webhook.place, webhook.send(notice)))
    if mail is not None:
        told.append(("mail", mail.place, mail.send([notice])))
    if as_json:
        print_json([
            {"channel": name, "place": where, "status": said.status, "trouble": said.trouble} for name, where, said in told
        ])  # fmt: skip
    else:
        for name, where, said in told:
            click.echo(f"{name}: {said.trouble or f'{where} took it ({said.status})'}")
    return int(any(said.trouble for _, _, said in told))
