"""What a spawned process begins with, handed over in memory that it opens by itself.

``multiprocessing`` writes a process' arguments into a pipe and waits until it has read them, with the reading end open at our side as well: when the
process is killed before it has read more than a pipe holds (64 KiB), that wait never ends.
"""

import gc
import os
import pickle
from collections.abc import Callable
from multiprocessing import reduction
from types import TracebackType
from typing import Any, Self

__all__ = ["Handed", "begin"]


class Handed:
    """*values* for one process; a context manager around the start of that process."""

    def __init__(self, *values: object) -> None:
        self._held = os.memfd_create("handed", os.MFD_CLOEXEC)
        try:
            with open(self._held, "wb", closefd=False) as file:
                pickle.dump(values, file)
            os.lseek(self._held, 0, os.SEEK_SET)
        except BaseException:
            os.close(self._held)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        os.close(self._held)

    def __reduce__(self) -> tuple[Callable[[Any], tuple[object, ...]], tuple[Any]]:
        return _taken, (reduction.DupFd(self._held),)


def _taken(held: Any) -> tuple[object, ...]:
    """Return what was handed over, in the process that was started.

    From here on nobody looks for cycles: next come imports, whose objects all stay. Whoever is begun says when they are over.
    """
    gc.disable()
    with open(held.detach(), "rb") as file:  # noqa: PTH123 - a descriptor
        values: tuple[object, ...] = pickle.load(file)  # noqa: S301 - our own process wrote it
    return values


def begin(target: Callable[..., None], handed: tuple[object, ...], *first: object) -> None:
    """Be the spawned process: call *target* with *first* and what was handed over.

    The collector of cycles is at rest until *target* calls ``gc.enable()``.
    """
    target(*first, *handed)
