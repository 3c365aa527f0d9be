"""The command line of Ingather with an index that takes nothing in: for the modes that measure without it.

usage: python _unindexed.py INGATHER-ARGUMENT...

There is no such switch in the product: what it gathers, it can find.
"""

import threading
from collections.abc import Iterable
from typing import Any

import ingather.app.homeparts
from ingather.cli import main


class _NoIndex:
    """Stands in for the index follower: always up to date, never opened."""

    lag = 0
    full = False
    broken = ""
    applied = 0

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.opened.set()

    def start(self) -> None:
        """Nothing to start."""

    def stop(self) -> None:
        """Nothing to stop."""

    def hurry(self) -> None:
        """Nothing waits."""

    def push(self, changes: Iterable[object]) -> None:
        """Take no notice."""

    def flush(self, sequence: int, timeout_s: float = 0.0) -> bool:
        """Say that all is done."""
        return True


def _none(*_: Any, **__: Any) -> Any:
    return _NoIndex()


if __name__ == "__main__":
    ingather.app.homeparts.follower_of = _none
    main()
