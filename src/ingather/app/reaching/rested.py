"""Ways of sources that failed, as the catalog keeps them, for explain and receipts."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from ingather.catalog.sqlite_memory import Memory
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.errors import UrlError
from ingather.explain.forms import instant
from ingather.model.urlparts import split
from ingather.robot.keeper import WAY_STATES
from ingather.robot.politeness.ways import WayState

__all__ = ["rested_ways", "way_states", "ways_to"]


def rested_ways(database: Path, source: str, url: str, now_s: float) -> list[dict[str, Any]]:
    """Return the ways of *source* that failed last and may be those to *url*: ``way``, ``until``, ``failures``, ``why``.

    ``until`` ``None`` = the rest is over, the next visit tries it.
    """
    return [
        {
            "way": one.way, "until": instant(one.not_before_s) if one.not_before_s > now_s else None, "failures": one.failures,
            "why": one.detail,
        }
        for one in ways_to(way_states(database), source, url)
    ]  # fmt: skip


def way_states(database: Path) -> list[WayState]:
    """Return what is kept of ways that failed last, of all sources."""
    if not database.exists():
        return []
    with closing(open_reader(database)) as db:
        packed = Memory(db, Rows(db, database)).recall(WAY_STATES)
    return msgspec.msgpack.decode(packed, type=list[WayState]) if packed else []


def ways_to(states: Iterable[WayState], source: str, url: str) -> list[WayState]:
    """Return those of *states* that may be ways of *source* to *url*."""
    try:
        parts = split(url)
        here = f"{parts.host}:{parts.port}"
    except UrlError:
        here = ""
    return [one for one in states if one.source == source and _is_to(one.way, here)]


def _is_to(way: str, here: str) -> bool:
    """Whether *way* is to every host, or to this one."""
    host = way.rpartition(" to " if way.startswith("proxy ") else " for ")[2]
    return host in {way, here}
