"""The garbage collector of a long-running process: what a page makes dies with it and holds no cycles."""

import gc

__all__ = ["calm_collector"]

_THRESHOLDS = (
    400_000,
    20,
    50,
)  # 50,000 cost a gatherer 5 % of its time: pages in flight were searched in vain


def calm_collector() -> None:
    """Leave out of every search what exists now, and search for cycles seldom; once, after everything is imported."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()
