"""External metadata while a process gathers: files are looked at, and what is new is put in force one after another."""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from ingather.app.background import Background
from ingather.app.overlay.inforce import Change
from ingather.app.overlay.laying import Overlays
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.errors import ConfigurationError, IngatherError
from ingather.log import get
from ingather.robot.indexing.overlaypass import At, OverlayPass

__all__ = ["OverlayWatch"]

_log = get("overlay")


class _Keeper(Protocol):
    async def write(self, job: Callable[[Any, Applied], Any]) -> Any: ...


class OverlayWatch(Background):
    """Takes new versions in, on the keeper's loop.

    Args:
        overlays: what is laid over documents; nobody else changes it while this lives.
        keeper: the one writer.
        reader: opens a reader of the catalog.
        interval_s: between two looks at the files.
    """

    def __init__(
        self, overlays: Overlays, keeper: _Keeper, reader: Callable[[], SqliteReader], interval_s: float
    ) -> None:
        self._overlays, self._keeper, self._reader, self._interval_s = overlays, keeper, reader, interval_s
        self._turn = asyncio.Lock()

    async def take_in(self, *, author: str = "", note: str = "", force: bool = False) -> bool:
        """Take in what stands in the files and records now; return whether it is another version.

        Raises:
            ConfigurationError: a file has an error and its ``on-error`` is ``fail``, or the operator's command failed.
        """
        async with self._turn:
            if not force and not self._overlays.moved():
                return False
            change = await asyncio.get_running_loop().run_in_executor(None, self._read)
            return change is not None and await self._put(change, author, note)

    async def edit(
        self,
        make: Callable[[CatalogWriter, float], None],
        *,
        author: str = "",
        note: str = "",
    ) -> bool:
        """Change the catalog's own records by *make* in a transaction, then take them in; return whether that is another version."""
        async with self._turn:
            await self._keeper.write(lambda writer, _applied: make(writer, writer.applier.now_s))
            change = await asyncio.get_running_loop().run_in_executor(None, self._read)
            return change is not None and await self._put(change, author, note)

    async def put(self, make: Callable[[], Change | None], *, author: str = "", note: str = "") -> bool:
        """Put what *make* returns in force; return whether it is another version.

        *make* is called when nobody else is putting anything in force: what it finds is not replaced before its change is.

        Raises:
            ConfigurationError: the operator's command failed; nothing was changed.
        """
        async with self._turn:
            change = make()
            return change is not None and await self._put(change, author, note)

    async def _put(self, change: Change, author: str, note: str) -> bool:
        overlays, loop = self._overlays, asyncio.get_running_loop()
        await loop.run_in_executor(None, overlays.ask_command)
        ready = await loop.run_in_executor(None, overlays.ready, change)
        number = await self._keeper.write(
            lambda writer, applied: overlays.publish(writer, applied, ready, author=author, note=note)
        )
        if not number:
            return False
        await self._walk(overlays.adopted(ready, number))
        _log.info("external metadata in force", **overlays.progress.form())
        return True

    async def _walk(self, steps: OverlayPass) -> None:
        at = At()
        while not at.done:

            def step(writer: CatalogWriter, applied: Applied, at: At = at) -> At:
                return self._overlays.step(writer, applied, steps, at)

            at = await self._keeper.write(step)

    def _read(self) -> Change | None:
        reader = self._reader()
        try:
            return self._overlays.read(reader.overlays)
        finally:
            reader.close()

    async def run(self) -> None:
        """Look at the files again and again."""
        while True:
            await asyncio.sleep(self._interval_s)
            try:
                await self.take_in()
            except ConfigurationError as error:
                self._overlays.refused(error)
            except IngatherError as error:  # the storage: tried again with the next look
                _log.warning("external metadata was not taken in", error=str(error))
