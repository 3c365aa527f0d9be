"""A few threads for calls that block, with a bounded queue before them and a time limit on each."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ingather.web.failures import WebError

__all__ = ["Workers"]

T = TypeVar("T")


class Workers:
    """Run blocking calls of one kind beside the event loop.

    At most *threads* run and *waiting* wait; whoever comes then is refused at once, so that a
    crowd gets quick answers instead of a growing queue. A call that passes its time is given up:
    its answer is dropped, and its thread is free again when it returns.
    """

    def __init__(self, name: str, *, threads: int, waiting: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._places = threads + waiting
        self._taken = 0
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        """Calls that run or wait now, those that were given up included."""
        return self._taken

    async def run(self, call: Callable[[], T], *, timeout_s: float) -> T:
        """Run *call* in a thread and return what it returns; its exceptions pass.

        Raises:
            WebError: 503 ``busy`` (no place) or ``timeout`` (longer than *timeout_s* with waiting).
        """
        with self._lock:
            if self._taken >= self._places:
                raise WebError(
                    503,
                    "busy",
                    "Too many requests at this moment.",
                    hint="Try again in a second.",
                    headers={"Retry-After": "1"},
                )
            self._taken += 1
        future = self._pool.submit(call)
        future.add_done_callback(self._release)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), timeout_s)
        except TimeoutError:
            raise WebError(
                503,
                "timeout",
                f"This took longer than {timeout_s:g} seconds.",
                hint="Ask for less at once: fewer words, a site, a phrase.",
                headers={"Retry-After": "1"},
            ) from None

    def close(self) -> None:
        """Drop what waits and wait for what runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _release(self, _future: "Future[T]") -> None:
        with self._lock:
            self._taken -= 1
