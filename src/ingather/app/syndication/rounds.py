"""The timer of web feeds: cycles begin, go on and end by jobs in the keeper's one writer."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Protocol

from ingather.app.syndication.cycling import Cycling
from ingather.app.syndication.desk import Desk
from ingather.catalog.sqlite_apply import Applied
from ingather.errors import IngatherError
from ingather.log import get
from ingather.robot.committing import Writer

__all__ = ["Rounds"]

_log = get("syndication")
_QUICK_S: Final = 1.0
_CALM_S: Final = 5.0


class _Keeper(Protocol):
    """The keeper, as far as this needs it."""

    paused: bool
    disk_full: bool

    @property
    def clock_trusted(self) -> bool:
        """Whether decisions about what is gone may be made."""

    async def write(self, job: Callable[[Any, Any], Any]) -> Any:
        """Run *job* in the writer's next transaction; return its answer."""


class Rounds:
    """Moves the cycles of a home on while it gathers; lives on the keeper's event loop.

    Args:
        desk: carries out what the decider rules.
        keeper: the one writer.
        now_s: wall time.
    """

    def __init__(self, desk: Desk, keeper: _Keeper, now_s: Callable[[], float]) -> None:
        self._cycling = Cycling(desk)
        self._desk = desk
        self._keeper = keeper
        self._now_s = now_s
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Poll by schedule; nothing to do without such sources."""
        if self._desk.sources:
            self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Ask for nothing more; what was asked for is made, now or after the next start."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def force(self) -> None:
        """Let each feed be polled at once, for a run of its own."""
        if self._desk.sources:
            await self._keeper.write(lambda writer, _: self._cycling.force(writer))
            await self.step()

    async def step(self) -> float | None:
        """Move on; return the wall time of the next thing to be done, ``None`` = nothing is planned.

        Raises:
            CatalogError: nothing was kept.
        """
        if not self._desk.sources:
            return None
        trusted = self._keeper.clock_trusted

        def job(writer: Writer, applied: Applied) -> float | None:
            return self._cycling.step(writer, applied, clock_trusted=trusted)

        async with self._turn:
            at: float | None = await self._keeper.write(job)
        return at

    async def _run(self) -> None:
        wait_s = 0.0
        while True:
            await asyncio.sleep(wait_s)
            wait_s = _CALM_S
            if self._keeper.paused or self._keeper.disk_full:
                continue
            try:
                at = await self.step()
            except IngatherError as error:  # the storage: the keeper says what is wrong with it
                _log.warning("web feeds wait", error=str(error))
                continue
            if at is not None and at - self._now_s() < _CALM_S:
                wait_s = max(at - self._now_s(), _QUICK_S)
