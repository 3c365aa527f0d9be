"""Requests over their ways: the first that leads anywhere; a proxy that cannot be used is set aside for a while."""

import ipaddress
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from ingather.errors import ProxyError, UrlError
from ingather.fetch.proxies.bypass import Bypass
from ingather.fetch.proxies.hop import Ask, Hop, Reach, Routing, Target
from ingather.fetch.proxies.pac import NoPacFileError, Pac
from ingather.fetch.proxies.rules import Choice, Rule, Rules, pac_names
from ingather.log import get
from ingather.model.proxies import SCHEMES, Proxy
from ingather.model.resource import Failure, FailureKind, Response, Way
from ingather.model.scope import Scope
from ingather.model.urlparts import split
from ingather.ports.clock import Clock

__all__ = ["DIRECT", "Router", "pac_failed"]

_FIRST_WAIT_S: Final = 30.0
_MOST_WAIT_S: Final = 3600.0
_MOST_SHOWN: Final = 1_000
_Shown = tuple[str, Proxy, tuple[str, str]]
"""A login as a source showed it to a proxy."""
_BEFORE_THE_HOST: Final = frozenset({
    FailureKind.PROXY, FailureKind.PROXY_LOGIN, FailureKind.DNS, FailureKind.CONNECT, FailureKind.CONNECT_TIMEOUT, FailureKind.TLS,
    FailureKind.TLS_TIMEOUT, FailureKind.FIRST_BYTE_TIMEOUT,
})  # fmt: skip
"""What fails through a proxy before the host has said a word: as likely the proxy's fault as the host's."""
DIRECT: Final = Choice("no proxy is set", (None,))
_log = get("proxy")


class Router:
    """Chooses ways and takes them; implements :class:`ingather.fetch.proxies.hop.Routing`. Belongs to one event loop.

    Args:
        rules: which source takes which proxies.
        pac: makes what asks a PAC file: (its location, whether its content type has to say that it is one).
        clock: how long proxies are set aside.
        set_aside_s: so long one that could not be used is tried last.
        allowed: proxies that PAC files may name: hosts, ``.domains``, address ranges; empty = those with public addresses.
        ca_file: certificates that HTTPS proxies are believed by instead of the system's.
        closing: called at the end.
        direct_on_failure: what a broken PAC file governs goes directly; else it is not asked for.
    """

    def __init__(  # noqa: PLR0913 - what a way depends on
        self, rules: Rules, pac: Callable[[str, bool], Pac], clock: Clock, *,
        set_aside_s: float, allowed: tuple[str, ...] = (), ca_file: str = "", direct_on_failure: bool = False, closing: Callable[[], Awaitable[None]] | None = None,
    ) -> None:  # fmt: skip
        self.rules = rules
        self._closing = closing
        self._make_pac, self._clock = pac, clock
        self._set_aside_s, self._ca_file, self._direct_on_failure = set_aside_s, ca_file, direct_on_failure
        self._allowed = Bypass(allowed)
        self._restricted = bool(allowed)
        self._ranges = tuple(text for text in allowed if _is_range(text))
        self._pacs: dict[tuple[str, bool], Pac] = {}
        self._aside: dict[Proxy, float] = {}
        self._refused: dict[_Shown, tuple[int, float]] = {}
        self._taken: set[_Shown] = set()

    async def take(self, target: Target, scope: Scope, ask: Ask) -> Response | Failure:
        """Return the answer of the first way to *target* that leads anywhere."""
        rule = None if scope.only_urls else self.rules.find(scope.source)
        if rule is None:
            return await ask(None)
        failed: list[Failure] = []
        choice: Choice | None = None
        names: tuple[str, ...] = ()
        try:
            choice = await self.choose(target, scope)
            names = choice.names(target.host, target.port)
            for way in self.ordered(choice.ways):
                hop = None if way is None else self.hop(way, rule, choice, target.scheme, scope)
                held = self._held(target.url, scope.source, hop)
                if held is not None:
                    return replace(held, way=Way(names, names[-2], whole=True))
                answer = await ask(hop)
                self._note_login(scope.source, hop, answer)
                if hop is None or way is None or not hop.failed:
                    if way is not None:
                        self._aside.pop(way, None)
                    return (
                        replace(answer, way=self._way(names, scope.source, hop, answer)) if names else answer
                    )
                self._set_aside(way, answer)
                if isinstance(answer, Failure):
                    failed.append(answer)
        except ProxyError as error:
            detail = f"{rule.place(target.scheme)}: {error.text}"
            lost = pac_failed(rule, target, error) if choice is None else Way(names, names[-2], whole=True)
            return Failure(target.url, FailureKind.PROXY, detail, way=lost)
        lost = Way(names, names[-2], whole=True)
        if len(failed) == 1:
            return replace(failed[0], way=lost)
        return Failure(target.url, FailureKind.PROXY, "; ".join(one.detail for one in failed), way=lost)

    def known(self, url: str, scope: Scope) -> tuple[tuple[str, ...], bool]:
        """Return what lies between *scope*'s source and *url* as far as that takes no time, and whether it is all."""
        rule = None if scope.only_urls else self.rules.find(scope.source)
        target = None if rule is None else _target(url)
        if rule is None or target is None or rule.bypass.fits(target.host, target.port):
            return (), True
        if rule.ways.pac or rule.perhaps_pac:
            return pac_names(rule.ways.pac or rule.perhaps_pac, target.host, target.port), False
        return Choice("", (rule.ways.of(target.scheme),)).names(target.host, target.port), True

    async def find(self, url: str, scope: Scope) -> Way | Failure:
        """Return what lies between *scope*'s source and *url*, the answer of its PAC file included.

        A failure is the PAC file's, which cannot be had or asked, or makes no sense.
        """
        target, rule = _target(url), self.rules.find(scope.source)
        if target is None or rule is None:
            return Way(())
        try:
            choice = await self.choose(target, scope)
        except ProxyError as error:
            detail = f"{rule.place(target.scheme)}: {error.text}"
            return Failure(url, FailureKind.PROXY, detail, way=pac_failed(rule, target, error))
        return Way(choice.names(target.host, target.port))

    async def choose(self, target: Target, scope: Scope) -> Choice:
        """Return the ways to *target* for a source.

        Raises:
            ProxyError: they cannot be found out.
        """
        rule = self.rules.find(scope.source)
        if rule is None or target.scheme not in SCHEMES:
            return DIRECT
        why = rule.place(target.scheme)
        entry = rule.bypass.fits(target.host, target.port)
        if entry:
            return Choice(why, (None,), f"no-proxy has {entry}")
        location, typed = rule.ways.pac or rule.perhaps_pac, not rule.ways.pac
        if location:
            pac = self._pac(location, typed=typed)
            try:
                answer = await pac.ask(target)
            except ProxyError as error:
                if not (typed and pac.file.is_none):
                    if not self._direct_on_failure:
                        raise
                    return Choice(why, (None,), f"{error.text}; proxy.direct-on-failure is on", pac=location)
            else:
                return Choice(why, answer.ways, f"PAC file {location}", answer.text, pac=location)
        way = rule.ways.of(target.scheme)
        return Choice(
            why, (way,), f"for {target.scheme}:" if target.scheme in rule.ways.proxies else "for everything"
        )

    def ordered(self, ways: tuple[Proxy | None, ...]) -> list[Proxy | None]:
        """Return *ways* with those that are set aside last; directly is never put before a proxy that stands before it."""
        if len(ways) == 1:
            return list(ways)
        now_s = self._clock.monotonic()
        good = [way for way in ways if way is None or self._aside.get(way, now_s) <= now_s]
        return good + [way for way in ways if way not in good]

    def hop(self, way: Proxy, rule: Rule, choice: Choice, scheme: str, scope: Scope) -> Hop:
        """Return *way* as the fetcher takes it.

        Raises:
            ProxyError: what it wants as user and password cannot be had.
        """
        reach = self._reach(way, scope) if choice.by_pac else Reach()
        return Hop(way, choice.why, reach, rule.login(scheme, way), self._ca_file)

    async def close(self) -> None:
        """End the processes of PAC files."""
        for pac in self._pacs.values():
            await pac.close()
        self._pacs.clear()
        if self._closing is not None:
            await self._closing()

    def _held(self, url: str, source: str, hop: Hop | None) -> Failure | None:
        """Return why a proxy is not shown a login that it has refused, ``None`` = it may be: accounts are locked after a few times."""
        if hop is None or hop.login is None or not self._refused:
            return None
        count, until_s = self._refused.get((source, hop.proxy, hop.login), (0, 0.0))
        left_s = until_s - self._clock.monotonic()
        if not count or left_s <= 0:
            return None
        text = f"{hop}: it refuses our user and password, {count} times in a row by now; it is asked again later, or when the secret is set anew"
        return Failure(url, FailureKind.PROXY_LOGIN, text, retry_after_s=left_s)

    def _note_login(self, source: str, hop: Hop | None, answer: Response | Failure) -> None:
        if hop is None or hop.login is None or hop.failed:
            return
        shown, now_s = (source, hop.proxy, hop.login), self._clock.monotonic()
        if not (isinstance(answer, Failure) and answer.kind is FailureKind.PROXY_LOGIN):
            self._refused.pop(shown, None)
            if isinstance(answer, Response):
                self._taken.add(shown)
            return
        before, until_s = self._refused.get(shown, (0, 0.0))
        if until_s > now_s:
            return  # it was under way when another one was refused
        if len(self._refused) + len(self._taken) >= _MOST_SHOWN:
            self._refused.clear()
            self._taken.clear()
        # A first refusal of what had been taken may be one page's.
        wait_s = (
            0.0
            if shown in self._taken and not before
            else min(_FIRST_WAIT_S * 2 ** min(before, 20), _MOST_WAIT_S)
        )
        self._refused[shown] = before + 1, now_s + wait_s
        _log.warning(
            "a proxy refuses our login",
            proxy=str(hop.proxy),
            source=source,
            refused=before + 1,
            seconds=wait_s,
        )

    def _way(self, names: tuple[str, ...], source: str, hop: Hop | None, answer: Response | Failure) -> Way:
        """Return the way that *answer* came by; what a proxy does not get from its host rests the way to that host."""
        if hop is None:
            return Way(names)
        if isinstance(answer, Response):
            return Way(names, names[-1] if hop.spoke else "")
        if answer.kind is FailureKind.PROXY_LOGIN and self._held(answer.url, source, hop) is not None:
            return Way(names, names[-2], whole=True)
        return Way(names, names[-1] if answer.kind in _BEFORE_THE_HOST else "")

    def _reach(self, way: Proxy, scope: Scope) -> Reach:
        """Where a proxy may be that a PAC file names: what is allowed, or else of the source's own addresses."""
        if self._restricted and self._allowed.fits(way.host, way.port):
            return Reach()
        return Reach((*self._ranges, *scope.addresses), public=not self._restricted)

    def _pac(self, location: str, *, typed: bool) -> Pac:
        pac = self._pacs.get((location, typed))
        if pac is None:
            pac = self._pacs[location, typed] = self._make_pac(location, typed)
        return pac

    def _set_aside(self, way: Proxy, answer: Response | Failure) -> None:
        now_s = self._clock.monotonic()
        if self._aside.get(way, now_s) <= now_s:
            detail = answer.detail if isinstance(answer, Failure) else ""
            _log.warning("proxy is set aside", proxy=str(way), error=detail, seconds=self._set_aside_s)
        self._aside[way] = now_s + self._set_aside_s


def pac_failed(rule: Rule, target: Target, error: ProxyError) -> Way:
    """Return the way that ends at a PAC file: all of it where the file cannot be had, else what it says of one host."""
    names = pac_names(rule.ways.pac or rule.perhaps_pac, target.host, target.port)
    whole = isinstance(error, NoPacFileError)
    return Way(names, names[0 if whole else 1], whole=whole)


def _target(url: str) -> Target | None:
    try:
        parts = split(url)
    except UrlError:
        return None
    return Target(url, parts.scheme, parts.host, parts.port) if parts.scheme in SCHEMES else None


def _is_range(text: str) -> bool:
    try:
        ipaddress.ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return False
    return True


def _fits(made: Router) -> Routing:
    return made
