"""``ingather feed``: what is pushed to this home, and by whom. Each subject has a file of its own."""

import click

from ingather.cli.feed_receipts import delete, list_, load, records, replay, retry, show
from ingather.cli.feed_senders import token, trust

__all__ = ["command"]


@click.group("feed")
def command() -> None:
    """Pushed feeds: who may send them, and what became of them."""


command.add_command(trust)
command.add_command(token)
for verb in (list_, show, records, retry, replay, delete, load):
    command.add_command(verb)
