"""Requests of a probe: through the gate of the source, robots.txt obeyed, one at a time to a host and its delay between two."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ingather.fetch import RobotsState, origin_of, visit_robots
from ingather.fetch.egress import Beforehand
from ingather.fetch.knocking import Knock, Knocker, Shown
from ingather.fetch.limits import RobotsLimits
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.model.urlparts import split
from ingather.ports.clock import Clock
from ingather.ports.fetcher import Fetcher

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["Asking", "Courtesy"]

_BODY: Final = 8 << 20
"""Of a page or a sitemap; what is longer is read to here."""


@dataclass(slots=True)
class _Host:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    last_s: float = float("-inf")
    delay_s: float = 0.0


class Courtesy:
    """One connection at a time to a host, and its delay between the end of one and the begin of the next; of one event loop.

    Args:
        clock: monotonic.
        sleep: waits; ``asyncio.sleep``.
    """

    def __init__(self, clock: Clock, sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep) -> None:
        self._clock, self._sleep = clock, sleep
        self._hosts: dict[str, _Host] = {}

    def slow(self, host: str, delay_s: float) -> None:
        """Keep at least *delay_s* between two connections to *host*; it can only grow."""
        entry = self._hosts.setdefault(host, _Host())
        entry.delay_s = max(entry.delay_s, delay_s)

    def delay(self, host: str) -> float:
        """Return the delay of *host* in seconds."""
        return self._hosts[host].delay_s if host in self._hosts else 0.0

    @asynccontextmanager
    async def turn(self, host: str) -> "AsyncIterator[None]":
        """Wait for *host*'s turn and hold it."""
        entry = self._hosts.setdefault(host, _Host())
        async with entry.lock:
            wait_s = entry.last_s + entry.delay_s - self._clock.monotonic()
            if wait_s > 0:
                await self._sleep(wait_s)
            try:
                yield
            finally:
                entry.last_s = self._clock.monotonic()


async def _directly(_host: str, _port: int, _scope: Scope) -> str:
    return ""


class Asking:
    """What a probe asks of hosts.

    Args:
        fetcher: asks, through the egress gate.
        knocker: connects without asking.
        courtesy: whose turn it is.
        clock: ages of what robots.txt says.
        agent: token that robots.txt is read for.
        delay_of: the delay of (source scope's host, port) in seconds, before robots.txt is known.
        robots: limits of robots.txt; ``None`` = it is not obeyed.
        longest_delay_s: more than that no crawl-delay counts.
        proxied: the proxy through which (host, port) of a scope would be asked, ``""`` = none.
    """

    def __init__(  # noqa: PLR0913 - the parts of a look
        self,
        *,
        fetcher: Fetcher,
        knocker: Knocker,
        courtesy: Courtesy,
        clock: Clock,
        agent: str,
        delay_of: Callable[[str, int], float],
        robots: RobotsLimits,
        obey: bool = True,
        longest_delay_s: float = 60.0,
        proxied: Callable[[str, int, Scope], Awaitable[str]] = _directly,
    ) -> None:
        self._proxied = proxied
        self._fetcher, self._knocker, self._courtesy = fetcher, knocker, courtesy
        self._clock, self.agent, self.obey = clock, agent, obey
        self._delay_of, self._limits, self._longest_s = delay_of, robots, longest_delay_s
        self._robots: dict[str, RobotsState] = {}

    async def get(self, url: str, scope: Scope) -> Response | Failure:
        """Ask for *url*; no redirect is followed, a long body is cut."""
        parts = split(url)
        self._courtesy.slow(parts.host, self._delay_of(parts.host, parts.port))
        request = Request(url, max_wire_bytes=_BODY, max_decoded_bytes=_BODY, cut=True)
        async with self._courtesy.turn(parts.host):
            return await self._fetcher.fetch(request, scope)

    async def robots(self, url: str, scope: Scope) -> RobotsState:
        """Return what robots.txt says that governs *url*; it is asked for once."""
        origin = origin_of(url)
        known = self._robots.get(origin)
        if known is None:
            parts = split(url)
            self._courtesy.slow(parts.host, self._delay_of(parts.host, parts.port))
            async with self._courtesy.turn(parts.host):
                known = await visit_robots(self._fetcher, url, scope, clock=self._clock, limits=self._limits)
            self._robots[origin] = known
            asked_s = known.rules.crawl_delay(self.agent) if self._delay_of(parts.host, parts.port) else None
            if asked_s:
                self._courtesy.slow(parts.host, min(asked_s, self._longest_s))
        return known

    async def may(self, url: str, scope: Scope) -> bool:
        """Whether robots.txt lets us ask for *url*; the root of a host is always looked at."""
        parts = split(url)
        if parts.path == "/" or not self.obey:
            return True
        if Beforehand(scope).refusal(parts.scheme, parts.host, parts.port):
            return True  # the gate says no, and why; nobody is asked for a robots.txt for that
        return (await self.robots(url, scope)).allows(self.agent, url)

    async def knock(self, host: str, port: int, scope: Scope) -> Knock:
        """Connect to a port of *host* and hang up; not where requests would go through a proxy."""
        if way := await self._proxied(host, port, scope):
            return Knock(port, "proxied", detail=f"requests go through {way}")
        self._courtesy.slow(host, self._delay_of(host, port))
        async with self._courtesy.turn(host):
            return await self._knocker.knock(host, port, scope)

    async def certificate(self, host: str, port: int, scope: Scope) -> Shown:
        """Return the certificate at a port of *host*; none where requests would go through a proxy."""
        if way := await self._proxied(host, port, scope):
            return Shown(detail=f"requests go through {way}")
        self._courtesy.slow(host, self._delay_of(host, port))
        async with self._courtesy.turn(host):
            return await self._knocker.certificate(host, port, scope)
