"""``ingather demo``: the product in a temporary home, on real content, in less than a minute."""

import asyncio
import signal
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ingather.app.crawling import Progress

__all__ = ["command"]


@click.command("demo")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--once", is_flag=True, help="End after the example searches instead of staying up.")
def command(urls: tuple[str, ...], *, once: bool) -> int:
    """Gather real content in a temporary home, search it three times, and stay up until Ctrl-C.

    The content: Ingather's own documents as HTML, with a PDF and a Word file among them, from a small
    server on this machine. With a URL: that site instead, as politely as ever. Nothing is left behind.
    """
    from ingather.app.demo import Player, play
    from ingather.log import configure

    configure(level="warning")

    async def main() -> int:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        await play(urls, Player(_say, _mark, _Display().show, stop), once=once)
        return 0

    return asyncio.run(main())


def _say(text: str) -> None:
    click.echo(text)


def _mark(text: str) -> str:
    return click.style(text, bold=True) if sys.stdout.isatty() else text


class _Display:
    """One line that moves on a terminal, a line every few seconds elsewhere; on standard error."""

    _PAUSE_S = 2.0

    def __init__(self) -> None:
        self._moves = sys.stderr.isatty()
        self._told = -self._PAUSE_S

    def show(self, progress: "Progress | None") -> None:
        if progress is None:
            if self._moves:
                click.echo("\r\x1b[K", err=True, nl=False)
            return
        text = (
            f"{progress.elapsed_s:.0f} s: {progress.visited} visited, {progress.pages_s:.0f} a second, "
            f"{progress.queue} waiting, {progress.out} in hand"
        )
        if self._moves:
            click.echo(f"\r\x1b[K{text}", err=True, nl=False)
        elif progress.elapsed_s - self._told >= self._PAUSE_S:
            self._told = progress.elapsed_s
            click.echo(text, err=True)
