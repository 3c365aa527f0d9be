"""``ingather serve``: gather on and on, answer searches."""

import asyncio
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ingather.cli.findings import told
from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home
from ingather.errors import ConfigurationError, IngatherError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ingather.app.feeds.gate import FeedListeners
    from ingather.app.home import Home
    from ingather.app.keeper import Gathering
    from ingather.app.listening import Listeners
    from ingather.app.nothing import NothingWatch
    from ingather.app.runplan import RunPlan
    from ingather.app.watch import Canary
    from ingather.conf.settings.values import Settings
    from ingather.conf.sources.source import SourceConf

__all__ = ["command"]

_TICKS = 5
"""Seconds before it is said that nothing was gathered."""


@click.command("serve")
@home_option
def command(home: Path) -> int:  # noqa: PLR0915 - its start, told in order
    """Gather the configured sites on and on, follow their changes, and answer searches.

    Two listeners: search (page and API, for everybody) and admin (explain, status, holds, metrics; with
    the admin token). Two more take pushed feeds, from this machine and from senders named with `ingather
    feed trust`. Ctrl-C stops in order; killing it loses nothing. SIGHUP takes over what stands in
    config/ by now; with a mistake in it the old configuration stays.
    """
    from ingather.app.keeper import Gathering
    from ingather.app.listening import Listeners
    from ingather.app.memory import calm_collector, few_heaps
    from ingather.app.runplan import RunPlan
    from ingather.app.serving import Serving
    from ingather.log import configure

    few_heaps()
    place, read = open_home(home)
    settings = read.settings
    format_ = settings.text("log.format")
    configure(level=settings.text("log.level"), pretty=None if format_ == "auto" else format_ == "pretty")
    listeners = Listeners(settings)
    feed_listeners = _feed_listeners(place, settings, listeners)
    canary = _canary(settings, read.sources, listeners, feed_listeners)

    async def main() -> int:
        stop = asyncio.Event()
        calm_collector()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        reload = asyncio.Event()
        loop.add_signal_handler(signal.SIGHUP, reload.set)
        plan = RunPlan(
            kind="serve", sources=read.sources, own_ports=(*listeners.own_ports, *feed_listeners.own_ports)
        )
        plan = _with_canary(plan, canary)
        gathering = Gathering(place, settings, plan)
        serving = Serving(gathering, place, settings, listeners, feed_listeners, canary)
        gathering.on_index_commit(serving.index_committed)
        async with gathering, serving:
            search, admin = listeners.urls
            click.echo(f"search page  {search}")
            click.echo(f"admin page   {admin}  (token: {place.path / 'admin-token'})")
            for url in feed_listeners.urls:
                click.echo(f"feeds        {url}")
            if gathering.keeper.disk_full:
                click.echo(f"ingather: {gathering.full_text()}", err=True)
            told: set[str] = set()
            silent = iter(range(_TICKS))
            while not stop.is_set() and gathering.keeper.failed is None:
                if reload.is_set():
                    reload.clear()
                    await _reload(gathering)
                if next(silent, None) is None:  # what the last process left is looked at again first
                    _say_nothing(serving.nothing, told)
                try:
                    await asyncio.wait_for(stop.wait(), 1.0)
                except TimeoutError:
                    continue
            if gathering.keeper.failed is not None:
                raise gathering.keeper.failed
        return 0

    try:
        return asyncio.run(main())
    finally:
        listeners.close()
        feed_listeners.close()
        _close(canary)


def _say_nothing(watch: "NothingWatch", told: set[str]) -> None:
    """Say each reason once why nothing was gathered, when a person has to do something about it."""
    found = watch.found()
    if found is not None and found.do and (said := str(found)) not in told:
        told.add(said)
        click.echo(said, err=True)


def _feed_listeners(home: "Home", settings: "Settings", listeners: "Listeners") -> "FeedListeners":
    from ingather.app.feeds.gate import FeedListeners

    try:
        made = FeedListeners(home, settings)
    except IngatherError:
        listeners.close()
        raise
    for note in made.notes:
        click.echo(f"ingather: {note}", err=True)
    return made


def _close(canary: "Canary | None") -> None:
    if canary is not None:
        canary.close()


def _with_canary(plan: "RunPlan", canary: "Canary | None") -> "RunPlan":
    return plan if canary is None else canary.added_to(plan)


def _canary(
    settings: "Settings",
    sources: "Mapping[str, SourceConf]",
    listeners: "Listeners",
    feed_listeners: "FeedListeners",
) -> "Canary | None":
    from ingather.app.clock import SystemClock
    from ingather.app.watch import canary_of

    try:
        return canary_of(settings, sources, SystemClock())
    except IngatherError:
        listeners.close()
        feed_listeners.close()
        raise


async def _reload(gathering: "Gathering") -> None:
    """Take over what stands in ``config/``; a mistake in it is said, and nothing changes."""
    from ingather.app.publishing import author_here, take_over

    try:
        done = await take_over(gathering, author=author_here(), note="config/ was read again (SIGHUP)")
    except ConfigurationError as error:
        for line in told(error.diagnostics, error.bodies if sys.stderr.isatty() else None):
            click.echo(line, err=True)
        click.echo("the new configuration is refused; the old one stays in force", err=True)
    except IngatherError as error:
        click.echo(f"ingather: {error}", err=True)
    else:
        words = "is in force" if done.changed else "was in force already"
        click.echo(f"configuration {done.version} {words}", err=True)
