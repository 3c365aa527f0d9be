"""Pruning a home: what the settings say is old is forgotten, in pieces that let visits commit in between."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ingather.catalog.sqlite_changes import Applied
from ingather.conf.settings import Settings
from ingather.robot.committing import Writer
from ingather.robot.keeper import Keeper

__all__ = ["Pruned", "prune"]

_PIECE = 5_000
_BURIED = 1_000
"""Tombstones take several statements each."""


class Pruned(NamedTuple):
    """How many rows of each kind were forgotten."""

    changes: int = 0
    tombstones: int = 0
    events: int = 0


async def prune(keeper: Keeper, settings: Settings, *, now_s: float) -> Pruned:
    """Forget what is older than ``catalog.keep-changes``, ``keep-tombstones`` and ``keep-events`` say at wall time *now_s*.

    Changes that the index has not applied stay. Nothing is pruned while the clocks disagree.

    Raises:
        CatalogError: a piece could not be written; the pieces before it are.
    """
    if not keeper.clock_trusted:
        return Pruned()
    ages = {name: settings.seconds(f"catalog.keep-{name}") for name in Pruned._fields}
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
    )


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
