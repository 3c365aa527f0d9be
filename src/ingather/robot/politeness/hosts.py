"""When a host, and an address, may be asked again. Pure: time and dice are arguments.

A *host* is a host key: the host name, the port appended when it is unusual. Its
:class:`HostClock` lives with the one gatherer that has the host in hand and holds three
rules: start-to-start delay (robots.txt can only raise it), connections at a time, and the
back-off after 429 and 503. An *address* may carry many hosts that many gatherers have in
hand; its share is granted in one place, by the keeper's :class:`ingather.robot.politeness.addresses.AddressBook`.

Whatever costs the host a request counts as one: pages, robots.txt, redirect hops, probes.
After a restart every host and every address counts as just visited; only back-offs are
remembered (:class:`HostState`), in wall time.
"""

from dataclasses import dataclass
from math import inf

from ingather.robot.politeness.backoff import BackOffLimits, Wait, waiting_time

__all__ = [
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
