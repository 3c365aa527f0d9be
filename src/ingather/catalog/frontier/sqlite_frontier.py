"""The frontier as it lies in the catalog: waiting URLs by host, due rechecks, hosts to lend.

Claims are not rows: a waiting URL stays waiting until its visit is settled, so that a crash
needs no repair. The keeper holds what it has handed out in memory and asks here for more by
(priority, id) behind its cursor.
"""

from collections.abc import Sequence

from ingather.catalog.sqlite_rows import Rows
from ingather.catalog.statements import SQL
from ingather.model.report import HostGrant, Row

__all__ = ["FrontierQueries"]


class FrontierQueries:
    """Reads for the keeper, on the writer's connection or a reader's; raises :class:`CatalogError`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def waiting_hosts(self) -> dict[int, int]:
        """Return how many URLs wait at each host."""
        return dict(self._rows.all(SQL["waiting_hosts"]))

    def refill(self, host: int, after: tuple[int, int], limit: int) -> list[tuple[int, Row]]:
        """Return (priority, row) of at most *limit* waiting URLs of *host* behind (priority, id) *after*."""
        return [(r[20], Row(*r[:20])) for r in self._rows.all(SQL["refill"], (host, *after, limit))]

    def row(self, url_id: int) -> Row | None:
        """Return one row as it would be claimed, whether it waits or not."""
        row = self._rows.one(SQL["claim_one"], (url_id,))
        return None if row is None else Row(*row)

    def grants(self, hosts: Sequence[int]) -> dict[int, HostGrant]:
        """Return what is kept about hosts, ready to be lent."""
        rows = self._rows.among(
            "select id, origin, hkey, not_before, back_offs, robots_kind, coalesce(robots_body, x''), robots_at, robots_since, "
            "robots_detail from host where id in ({ids})",
            hosts,
        )
        return {
            r[0]: HostGrant(
                id=r[0], origin=r[1], key=r[2], own=False, not_before_s=r[3], back_offs=r[4], robots_kind=r[5],
                robots_body=r[6], robots_at_s=r[7], robots_since_s=r[8], robots_detail=r[9],
            )
            for r in rows
        }  # fmt: skip

    def asked_due(self, now_s: float) -> bool:
        """Whether a visit that a pushed record asked for was delayed, and its time has come."""
        return bool(self._rows.value(SQL["asked_due"], (now_s,)))

    def sources(self) -> dict[int, str]:
        """Return the names of the sources."""
        return dict(self._rows.all("select id, name from source"))

    def names(self, hosts: Sequence[int]) -> dict[int, tuple[str, str]]:
        """Return (origin, politeness name) of each host."""
        rows = self._rows.among("select id, origin, hkey from host where id in ({ids})", hosts)
        return {host: (origin, key) for host, origin, key in rows}

    def known_hosts(self) -> list[tuple[int, str, str, float]]:
        """Return (id, origin, politeness name, not before) of every host."""
        return [
            (r[0], r[1], r[2], r[3]) for r in self._rows.all("select id, origin, hkey, not_before from host")
        ]
