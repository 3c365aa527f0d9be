"""What is done when gathering is quiet: incoming links derived, dead space given back."""

import asyncio
from collections.abc import Callable
from typing import Any

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.catalog.bodies import SegmentWriter
from ingather.catalog.bodies.folder import segments
from ingather.catalog.sqlite_places import compact_bodies
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.conf.settings.values import Settings
from ingather.index import write_prior
from ingather.robot.indexing.linkpass import link_pass
from ingather.robot.keeper import Keeper

__all__ = ["compact", "derive_links"]


async def compact(
    keeper: Keeper, home: Home, settings: Settings, *, busy: int | None, now: Callable[[], float]
) -> int:
    """Give back the dead space of WARC segments that nobody writes to any more; return how many were rewritten.

    *busy* is the oldest segment that somebody beside the gatherers still writes to.
    """
    loop = asyncio.get_running_loop()
    below = keeper.safe_segments(max(segments(home.bodies), default=0))
    if busy is not None:
        below = min(below, busy)

    def commit(job: Any) -> object:
        return asyncio.run_coroutine_threadsafe(keeper.write(job), loop).result()

    def work() -> int:
        with SegmentWriter(home.bodies, "keeper", max_bytes=settings.size("gather.segment-size")) as writer:
            done = compact_bodies(
                home.bodies, database_of(home), commit, writer, below=below, now_s=now(),
                share=settings.share("gather.compact-share"),
            )  # fmt: skip
        return len(done)

    return await loop.run_in_executor(None, work)


async def derive_links(keeper: Keeper, home: Home) -> None:
    """Derive incoming links and anchors from what is kept, and let the index have them."""
    loop = asyncio.get_running_loop()

    def derive() -> Any:
        reader = SqliteReader(database_of(home), home.bodies)
        try:
            return link_pass(reader)
        finally:
            reader.close()

    result = await loop.run_in_executor(None, derive)
    if result.changed:
        await keeper.write(lambda writer, applied: writer.registry.put_inlinks(result.changed, applied))
    await loop.run_in_executor(None, write_prior, home.index, result.counts)
