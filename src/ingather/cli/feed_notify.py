"""``ingather feed notify``: the name that ``ingather notify`` had when feeds were all that was told of."""

from pathlib import Path

import click

from ingather.cli.home_option import home_option

__all__ = ["notify"]


@click.group("notify")
def notify() -> None:
    """Old name of `ingather notify`."""


@notify.command("test", short_help="Old name of `ingather notify test`.")
@home_option
@click.pass_context
def test(context: click.Context, home: Path) -> int:
    """Do what `ingather notify test` does, and say so.

    Exit status 1: a channel did not take the notice.
    """
    from ingather.cli.notify import test as newer

    click.echo("ingather feed notify test is now ingather notify test", err=True)
    return int(context.invoke(newer, home=home, as_json=False))
