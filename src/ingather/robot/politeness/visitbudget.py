"""How often a host may be visited in a day (UTC); counted over restarts. Owned by the keeper's loop."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

__all__ = ["VisitBudget", "day_of"]

_DAY_S = 86_400.0


def day_of(wall_s: float) -> int:
    """Return the day of a wall time, counted from 1970 in UTC."""
    return int(wall_s // _DAY_S)


class VisitBudget:
    """Budgets of hosts.

    Args:
        limit: visits in a day that a host of a source bears, 0 = any number.
        wall: wall seconds.
        visits: those of today so far, by politeness name.
    """

    def __init__(
        self, limit: Callable[[str], int], wall: Callable[[], float], visits: Mapping[str, int] | None = None
    ) -> None:
        self.limit = limit
        self._wall = wall
        self._day = day_of(wall())
        self._visits: Counter[str] = Counter(visits or {})

    def visited(self, key: str) -> None:
        """Count a visit that a host was asked for."""
        self._turn()
        self._visits[key] += 1

    def admits(self, keys: Sequence[tuple[str, str]], out: Mapping[str, int]) -> list[bool]:
        """Say of each of several visits, in their order, whether there is room for it.

        Args:
            keys: (politeness name, source) of each.
            out: visits of each host that are in gatherers' hands, these not among them.
        """
        self._turn()
        used = Counter(self._visits)
        answers = []
        for key, source in keys:
            limit = self.limit(source)
            fits = not limit or used[key] + out.get(key, 0) < limit
            used[key] += fits
            answers.append(fits)
        return answers

    def left_s(self) -> float:
        """Return the seconds until the next day."""
        return (day_of(self._wall()) + 1) * _DAY_S - self._wall()

    def _turn(self) -> None:
        if (day := day_of(self._wall())) != self._day:
            self._day = day
            self._visits.clear()
