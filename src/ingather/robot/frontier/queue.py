"""One origin's share of the frontier in memory: rows read ahead, and rows passed over because their source's way rests."""

from collections import Counter, deque
from collections.abc import Container
from dataclasses import dataclass, field
from heapq import heappush
from typing import Protocol

from ingather.model.report import HostGrant, Row

__all__ = ["FrontierSource", "Queue", "Resting"]

_REFILL = 1000
_AGAIN_S = 5.0
_PASSES_A_S = 5_000.0
"""From the front it is read again for what came there meanwhile after so many seconds, and one more for so many rows passed over."""
_FRONT = (-1_000, 0)
"""Before every priority; what somebody asked for has one below zero."""


class FrontierSource(Protocol):
    """What the frontier reads from the catalog; see ``catalog.sqlite_frontier``."""

    def waiting_hosts(self) -> dict[int, int]:
        """Return how many URLs wait at each host."""

    def refill(self, host: int, after: tuple[int, int], limit: int) -> list[tuple[int, Row]]:
        """Return waiting URLs of a host behind (priority, id)."""

    def grants(self, hosts: list[int]) -> dict[int, HostGrant]:
        """Return what is kept about hosts."""

    def names(self, hosts: list[int]) -> dict[int, tuple[str, str]]:
        """Return (origin, politeness name) of hosts."""


@dataclass(slots=True)
class Resting:
    """Rows of one source at one host: (source, way) until which time (monotonic) they stay, and about how many they are."""

    why: tuple[str, str]
    until: float
    waiting: int = 0


@dataclass(slots=True)
class Queue:
    """One origin's share of the frontier in memory: rows read ahead, and the cursor behind them."""

    host: int
    origin: str
    key: str
    rows: deque[Row] = field(default_factory=deque)
    cursor: tuple[int, int] = _FRONT
    waiting: int = 0
    """Rows that wait in the catalog and are not out, those read ahead included."""
    resting: dict[int, "Resting"] = field(default_factory=dict)
    """By source. Their rows are passed over; they stay in the count."""
    dry: bool = False
    """Nothing but rows of those sources is left."""
    more: bool = False
    """Something came since it was last read from the front."""
    passed: Counter[int] = field(default_factory=Counter)
    again: float = 0.0

    def rewind(self) -> None:
        """Read from the front again."""
        self.rows.clear()
        self.cursor = _FRONT
        self.dry = self.more = False
        self.again = 0.0
        self.passed.clear()

    def may_go(self, now: float) -> int:
        """Rows that may go out at *now*, as far as their source's way counts."""
        if self.dry and not self.more and all(rest.until > now for rest in self.resting.values()):
            return 0
        return self.waiting

    def fill(
        self, source: FrontierSource, out: Container[int], now: float, looks: list[tuple[float, int]]
    ) -> bool:
        """Read ahead; when nothing is behind the cursor start from the front (URLs may wait again there).

        Args:
            source: where is read.
            out: rows in somebody's hands, which are left out.
            now: monotonic time.
            looks: takes up when to look at which host again, if it is too early now.
        """
        for start in (self.cursor, _FRONT):
            after = start
            if start == _FRONT and self.resting and not self._afresh(now, looks):
                break
            while found := source.refill(self.host, after, _REFILL):
                after = (found[-1][0], found[-1][1].id)
                self.rows.extend(row for _, row in found if row.id not in out)
                self.cursor = after
                if self.rows:
                    return True
            if start == _FRONT:
                break
        return False

    def _afresh(self, now: float, looks: list[tuple[float, int]]) -> bool:
        """Whether a queue that has rows to pass over is read from the front now; else it is looked at again later."""
        for source, rest in self.resting.items():  # it was read to the end: so many were passed over
            rest.waiting = max(rest.waiting, self.passed[source])
        if self.passed and not self.more:
            return False
        if self.again > now:
            heappush(looks, (self.again, self.host))
            return False
        self.again = now + _AGAIN_S + self.passed.total() / _PASSES_A_S
        self.more = False
        self.passed.clear()
        return True
