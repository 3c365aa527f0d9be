"""Asking the network on behalf of a person: robots.txt first, through the egress gate, nothing kept."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from ingather.app import wiring
from ingather.app.fetching import ByProtocol
from ingather.app.reaching.protocols import web_fetcher
from ingather.app.reaching.proxies import proxies_of
from ingather.conf import RobotConf
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.fetch import ROBOTS_SCHEMES, SystemResolver, visit_robots
from ingather.fetch.egress import Beforehand
from ingather.fetch.http import Asking, HttpFetcher
from ingather.fetch.robots_gate import RobotsState
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.model.urlparts import split
from ingather.ports.clock import Clock
from ingather.ports.fetcher import Fetcher
from ingather.ports.renderer import NotAsked
from ingather.ports.resolver import Resolver

__all__ = ["Visitor"]


def _no_credentials(_url: str, _source: str) -> bytes | None:
    return None


def _no_login(_url: str, _source: str) -> Asking | None:
    return None


class Visitor:
    """Fetches single URLs as a gatherer would; belongs to one event loop, close it.

    Args:
        settings, robot, sources: limits, user agent, reach.
        clock: age of what robots.txt says.
        fetcher: asks instead of the one that the settings describe.
        authorization: the header line with credentials for (URL, source), as a gatherer sends it; ``None`` = none.
        logins: the login for (URL, source), as a gatherer has it; ``None`` = none.
        others: makes the fetchers of other protocols; ``None`` = none.
        home: where credentials for proxies are; ``None`` = there are none.
        scopes: where a source may go; ``None`` = where its section says, or that of ``web``.
    """

    def __init__(  # noqa: PLR0913 - the parts of one question
        self,
        settings: Settings,
        robot: RobotConf,
        sources: Mapping[str, SourceConf],
        *,
        clock: Clock,
        fetcher: Fetcher | None = None,
        authorization: Callable[[str, str], bytes | None] | None = None,
        logins: Callable[[str, str], Asking | None] | None = None,
        others: Callable[[Resolver], Mapping[str, Fetcher]] | None = None,
        home: Path | None = None,
        scopes: Callable[[str], Scope] | None = None,
    ) -> None:
        self._scopes = scopes
        self._sources, self._clock = sources, clock
        self._obey = bool(robot.enable_robots_txt)
        self._limits = wiring.robots_limits(settings)
        self._robots: dict[str, RobotsState] = {}
        self._agent, self._delay_s = wiring.agent_token(robot), float(robot.server_delay)
        self._turn = asyncio.Lock()
        self._headers = (("Referer", str(robot.referer)),) if robot.referer else ()
        resolver = SystemResolver(clock)
        self._fetcher = fetcher or HttpFetcher(
            wiring.fetch_limits(settings, robot), user_agent=wiring.user_agent(robot), email=str(robot.email),
            resolver=resolver, clock=clock, authorization=authorization or _no_credentials,
            logins=logins or _no_login, routing=proxies_of(settings, robot, sources, home=home, clock=clock, resolver=resolver),
        )  # fmt: skip
        if fetcher is None:
            self._fetcher = web_fetcher(self._fetcher, sources)
        made = others(resolver) if others is not None and fetcher is None else {}
        if made:
            self._fetcher = ByProtocol(self._fetcher, made)

    def _scope(self, source: str) -> Scope:
        if self._scopes is not None:
            return self._scopes(source)
        return (self._sources.get(source) or self._sources["web"]).scope()

    async def robots(self, origin: str, source: str) -> RobotsState | None:
        """Return what robots.txt of *origin* says, asked for once; ``None`` when it is not obeyed."""
        if not self._obey or not origin.startswith(ROBOTS_SCHEMES):
            return None
        if origin not in self._robots:
            self._robots[origin] = await visit_robots(
                self._fetcher, f"{origin}/robots.txt", self._scope(source), clock=self._clock, limits=self._limits
            )  # fmt: skip
        return self._robots[origin]

    async def fetch(self, url: str, source: str) -> Response | Failure:
        """Ask for *url*; robots.txt is the caller's business."""
        return await self._fetcher.fetch(Request(url, headers=self._headers), self._scope(source))

    async def errand(self, request: Request, scope: Scope) -> Response | Failure | NotAsked:
        """Ask for what a page's scripts want, one request after the other, with the robot's delay between two to a host."""
        url = request.url
        origin, host, port = split(url).origin, split(url).host, split(url).port
        refused = Beforehand(scope).refusal(url.partition(":")[0], host, port)
        if refused:
            return NotAsked("scope", refused)
        async with self._turn:
            state = await self.robots(origin, scope.source)
            verdict = state.decide(self._agent, url) if state is not None else None
            if verdict is not None and not verdict.allowed:
                return NotAsked("robots", verdict.text.strip() or verdict.reason)
            source = self._sources.get(scope.source)
            if source is None or not source.is_own(host, port):
                await asyncio.sleep(
                    self._delay_s if source is None or source.delay_s is None else source.delay_s
                )
            return await self._fetcher.fetch(
                replace(request, headers=(*request.headers, *self._headers)), scope
            )

    def scope(self, source: str) -> Scope:
        """Return where *source* may go."""
        return self._scope(source)

    async def close(self) -> None:
        """Close the connections."""
        await self._fetcher.close()
