"""What gathers stands back behind what answers: people's questions come first when processors are scarce."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

__all__ = ["Background", "stand_back"]

T = TypeVar("T")
_LAST = 19


def stand_back(by: int) -> None:
    """Lower the priority of the calling thread, and of what it starts from now on, *by* steps of Unix niceness."""
    with suppress(OSError):  # where it cannot be had all are equal, as before
        os.setpriority(os.PRIO_PROCESS, 0, min(_LAST, os.getpriority(os.PRIO_PROCESS, 0) + by))


class Background:
    """A thread that stands back, and with it every thread that its work starts: those that write the index.

    Linux gives a new thread the niceness of the one that starts it, and a thread without rights cannot take its own back.
    """

    def __init__(self, by: int) -> None:
        self._pool = ThreadPoolExecutor(
            1, thread_name_prefix="background", initializer=stand_back, initargs=(by,)
        )

    def __call__(self, work: Callable[[], T]) -> T:
        """Do *work* there; return what it returns, raise what it raises."""
        try:
            job = self._pool.submit(work)
        except RuntimeError:  # the interpreter ends and starts no thread any more
            return work()
        return job.result()
