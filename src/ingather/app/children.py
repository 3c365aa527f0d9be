"""Where child processes begin. What runs in them is imported there: the keeper, which starts them, has no use for it.

Nobody looks for cycles while they import (:mod:`ingather.robot.handing`), so nothing of ours is imported before.
"""

import gc
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ingather.app.blueprint import Blueprint

__all__ = ["feed_worker", "gatherer"]


def gatherer(number: int, blueprint: "Blueprint") -> None:
    """Be gatherer *number* until the keeper lets it end."""
    from ingather.app.gatherer import main

    main(number, blueprint)


def feed_worker(channel: Connection, blueprint: "Blueprint") -> None:
    """Be the worker that reads feeds, until *channel* is closed."""
    from ingather.app.feeds.worker import main

    gc.enable()
    main(channel, blueprint)
