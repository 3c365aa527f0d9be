"""How soon a pushed record wants its URL visited, and when that is: a limit on repeated pushes delays visits and drops none."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

__all__ = ["BURST", "BURST_S", "USUAL_S", "Demand", "earliest_visit"]

USUAL_S: Final = 900.0
"""A URL that is pushed again without a change is visited again so many seconds after its last visit."""
BURST: Final = 3
BURST_S: Final = 60.0
"""An urgent push visits at once, but no URL more often than ``BURST`` times in so many seconds."""


class Demand(IntEnum):
    """What a pushed record wants; the greatest counts of those that no visit has answered (columns ``url.asked`` and ``url.urgent``)."""

    NONE = 0
    USUAL = 1
    """It names the URL and changes nothing of what feeds said of it."""
    URGENT = 2
    """It says ``crawl-immediately``, or changes what feeds say of the URL: its ACL, lock, date, authmethod or metadata."""


def earliest_visit(demand: Demand, visits: Sequence[float], now_s: float) -> float:
    """Return when a URL may be visited for *demand*, wall seconds; *now_s* = at once.

    Args:
        demand: the greatest.
        visits: wall times of the last visits, newest first.
        now_s: wall time. A visit that seems to be later, because the clock was set back, was made now.
    """
    if demand is Demand.URGENT:
        last = visits[BURST - 1] if len(visits) >= BURST else None
        wait_s = BURST_S
    else:
        last = visits[0] if visits else None
        wait_s = USUAL_S
    return now_s if last is None else max(now_s, min(last, now_s) + wait_s)
