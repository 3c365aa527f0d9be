"""Looking for crawler traps in the catalog: every URL of the larger hosts is read once, each trap gets its rule."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ingather.app.homeparts import database_of
from ingather.catalog.frontier.sqlite_traps import TrapReader, TrapRow
from ingather.log import get
from ingather.robot.keeper import Keeper
from ingather.robot.traps.finding import Found, Seen, TrapDetector
from ingather.robot.traps.rules import advice_of, candidates, weigh
from ingather.robot.traps.shapes import shapes_of

__all__ = ["LEAST_URLS", "find_traps", "keep_traps", "scan_traps"]

_log = get("traps")
LEAST_URLS: Final = 30
"""URLs that a host must have to be looked at."""
_MOST_TRAPS: Final = 100
"""Traps that one scan keeps, those with most URLs."""


def find_traps(database: Path, now_s: float) -> list[TrapRow]:
    """Return the traps of a catalog with their rules; reads all URLs once, those of hosts with traps once more.

    Raises:
        CatalogError: the catalog cannot be read.
    """
    reader = TrapReader(database)
    try:
        origins = reader.hosts(LEAST_URLS)
        detectors: dict[int, TrapDetector] = {}
        year = datetime.fromtimestamp(now_s, UTC).year
        for row in reader.walk(origins):
            shapes = shapes_of(row.path)
            if not shapes:
                continue
            detector = detectors.get(row.host)
            if detector is None:
                detector = detectors[row.host] = TrapDetector(year)
            detector.take(shapes, Seen(*row[1:]))
        found = [(host, trap) for host, detector in detectors.items() for trap in detector.found()]
        del detectors
        found.sort(key=lambda one: -one[1].urls)
        return [_kept(reader, host, origins[host], trap, now_s) for host, trap in found[:_MOST_TRAPS]]
    finally:
        reader.close()


def _kept(reader: TrapReader, host: int, origin: str, trap: Found, now_s: float) -> TrapRow:
    rows = (Seen(*row[1:]) for row in reader.walk({host}))
    cost = weigh(origin, candidates(origin, trap), rows, trap)
    return TrapRow(
        id=0, kind=trap.kind, place=origin + trap.name, origin=origin, state="open", first_s=now_s, last_s=now_s, urls=trap.urls,
        visited=trap.visited, contents=trap.contents, why=trap.why, examples=tuple(origin + path for path in trap.examples),
        pattern="" if cost is None else cost.pattern, excluded=0 if cost is None else cost.excluded,
        good=0 if cost is None else cost.good, advice=advice_of(trap), by="", decided_s=None,
    )  # fmt: skip


def keep_traps(writer: Any, found: list[TrapRow], now_s: float) -> list[tuple[int, TrapRow]]:
    """Keep what a scan found, inside a transaction; return those that are new, with their numbers."""
    new = []
    for trap in found:
        number = writer.traps.put(trap)
        if number is not None:
            writer.applier.event(
                "trap", trap.place, f"{trap.kind}: {trap.why}; see ingather traps show {number}"
            )
            new.append((number, trap))
    writer.traps.forget(now_s)
    return new


async def scan_traps(keeper: Keeper, home: Any, now: Callable[[], float]) -> list[tuple[int, TrapRow]]:
    """Look for traps and keep them; tell of those that are new and return them."""
    loop = asyncio.get_running_loop()
    now_s = now()
    found = await loop.run_in_executor(None, find_traps, database_of(home), now_s)
    new: list[tuple[int, TrapRow]] = await keeper.write(lambda writer, _: keep_traps(writer, found, now_s))
    for number, trap in new:
        _log.warning(
            "crawler trap found", kind=trap.kind, place=trap.place, urls=trap.urls, why=trap.why,
            hint=f"ingather traps show {number} has the rule that would stop it",
        )  # fmt: skip
    return new
