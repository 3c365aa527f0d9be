"""Threads for calls that may never return: nobody waits for them beyond a limit, not even the end of the process."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

__all__ = ["FileThreads"]

_T = TypeVar("_T")


class FileThreads:
    """At most *most* threads at once, hanging ones included; belongs to one event loop."""

    def __init__(self, most: int) -> None:
        self._slots = asyncio.Semaphore(most)

    async def run(self, call: Callable[[], _T], seconds: float) -> _T | None:
        """Return what *call* returns, ``None`` if it has not done so in *seconds*, the wait for a thread included.

        What it raises is raised here.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[_T | None] = loop.create_future()
        try:
            async with asyncio.timeout(seconds):
                await self._slots.acquire()
        except TimeoutError:
            return None

        def work() -> None:
            result: _T | None = None
            failed: BaseException | None = None
            try:
                result = call()
            except BaseException as error:  # noqa: BLE001 - it travels to who waits
                failed = error
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(settle, result, failed)

        def settle(result: _T | None, failed: BaseException | None) -> None:
            self._slots.release()
            if done.done():
                return
            if failed is not None:
                done.set_exception(failed)
            else:
                done.set_result(result)

        try:
            threading.Thread(target=work, name="ingather-file", daemon=True).start()
        except RuntimeError:  # the process may not have so many
            self._slots.release()
            return None
        try:
            async with asyncio.timeout(seconds):
                return await done
        except TimeoutError:
            return None
