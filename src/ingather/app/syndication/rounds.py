"""The timer of web feeds: cycles begin, go on and end by jobs in the keeper's one writer."""

from collections.abc import Callable
from typing import Final

from ingather.app.keepertimer import CALM_S, KeeperTimer, WritingKeeper
from ingather.app.syndication.cycling import Cycling
from ingather.app.syndication.desk import Desk
from ingather.catalog.sqlite_apply import Applied
from ingather.log import get
from ingather.robot.settling.writing import Writer

__all__ = ["Rounds"]

_QUICK_S: Final = 1.0


class Rounds(KeeperTimer):
    """Moves the cycles of a home on while it gathers.

    Args:
        desk: carries out what the decider rules.
        keeper: the one writer.
        now_s: wall time.
    """

    def __init__(self, desk: Desk, keeper: WritingKeeper, now_s: Callable[[], float]) -> None:
        super().__init__(keeper, "web feeds", get("syndication"))
        self._cycling = Cycling(desk)
        self._desk = desk
        self._now_s = now_s

    def start(self) -> None:
        """Poll by schedule; nothing to do without such sources."""
        if self._desk.sources:
            super().start()

    async def force(self) -> None:
        """Let each feed be polled at once, for a run of its own."""
        if self._desk.sources:
            await self.keeper.write(lambda writer, _: self._cycling.force(writer))
            await self.step()

    async def step(self) -> float | None:
        """Move on; return the wall time of the next thing to be done, ``None`` = nothing is planned.

        Raises:
            CatalogError: nothing was kept.
        """
        if not self._desk.sources:
            return None
        trusted = self.keeper.clock_trusted

        def job(writer: Writer, applied: Applied) -> float | None:
            return self._cycling.step(writer, applied, clock_trusted=trusted)

        async with self.turn:
            at: float | None = await self.keeper.write(job)
        return at

    async def take_turn(self) -> float:
        """Make a step; return seconds until the next thing to be done, at most :data:`CALM_S`."""
        at = await self.step()
        return CALM_S if at is None else min(max(at - self._now_s(), _QUICK_S), CALM_S)
