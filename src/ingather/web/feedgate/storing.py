"""Complete feeds become durable: the small ones that wait together go to the disk together.

A thread for each of a thousand feeds a second costs more in threads that wake each other, and wait for the interpreter's
lock around every system call, than the disk takes. A few threads take all that wait, and go on with what came meanwhile.
"""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from ingather.feeds.desk import Spooled
from ingather.feeds.spool import SpoolFile, commit_together

__all__ = ["Storing"]

_RUNNERS: Final = 2
"""One syncs while the other writes."""


@dataclass(frozen=True, slots=True)
class _Waiter:
    file: SpoolFile
    loop: asyncio.AbstractEventLoop
    told: asyncio.Future[Spooled]


class Storing:
    """Makes files of the spool durable in threads of *pool*; asked from any event loop."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._lock = threading.Lock()
        self._waiting: list[_Waiter] = []
        self._running = 0

    async def commit(self, file: SpoolFile) -> Spooled:
        """Return once *file* is durable.

        Raises:
            OSError: it is not; it is gone.
            RuntimeError: the pool takes no more work.
        """
        loop = asyncio.get_running_loop()
        if not file.in_memory:  # large: nobody else shall wait for its sync
            return await loop.run_in_executor(self._pool, file.commit)
        waiter = _Waiter(file, loop, loop.create_future())
        with self._lock:
            self._waiting.append(waiter)
            begin = self._running < _RUNNERS
            self._running += begin
        if begin:
            try:
                self._pool.submit(self._run)
            except RuntimeError:  # the pool is closed: the server stops
                with self._lock:
                    self._running -= 1
                    self._waiting = [one for one in self._waiting if one is not waiter]
                raise
        return await waiter.told

    def _run(self) -> None:
        while True:
            with self._lock:
                batch, self._waiting = self._waiting, []
                if not batch:
                    self._running -= 1
                    return
            _store([waiter for waiter in batch if not waiter.told.cancelled()])


def _store(waiting: list[_Waiter]) -> None:
    """Commit the files; tell those who wait, with one wake-up of each loop."""
    made: Sequence[Spooled | Exception]
    try:
        made = commit_together([waiter.file for waiter in waiting])
    except Exception as error:  # noqa: BLE001 - nobody may wait for ever
        made = [error] * len(waiting)
    answers: dict[asyncio.AbstractEventLoop, list[tuple[_Waiter, Spooled | Exception]]] = {}
    for waiter, one in zip(waiting, made, strict=True):
        answers.setdefault(waiter.loop, []).append((waiter, one))
    for loop, told in answers.items():
        with suppress(RuntimeError):  # it is closed: nobody is left who waits
            loop.call_soon_threadsafe(_tell, told)


def _tell(answers: list[tuple[_Waiter, Spooled | Exception]]) -> None:
    for waiter, made in answers:
        if waiter.told.done():
            continue
        if isinstance(made, Exception):
            waiter.told.set_exception(made)
        else:
            waiter.told.set_result(made)
