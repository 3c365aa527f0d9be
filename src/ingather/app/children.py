"""Where child processes begin. What runs in them is imported there: the keeper, which starts them, has no use for it."""

from multiprocessing.connection import Connection

from ingather.app.blueprint import Blueprint

__all__ = ["feed_worker", "gatherer"]


def gatherer(number: int, blueprint: Blueprint) -> None:
    """Be gatherer *number* until the keeper lets it end."""
    from ingather.app.gatherer import main

    main(number, blueprint)


def feed_worker(channel: Connection, blueprint: Blueprint) -> None:
    """Be the worker that reads feeds, until *channel* is closed."""
    from ingather.app.feeds.worker import main

    main(channel, blueprint)
