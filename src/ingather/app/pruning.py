"""Pruning a home: what the settings say is old is forgotten, in pieces that let visits commit in between."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ingather.catalog.access.sqlite_access_reader import AccessReader
from ingather.catalog.sqlite_changes import Applied
from ingather.conf.settings.values import Settings
from ingather.robot.keeper import Keeper
from ingather.robot.settling.writing import Writer

__all__ = ["Pruned", "collect_chains", "prune"]

_PIECE = 5_000
_BURIED = 1_000
"""Tombstones take several statements each."""


class Pruned(NamedTuple):
    """How many rows of each kind were forgotten."""

    changes: int = 0
    tombstones: int = 0
    events: int = 0
    evidence: int = 0


async def prune(keeper: Keeper, settings: Settings, *, now_s: float) -> Pruned:
    """Forget what is older than ``catalog.keep-changes``, ``keep-tombstones`` and ``keep-events`` say at wall time *now_s*.

    What proves deletions, and what people decided about them, goes with the tombstones.

    Changes that the index has not applied stay. Nothing is pruned while the clocks disagree.

    Raises:
        CatalogError: a piece could not be written; the pieces before it are.
    """
    if not keeper.clock_trusted:
        return Pruned()
    ages = {name: settings.seconds(f"catalog.keep-{name}") for name in ("changes", "tombstones", "events")}
    applied = keeper.index.applied
    await keeper.write(lambda w, _: w.pruning.mark(now_s, keep_s=ages["changes"]))
    return Pruned(
        changes=await _all(
            keeper, _PIECE, lambda w, n: w.pruning.changes(now_s - ages["changes"], applied=applied, limit=n)
        ),
        tombstones=await _all(
            keeper, _BURIED, lambda w, n: w.pruning.tombstones(now_s - ages["tombstones"], limit=n)
        ),
        events=await _all(keeper, _PIECE, lambda w, n: w.pruning.events(now_s - ages["events"], limit=n)),
        evidence=await _all(
            keeper, _PIECE, lambda w, n: w.pruning.evidence(now_s - ages["tombstones"], limit=n)
        ),
    )


async def collect_chains(keeper: Keeper, database: Path) -> int:
    """Forget access chains and lists of entries that nothing needs any more; return how many chains went.

    Nothing goes while the index lags: its documents could still carry a number that nobody knows any more.

    Raises:
        CatalogError: a piece could not be read or written; the pieces before it are.
    """

    def look() -> list[int]:
        reader = AccessReader(database)
        try:
            return reader.unused_chains()
        finally:
            reader.close()

    await keeper.write(_watch)
    unused = await asyncio.get_running_loop().run_in_executor(None, look)
    gone = after = 0
    if keeper.index.applied < await keeper.write(_newest):
        return 0
    for start in range(0, len(unused), _PIECE):
        gone += await keeper.write(partial(_chains, unused[start : start + _PIECE]))
    while after := (await keeper.write(partial(_entries, after)))[0]:
        pass
    return gone


def _watch(writer: Any, _applied: Applied) -> None:
    writer.access.watch_chains()


def _newest(writer: Any, _applied: Applied) -> int:
    return int(writer.applier.sequence)


def _chains(unused: Sequence[int], writer: Any, _applied: Applied) -> int:
    return int(writer.access.collect_chains(unused))


def _entries(after: int, writer: Any, _applied: Applied) -> tuple[int, int]:
    found: tuple[int, int] = writer.access.collect_entries(after, _PIECE)
    return found


async def _all(keeper: Keeper, piece: int, job: Callable[[Writer, int], int]) -> int:
    """Repeat *job* until it finds less than a *piece*; return the sum."""

    def one(writer: Writer, _applied: Applied) -> Any:
        return job(writer, piece)

    total = 0
    while True:
        done: int = await keeper.write(one)
        total += done
        if done < piece:
            return total
