"""What an operator and the hours of a source forbid: hosts that are slowed or blocked, sources that rest. Pure.

The keeper asks before it lends a host; what changes while a host is lent is told to whoever has it
(``wire.Slow``, ``wire.Recall``).
"""

from collections.abc import Callable, Mapping
from math import inf
from types import MappingProxyType

from ingather.model.source_name import BySource, same_source
from ingather.robot.politeness.hours import Hours

__all__ = ["Restraints"]


class Restraints:
    """Owned by the keeper's loop.

    Args:
        hours: when each source may be gathered, and how slowly; a source that is not named always may.
        wall: wall seconds.
        slowed: politeness name -> least delay, seconds.
        blocked: politeness names that nobody is to ask.
    """

    def __init__(
        self,
        hours: Mapping[str, Hours] = MappingProxyType({}),
        *,
        wall: Callable[[], float] = lambda: 0.0,
        slowed: Mapping[str, float] = MappingProxyType({}),
        blocked: frozenset[str] = frozenset(),
    ) -> None:
        self.hours = BySource(hours)
        self._wall = wall
        self.slowed = dict(slowed)
        self.blocked = set(blocked)
        self._sources: dict[str, str] = {}
        """Source of each host that was lent since the start."""
        self._floors = dict.fromkeys(self.hours, 0.0)

    def lent(self, key: str, source: str) -> None:
        """Note whose host it is that goes out."""
        if source in self.hours:
            self._sources[key] = source

    def floor_s(self, key: str, source: str) -> float:
        """Return the least delay of a host, seconds; 0 = nobody asks for more than its source and robots.txt."""
        hours = self.hours.get(source)
        return max(self.slowed.get(key, 0.0), hours.delay_s(self._wall()) if hours else 0.0)

    def rests_s(self, source: str) -> float:
        """Return for how many seconds nothing of a source is fetched by its windows; 0 = it may be."""
        hours = self.hours.get(source)
        return hours.closed_s(self._wall()) if hours else 0.0

    def turned(self) -> tuple[list[tuple[str, float]], dict[str, float]]:
        """Look at the hours again; return the new floors of lent hosts, and the lent hosts that rest from now on.

        The second has for each host the seconds for which it rests.
        """
        floors: list[tuple[str, float]] = []
        resting: dict[str, float] = {}
        for source, hours in self.hours.items():
            now_s = self._wall()
            floor, closed = hours.delay_s(now_s), hours.closed_s(now_s)
            keys = [key for key, owner in self._sources.items() if same_source(owner, source)]
            if floor != self._floors[source]:
                self._floors[source] = floor
                floors += [(key, max(floor, self.slowed.get(key, 0.0))) for key in keys]
            if closed > 0:
                resting.update(dict.fromkeys(keys, closed))
                for key in keys:
                    del self._sources[key]
        return floors, resting

    def slow(self, key: str, delay_s: float) -> float:
        """Slow a host down to one start in *delay_s* seconds, 0 = no more; return the floor that holds now."""
        if delay_s > 0:
            self.slowed[key] = delay_s
        else:
            self.slowed.pop(key, None)
        return self.floor_s(key, self._sources.get(key, ""))

    def shut_until(self, key: str) -> float:
        """Return infinity for a host that is blocked, else 0."""
        return inf if key in self.blocked else 0.0
