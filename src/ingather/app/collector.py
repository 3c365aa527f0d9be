"""The garbage collector of a long-running process: what a page makes dies with it and holds no cycles."""

import gc

__all__ = ["calm_collector"]

_THRESHOLDS = (50_000, 20, 50)


def calm_collector() -> None:
    """Leave out of every search what exists now, and search for cycles seldom; once, after everything is imported."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
