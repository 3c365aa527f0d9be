"""An independent judge of politeness: fed with what really happened, it names every violation.

It shares nothing with the scheduler but the meaning of the rules. It is fed by the
simulation (:mod:`ingather.testing.simulation`) and by the records of a real server
(:class:`ingather.testing.server.SyntheticServer`).
"""

from collections import deque
from dataclasses import dataclass, field
from math import inf

__all__ = ["HostRules", "PolitenessOracle", "Violation"]


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise: when (seconds of the events' clock), on what host or address, which rule, by how much."""

    at_s: float
    where: str
    rule: str
    detail: str


@dataclass(frozen=True, slots=True)
class HostRules:
    """What one host was promised; an own host's address is not judged."""

    delay_s: float = 1.0
    max_connections: int = 2
    own: bool = False


@dataclass(slots=True)
class _Host:
    rules: HostRules
    delay_s: float
    last: float = -inf
    open: int = 0
    quiet_until: float = -inf
    gatherer: object = None


@dataclass(slots=True)
class _Address:
    starts: deque[float] = field(default_factory=deque)
    open: int = 0
    quiet_from: float = inf
    quiet_until: float = -inf


class PolitenessOracle:
    """Judges starts and ends in order of time.

    *tolerance_s* forgives what measuring costs: 0 in a simulation, some milliseconds at a real server.
    *grace_s* is how long word of a refusal travels to those who were granted a start at the same address.
    """

    def __init__(  # noqa: PLR0913 - promises, by keyword
        self,
        rules: dict[str, HostRules] | None = None,
        *,
        default: HostRules | None = None,
        address_connections: int = 8,
        address_starts: int = 4,
        tolerance_s: float = 0.0,
        grace_s: float = 0.0,
    ) -> None:
        self.violations: list[Violation] = []
        self.starts = 0
        self.closest: dict[str, float] = {}
        """Shortest start-to-start distance seen, by host."""
        self._rules = rules or {}
        self._default = default or HostRules()
        self._address_connections = address_connections
        self._address_starts = address_starts
        self._slack = tolerance_s + 1e-9
        self._grace = grace_s
        self._hosts: dict[str, _Host] = {}
        self._addresses: dict[str, _Address] = {}

    def started(self, at_s: float, host: str, address: str, gatherer: object = None) -> None:
        """Judge a request that starts."""
        self.starts += 1
        h = self._hosts.get(host) or self._meet(host)
        slack = self._slack
        gap = at_s - h.last
        if gap + slack < h.delay_s:
            self._blame(at_s, host, "delay", f"{gap:.4f} s after the last start, promised {h.delay_s} s")
        if gap < self.closest.get(host, inf):
            self.closest[host] = gap
        h.last = at_s
        if h.open and h.gatherer != gatherer:
            self._blame(at_s, host, "two hands", f"{gatherer} asks while {h.gatherer} does")
        h.gatherer = gatherer
        h.open += 1
        if h.open > h.rules.max_connections:
            self._blame(at_s, host, "connections", f"{h.open} at a time")
        if at_s + slack < h.quiet_until:
            self._blame(at_s, host, "back-off", f"{h.quiet_until - at_s:.3f} s too early")
        if not h.rules.own:
            self._judge_address(at_s, address)

    def ended(self, at_s: float, host: str, address: str, *, quiet_s: float = 0.0) -> None:
        """Note that a request ended; with 429 or 503 the host is promised *quiet_s* seconds of peace."""
        h = self._hosts[host]
        h.open -= 1
        if quiet_s:
            h.quiet_until = max(h.quiet_until, at_s + quiet_s)
        if not h.rules.own:
            a = self._addresses[address]
            a.open -= 1
            if quiet_s:
                if at_s > a.quiet_until:
                    a.quiet_from = at_s + self._grace
                a.quiet_until = max(a.quiet_until, at_s + min(quiet_s, 3600.0))

    def raise_delay(self, host: str, delay_s: float) -> None:
        """Note that the host's robots.txt, known from now on, asks for more delay."""
        h = self._hosts.get(host) or self._meet(host)
        h.delay_s = max(h.rules.delay_s, delay_s)

    def _judge_address(self, at_s: float, address: str) -> None:
        a = self._addresses.get(address)
        if a is None:
            a = self._addresses[address] = _Address()
        a.open += 1
        if a.open > self._address_connections:
            self._blame(at_s, address, "address connections", f"{a.open} at a time")
        if a.quiet_from < at_s < a.quiet_until - self._slack:
            self._blame(at_s, address, "address back-off", f"{a.quiet_until - at_s:.3f} s too early")
        starts = a.starts
        if len(starts) == self._address_starts:
            span = at_s - starts.popleft()
            if span + self._slack < 1.0:
                self._blame(at_s, address, "address starts", f"{self._address_starts + 1} in {span:.4f} s")
        starts.append(at_s)

    def _meet(self, host: str) -> _Host:
        rules = self._rules.get(host, self._default)
        h = self._hosts[host] = _Host(rules, rules.delay_s)
        return h

    def _blame(self, at_s: float, where: str, rule: str, detail: str) -> None:
        self.violations.append(Violation(at_s, where, rule, detail))
