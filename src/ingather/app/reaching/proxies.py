"""Proxies as settings, robot.conf, sources and the environment name them, put together for a fetcher.

The order: the source's own ``proxy``; robot.conf's ``auto-proxy``; ``[proxy] url``; the environment, if ``from-environment`` is on; none. The
first that says anything says all: it is not mixed with what comes after it.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ingather.app.confined.pool import ConverterLimits, ConverterPool, JobLimits
from ingather.app.credentials import CredentialFile
from ingather.app.secrets import KeyFile, SecretStore
from ingather.conf.robot.robotconf import RobotConf
from ingather.conf.settings.values import Settings
from ingather.conf.sources.credentials import CredentialConf
from ingather.conf.sources.source import SourceConf
from ingather.errors import ProxyError, UsageError
from ingather.fetch.http import HttpFetcher
from ingather.fetch.limits import Limits
from ingather.fetch.proxies.bypass import Bypass
from ingather.fetch.proxies.environment import read_environment
from ingather.fetch.proxies.own_addresses import own_addresses
from ingather.fetch.proxies.pac import Pac
from ingather.fetch.proxies.pac_file import PacFile, kept_name
from ingather.fetch.proxies.pac_script import MOST_BYTES
from ingather.fetch.proxies.routing import Router
from ingather.fetch.proxies.rules import Login, Rule, Rules
from ingather.fetch.redirects import follow
from ingather.log import get
from ingather.model.proxies import Proxy, Ways, names_pac, read_proxy, read_ways
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.model.source_name import BySource
from ingather.ports.clock import Clock
from ingather.ports.resolver import Resolver

__all__ = ["Logins", "proxies_of", "rules_of"]

_PAC_LIMITS: Final = ConverterLimits(
    jobs={"pac": JobLimits(4.0, 60.0)}, memory_bytes=256 << 20, file_bytes=64 << 10, answer_bytes=1 << 20,
    recycle_jobs=50_000, recycle_s=6 * 3600.0,
)  # fmt: skip
_EVERYWHERE: Final = ("0.0.0.0/0", "::/0")
_HOPS: Final = 3
_LOOK_S: Final = 2.0
_log = get("proxy")


def proxies_of(  # noqa: PLR0913 - the parts that ways are made of
    settings: Settings,
    robot: RobotConf,
    sources: Mapping[str, SourceConf],
    *,
    home: Path | None,
    clock: Clock,
    resolver: Resolver,
    own_ports: Collection[tuple[str, int]] = (),
    environment: Mapping[str, str] | None = None,
) -> Router | None:
    """Return what chooses proxies, ``None`` where no proxy is named anywhere; whoever fetches through it closes it.

    Args:
        settings: section proxy.
        robot: auto-proxy.
        sources: with their proxies and all credentials.
        home: credentials, and the last good PAC files; ``None`` = there are none.
        clock: the time.
        resolver: names to addresses, also for PAC files.
        own_ports: (address, port) of our own listeners: no proxy and no PAC file is there.
        environment: variables, by default this process' own; asked for nothing but proxies, and only if the settings say so.
    """
    logins = None if home is None else Logins(home, settings, sources, clock)
    rules = rules_of(settings, robot, sources, logins, os.environ if environment is None else environment)
    if not rules:
        return None
    loader = _Loader(resolver, clock, own_ports)
    zone = {"TZ": os.environ["TZ"]} if os.environ.get("TZ") else {}

    def pac(location: str, typed: bool) -> Pac:  # noqa: FBT001 - a callback
        kept = None if home is None else home / "run" / kept_name(location)
        file = PacFile(
            location, loader.load, clock, fresh_s=settings.seconds("proxy.pac-fresh"), kept=kept, typed=typed
        )
        pool = ConverterPool(
            count=1,
            clock=clock,
            limits=_PAC_LIMITS,
            job_table="ingather.app.reaching.pac_jobs",
            environment=zone,
        )
        return Pac(file, pool, resolver, own_addresses, clock, keep_s=settings.seconds("proxy.pac-answers"))

    return Router(
        rules, pac, clock, set_aside_s=settings.seconds("proxy.set-aside"), allowed=settings.words("proxy.allowed"),
        ca_file=settings.text("proxy.ca-file"), direct_on_failure=settings.flag("proxy.direct-on-failure"), closing=loader.close,
    )  # fmt: skip


class _Loader:
    """Fetches PAC files, never through a proxy. Where one is, the operator has said: it may be at a private address."""

    def __init__(self, resolver: Resolver, clock: Clock, own_ports: Collection[tuple[str, int]]) -> None:
        self._made: HttpFetcher | None = None
        self._resolver, self._clock, self._own_ports = resolver, clock, own_ports

    async def load(self, request: Request) -> Response | Failure:
        if self._made is None:
            limits = Limits(max_wire_bytes=MOST_BYTES, max_decoded_bytes=MOST_BYTES, total_s=30.0)
            self._made = HttpFetcher(
                limits, user_agent="Ingather", email="", resolver=self._resolver, own_ports=self._own_ports, clock=self._clock
            )  # fmt: skip
        host = urlsplit(request.url).hostname or ""
        scope = Scope("proxy", hosts=(host,), addresses=_EVERYWHERE)
        return (await follow(self._made, request, scope, max_hops=_HOPS)).result

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()


class Logins:
    """User and password for proxies, out of tables and their secrets, or out of credentials.toml.

    A credential goes to the proxy alone that its ``url`` names, by host, port and (of HTTP proxies) scheme.
    """

    def __init__(
        self, home: Path, settings: Settings, sources: Mapping[str, SourceConf], clock: Clock
    ) -> None:
        self._home, self._settings = home, settings
        self._all = {one.name: one for source in sources.values() for one in source.reach.logins}
        self._file = CredentialFile(home, clock.monotonic)
        self._monotonic = clock.monotonic
        self._opened: dict[str, tuple[float, str]] = {}

    def of(self, names: tuple[str, ...], source: str) -> Login:
        """Return what gives the login for a proxy of *source* by the credentials *names*."""

        def login(_scheme: str, proxy: Proxy) -> tuple[str, str] | None:
            for name in names:
                conf = self._all.get(name)
                if conf is None:
                    raise ProxyError(f"there is no usable [credential.{name}]")
                if _is_for(conf, proxy):
                    user = f"{conf.domain}\\{conf.user}" if conf.domain else conf.user
                    return user, self._secret(conf)
            shown = Proxy("https" if proxy.kind == "https" else "http", proxy.host, proxy.port)
            entry = self._file.find(_url(shown), source)
            return None if entry is None else (entry.user, entry.password)

        return login

    def _secret(self, conf: CredentialConf) -> str:
        """Return the password; it is looked for anew every two seconds, as not every request has to open it."""
        until_s, value = self._opened.get(conf.secret, (float("-inf"), ""))
        if self._monotonic() < until_s:
            return value
        try:
            key = KeyFile.of(self._home, self._settings.text("secrets.key-file"), os.environ)
            value = SecretStore(self._home, key).get(conf.secret).value
        except UsageError as error:
            raise ProxyError(f"credential {conf.name}: {error}") from None
        self._opened[conf.secret] = self._monotonic() + _LOOK_S, value
        return value


def rules_of(
    settings: Settings,
    robot: RobotConf,
    sources: Mapping[str, SourceConf],
    logins: Logins | None,
    environment: Mapping[str, str],
) -> Rules:
    """Return which proxies which source takes."""
    names = settings.words("proxy.credentials")

    def login(own: tuple[str, ...], source: str) -> Login:
        return _none if logins is None else logins.of(own or names, source)

    bypass = Bypass(settings.words("proxy.no-proxy"))
    usual = _usual(settings, robot, bypass, login((), ""), environment)
    of: BySource[Rule] = BySource()
    for name, source in sources.items():
        reach = source.reach
        own = bypass if reach.no_proxy is None else Bypass(reach.no_proxy)
        if reach.proxy:
            why = f"source.{name}.proxy, {source.origins.get('proxy', 'set')}"
            of[name] = Rule(why, read_ways(reach.proxy), own, login(reach.proxy_credentials, name))
        elif usual is not None and (reach.no_proxy is not None or reach.proxy_credentials):
            with_login = login(reach.proxy_credentials, name) if reach.proxy_credentials else usual.login
            of[name] = replace(usual, bypass=own, login=with_login)
    return Rules(of, usual)


def _usual(
    settings: Settings, robot: RobotConf, bypass: Bypass, login: Login, environment: Mapping[str, str]
) -> Rule | None:
    auto = str(robot.auto_proxy or "").strip()
    if auto:
        return _of_robot(auto, robot, bypass, login)
    words = settings.words("proxy.url")
    if words:
        return Rule(f"proxy.url, {settings.origin('proxy.url')}", read_ways(words), bypass, login)
    return _of_environment(bypass, environment) if settings.flag("proxy.from-environment") else None


def _of_robot(auto: str, robot: RobotConf, bypass: Bypass, login: Login) -> Rule:
    place = robot.places.get("auto-proxy")
    why = f"auto-proxy, {place.file}:{place.line}" if place is not None else "auto-proxy"
    if names_pac(auto) or auto.startswith(("pac:", "/", "file:")):
        return Rule(
            why, read_ways((auto if names_pac(auto) else f"pac:{auto.removeprefix('pac:')}",)), bypass, login
        )
    # A path behind the host may be a PAC file's: what it is its content type tells.
    parts = urlsplit(auto if "//" in auto else f"http://{auto}")
    perhaps = auto if parts.scheme in {"http", "https"} and len(parts.path) > 1 else ""
    return Rule(why, Ways({"": read_proxy(auto)}), bypass, login, perhaps_pac=perhaps)


def _of_environment(bypass: Bypass, environment: Mapping[str, str]) -> Rule | None:
    found = read_environment(environment)
    for variable, wrong in found.wrong.items():
        _log.error("a variable names no proxy", variable=f"${variable}", error=wrong)
    if not found.proxies:
        return None
    places = {scheme: f"${variable}" for scheme, variable in found.variables.items()}
    return Rule(
        "the environment", Ways(dict(found.proxies)), bypass + found.bypass,
        lambda scheme, _proxy: found.logins.get(scheme), places=places,
    )  # fmt: skip


def _none(_scheme: str, _proxy: Proxy) -> tuple[str, str] | None:
    return None


def _url(proxy: Proxy) -> str:
    default: Iterable[tuple[str, int]] = (("http", 80), ("https", 443))
    host = f"[{proxy.host}]" if ":" in proxy.host else proxy.host
    port = "" if (proxy.kind, proxy.port) in default else f":{proxy.port}"
    return f"{proxy.kind}://{host}{port}/"


def _is_for(conf: CredentialConf, proxy: Proxy) -> bool:
    parts = urlsplit(conf.url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    same = (parts.hostname or "", port) == (proxy.host, proxy.port)
    return same and (proxy.kind.startswith("socks") or parts.scheme == proxy.kind)
