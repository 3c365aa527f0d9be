"""Documents that a published configuration excludes leave search at once: they are found, visited again, and the deletion policy rules.

Their visits ask no host for anything, because the filters deny them before.
"""

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.plugging import plug_ins
from ingather.app.rehearsal.differences import Tally
from ingather.app.rehearsal.simulating import proposed
from ingather.app.rehearsal.walk import Walk
from ingather.app.robot.rechecking import Choice, Chosen, recheck_served
from ingather.app.runsites import remembered_sites
from ingather.catalog.reports.sqlite_replay import ReplayReader
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.errors import IngatherError
from ingather.log import get

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["Leaving", "denied_documents"]

_log = get("conf")


def denied_documents(home: Home, *, environment: Mapping[str, str] | None = None) -> tuple[int, ...]:
    """Return the rows of the documents that what stands in ``config/`` excludes; blocks, reads everything that is known.

    Raises:
        ConfigurationError: it has errors.
        CatalogError: the catalog cannot be read.
    """
    if not database_of(home).exists():
        return ()
    loaded, settings, sources = proposed(home, home.config, environment=environment)
    reader = ReplayReader(database_of(home), home.bodies)
    try:
        walk = Walk(
            reader,
            loaded,
            remembered_sites(home),
            settings,
            Tally(),
            sources=sources,
            own=plug_ins(home, settings),
        )
        return tuple(asyncio.run(walk.denied()))
    finally:
        reader.close()


class Leaving:
    """Of a home that is served: what the last configuration excluded, and how much of it is in search still."""

    def __init__(self) -> None:
        self._ids: tuple[int, ...] = ()
        self._looking = False
        self._task: asyncio.Task[None] | None = None

    async def begin(self, gathering: "Gathering") -> None:
        """Begin to look for what the configuration in force excludes, and to visit it again; on the keeper's loop."""
        await self.stop()
        self._looking = True
        self._task = asyncio.create_task(self._see_out(gathering))

    async def stop(self) -> None:
        """End the search; what waits for its visit waits."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _see_out(self, gathering: "Gathering") -> None:
        try:
            ids = await asyncio.to_thread(denied_documents, gathering.home, environment=os.environ)
            if ids:
                await recheck_served(gathering, Choice(), Chosen(ids))
                _log.info("excluded documents are leaving search", documents=len(ids))
            self._ids = ids
        except IngatherError as error:
            _log.warning("what the configuration excludes leaves search at its next visit", error=str(error))
        finally:
            self._looking = False

    def form(self, reader: SqliteReader) -> dict[str, Any] | None:
        """Return ``documents`` that were excluded, how many are ``left`` in search, and whether it is still ``looking``; ``None`` = none."""
        if not (self._ids or self._looking):
            return None
        left = sum(record.described for record in reader.get(self._ids).values())
        return {"documents": len(self._ids), "left": left, "looking": self._looking}
