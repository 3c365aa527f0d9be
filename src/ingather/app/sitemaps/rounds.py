"""The timer of sitemaps: due ones are asked for, entries are taken in, by jobs in the keeper's one writer."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

from ingather.app.sitemaps.desk import SitemapDesk
from ingather.catalog.sqlite_apply import Applied
from ingather.errors import IngatherError
from ingather.log import get
from ingather.robot.committing import Writer

__all__ = ["SitemapRounds"]

_log = get("sitemaps")
_PIECE: Final = 500
_QUICK_S: Final = 0.2
_CALM_S: Final = 5.0


class _Keeper(Protocol):
    paused: bool
    disk_full: bool

    async def write(self, job: Callable[[Any, Any], Any]) -> Any:
        """Run *job* in the writer's next transaction; return its answer."""


class SitemapRounds:
    """Lives on the keeper's event loop.

    Args:
        desk: carries out.
        keeper: the one writer.
    """

    def __init__(self, desk: SitemapDesk, keeper: _Keeper) -> None:
        self._desk, self._keeper = desk, keeper
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def begin(self, *, force: bool = False, origins: Sequence[str] | None = None) -> None:
        """Take the settings in; *force*: ask for every sitemap at once, of *origins* if given, for a run of its own.

        Raises:
            CatalogError: nothing was kept.
        """

        def job(writer: Writer, applied: Applied) -> None:
            self._desk.declare(writer, applied)
            if force:
                writer.sitemaps.force(writer.applier.now_s, origins)

        await self._keeper.write(job)

    def start(self) -> None:
        """Go on by schedule."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Ask for nothing more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def step(self) -> bool:
        """Ask for what is due and take in a piece of what is listed; return whether something was done.

        Raises:
            CatalogError: nothing was kept.
        """

        def job(writer: Writer, applied: Applied) -> bool:
            asked = writer.sitemaps.ask_due(writer.applier.now_s, applied)
            return bool(self._desk.take(writer, applied, _PIECE) or asked)

        async with self._turn:
            return bool(await self._keeper.write(job))

    async def _run(self) -> None:
        wait_s = 0.0
        while True:
            await asyncio.sleep(wait_s)
            wait_s = _CALM_S
            if self._keeper.paused or self._keeper.disk_full:
                continue
            try:
                if await self.step():
                    wait_s = _QUICK_S
            except IngatherError as error:  # the storage: the keeper says what is wrong with it
                _log.warning("sitemaps wait", error=str(error))
