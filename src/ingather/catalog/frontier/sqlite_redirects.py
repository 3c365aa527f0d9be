"""Redirects of one URL within a day: a site that sends its readers around is left alone until the next one."""

from typing import NamedTuple

import apsw

__all__ = ["Redirects"]

_DAY_S = 86_400.0


class _Count(NamedTuple):
    since_s: float
    n: int


class Redirects:
    """Part of the one writer. A first redirect costs nothing: URLs are counted from their second visit within a day.

    Args:
        db: the writer's connection.
        limit: redirects of one URL in a day that are followed, 0 = all.
    """

    def __init__(self, db: apsw.Connection, limit: int) -> None:
        self._cursor = db.cursor()
        self._limit = limit

    def again_at(self, url_id: int, at_s: float, before_s: float | None) -> float | None:
        """Count a redirect of *url_id* at wall time *at_s*; *before_s* is its visit before.

        Returns:
            ``None``: follow it; else the time from which it may be asked again.
        """
        if not self._limit or before_s is None or at_s - before_s > _DAY_S:
            return None
        row = self._cursor.execute("select since, n from redirected where id = ?", (url_id,)).get
        count = _Count(before_s, 1) if row is None or at_s - row[0] > _DAY_S else _Count(*row)
        if count.n >= self._limit:
            return count.since_s + _DAY_S
        self._cursor.execute(
            "insert or replace into redirected (id, since, n) values (?, ?, ?)",
            (url_id, count.since_s, count.n + 1),
        )
        return None
