"""The memory of a long-running process: how seldom it looks for cycles, and how many heaps its threads have."""

import gc

from ingather.extract.allocator import mallopt

__all__ = ["calm_collector", "few_heaps"]

_M_ARENA_MAX = -8
_HEAPS = 2

_THRESHOLDS = (
    400_000,
    20,
    50,
)  # 50,000 cost a gatherer 5 % of its time: pages in flight were searched in vain


def calm_collector() -> None:
    """Leave out of every search what exists now, and search for cycles seldom; once, after everything is imported.

    What a page makes dies with it and holds no cycles.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()


def few_heaps() -> bool:
    """Let all threads share two heaps; once, before there are threads. Returns whether the C library took it.

    glibc gives each of the first sixteen a heap of its own, and each keeps what its thread once needed: searches and merges
    of the index, which come by turns in many threads, held 480 MiB where 240 are enough.
    """
    return mallopt(_M_ARENA_MAX, _HEAPS)
