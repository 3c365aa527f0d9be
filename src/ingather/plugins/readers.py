"""The page reader that is installed, for those who judge a response without a robot around.

The robot reads pages itself and hands them to the engine. A program that uses the engine as a
library has the reader by the entry point ``page`` of group ``ingather.readers``, so that the
engine need not know the room that reads.
"""

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points

from ingather.model.page import Page

__all__ = ["GROUP", "installed_page_reader"]

GROUP = "ingather.readers"


@cache
def installed_page_reader() -> Callable[..., Page] | None:
    """Return ``read_page(body, *, url, content_type, headers, agent)`` of the installed reader, ``None`` if there is none."""
    for point in entry_points(group=GROUP, name="page"):
        found: Callable[..., Page] = point.load()
        return found
    return None
