"""What a gatherer knows of the hosts that were lent to it: their clock, their robots.txt.

An *origin* (scheme, host, port) has a robots.txt of its own; origins with one politeness name
share a clock. What is learnt is reported, so that a restart knows it.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from ingather.fetch import ROBOTS_SCHEMES, RobotsKind, RobotsLimits, RobotsState
from ingather.fetch.robots import parse as parse_robots
from ingather.model.lifecycle import Outcome
from ingather.model.report import Claim, HostGrant, HostReport
from ingather.model.resource import Failure, FailureKind, Response
from ingather.model.urlparts import host_key, split
from ingather.ports.clock import Clock
from ingather.robot.politeness.backoff import retry_after_seconds
from ingather.robot.politeness.hosts import HostClock, HostPolicy, HostState

__all__ = ["HostBook", "HostEntry"]


@dataclass(slots=True, eq=False)
class HostEntry:
    """One origin in hand; *blocked* claims wait for its robots.txt."""

    id: int
    origin: str
    key: str
    hostname: str
    own: bool
    clock: HostClock
    robots: RobotsState | None = None
    blocked: list[Claim] = field(default_factory=list)
    asking: bool = False


class HostBook:
    """All origins in hand; owned by one event loop.

    Args:
        agent: product token that robots.txt is read for.
        policy: (host name, source, own) -> what the host bears.
        obey: whether robots.txt is obeyed at all (``enable-robots-txt``).
        own: (host name, port) -> whether it is a host of ours.
    """

    def __init__(  # noqa: PLR0913 - the parts that app wires
        self,
        *,
        agent: str,
        policy: Callable[[str, str, bool], HostPolicy],
        obey: bool,
        limits: RobotsLimits,
        clock: Clock,
        own: Callable[[str, int], bool],
    ) -> None:
        self._agent = agent
        self._policy = policy
        self._obey = obey
        self.limits = limits
        self._clock = clock
        self._own = own
        self._entries: dict[int, HostEntry] = {}
        self._clocks: dict[str, HostClock] = {}

    def lend(self, grant: HostGrant, source: str) -> HostEntry:
        """Take a host in hand; one that is in hand keeps what is known of it."""
        entry = self._entries.get(grant.id)
        if entry is None:
            now, wall = self._clock.monotonic(), self._clock.wall()
            clock = self._clocks.get(grant.key)
            hostname = split(f"{grant.origin}/").host
            if clock is None:
                policy = self._policy(hostname, source, grant.own)
                if grant.not_before_s > wall:
                    state = HostState(
                        grant.key, grant.not_before_s, grant.not_before_s - wall, grant.back_offs
                    )
                    clock = HostClock.restore(state, policy, now, wall)
                else:
                    clock = HostClock(grant.key, policy, now, just_visited=grant.visited)
                self._clocks[grant.key] = clock
            entry = HostEntry(
                grant.id, grant.origin, grant.key, hostname, grant.own, clock, self._restored(grant)
            )
            self._entries[grant.id] = entry
            self._obeyed(entry)
            clock.slow(max(clock.floor_s, grant.floor_s))
        elif grant.visited:  # it was in another hand meanwhile
            entry.clock.sent(self._clock.monotonic())
        return entry

    def forget(self, keys: Collection[str], now: float) -> list[int]:
        """Drop hosts that have nothing to do and whose delay is over; return their rows, to be handed back.

        Who gets them again gets them as just visited, so that forgetting never makes a visit come early.
        """
        dropped = [
            entry.id
            for entry in self._entries.values()
            if entry.key in keys and not entry.blocked and not entry.asking and entry.clock.ready_at <= now
        ]
        for host in dropped:
            del self._entries[host]
        left = {entry.key for entry in self._entries.values()}
        for key in keys:
            if key not in left:
                self._clocks.pop(key, None)
        return dropped

    def __len__(self) -> int:
        return len(self._entries)

    def slow(self, key: str, floor_s: float) -> HostClock | None:
        """Keep at least *floor_s* between the starts at a host; return its clock, ``None`` if it is not in hand."""
        clock = self._clocks.get(key)
        if clock is not None:
            clock.slow(floor_s)
        return clock

    def touched(self, key: str) -> None:
        """Count a visit that another hand made."""
        clock = self._clocks.get(key)
        if clock is not None:
            clock.sent(self._clock.monotonic())

    def _restored(self, grant: HostGrant) -> RobotsState | None:
        if not grant.robots_kind:
            return None
        kind = RobotsKind(grant.robots_kind)
        if _by_us(kind, grant.robots_detail):
            return None
        span = self.limits.retry_s if kind is RobotsKind.UNREACHABLE else self.limits.ttl_s
        return RobotsState(
            kind, parse_robots(grant.robots_body), grant.robots_at_s, grant.robots_at_s + span, grant.robots_detail,
            since_s=grant.robots_since_s or None,
        )  # fmt: skip

    def entry(self, host: int) -> HostEntry:
        """Return an origin in hand by catalog row."""
        return self._entries[host]

    def siblings(self, key: str) -> Iterator[HostEntry]:
        """Yield the origins that share a politeness name."""
        return (entry for entry in self._entries.values() if entry.key == key)

    def must_ask_robots(self, entry: HostEntry) -> bool:
        """Whether the origin's robots.txt must be asked for before anything else."""
        if not self._obey or not entry.origin.startswith(ROBOTS_SCHEMES):
            return False
        return entry.robots is None or not entry.robots.is_fresh(self._clock.wall())

    def learnt(self, entry: HostEntry, state: RobotsState) -> None:
        """Take in what robots.txt answered."""
        entry.robots = state
        self._obeyed(entry)

    def _obeyed(self, entry: HostEntry) -> None:
        if self._obey and entry.robots is not None and entry.robots.kind is RobotsKind.RULES:
            entry.clock.obey(entry.robots.rules.crawl_delay(self._agent))

    def ruling(self, entry: HostEntry, url: str) -> tuple[Outcome, str, str] | None:
        """Return (outcome, reason, where) when robots.txt does not let us fetch *url*."""
        if not self._obey or entry.robots is None:
            return None
        return self.judged(entry.robots, url)

    def judged(self, robots: RobotsState, url: str) -> tuple[Outcome, str, str] | None:
        """Return (outcome, reason, where) when *robots* does not let us fetch *url*."""
        if robots.kind is RobotsKind.UNREACHABLE:
            return Outcome.ROBOTS_UNREACHABLE, f"robots.txt is unreachable: {robots.detail}", "robots.txt"
        if robots.allows(self._agent, url):
            return None
        verdict = robots.decide(self._agent, url)
        return Outcome.ROBOTS, f"robots.txt forbids it: {verdict.text.strip()}", f"robots.txt:{verdict.line}"

    def obeys(self, url: str) -> bool:
        """Whether robots.txt binds *url* at all."""
        return self._obey and url.startswith(ROBOTS_SCHEMES)

    def robots_of(self, url: str) -> RobotsState | None:
        """Return the robots.txt of an origin in hand, if it is known and fresh."""
        origin, now = split(url).origin, self._clock.wall()
        for entry in self.siblings(host_key(origin)):
            if entry.origin == origin and entry.robots is not None and entry.robots.is_fresh(now):
                return entry.robots
        return None

    def asked_s(self, got: Response | Failure) -> float | None:
        """Return the seconds for which a host asks to be left alone."""
        if isinstance(got, Failure):
            return got.retry_after_s
        return retry_after_seconds(
            got.header("retry-after"), now_s=self._clock.wall(), date=got.header("date")
        )

    def report(self, entry: HostEntry) -> HostReport:
        """Return what must survive a restart."""
        now, wall, robots = self._clock.monotonic(), self._clock.wall(), entry.robots
        ours = robots is not None and _by_us(robots.kind, robots.detail)
        left = 0.0 if ours else entry.clock.backing_off(now)
        return HostReport(
            id=entry.id, not_before_s=wall + left if left else 0.0, back_offs=0 if ours else entry.clock.failures,
            robots_kind=str(robots.kind) if robots else "", robots_body=robots.rules.source if robots else b"",
            robots_at_s=robots.fetched_s if robots else 0.0, robots_since_s=(robots.since_s or 0.0) if robots else 0.0,
            robots_detail=robots.detail if robots else "", delay_s=entry.clock.delay_s,
        )  # fmt: skip

    def is_own(self, url: str) -> bool:
        """Whether *url* is on a host of ours."""
        parts = split(url)
        return self._own(parts.host, parts.port)

    def is_free(self, url: str) -> bool:
        """Whether *url* is on a host of ours to which nobody set a delay or a number of connections."""
        own = self.is_own(url)
        if not own:
            return False
        key, hostname = self.name_of(url)
        clock = self._clocks.get(key)
        policy = self._policy(hostname, "", own) if clock is None else clock.policy
        delay_s = policy.least_delay() if clock is None else clock.delay_s
        return delay_s <= 0 and policy.max_connections <= 0

    @staticmethod
    def name_of(url: str) -> tuple[str, str]:
        """Return (politeness name, host name) of a URL."""
        parts = split(url)
        return host_key(parts.origin), parts.host


def _by_us(kind: RobotsKind, detail: str) -> bool:
    """Whether our own settings refused robots.txt, and not the host: another process asks them anew, which costs nobody anything."""
    return kind is RobotsKind.UNREACHABLE and detail.startswith(f"{FailureKind.EGRESS}: ")
