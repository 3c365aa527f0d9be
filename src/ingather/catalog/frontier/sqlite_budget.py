"""URL budgets: how many URLs a host, a path prefix and a query-less path may bring.

Counters live in memory and are written with the transaction that used them; a rollback
forgets them. Traps (calendars, endless folders, parameter games) end here at a bounded price.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import apsw

from ingather.model.urlparts import path_prefix

__all__ = ["BudgetKey", "BudgetLimits", "Budgets", "budget_keys"]

BudgetKey = tuple[int, str, str]


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """Upper bounds; 0 = none.

    Attributes:
        per_host: URLs of an origin.
        per_prefix: URLs below the first two segments of a path.
        per_path: URLs that differ in nothing but their query.
        per_host_excluded: URLs of an origin that are kept although the filters deny them, of all sources; what
            is beyond is counted and forgotten.
        redirects_a_day: redirects of one URL in a day that are followed; of all sources.
        remembered: counters kept in memory; beyond it they are read again from the catalog.
    """

    per_host: int = 100_000
    per_prefix: int = 50_000
    per_path: int = 500
    per_host_excluded: int = 100_000
    redirects_a_day: int = 20
    remembered: int = 200_000


class Budgets:
    """Counts per (host, kind, name); part of the one writer.

    Args:
        db: the writer's connection.
        limits: of every source ...
        by_source: ... but these (source's name to its own limits).
    """

    def __init__(
        self,
        db: apsw.Connection,
        limits: BudgetLimits | None = None,
        by_source: Mapping[str, BudgetLimits] | None = None,
    ) -> None:
        self._cursor = db.cursor()
        self._limits = limits or BudgetLimits()
        self._by_source = dict(by_source or {})
        self._counts: dict[BudgetKey, int] = {}
        self._dirty: set[BudgetKey] = set()
        self._refused: dict[BudgetKey, int] = {}

    @property
    def redirects_a_day(self) -> int:
        """Redirects of one URL in a day that are followed, 0 = all."""
        return self._limits.redirects_a_day

    def reload(self) -> None:
        """Forget what was not committed."""
        self._counts.clear()
        self._dirty.clear()
        self._refused.clear()

    def charge(self, host: int, path: str, source: str) -> BudgetKey | None:
        """Count one more URL of *host*; return the counter that refuses it, ``None`` = it is counted."""
        limits = self._by_source.get(source, self._limits) if self._by_source else self._limits
        counts = self._counts
        keys = budget_keys(host, path)
        most = (limits.per_host, limits.per_prefix, limits.per_path)
        for key, limit in zip(keys, most, strict=False):
            known = counts.get(key)
            if known is None:
                known = self._read(key)
            if limit and known >= limit:
                return key
        for key in keys:
            counts[key] += 1
        self._dirty.update(keys)
        return None

    def release(self, host: int, path: str) -> None:
        """Take back what :meth:`charge` counted: the URL was known, or is denied by now."""
        for key in budget_keys(host, path):
            self._counts[key] = max(self._counts[key] if key in self._counts else self._read(key), 1) - 1
            self._dirty.add(key)

    def keeps_excluded(self, host: int) -> bool:
        """Whether there is room for one more URL of *host* that the filters deny."""
        key, limit = (host, "excluded", ""), self._limits.per_host_excluded
        known = self._counts.get(key)
        return not limit or (self._read(key) if known is None else known) < limit

    def count_excluded(self, host: int, more: int) -> None:
        """Count *more* (1 or -1) URLs of *host* that are kept although the filters deny them."""
        key = (host, "excluded", "")
        known = self._counts.get(key)
        self._counts[key] = max((self._read(key) if known is None else known) + more, 0)
        self._dirty.add(key)

    def refuse_excluded(self, host: int) -> None:
        """Note that a denied URL of *host* was not kept: there are too many."""
        self.count_excluded(host, 0)
        self.refuse((host, "excluded", ""))

    def refuse(self, key: BudgetKey) -> str:
        """Note a refusal by counter *key*; return its name for people."""
        self._refused[key] = self._refused.get(key, 0) + 1
        self._dirty.add(key)
        return f"urls-per-{key[1]}"

    def _read(self, key: BudgetKey) -> int:
        found = self._cursor.execute("select n from budget where host = ? and kind = ? and name = ?", key).get
        self._counts[key] = count = 0 if found is None else int(found)
        return count

    def flush(self) -> None:
        """Write the counters that changed; inside the caller's transaction."""
        if self._dirty:
            counts, refused = self._counts, self._refused
            self._cursor.executemany(
                "insert into budget (host, kind, name, n, refused) values (?1, ?2, ?3, ?4, ?5) on conflict do update "
                "set n = ?4, refused = refused + ?5",
                [(*key, counts[key], refused.get(key, 0)) for key in sorted(self._dirty)],
            )
            self._dirty.clear()
            refused.clear()
        if len(self._counts) > self._limits.remembered:
            self._counts.clear()


def budget_keys(host: int, path: str) -> tuple[BudgetKey, ...]:
    """Return the counters that a URL which is to be visited counts for."""
    bare, mark, _ = path.partition("?")
    if mark:
        return (host, "host", ""), (host, "prefix", path_prefix(bare)), (host, "path", bare)
    return (host, "host", ""), (host, "prefix", path_prefix(bare))
