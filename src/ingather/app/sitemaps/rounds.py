"""The timer of sitemaps: due ones are asked for, entries are taken in, by jobs in the keeper's one writer."""

from collections.abc import Sequence
from typing import Final

from ingather.app.keepertimer import CALM_S, KeeperTimer, WritingKeeper
from ingather.app.sitemaps.desk import SitemapDesk
from ingather.catalog.sqlite_apply import Applied
from ingather.log import get
from ingather.robot.settling.writing import Writer

__all__ = ["SitemapRounds"]

_PIECE: Final = 500
_QUICK_S: Final = 0.2


class SitemapRounds(KeeperTimer):
    """Asks for sitemaps and takes entries in, piece by piece.

    Args:
        desk: carries out.
        keeper: the one writer.
    """

    def __init__(self, desk: SitemapDesk, keeper: WritingKeeper) -> None:
        super().__init__(keeper, "sitemaps", get("sitemaps"))
        self._desk = desk

    async def begin(self, *, force: bool = False, origins: Sequence[str] | None = None) -> None:
        """Take the settings in; *force*: ask for every sitemap at once, of *origins* if given, for a run of its own.

        Raises:
            CatalogError: nothing was kept.
        """

        def job(writer: Writer, applied: Applied) -> None:
            self._desk.declare(writer, applied)
            if force:
                writer.sitemaps.force(writer.applier.now_s, origins)

        await self.keeper.write(job)

    async def step(self) -> bool:
        """Ask for what is due and take in a piece of what is listed; return whether something was done.

        Raises:
            CatalogError: nothing was kept.
        """

        def job(writer: Writer, applied: Applied) -> bool:
            asked = writer.sitemaps.ask_due(writer.applier.now_s, applied)
            return bool(self._desk.take(writer, applied, _PIECE) or asked)

        async with self.turn:
            return bool(await self.keeper.write(job))

    async def take_turn(self) -> float:
        """Make a step; return how soon another one is worth while."""
        return _QUICK_S if await self.step() else CALM_S
