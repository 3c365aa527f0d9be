"""A crawl without a network: the real scheduler against an invented world, in simulated time.

Gatherers with their :class:`Schedule`, a keeper with :class:`Allotment` and
:class:`AddressBook`, messages that take a moment, hosts on shared addresses that answer
slowly, refuse, ask for time, and have crawl-delays; gatherers that are killed, a keeper that
is restarted, a wall clock that jumps. The judge is :class:`ingather.testing.oracle.PolitenessOracle`.
Everything follows from the seed: same seed, same trace. About 10 us of CPU a fetch.
"""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf
from random import Random

from ingather.robot.frontier.allotment import Allotment
from ingather.robot.frontier.schedule import Schedule
from ingather.robot.politeness.addresses import AddressBook, AddressLimits
from ingather.robot.politeness.backoff import BackOffLimits
from ingather.robot.politeness.hosts import HostClock, HostPolicy, HostState
from ingather.testing.oracle import HostRules, PolitenessOracle, Violation

__all__ = ["Figures", "SimulatedCrawl", "WorldShape", "simulate"]

_ROBOTS = -1
_MESSAGE_S = 0.004
_WALL_S = 1_800_000_000.0
_BIG_SHARE = 0.33
_PATIENCE_S = 60.0
_SLOW_PAGES = 4


@dataclass(frozen=True, slots=True)
class WorldShape:
    """How big and how unpleasant the world is; chances are per fetch."""

    hosts: int = 60
    own_hosts: int = 2
    addresses: int = 14
    gatherers: int = 2
    refusal: float = 0.01
    kill: float = 0.0005
    restart: float = 0.0003
    crawl_delays: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.5, 2.0, 5.0, 90.0)


@dataclass(slots=True)
class Figures:
    """What a simulated crawl came to; *lost* and *doubled* count URLs, *trace* sums the whole run up in a number."""

    fetches: int = 0
    refusals: int = 0
    kills: int = 0
    restarts: int = 0
    simulated_s: float = 0.0
    lost: int = 0
    doubled: int = 0
    trace: int = 0
    violations: list[Violation] = field(default_factory=list)


@dataclass(slots=True)
class _World:
    name: str
    address: str
    policy: HostPolicy
    crawl_delay: float
    latency: float


class _Gatherer:
    __slots__ = ("claim_at", "flight", "live", "number", "robots_known", "schedule", "wake_at")

    def __init__(self, number: int) -> None:
        self.number = number
        self.schedule: Schedule[int] = Schedule(max_items=2000)
        self.flight: dict[int, tuple[str, str, bool]] = {}
        """Ticket -> (host, address, whether it has started)."""
        self.robots_known: set[str] = set()
        self.wake_at = inf
        self.claim_at = 0.0
        self.live = True


class SimulatedCrawl:
    """One run; :func:`simulate` is the short way."""

    def __init__(self, seed: int, fetches: int, shape: WorldShape | None = None) -> None:
        self.shape = shape or WorldShape()
        self.figures = Figures()
        self._random = Random(seed)  # noqa: S311 - a simulation, not a secret
        self._budget = fetches
        self._now = 0.0
        self._wall_offset = _WALL_S
        self._events: list[tuple[float, int, Callable[..., None], tuple[object, ...]]] = []
        self._sequence = 0
        self._world = {w.name: w for w in map(self._build, range(self.shape.hosts))}
        self._names = list(self._world)
        self.oracle = PolitenessOracle(
            {
                w.name: HostRules(w.policy.delay_s, w.policy.max_connections, own=w.policy.own)
                for w in self._world.values()
            },
            grace_s=2 * _MESSAGE_S,
        )
        # The catalog: what waits, what was done, which hosts back off. It survives everything.
        self._frontier: dict[str, deque[int]] = {name: deque() for name in self._names}
        self._claimed: dict[int, dict[int, str]] = {}
        self._done: Counter[int] = Counter()
        self._host_states: dict[str, HostState] = {}
        self._discovered = 0
        self._tickets = 0
        self._gatherers: dict[int, _Gatherer] = {}
        self._limits = BackOffLimits()
        self._book = AddressBook(0.0, AddressLimits(slack_s=2 * _MESSAGE_S), just_visited=False)
        self._book_wake = inf
        self._allotment = Allotment()
        for _ in range(min(fetches, 3 * self.shape.hosts)):
            self._discover("")

    def run(self) -> Figures:
        """Run to the empty pool and return the figures."""
        for name in self._names:
            self._allotment.waiting(name, len(self._frontier[name]), delay_s=self._world[name].policy.delay_s)
        for _ in range(self.shape.gatherers):
            self._join()
        events = self._events
        while events:
            self._now, _, action, arguments = heappop(events)
            action(*arguments)
        figures = self.figures
        figures.simulated_s = self._now
        figures.lost = self._discovered - len(self._done)
        figures.doubled = sum(1 for count in self._done.values() if count > 1)
        figures.violations = self.oracle.violations
        return figures

    def _build(self, number: int) -> _World:
        shape, random = self.shape, self._random
        own = number < shape.own_hosts
        policy = HostPolicy(0.0, 64, own=True) if own else HostPolicy(delay_s=1.0 if number % 3 else 0.4)
        address = f"10.0.0.{number if own else 100 + random.randrange(shape.addresses)}"
        crawl_delay = 0.0 if own else random.choice(shape.crawl_delays)
        return _World(
            f"h{number}.example", address, policy, crawl_delay, random.choice((0.05, 0.2, 1.5, 4.0))
        )

    def _at(self, when: float, action: Callable[..., None], *arguments: object) -> None:
        self._sequence += 1
        heappush(self._events, (when, self._sequence, action, arguments))

    def _message(self) -> float:
        return self._now + _MESSAGE_S * self._random.random()

    def _discover(self, here: str) -> None:
        # A third of the web is on one host: fairness has something to do.
        if self._discovered >= self._budget:
            return
        pick = self._random.random()
        name = self._names[0] if pick < _BIG_SHARE else self._names[int(pick * 7919) % len(self._names)]
        if self._world[name].crawl_delay > _PATIENCE_S and len(self._frontier[name]) >= _SLOW_PAGES:
            name = self._names[1]
        self._frontier[name].append(self._discovered)
        self._discovered += 1
        if name != here:  # a page's own host is told of when its visit is settled
            self._tell(name)

    def _tell(self, name: str) -> None:
        state = self._host_states.get(name)
        left = 0.0
        if state is not None:
            left = min(max(state.not_before_s - self._wall(), 0.0), state.span_s)
        self._allotment.waiting(name, len(self._frontier[name]), not_before=self._now + left if left else 0.0)

    def _wall(self) -> float:
        return self._now + self._wall_offset

    # --- keeper ------------------------------------------------------------------------------

    def _join(self) -> None:
        number = self._tickets = self._tickets + 1
        gatherer = self._gatherers[number] = _Gatherer(number)
        self._claimed[number] = {}
        self._allotment.join(number)
        self._at(self._message(), self._turn, gatherer)

    def _claim(self, gatherer: _Gatherer) -> None:
        schedule = gatherer.schedule
        for batch in self._allotment.batch(gatherer.number, schedule.counts().room // 2, self._now):
            name = batch.host
            if batch.fresh or not schedule.holds(name):
                policy = self._world[name].policy
                state = self._host_states.get(name)
                clock = (
                    HostClock.restore(state, policy, self._now, self._wall())
                    if state
                    else HostClock(name, policy, self._now)
                )
                schedule.admit(clock)
                if name not in gatherer.robots_known:
                    schedule.shut(name)
                    schedule.add(name, _ROBOTS, -1)
            queue = self._frontier[name]
            claimed = self._claimed[gatherer.number]
            for _ in range(batch.count):
                url = queue.popleft()
                claimed[url] = name
                schedule.add(name, url)

    def _granted(self) -> None:
        if self._book_wake > self._now:
            return
        self._book_wake = inf
        for grant in self._book.due(self._now):
            gatherer = self._gatherers[grant.holder]  # type: ignore[index]
            self._at(self._message(), self._start, gatherer, grant.ticket)
        self._watch_book()

    def _watch_book(self) -> None:
        due = max(self._book.next_due(), self._now)
        if due < self._book_wake:
            self._book_wake = due
            self._at(due, self._granted)

    def _release(self, number: int, address: str) -> None:
        self._book.release(address, holder=number)
        self._watch_book()

    # --- gatherer ----------------------------------------------------------------------------

    def _wake(self, gatherer: _Gatherer, when: float) -> None:
        if gatherer.wake_at <= self._now:
            gatherer.wake_at = inf
        if when < gatherer.wake_at:
            gatherer.wake_at = when
            self._at(when, self._turn, gatherer)

    def _turn(self, gatherer: _Gatherer) -> None:
        if not gatherer.live:
            return
        schedule, now = gatherer.schedule, self._now
        if now >= gatherer.claim_at:
            gatherer.claim_at = now + 1.0
            self._claim(gatherer)
        while True:
            turn = schedule.next(now)
            if isinstance(turn, float):
                break
            url, name = turn
            ticket = self._tickets = self._tickets + 1
            world = self._world[name]
            gatherer.flight[ticket] = (name, world.address, False)
            if world.policy.own:
                self._start(gatherer, ticket, url)
            else:
                self._at(self._message(), self._ask, gatherer, ticket, url)
        if turn < inf:
            self._wake(gatherer, now + turn)
        elif self._allotment.totals()[1]:
            self._wake(gatherer, now + 20.0)

    def _ask(self, gatherer: _Gatherer, ticket: int, url: int) -> None:
        if not gatherer.live:
            return
        address = gatherer.flight[ticket][1]
        at = self._book.request(address, self._now, holder=gatherer.number, ticket=(ticket, url))
        if at <= self._now:
            self._at(self._message(), self._start, gatherer, (ticket, url))
        else:
            self._watch_book()

    def _start(self, gatherer: _Gatherer, ticket: object, url: int = 0) -> None:
        if not gatherer.live:
            return
        if isinstance(ticket, tuple):
            ticket, url = ticket
        assert isinstance(ticket, int)
        name, address, _ = gatherer.flight[ticket]
        now = self._now
        if gatherer.schedule.must_wait(name, now):
            del gatherer.flight[ticket]
            gatherer.schedule.put_back(name, url, -1 if url == _ROBOTS else 0)
            self._free(gatherer, name, address)
            return
        gatherer.schedule.started(name, now)
        gatherer.flight[ticket] = (name, address, True)
        self.oracle.started(now, name, address, gatherer.number)
        figures = self.figures
        figures.fetches += 1
        figures.trace = (figures.trace * 1_000_003 ^ int(now * 1e6) ^ url) & 0xFFFF_FFFF_FFFF
        latency = self._world[name].latency * (0.5 + self._random.random())
        self._at(now + latency, self._answer, gatherer, ticket, url)

    def _answer(self, gatherer: _Gatherer, ticket: int, url: int) -> None:
        if not gatherer.live:
            return
        name, address, _ = gatherer.flight.pop(ticket)
        schedule, now, shape = gatherer.schedule, self._now, self.shape
        dice = self._random.random()
        refused = dice < shape.refusal
        if refused:
            self._refuse(gatherer, name, address)
        else:
            self.oracle.ended(now, name, address)
            clock = schedule.clock(name)
            assert clock is not None
            if clock.failures:
                clock.answered(now)
                self._remember(name, clock)
            self._book.answered(address, now)
        if url == _ROBOTS:
            self._take_robots(gatherer, name, refused=refused)
        else:
            del self._claimed[gatherer.number][url]
            self._allotment.done(name)
            if refused:
                self._frontier[name].append(url)
            else:
                self._done[url] += 1
                self._discover(name)
                self._discover(name)
            self._tell(name)
        schedule.finished(name)
        self._free(gatherer, name, address)
        dice = (dice - shape.refusal) * 17 % 1
        if dice < shape.kill:
            self._kill(gatherer)
        elif dice < shape.kill + shape.restart:
            self._restart()

    def _free(self, gatherer: _Gatherer, name: str, address: str) -> None:
        if not self._world[name].policy.own:
            self._at(self._message(), self._release, gatherer.number, address)
        self._wake(gatherer, self._now)

    def _refuse(self, gatherer: _Gatherer, name: str, address: str) -> None:
        random, now = self._random, self._now
        asked = random.choice((None, 0.0, 3.0, 20.0, 90.0, 700.0))
        schedule = gatherer.schedule
        schedule.back_off(name, now, chance=random.random(), asked_s=asked, limits=self._limits)
        clock = schedule.clock(name)
        assert clock is not None
        self._remember(name, clock)
        if not self._world[name].policy.own:
            self._book.back_off(address, now, chance=random.random(), asked_s=asked, limits=self._limits)
        self.figures.refusals += 1
        self.oracle.ended(now, name, address, quiet_s=self._limits.base_s if asked is None else asked)

    def _take_robots(self, gatherer: _Gatherer, name: str, *, refused: bool) -> None:
        if refused:
            gatherer.schedule.add(name, _ROBOTS, -1)
            return
        gatherer.robots_known.add(name)
        crawl_delay = self._world[name].crawl_delay
        clock = gatherer.schedule.clock(name)
        assert clock is not None
        clock.obey(crawl_delay)
        self._remember(name, clock)
        gatherer.schedule.unshut(name)
        self.oracle.raise_delay(name, min(crawl_delay, 60.0))

    def _remember(self, name: str, clock: HostClock) -> None:
        # The gatherer reports it, the keeper writes it down: it travels with the outcome.
        state = clock.export(self._now, self._wall())
        if state is None:
            self._host_states.pop(name, None)
        else:
            self._host_states[name] = state

    # --- accidents ---------------------------------------------------------------------------

    def _end(self, gatherer: _Gatherer) -> None:
        gatherer.live = False
        for name, address, started in gatherer.flight.values():
            if started:
                self.oracle.ended(self._now, name, address)
        for url, name in self._claimed.pop(gatherer.number).items():
            self._frontier[name].append(url)
        del self._gatherers[gatherer.number]

    def _kill(self, gatherer: _Gatherer) -> None:
        self.figures.kills += 1
        self._end(gatherer)
        self._book.drop(gatherer.number)
        self._allotment.leave(gatherer.number)
        self._retell()
        self._join()
        self._watch_book()

    def _restart(self) -> None:
        # The keeper dies, its gatherers with it; nothing is known but what the catalog holds.
        self.figures.restarts += 1
        for gatherer in list(self._gatherers.values()):
            self._end(gatherer)
        addresses = self._book.export(self._now, self._wall())
        # The machine was off for a while, or somebody set its clock back meanwhile.
        self._wall_offset += self._random.choice((0.0, 0.0, -7200.0, -90.0))
        self._book = AddressBook(self._now, self._book.limits)
        self._book.restore(addresses, self._now, self._wall())
        self._book_wake = inf
        self._allotment = Allotment()
        self._retell()
        for _ in range(self.shape.gatherers):
            self._join()

    def _retell(self) -> None:
        for name in self._names:
            self._tell(name)


def simulate(seed: int, fetches: int, shape: WorldShape | None = None) -> Figures:
    """Run one simulated crawl of about *fetches* URLs and return its figures."""
    return SimulatedCrawl(seed, fetches, shape).run()
