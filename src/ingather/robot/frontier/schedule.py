"""What to fetch next: a gatherer's working set, hosts by readiness, URLs by priority. Pure.

An item is whatever the gatherer fetches with one request (a URL of its claims, a robots.txt,
a redirect hop, a probe); the schedule never looks into it. Hosts wait in one heap by the time at
which they may be asked again and, among equals, by their turn: who waited longest goes
first, so a host with a million URLs gets one start for each start of a host with ten. Within a
host, smaller priorities go first, then order of arrival.

One request passes through four calls: :meth:`Schedule.add`, :meth:`Schedule.next` (the item is
in hand, its host is set aside), :meth:`Schedule.started` (the moment that counts for the delay;
the grant for the address lies between the two, so ask :meth:`Schedule.must_wait` first) and
:meth:`Schedule.finished`. A request that may not start, or need not, goes by
:meth:`Schedule.put_back`.

While a host's robots.txt is not known its gate is shut (:meth:`Schedule.shut`): only items of
negative priority come out, one at a time.
"""

from bisect import insort
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from math import inf
from typing import Generic, TypeVar

from ingather.robot.politeness.backoff import BackOffLimits, Wait
from ingather.robot.politeness.hosts import HostClock

__all__ = ["Item", "Schedule", "ScheduleCounts", "SlowHost"]

Item = TypeVar("Item")
"""Whatever the gatherer fetches with one request."""


@dataclass(frozen=True, slots=True)
class ScheduleCounts:
    """Numbers for people and for claims: hosts in hand, items waiting, requests in flight, room left, items refused for want of it."""

    hosts: int
    waiting: int
    in_flight: int
    room: int
    refused: int


@dataclass(frozen=True, slots=True)
class SlowHost:
    """A host whose robots.txt asks for more delay than is obeyed (seconds), and how long its waiting URLs will take."""

    host: str
    asked_s: float
    obeyed_s: float
    waiting: int
    estimated_s: float


class _Host(Generic[Item]):
    """A host in hand: its clock and its items, one queue a priority."""

    __slots__ = ("aside", "clock", "gated", "leaving", "priorities", "queues", "turn", "waiting")

    def __init__(self, clock: HostClock) -> None:
        self.clock = clock
        self.queues: dict[int, deque[Item]] = {}
        self.priorities: list[int] = []
        self.waiting = 0
        self.turn = 0
        """Number of its entry in the heap, 0 = none; another number there is out of date."""
        self.aside = 0
        """Items handed out and not yet started: no other is handed out meanwhile."""
        self.leaving = False
        self.gated = False

    def push(self, item: Item, priority: int, *, first: bool = False) -> None:
        queue = self.queues.get(priority)
        if queue is None:
            queue = self.queues[priority] = deque()
            insort(self.priorities, priority)
        if first:
            queue.appendleft(item)
        else:
            queue.append(item)
        self.waiting += 1

    def pop(self) -> Item:
        priority = self.priorities[0]
        queue = self.queues[priority]
        item = queue.popleft()
        if not queue:
            del self.queues[priority]
            del self.priorities[0]
        self.waiting -= 1
        return item

    def drain(self) -> list[Item]:
        items = [item for priority in self.priorities for item in self.queues[priority]]
        self.queues.clear()
        self.priorities.clear()
        self.waiting = 0
        return items


class Schedule(Generic[Item]):
    """The working set of one gatherer. Owned by one thread; times are monotonic seconds.

    Bounded: at most *max_items* items wait here, the rest stays in the catalog.
    """

    def __init__(self, *, max_items: int = 4096) -> None:
        self._hosts: dict[str, _Host[Item]] = {}
        self._heap: list[tuple[float, int, _Host[Item]]] = []
        self._turns = 0
        self._now = -inf
        self._max_items = max_items
        self._waiting = 0
        self._in_flight = 0
        self._refused = 0

    def admit(self, clock: HostClock) -> None:
        """Take a host in hand. One that is in hand, or leaving, stays with the clock it has, set forward to *clock*'s last start."""
        host = self._hosts.get(clock.host)
        if host is None:
            self._hosts[clock.host] = _Host(clock)
        else:
            host.clock.sent(clock.last_start)
            host.leaving = False

    def add(self, host_key: str, item: Item, priority: int = 0) -> bool:
        """Let *item* of an admitted host wait for its turn; ``False`` = no room, or no such host in hand."""
        host = self._hosts.get(host_key)
        if host is None or host.leaving or self._waiting >= self._max_items:
            self._refused += 1
            return False
        host.push(item, priority)
        self._waiting += 1
        if not host.turn:
            self._queue_up(host)
        return True

    def next(self, now: float) -> tuple[Item, str] | float:
        """Hand out the item whose turn it is, with its host's key, or say how many seconds nothing is ready.

        Infinity = nothing becomes ready by time alone: wait for an answer or for new items. After an
        item, call again: other hosts may be ready as well.
        """
        self._now = now
        heap = self._heap
        while heap:
            ready_at, turn, host = heap[0]
            if host.turn != turn:
                heappop(heap)
                continue
            if ready_at > now:
                return ready_at - now
            clock = host.clock
            if clock.ready_at > now:  # it was set back after it was queued
                self._turns += 1
                host.turn = self._turns
                heapreplace(heap, (clock.ready_at, self._turns, host))
                continue
            heappop(heap)
            host.turn = 0
            host.aside += 1
            self._waiting -= 1
            self._in_flight += 1
            return host.pop(), clock.host
        return inf

    def must_wait(self, host_key: str, now: float) -> float:
        """Return for how many seconds the request in hand may not start yet, 0 = it may.

        Ask right before :meth:`started` when something lay between: since the item was handed out the
        host may have asked for time, or robots.txt may have raised the delay. If so, :meth:`put_back` the
        item and release its grant.
        """
        return max(self._hosts[host_key].clock.ready_at - now, 0.0)

    def started(self, host_key: str, now: float) -> None:
        """Note that the request handed out last for this host starts now."""
        host = self._hosts[host_key]
        host.aside -= 1
        clock = host.clock
        clock.start(now)
        if host.waiting and clock.open < clock.max_open and not host.gated:
            self._turns += 1
            host.turn = self._turns
            heappush(self._heap, (clock.ready_at, self._turns, host))

    def finished(self, host_key: str) -> None:
        """Note that a started request of this host has ended, however it did."""
        host = self._hosts[host_key]
        host.clock.finish()
        self._in_flight -= 1
        if host.waiting:
            if not host.turn:
                self._queue_up(host)
        elif host.leaving:
            self._let_go(host)

    def put_back(self, host_key: str, item: Item | None, priority: int = 0) -> None:
        """Take back an item that was handed out but not started (first of its priority); ``None`` = it needs no fetch."""
        host = self._hosts[host_key]
        host.aside -= 1
        self._in_flight -= 1
        if item is not None and not host.leaving:
            host.push(item, priority, first=True)
            self._waiting += 1
        self._queue_up(host)
        if host.leaving:
            self._let_go(host)

    def back_off(
        self,
        host_key: str,
        now: float,
        *,
        chance: float,
        asked_s: float | None = None,
        limits: BackOffLimits | None = None,
    ) -> Wait:
        """Leave the host alone for a while (:meth:`HostClock.back_off`); its items keep waiting."""
        return self._hosts[host_key].clock.back_off(now, chance=chance, asked_s=asked_s, limits=limits)

    def shut(self, host_key: str) -> None:
        """Hand out only items of negative priority of this host, one at a time, until :meth:`unshut`."""
        host = self._hosts[host_key]
        host.gated = True
        if host.turn and host.priorities[0] >= 0:
            host.turn = 0

    def unshut(self, host_key: str) -> None:
        """Hand out everything of this host again."""
        host = self._hosts[host_key]
        host.gated = False
        self._queue_up(host)

    def clock(self, host_key: str) -> HostClock | None:
        """Return the clock of a host in hand. Its delays may be raised through it at any time."""
        host = self._hosts.get(host_key)
        return host.clock if host else None

    def remove(self, host_key: str) -> list[Item]:
        """Let go of a host: return its waiting items in order; what is in flight may end.

        The host may go into another hand only when :meth:`holds` says no.
        """
        host = self._hosts.get(host_key)
        if host is None:
            return []
        items = host.drain()
        self._waiting -= len(items)
        host.leaving = True
        host.turn = 0
        self._let_go(host)
        return items

    def holds(self, host_key: str) -> bool:
        """Return whether the host is in this hand, also while its last requests end."""
        return host_key in self._hosts

    def idle_hosts(self) -> list[str]:
        """Return the hosts in hand with nothing waiting and nothing in flight."""
        return [key for key, h in self._hosts.items() if not (h.waiting or h.aside or h.clock.open)]

    def counts(self) -> ScheduleCounts:
        """Return the numbers of the moment."""
        room = max(self._max_items - self._waiting, 0)
        return ScheduleCounts(len(self._hosts), self._waiting, self._in_flight, room, self._refused)

    def waiting(self, host_key: str) -> int:
        """Return how many items of a host wait."""
        host = self._hosts.get(host_key)
        return host.waiting if host else 0

    def slow_hosts(self) -> Iterator[SlowHost]:
        """Name the hosts whose crawl-delay is above what is obeyed."""
        for key, host in self._hosts.items():
            clock = host.clock
            if clock.is_slow:
                yield SlowHost(
                    key, clock.asked_delay_s, clock.delay_s, host.waiting, clock.estimate_s(host.waiting)
                )

    def _queue_up(self, host: _Host[Item]) -> None:
        if host.turn or not host.waiting or host.aside or host.clock.open >= host.clock.max_open:
            return
        if host.gated and (host.clock.open or host.priorities[0] >= 0):
            return
        self._turns += 1
        host.turn = self._turns
        # Behind all that are ready by now: who gives its turn back does not go first again.
        heappush(self._heap, (max(host.clock.ready_at, self._now), self._turns, host))

    def _let_go(self, host: _Host[Item]) -> None:
        if not (host.waiting or host.aside or host.clock.open):
            self._hosts.pop(host.clock.host, None)
