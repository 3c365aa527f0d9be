"""When an address may be asked again, whatever the names of the hosts that it carries. Pure: time and dice are arguments.

Many gatherers may have hosts of one address in hand, so its share is granted in one place, by the keeper's
:class:`AddressBook`: connections at a time, starts per second, back-off. After a restart every address counts as just
visited; back-offs are remembered (:class:`AddressState`), in wall time.
"""

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

from ingather.robot.politeness.backoff import BackOffLimits, Wait, waiting_time

__all__ = ["AddressBook", "AddressLimits", "AddressState", "Grant"]


@dataclass(frozen=True, slots=True)
class AddressLimits:
    """What one address bears, whatever the hosts on it are called.

    Attributes:
        max_connections: at a time.
        starts: at most this many starts ...
        per_s: ... in any span of this many seconds.
        slack_s: added to the span, because a grant takes effect a moment after it is given.
        back_off_cap_s: a refusal of one host holds the other hosts of its address up for at most this
            long; the host itself waits as long as it asked.
    """

    max_connections: int = 8
    starts: int = 4
    per_s: float = 1.0
    slack_s: float = 0.0
    back_off_cap_s: float = 3_600.0


@dataclass(frozen=True, slots=True)
class AddressState:
    """What survives a restart of one address: its back-off; fields as in :class:`HostState`."""

    address: str
    not_before_s: float = 0.0
    span_s: float = 0.0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Grant:
    """Leave to start one request at *address* now, for *holder*'s request *ticket*."""

    address: str
    holder: Hashable
    ticket: Hashable


@dataclass(slots=True)
class _Address:
    name: str
    starts: deque[float]
    open: int = 0
    not_before: float = -inf
    span_s: float = 0.0
    failures: int = 0
    queue: deque[tuple[Hashable, Hashable]] = field(default_factory=deque)
    held: dict[Hashable, int] = field(default_factory=dict)
    armed: bool = False
    """Whether it is in the heap of the due."""

    def ready_at(self, period_s: float) -> float:
        return max(self.starts[0] + period_s, self.not_before)


class AddressBook:
    """Grants starts at addresses to all gatherers. Owned by one thread, the keeper's.

    A gatherer requests, starts when it is granted, and releases when the request has ended. Own
    hosts need no grant. A grant is given at the moment at which it may be used and no earlier, so
    a back-off that comes in between holds for everybody who waits.
    """

    def __init__(self, now: float, limits: AddressLimits | None = None, *, just_visited: bool = True) -> None:
        self.limits = limits or AddressLimits()
        self._period_s = self.limits.per_s + self.limits.slack_s
        self._born = now if just_visited else -inf
        self._book: dict[str, _Address] = {}
        self._due: list[tuple[float, int, _Address]] = []
        self._sequence = 0
        self._sweep_at = now + 60.0

    def request(self, address: str, now: float, *, holder: Hashable = 0, ticket: Hashable = None) -> float:
        """Ask for a start at *address*; return the time from which it may happen.

        Returns:
            *now*: granted, start. Later: the earliest time as things stand; the request is queued and
            comes out of :meth:`due`. Infinity: queued until a connection is released.
        """
        entry = self._book.get(address)
        if entry is None:
            if now >= self._sweep_at:
                self._sweep(now)
            entry = self._enter(address)
        if not entry.queue and entry.open < self.limits.max_connections:
            ready = entry.ready_at(self._period_s)
            if ready <= now:
                self._grant(entry, holder, now)
                return now
        else:
            ready = inf
        entry.queue.append((holder, ticket))
        self._arm(entry)
        return ready

    def release(self, address: str, *, holder: Hashable = 0) -> None:
        """Give a connection back; who waits for it comes out of :meth:`due`."""
        entry = self._book.get(address)
        if entry is None or not entry.held.get(holder):
            return  # the holder was dropped in the meantime
        entry.open -= 1
        entry.held[holder] -= 1
        if not entry.held[holder]:
            del entry.held[holder]
        self._arm(entry)

    def due(self, now: float) -> list[Grant]:
        """Return the queued requests that are granted now, first come first served at each address."""
        grants: list[Grant] = []
        heap = self._due
        while heap and heap[0][0] <= now:
            entry = heappop(heap)[2]
            entry.armed = False
            if entry.queue and entry.open < self.limits.max_connections:
                if entry.ready_at(self._period_s) <= now:
                    holder, ticket = entry.queue.popleft()
                    self._grant(entry, holder, now)
                    grants.append(Grant(entry.name, holder, ticket))
                self._arm(entry)
        return grants

    def next_due(self) -> float:
        """Return when :meth:`due` may have something next (monotonic), infinity if nobody waits for time."""
        return self._due[0][0] if self._due else inf

    def back_off(
        self,
        address: str,
        now: float,
        *,
        chance: float,
        asked_s: float | None = None,
        limits: BackOffLimits | None = None,
    ) -> Wait:
        """Leave *address* alone for a while: a host on it answered 429 or 503."""
        entry = self._book.get(address) or self._enter(address)
        if now >= entry.not_before:
            entry.failures += 1
        wait = waiting_time(entry.failures, chance=chance, asked_s=asked_s, limits=limits)
        cap = self.limits.back_off_cap_s
        if wait.seconds > cap:
            wait = Wait(cap, asked_s, asked_s is not None and asked_s > cap)
        if now + wait.seconds > entry.not_before:
            entry.not_before, entry.span_s = now + wait.seconds, wait.seconds
        return wait

    def answered(self, address: str, now: float) -> None:
        """Note a normal answer from *address*: the next refusal is a first one again."""
        entry = self._book.get(address)
        if entry is not None and entry.failures and now >= entry.not_before:
            entry.failures = 0

    def drop(self, holder: Hashable) -> None:
        """Forget a holder that died: its connections are closed, its requests are void."""
        for entry in self._book.values():
            entry.open -= entry.held.pop(holder, 0)
            if any(waiting == holder for waiting, _ in entry.queue):
                entry.queue = deque(item for item in entry.queue if item[0] != holder)
            self._arm(entry)

    def open(self, address: str) -> int:
        """Return how many connections are granted at *address*."""
        entry = self._book.get(address)
        return entry.open if entry else 0

    def waiting(self) -> int:
        """Return how many requests are queued in all."""
        return sum(len(entry.queue) for entry in self._book.values())

    def export(self, now: float, wall_s: float) -> list[AddressState]:
        """Return the back-offs that must survive a restart."""
        return [
            AddressState(e.name, wall_s + max(e.not_before - now, 0.0), e.span_s, e.failures)
            for e in self._book.values()
            if e.failures or e.not_before > now
        ]

    def restore(self, states: Iterable[AddressState], now: float, wall_s: float) -> None:
        """Take over back-offs from before a restart."""
        for state in states:
            entry = self._enter(state.address)
            entry.failures, entry.span_s = state.failures, state.span_s
            entry.not_before = now + min(max(state.not_before_s - wall_s, 0.0), state.span_s)

    def _enter(self, address: str) -> _Address:
        starts = deque([self._born] * self.limits.starts, maxlen=self.limits.starts)
        entry = self._book[address] = _Address(address, starts)
        return entry

    def _grant(self, entry: _Address, holder: Hashable, now: float) -> None:
        entry.open += 1
        entry.held[holder] = entry.held.get(holder, 0) + 1
        entry.starts.append(now)

    def _arm(self, entry: _Address) -> None:
        if entry.armed or not entry.queue or entry.open >= self.limits.max_connections:
            return
        entry.armed = True
        self._sequence += 1
        heappush(self._due, (entry.ready_at(self._period_s), self._sequence, entry))

    def _sweep(self, now: float) -> None:
        # An address without anything to remember is as good as new.
        self._sweep_at = now + 60.0
        idle = [
            name
            for name, e in self._book.items()
            if not (e.open or e.queue or e.failures or e.not_before > now)
            and e.starts[-1] + self._period_s <= now
        ]
        for name in idle:
            del self._book[name]
