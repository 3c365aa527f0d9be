"""Jobs from other event loops into the keeper's, and their answers back: all that wait cross together.

``asyncio.run_coroutine_threadsafe`` makes a task, two futures and two wake-ups of a thread for each call; with a thousand small feeds a
second that is a third of what they cost. Here the first that waits wakes the other loop, and those that come meanwhile go with it.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

__all__ = ["Crossing"]

_Waiter = tuple[asyncio.AbstractEventLoop, asyncio.Future[Any]]


class Crossing:
    """Made on the loop that answers; asked from any loop of the process.

    Args:
        post: takes a job on the loop that answers, and returns the future of its answer.
    """

    def __init__(self, post: Callable[[Any], asyncio.Future[Any]]) -> None:
        self._post = post
        self._loop = asyncio.get_running_loop()
        self._going: deque[tuple[Any, _Waiter]] = deque()
        self._called = False
        self._back: dict[
            asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], asyncio.Future[Any]]]
        ] = {}

    async def ask(self, job: Any) -> Any:
        """Have *job* done; return its answer or raise what it raised.

        Raises:
            RuntimeError: the loop that answers is closed.
        """
        here = asyncio.get_running_loop()
        if here is self._loop:
            return await self._post(job)
        waiter = here.create_future()
        self._going.append((job, (here, waiter)))
        if not self._called:
            self._called = True
            self._loop.call_soon_threadsafe(self._arrive)
        return await waiter

    def _arrive(self) -> None:
        self._called = False  # before the queue is emptied: who comes later calls again, and at worst finds nobody waiting
        while self._going:
            job, waiter = self._going.popleft()
            try:
                answer = self._post(job)
            except Exception as error:  # noqa: BLE001 - the asker's to know
                answer = self._loop.create_future()
                answer.set_exception(error)
            answer.add_done_callback(partial(self._answered, waiter))

    def _answered(self, waiter: _Waiter, answer: asyncio.Future[Any]) -> None:
        if not self._back:
            self._loop.call_soon(self._return)  # those of the same transaction are answered before it runs
        self._back.setdefault(waiter[0], []).append((waiter[1], answer))

    def _return(self) -> None:
        back, self._back = self._back, {}
        for loop, answers in back.items():
            with suppress(RuntimeError):  # it is closed: nobody is left who waits
                loop.call_soon_threadsafe(_tell, answers)


def _tell(answers: list[tuple[asyncio.Future[Any], asyncio.Future[Any]]]) -> None:
    for waiter, answer in answers:
        if answer.cancelled():
            waiter.cancel()
        elif (error := answer.exception()) is not None:
            if not waiter.done():
                waiter.set_exception(error)
        elif not waiter.done():
            waiter.set_result(answer.result())
