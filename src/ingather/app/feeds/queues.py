"""The queues of the data sources: whose feed is next, how many records wait, whose feeds rest. No lock: the feed thread has one."""

from bisect import insort
from collections import deque
from collections.abc import Sequence
from enum import IntEnum

from ingather.feeds.policy import source_row_name

__all__ = ["FeedQueues", "Space"]

_RECENT = 8


class Space(IntEnum):
    """How much room there is for applying feeds."""

    NONE = 0
    """Nothing is applied but light feeds that are next in their source."""
    RESERVE = 1
    """In a source where a light feed waits, what precedes it is applied as well: else a revocation would not come to its turn."""
    PLENTY = 2


class FeedQueues:
    """Feeds that are not at their end, by data source in order of arrival; sources take turns.

    Feeds of documents rest while their source is disabled. Feeds of groups never do: rights are not held back.
    """

    def __init__(self) -> None:
        self._queues: dict[str, list[int]] = {}
        """Ascending: rows are numbered in order of arrival."""
        self._turns: deque[str] = deque()
        self._waiting: dict[int, int] = {}
        self._since: dict[int, float] = {}
        self._groups: set[int] = set()
        self._light: set[int] = set()
        self.space = Space.PLENTY
        self.resting: frozenset[str] = frozenset()
        """Names of the sources that are disabled."""

    def __len__(self) -> int:
        """How many feeds are not at their end."""
        return len(self._waiting)

    @property
    def alone(self) -> bool:
        """Whether one data source alone has feeds."""
        return len(self._turns) == 1

    def rests(self, datasource: str) -> bool:
        """Whether the source of *datasource* is disabled."""
        return source_row_name(datasource) in self.resting

    def add(  # noqa: PLR0913 - what is known of a feed
        self,
        number: int,
        datasource: str,
        records: int,
        received_s: float,
        *,
        groups: bool,
        light: bool = False,
    ) -> None:
        """Give a feed its place: *records* are about how many there are, *groups* a feed of groups, *light*: it needs no room."""
        if light:
            self._light.add(number)
        self._since[number] = received_s
        self._waiting[number] = max(records, 1)
        if groups:
            self._groups.add(number)
        queue = self._queues.setdefault(datasource, [])
        if number not in queue[-_RECENT:]:
            insort(queue, number)
        if datasource not in self._turns:
            self._turns.append(datasource)

    def left(self, number: int, records: int) -> None:
        """Note how many records of a feed are still to be done."""
        self._waiting[number] = max(records, 1)

    def remove(self, datasource: str, number: int) -> None:
        """A feed is at its end."""
        self._waiting.pop(number, None)
        self._since.pop(number, None)
        self._groups.discard(number)
        self._light.discard(number)
        queue = self._queues.get(datasource, [])
        if number in queue:
            queue.remove(number)
        if not queue:
            self._queues.pop(datasource, None)
            if datasource in self._turns:
                self._turns.remove(datasource)

    def turn(self) -> str | None:
        """Return whose turn it is, ``None`` = nobody has a feed that may go on."""
        for _ in range(len(self._turns)):
            datasource = self._turns.popleft()
            self._turns.append(datasource)
            if self.next(datasource):
                return datasource
        return None

    def first(self) -> str | None:
        """Return the first data source that has a feed which may go on; without taking turns."""
        return next((name for name in self._turns if self.next(name)), None)

    def next(self, datasource: str) -> int:
        """Return the feed of *datasource* that is next, 0 = none may go on."""
        queue = self._queues.get(datasource, ())
        if self.rests(datasource):
            queue = [number for number in queue if number in self._groups]
        if not queue or self._has_room(queue):
            return queue[0] if queue else 0
        return 0

    def _has_room(self, queue: Sequence[int]) -> bool:
        if self.space is Space.PLENTY or queue[0] in self._light:
            return True
        return self.space is Space.RESERVE and not self._light.isdisjoint(queue)

    @property
    def waits_for_room(self) -> bool:
        """Whether there are feeds that would be next if there were more room."""
        return self.space is not Space.PLENTY and any(
            queue and not self.rests(name) and not self._has_room(queue)
            for name, queue in self._queues.items()
        )

    def backlog(self) -> int:
        """Return how many records wait for their turn, without those that rest."""
        resting = self._at_rest()
        return sum(count for number, count in self._waiting.items() if number not in resting)

    def oldest_s(self) -> float | None:
        """Return when the feed was received that waits for its turn longest."""
        resting = self._at_rest()
        return min((at_s for number, at_s in self._since.items() if number not in resting), default=None)

    def _at_rest(self) -> set[int]:
        return {
            number
            for datasource, queue in self._queues.items()
            if self.rests(datasource)
            for number in queue
            if number not in self._groups
        }
