"""The collector of cycles, at rest while much is made that has none."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_rests"]


@contextmanager
def collector_rests() -> Iterator[None]:
    """Look for no cycles in this block: among a million new objects that all live, looking takes half the time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
