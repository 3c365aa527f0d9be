"""When a host, and an address, may be asked again. Pure: time and dice are arguments.

A *host* is a host key: the host name, the port appended when it is unusual. Its
:class:`HostClock` lives with the one gatherer that has the host in hand and holds three
rules: start-to-start delay (robots.txt can only raise it), connections at a time, and the
back-off after 429 and 503. An *address* may carry many hosts that many gatherers have in
hand; its share is granted in one place, by the keeper's :class:`AddressBook`: connections at
a time, starts per second, back-off.

Whatever costs the host a request counts as one: pages, robots.txt, redirect hops, probes.
After a restart every host and every address counts as just visited; only back-offs are
remembered (:class:`HostState`, :class:`AddressState`), in wall time.
"""

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

from ingather.robot.backoff import BackOffLimits, Wait, waiting_time

__all__ = [
    "AddressBook",
    "AddressLimits",
    "AddressState",
    "Grant",
    "HostClock",
    "HostPolicy",
    "HostState",
]


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """What a host's source allows us.

    Attributes:
        delay_s: from start to start. 0 is for own hosts only; another host gets the default then.
        max_connections: at a time; 0 = no limit, for own hosts only.
        crawl_delay_cap_s: longest crawl-delay of robots.txt that is obeyed in full; a longer one
            counts as this and the host is reported (:attr:`HostClock.is_slow`).
        own: a host of ours.
    """

    delay_s: float = 1.0
    max_connections: int = 2
    crawl_delay_cap_s: float = 60.0
    own: bool = False

    def least_delay(self) -> float:
        """Return the delay that holds without robots.txt, seconds."""
        if self.delay_s > 0:
            return self.delay_s
        return 0.0 if self.own else 1.0

    def most_connections(self) -> int:
        """Return how many connections may be open at a time."""
        if self.max_connections > 0:
            return self.max_connections
        return 1_000_000 if self.own else 2


@dataclass(frozen=True, slots=True)
class HostState:
    """What survives a restart of one host's clock: its back-off and its crawl-delay.

    ``not_before_s`` is wall time; ``span_s`` the whole wait when it was imposed, so that a wall clock
    that was set back cannot prolong it; ``failures`` how often the host asked for time in a row;
    ``crawl_delay_s`` what robots.txt asked for when it was last read, 0 = nothing.
    """

    host: str
    not_before_s: float = 0.0
    span_s: float = 0.0
    failures: int = 0
    crawl_delay_s: float = 0.0


class HostClock:
    """The clock of one host in hand. Owned by one thread; times are monotonic seconds.

    Attributes:
        host: its key.
        last_start: when the last request started, or may have.
        delay_s: effective delay from start to start.
        ready_at: earliest time of the next start as far as delay and back-off go; never moves back
            but by :meth:`answered`.
        open: connections in use.
        max_open: how many may be.
        failures: refusals (429, 503, unreachable) in a row.
        floor_s: least delay that an operator or the hour asks for.
    """

    __slots__ = (
        "_not_before",
        "asked_delay_s",
        "delay_s",
        "failures",
        "floor_s",
        "host",
        "last_start",
        "max_open",
        "open",
        "policy",
        "ready_at",
        "span_s",
    )

    def __init__(self, host: str, policy: HostPolicy, now: float, *, just_visited: bool = True) -> None:
        self.host = host
        self.policy = policy
        self.delay_s = policy.least_delay()
        self.asked_delay_s = 0.0
        self.floor_s = 0.0
        self.max_open = policy.most_connections()
        self.open = 0
        self.failures = 0
        self.span_s = 0.0
        self._not_before = -inf
        # A host that nobody ever asked may be asked at once; any other was, perhaps, a moment ago.
        self.last_start = now if just_visited else -inf
        self.ready_at = now + self.delay_s if just_visited else now

    def start(self, now: float) -> None:
        """Note that a request starts now."""
        self.open += 1
        self.last_start = now
        self.ready_at = max(now + self.delay_s, self._not_before)

    def finish(self) -> None:
        """Note that a request has ended, however."""
        self.open -= 1

    def sent(self, at: float) -> None:
        """Correct the last start: the request left only *at* (name look-up and connecting took their time)."""
        if at > self.last_start:
            self.last_start = at
            self._settle()

    def obey(self, crawl_delay_s: float | None) -> None:
        """Take over the crawl-delay of robots.txt (``None`` = it has none); it can only raise the delay."""
        asked = crawl_delay_s or 0.0
        # NaN and negatives of a hostile file compare false and fall out here.
        self.asked_delay_s = asked if asked > 0 else 0.0
        self._weigh()

    def slow(self, floor_s: float) -> None:
        """Keep at least *floor_s* from start to start, because an operator or the hour asks for it; 0 = no more."""
        if floor_s != self.floor_s:
            self.floor_s = max(floor_s, 0.0)
            self._weigh()

    def _weigh(self) -> None:
        asked = min(self.asked_delay_s, self.policy.crawl_delay_cap_s)
        self.delay_s = max(self.policy.least_delay(), asked, self.floor_s)
        self._settle()

    @property
    def is_slow(self) -> bool:
        """Whether robots.txt asks for more delay than is obeyed: to be reported."""
        return self.asked_delay_s > self.policy.crawl_delay_cap_s

    def estimate_s(self, waiting: int) -> float:
        """Return how long *waiting* URLs will take at the effective delay, seconds."""
        return waiting * self.delay_s

    def back_off(
        self,
        now: float,
        *,
        chance: float,
        asked_s: float | None = None,
        limits: BackOffLimits | None = None,
    ) -> Wait:
        """Leave the host alone for a while: it answered 429 or 503, or could not be reached.

        Refusals of requests that were under way when the first one came do not count again,
        but what they ask for does.
        """
        if now >= self._not_before:
            self.failures += 1
        wait = waiting_time(self.failures, chance=chance, asked_s=asked_s, limits=limits)
        if now + wait.seconds > self._not_before:
            self._not_before = now + wait.seconds
            self.span_s = wait.seconds
            self._settle()
        return wait

    def answered(self, now: float) -> None:
        """Note a normal answer: the next refusal is a first one again. A wait that runs is kept."""
        if self.failures and now >= self._not_before:
            self.failures = 0

    def backing_off(self, now: float) -> float:
        """Return the seconds for which the host is still left alone, 0 if it is not."""
        return max(self._not_before - now, 0.0)

    def export(self, now: float, wall_s: float) -> HostState | None:
        """Return what must survive a restart, ``None`` if nothing must."""
        left = self._not_before - now
        if left <= 0 and not self.failures and not self.asked_delay_s:
            return None
        until = wall_s + left if left > 0 else 0.0
        return HostState(self.host, until, self.span_s, self.failures, self.asked_delay_s)

    @classmethod
    def restore(cls, state: HostState, policy: HostPolicy, now: float, wall_s: float) -> "HostClock":
        """Make the clock of a host after a restart: just visited, its back-off still running, its crawl-delay known."""
        clock = cls(state.host, policy, now)
        clock.failures = state.failures
        clock.span_s = state.span_s
        clock._not_before = now + min(max(state.not_before_s - wall_s, 0.0), state.span_s)
        clock.obey(state.crawl_delay_s)
        return clock

    def _settle(self) -> None:
        self.ready_at = max(self.last_start + self.delay_s, self._not_before, self.ready_at)


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
