"""Until when the certificates of crawled hosts are good: one TLS handshake a day with each https host that a site names, nothing asked.

The connection goes through the egress gate under the scope of the site's source. Where requests go through a proxy nobody is looked at:
what a proxy shows is not the host's. What was seen is kept in ``run/host-certificates.json``, so that a restart asks nobody again.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from ingather.app import wiring
from ingather.app.certificatedates import end_of
from ingather.app.certificatesseen import FILE, Seen, kept_certificates
from ingather.app.reaching.proxies import proxies_of
from ingather.conf import Site
from ingather.conf.sources.source import SourceConf
from ingather.errors import IngatherError
from ingather.feeds.trust import write_durably
from ingather.fetch import EgressGate, SystemResolver
from ingather.fetch.knocking import Knocker, Shown
from ingather.fetch.proxies.hop import Target
from ingather.fetch.proxies.routing import Router
from ingather.log import get
from ingather.model.scope import Scope
from ingather.model.urlparts import split
from ingather.ports.clock import Clock

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["HostCertificates", "HttpsHost", "https_hosts", "look_once", "watch_certificates"]

_EVERY_S: Final = 86_400.0
_ROUND_S: Final = 900.0
_FIRST_S: Final = 60.0
_APART_S: Final = 1.0
_RESTING: Final = frozenset({"off", "paused"})
_log = get("certificates")


class HttpsHost(NamedTuple):
    """A host that a site of *source* names."""

    host: str
    port: int
    source: str

    @property
    def name(self) -> str:
        """What it is called: ``host``, or ``host:port`` where the port is unusual."""
        return self.host if self.port == 443 else f"{self.host}:{self.port}"  # noqa: PLR2004 - of https


def https_hosts(sites: Iterable[Site]) -> list[HttpsHost]:
    """Return the https hosts of enabled sites: those of their starting points, and of a server that is for https alone."""
    found: dict[tuple[str, int], HttpsHost] = {}
    for site in sites:
        if not site.enabled or not site.host:
            continue
        for start in site.starts:
            parts = split(start.url)
            if parts.scheme == "https":
                found.setdefault((parts.host, parts.port), HttpsHost(parts.host, parts.port, site.source))
        if not site.domain and site.protocols == {"https"}:
            for port in site.ports or {443}:
                found.setdefault((site.host, port), HttpsHost(site.host, port, site.source))
    return list(found.values())


class HostCertificates:
    """Looks at hosts, each once a day.

    Args:
        run: folder of what is kept.
        hosts: the hosts of the moment.
        show: one handshake with a host.
        clock: wall.
    """

    def __init__(
        self,
        run: Path,
        hosts: Callable[[], Iterable[HttpsHost]],
        show: Callable[[HttpsHost], Awaitable[Shown]],
        clock: Clock,
    ) -> None:
        self._run, self._hosts, self._show, self._clock = run, hosts, show, clock

    async def look(self) -> int:
        """Look at the hosts that nobody looked at for a day; return how many these were."""
        hosts, before = {host.name: host for host in self._hosts()}, kept_certificates(self._run)
        seen = {name: one for name, one in before.items() if name in hosts}
        now_s = self._clock.wall()
        due = [name for name in hosts if name not in seen or not 0 <= now_s - seen[name].looked < _EVERY_S]
        for count, name in enumerate(due):
            if count:
                await asyncio.sleep(_APART_S)
            seen[name] = self._read(await self._show(hosts[name]), seen.get(name))
            self._keep(seen)
        if not due and seen != before:
            self._keep(seen)
        return len(due)

    def _read(self, shown: Shown, before: Seen | None) -> Seen:
        now_s, ends = self._clock.wall(), before.ends if before else None
        if not shown.der:
            return Seen(now_s, ends, (shown.detail or shown.trouble)[:200])
        with suppress(ValueError):
            return Seen(now_s, end_of(shown.der))
        return Seen(now_s, ends, "its certificate cannot be read")

    def _keep(self, seen: Mapping[str, Seen]) -> None:
        try:
            write_durably(self._run / FILE, json.dumps(msgspec.to_builtins(seen)) + "\n")
        except OSError as error:
            _log.warning("what was seen of certificates cannot be kept", error=str(error))


async def watch_certificates(gathering: "Gathering") -> None:
    """Look now and then, while the robot works, until it is cancelled; ``notices.host-certificates`` says whether."""
    if not gathering.settings.flag("notices.host-certificates"):
        return
    await asyncio.sleep(_FIRST_S)
    while True:
        if str(gathering.conductor.state) not in _RESTING:
            try:
                await look_once(gathering)
            except IngatherError as error:
                _log.warning("certificates could not be looked at", error=error.text)
        await asyncio.sleep(_ROUND_S)


async def look_once(gathering: "Gathering") -> None:
    """Look at what is due in a served home."""
    settings, robot, sources, own_ports = (
        gathering.settings, gathering.loaded.robot, gathering.sources, gathering.plan.own_ports
    )  # fmt: skip
    resolver, limits = SystemResolver(gathering.clock), wiring.fetch_limits(settings, robot)
    router = proxies_of(
        settings, robot, sources, home=gathering.home.path, clock=gathering.clock, resolver=resolver, own_ports=own_ports
    )  # fmt: skip
    knocker = Knocker(
        EgressGate(resolver, own_ports), connect_s=min(limits.connect_s, 10.0), tls_s=limits.tls_s
    )

    def hosts() -> list[HttpsHost]:
        blocked = set(gathering.conductor.kept.blocked)
        return [
            host
            for host in https_hosts(gathering.loaded.rules.sites)
            if host.name not in blocked and host.host not in blocked
        ]

    async def show(host: HttpsHost) -> Shown:
        scope = (sources.get(host.source) or SourceConf(host.source)).scope()
        if router is not None and await _proxied(router, host, scope):
            return Shown(detail="requests go through a proxy")
        return await knocker.certificate(host.host, host.port, scope, believe=False)

    try:
        await HostCertificates(gathering.home.run, hosts, show, gathering.clock).look()
    finally:
        if router is not None:
            await router.close()
        await resolver.close()


async def _proxied(router: Router, host: HttpsHost, scope: Scope) -> bool:
    url = f"https://{host.host}:{host.port}/"
    try:
        choice: Any = await router.choose(Target(url, "https", host.host, host.port), scope)
    except IngatherError:
        return True
    return bool(choice.ways) and choice.ways[0] is not None
