"""Repairing a home: what does not read back is forgotten, so that it is fetched again."""

from functools import partial
from typing import Any

from ingather.app.access.policing import use_policy_of
from ingather.app.checking import damaged_bodies
from ingather.app.clock import SystemClock
from ingather.app.home import Home
from ingather.app.homeparts import database_of, follower_of
from ingather.app.operating import follow_directly
from ingather.app.wiring import budget_limits
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.settings.values import Settings

__all__ = ["forget_damaged_bodies"]

_PIECE = 1000


def forget_damaged_bodies(home: Home, settings: Settings) -> list[dict[str, Any]]:
    """Forget the place of every kept body and text that does not read back as written.

    The descriptions stand; the pages wait to be fetched again as a whole, without validators.

    Returns:
        ``url``, ``place`` and ``what`` of each.

    Raises:
        HomeLockedError: somebody owns the home: places move while it is gathered into.
        CatalogDamagedError: the catalog itself does not read back; nothing was changed.
    """
    with home.lock("ingather catalog repair"):
        reader = SqliteReader(database_of(home), home.bodies)
        try:
            found = list(damaged_bodies(reader, home.bodies))
        finally:
            reader.close()
        if not found:
            return []
        clock = SystemClock()
        writer = CatalogWriter(database_of(home), budgets=budget_limits(settings))
        ids = [url_id for url_id, _, _ in found]
        applied = Applied()
        try:
            use_policy_of(writer, home)
            now_s = writer.applier.now_s = clock.wall()
            for at in range(0, len(ids), _PIECE):
                writer.transaction(partial(_forget, ids=ids[at : at + _PIECE], now_s=now_s, applied=applied))
            sequence = writer.applier.sequence
        finally:
            writer.close()
        if applied.changes:
            follow_directly(follower_of(home, settings, clock), sequence)
    return [{"url": url, "place": error.place, "what": error.text} for _, url, error in found]


def _forget(writer: CatalogWriter, *, ids: list[int], now_s: float, applied: Applied) -> int:
    return writer.registry.forget_bodies(ids, now_s, applied)
