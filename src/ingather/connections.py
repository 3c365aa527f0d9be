"""Slow and idle clients cannot stop others at a listener: time for heads, a rate for bodies, shares by trust and network (promise F4)."""

import ipaddress
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

__all__ = ["Connection", "GateLimits", "Guard", "Phase", "network_of"]

_GRACE_S: Final = 1.0
"""A connection is not judged slow before this age."""


@dataclass(frozen=True, slots=True)
class GateLimits:
    """Bounds of a listener's connections.

    Attributes:
        total, per_address: connections of senders that are not trusted; of all, and of one address (a /64 of IPv6).
        trusted: connections of trusted senders, whatever their addresses.
        head_s: seconds until a head is complete, a TLS handshake included.
        rate, rate_window_s: bytes a second below which a body is given up, and over which time.
        answer_s: seconds for an answer to be read.
        drain_bytes, drain_s: how much of a refused body is read before the connection is closed.
    """

    total: int = 256
    per_address: int = 32
    trusted: int = 512
    head_s: float = 30.0
    rate: int = 1024
    rate_window_s: float = 60.0
    answer_s: float = 30.0
    drain_bytes: int = 1 << 30
    drain_s: float = 60.0


class Phase(StrEnum):
    """What a connection is at; in ``WORK`` it waits for us and is never given up."""

    HEAD = "head"
    BODY = "body"
    WORK = "work"
    ANSWER = "answer"


@dataclass(eq=False, slots=True)
class Connection:
    """One connection as the guard sees it. Times are of the event loop.

    Attributes:
        task: has ``cancel()``, which ends the connection: the task that serves it, or what stands for one.
    """

    address: str
    trusted: bool
    began_s: float
    phase: Phase = Phase.HEAD
    since_s: float = 0.0
    received: int = 0
    window_s: float = 0.0
    window_bytes: int = 0
    task: Any = None
    given_up: str = ""
    network: str = field(init=False)

    def __post_init__(self) -> None:
        self.network = network_of(self.address)

    def enter(self, phase: Phase, now_s: float) -> None:
        """Begin *phase*; time that was our own does not count against the client."""
        if self.phase is Phase.WORK and phase is Phase.BODY:
            self.window_s += now_s - self.since_s
        elif phase is Phase.BODY and self.phase is not Phase.BODY:
            self.window_s, self.window_bytes = now_s, 0
        self.phase, self.since_s = phase, now_s

    def got(self, size: int) -> None:
        """Count bytes from the client."""
        self.received += size
        self.window_bytes += size

    def give_up(self, reason: str) -> None:
        """End the connection; its task cleans up."""
        self.given_up = reason
        if self.task is not None:
            self.task.cancel()


class Guard:
    """All connections of a listener; used on its event loop alone."""

    def __init__(self, limits: GateLimits) -> None:
        self.limits = limits
        self._all: set[Connection] = set()
        self._trusted: set[Connection] = set()
        self._others: set[Connection] = set()
        self._by_network: dict[str, set[Connection]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def connections(self) -> list[Connection]:
        """Return all that have a place."""
        return list(self._all)

    def admit(self, new: Connection) -> bool:
        """Give *new* a place, if need be that of another of its kind; ``False`` = there is none.

        When all are taken, the network that holds most gives way to one that holds less, and among networks that hold
        alike the slowest connection.
        """
        group, most = (
            (self._trusted, self.limits.trusted) if new.trusted else (self._others, self.limits.total)
        )
        neighbours = self._by_network.get(new.network, set())
        if not new.trusted and len(neighbours) >= self.limits.per_address:
            if not self._evict(neighbours, new.began_s):
                return False
        elif len(group) >= most and not (
            self._evict_from_largest(group, len(neighbours & group), new.began_s)
            or self._evict(group, new.began_s)
        ):
            return False
        self._all.add(new)
        group.add(new)
        self._by_network.setdefault(new.network, set()).add(new)
        return True

    def promote(self, known: Connection) -> bool:
        """Count *known*, which has shown who it is, among the trusted; ``False`` = there is no place, not where it was either."""
        self.leave(known)
        known.trusted = True
        return self.admit(known)

    def leave(self, old: Connection) -> None:
        """Give the place of *old* free; harmless when it has none."""
        self._all.discard(old)
        self._trusted.discard(old)
        self._others.discard(old)
        neighbours = self._by_network.get(old.network)
        if neighbours is not None:
            neighbours.discard(old)
            if not neighbours:
                del self._by_network[old.network]

    def evict_slowest(self, now_s: float) -> bool:
        """Make room when the system has no descriptor left: strangers first."""
        return self._evict(self._others, now_s) or self._evict(self._trusted, now_s)

    def _evict(self, group: set[Connection], now_s: float) -> bool:
        candidates = [
            c for c in group if c.phase is not Phase.WORK and now_s - c.began_s >= _GRACE_S and not c.given_up
        ]
        if not candidates:
            return False
        return self._end_slowest(candidates, now_s)

    def _evict_from_largest(self, group: set[Connection], held: int, now_s: float) -> bool:
        """Take a place from the network that has most of *group*, however young, for one that has *held* and would still have less."""
        network, most = Counter(c.network for c in group).most_common(1)[0]
        candidates = [
            c for c in group if c.network == network and c.phase is not Phase.WORK and not c.given_up
        ]
        return held + 1 < most and bool(candidates) and self._end_slowest(candidates, now_s)

    def _end_slowest(self, candidates: list[Connection], now_s: float) -> bool:
        slowest = min(candidates, key=lambda c: c.received / max(now_s - c.began_s, 0.001))
        self.leave(slowest)
        slowest.give_up("others need the place")
        return True

    def tick(self, now_s: float) -> None:
        """Give up what is too slow; called about once a second."""
        for connection in list(self._all):
            reason = self._too_slow(connection, now_s)
            if reason and not connection.given_up:
                connection.give_up(reason)

    def _too_slow(self, c: Connection, now_s: float) -> str:
        limits = self.limits
        if c.phase is Phase.HEAD:
            return (
                "the head of the request did not arrive in time" if now_s - c.began_s > limits.head_s else ""
            )
        if c.phase is Phase.ANSWER:
            return "the answer was not read in time" if now_s - c.since_s > limits.answer_s else ""
        if c.phase is Phase.BODY and now_s - c.window_s >= limits.rate_window_s:
            if c.window_bytes < limits.rate * limits.rate_window_s:
                return "the body arrives too slowly"
            c.window_s, c.window_bytes = now_s, 0
        return ""


def network_of(peer: str) -> str:
    """Return what counts as one client: an IPv4 address, the /64 of an IPv6 one."""
    if ":" not in peer:
        return peer
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return peer
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)
