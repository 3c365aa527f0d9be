"""Site probes of a home: settings, sources and configuration become the parts of a look."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from ingather.app import wiring
from ingather.app.clock import SystemClock
from ingather.app.credentials import CredentialFile
from ingather.app.home import Home
from ingather.app.homeparts import load_checked
from ingather.app.reaching.logins import LoginBook
from ingather.app.reaching.proxies import proxies_of
from ingather.app.siteprobe.asking import Asking, Courtesy
from ingather.app.siteprobe.finding import Finding
from ingather.app.siteprobe.probing import Options, glance, look_at_all
from ingather.app.siteprobe.targets import targets_of
from ingather.conf import Loaded
from ingather.conf.settings.values import Settings
from ingather.conf.sites.sitebook import SiteBook
from ingather.conf.sources.source import SourceConf
from ingather.errors import ProxyError, UsageError
from ingather.fetch import EgressGate, SystemResolver
from ingather.fetch.http import HttpFetcher
from ingather.fetch.knocking import Knocker
from ingather.fetch.proxies.hop import Target
from ingather.fetch.proxies.routing import Router
from ingather.model.scope import Scope
from ingather.model.source_name import BySource
from ingather.model.urlparts import split
from ingather.ports.clock import Clock

__all__ = ["MOST_NAMES", "HomeProbe"]

_LISTENERS = ("listen.search", "listen.admin")
_TLS_PORTS = frozenset({443, 8443})
_GLANCE_S = 15.0
_GLANCED = 3
"""Starting points that a glance asks for."""
MOST_NAMES = 1_000
"""Hosts of one probe."""


class HomeProbe:
    """Looks at hosts as the robot of a home would ask them; nothing is kept.

    Args:
        home: whose configuration and credentials count, as they stand now.
        settings, sources: of ``ingather.toml``.
        own_ports: (address, port) of our own listeners, which are never asked; by default where the settings have them.
        clock: by default the machine's.
        ca_file: certificates to trust instead of the system's (PEM).
    """

    def __init__(  # noqa: PLR0913 - the parts that app wires
        self,
        home: Home,
        settings: Settings,
        sources: "dict[str, SourceConf]",
        *,
        own_ports: Collection[tuple[str, int]] = (),
        clock: Clock | None = None,
        ca_file: str | None = None,
    ) -> None:
        self._home, self._settings = home, settings
        self._sources = BySource({"web": SourceConf()}).with_(sources)
        self._own_ports = own_ports or tuple(settings.address(name) for name in _LISTENERS)
        self._ca_file = ca_file
        self._clock = clock or SystemClock()

    def probe(
        self, names: Sequence[str] = (), *, dns: bool = True, redirects: bool = True, domains: bool = False
    ) -> list[dict[str, Any]]:
        """Look at *names*, or without any at all sites; the reports (:func:`~ingather.app.siteprobe.probing.look`) in their order.

        Raises:
            UsageError: there is nothing to look at, or too much.
            ConfigurationError: the home's configuration has errors.
        """
        return asyncio.run(self._probe(names, Options(dns=dns, redirects=redirects), domains=domains))

    def glance(
        self, starts: Sequence[str], source: str = "web", *, patience_s: float = _GLANCE_S
    ) -> list[Finding]:
        """Ask for *starts* as the robot would for *source*; what would be in its way, worst first. Each start costs two requests.

        Raises:
            ConfigurationError: the home's configuration has errors.
        """
        asked = [url for url in starts if url.startswith(("http://", "https://"))][:_GLANCED]
        return asyncio.run(self._glance(asked, source, patience_s)) if asked else []

    async def _glance(self, starts: Sequence[str], source: str, patience_s: float) -> list[Finding]:
        owner = self._sources.get(source)
        if owner is None:
            said = f"its source {source!r} is none of ingather.toml"
            return [Finding("site", "problem", said, f"write it: ingather source add {source}")]
        owners = {split(start).host: owner for start in starts}
        async with self._asking(load_checked(self._home), owners) as asking:
            try:
                return await asyncio.wait_for(glance(starts, asking, owner.scope()), patience_s)
            except TimeoutError:
                said = f"{starts[0]} did not answer within {patience_s:g} s"
                return [Finding("server", "warning", said, f"look again: ingather site probe {starts[0]}")]

    async def _probe(self, names: Sequence[str], options: Options, *, domains: bool) -> list[dict[str, Any]]:
        loaded = load_checked(self._home)
        targets = targets_of(names, loaded.rules.sites, domains=domains)
        if not targets:
            raise UsageError(
                "filterrules.conf has no site to look at",
                hint="name a host, or --all for sites of type domain",
            )
        if len(targets) > MOST_NAMES:
            raise UsageError(f"more than {MOST_NAMES} hosts at once", hint="name fewer")
        owners = {target.host: self._sources.get(target.source) for target in targets}
        scopes = BySource((name, source.scope()) for name, source in self._sources.items())
        async with self._asking(loaded, owners) as asking:
            return await look_at_all(targets, asking, scopes, self._clock, options)

    @asynccontextmanager
    async def _asking(self, loaded: Loaded, owners: Mapping[str, SourceConf | None]) -> AsyncIterator[Asking]:
        """Yield what asks hosts as the robot would; *owners*: host to its source."""
        robot, settings, clock = loaded.robot, self._settings, self._clock
        limits, resolver = wiring.fetch_limits(settings, robot), SystemResolver(clock)
        router = proxies_of(
            settings,
            robot,
            self._sources,
            home=self._home.path,
            clock=clock,
            resolver=resolver,
            own_ports=self._own_ports,
        )
        fetcher = HttpFetcher(
            limits, user_agent=wiring.user_agent(robot), email=str(robot.email), resolver=resolver, own_ports=self._own_ports,
            clock=clock, ca_file=self._ca_file, authorization=CredentialFile(self._home.path, clock.monotonic).header,
            routing=router,
            logins=LoginBook(self._home.path, settings, self._sources, clock, sites=loaded.rules.sites, robot=robot).find,
        )  # fmt: skip
        knocker = Knocker(
            EgressGate(resolver, self._own_ports), connect_s=min(limits.connect_s, 10.0), tls_s=limits.tls_s, ca_file=self._ca_file
        )  # fmt: skip
        sites = SiteBook(loaded.rules.sites)

        def delay_of(host: str, port: int) -> float:
            own = any(source.is_own(host, port) for source in self._sources.values())
            owner, site = owners.get(host) or SourceConf(), sites.of_host(host)
            return wiring.host_policy(settings, robot, owner, own=own, site=site).least_delay()

        asking = Asking(
            fetcher=fetcher, knocker=knocker, courtesy=Courtesy(clock), clock=clock, agent=wiring.agent_token(robot), delay_of=delay_of,
            robots=wiring.robots_limits(settings), obey=bool(robot.enable_robots_txt),
            longest_delay_s=settings.seconds("politeness.crawl-delay-max"), proxied=_proxied(router),
        )  # fmt: skip
        try:
            yield asking
        finally:
            await fetcher.close()
            await resolver.close()


def _proxied(router: Router | None) -> Callable[[str, int, Scope], Awaitable[str]]:
    """Return what says through which proxy a port of a host would be asked, ``""`` = directly."""

    async def proxied(host: str, port: int, scope: Scope) -> str:
        if router is None:
            return ""
        scheme = "https" if port in _TLS_PORTS else "http"
        try:
            choice = await router.choose(Target(f"{scheme}://{host}:{port}/", scheme, host, port), scope)
        except ProxyError:
            return "a proxy that cannot be found out"
        way = choice.ways[0] if choice.ways else None
        return "" if way is None else str(way)

    return proxied
