"""A feed in batches, each read by a converter process: parsing hostile XML never happens in the keeper.

A converter holds nothing between two batches, so one that dies costs one batch, which is asked for again in smaller
ones. The record that brings down every converter is rejected, and the feed goes on behind it.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

import msgspec

from ingather.errors import IsolationError
from ingather.feeds.batches import BATCH_ITEMS, Batch, decode_batch
from ingather.feeds.cursor import FeedCursor
from ingather.feeds.limits import FeedLimits
from ingather.model.feed import FeedType
from ingather.ports.isolation import Isolation

__all__ = ["JOB", "read_batches"]

JOB: Final = "feed"
"""Name of the job in the converters' table."""


async def read_batches(  # noqa: PLR0913 (given by name)
    isolation: Isolation,
    path: Path,
    *,
    kind: str,
    cursor: FeedCursor | None = None,
    feedtype: FeedType | None = None,
    limits: FeedLimits | None = None,
) -> AsyncIterator[Batch]:
    """Yield the batches of the spooled feed at *path* until one has an ``end``.

    Args:
        isolation: the converters.
        path: the spooled file; converters must be able to open it.
        kind: ``xml``, ``groups`` or ``jsonl``.
        cursor: where to begin: that of the last batch that was committed; ``None`` = at the start.
        feedtype: what the form field says.
        limits: of a record; ``None`` = the defaults.

    Raises:
        ExtractError: it is no feed or is refused as a whole (the converter's ``FeedError``).
        IsolationError: ``unavailable``: no converter can be had; asking again with the same cursor goes on.
    """
    at = cursor or FeedCursor()
    fixed = {"path": str(path), "kind": kind, "feedtype": feedtype or ""}
    if limits is not None:
        fixed |= {name: str(value) for name, value in asdict(limits).items()}
    most = BATCH_ITEMS
    while True:
        try:
            batch = await _one(isolation, fixed, at, most)
        except IsolationError as error:
            if error.reason == "unavailable":
                raise
            if most > 1:
                most = max(most // 8, 1)
                continue
            batch = await _one(isolation, fixed | {"pass_over": f"its reader ended: {error.reason}"}, at, 1)
        at = batch.cursor
        most = min(most * 2, BATCH_ITEMS)
        yield batch
        if batch.end is not None:
            return


async def _one(isolation: Isolation, fixed: Mapping[str, str], at: FeedCursor, most: int) -> Batch:
    options = {**fixed, "cursor": msgspec.json.encode(at).decode(), "most_items": str(most)}
    return decode_batch(await isolation.run(JOB, b"", options))
