"""The egress gate: where a source may go, asked before each request and at each socket.

``admit`` takes (scheme, host, port, scope), resolves once and checks **every** answer: one
refused address refuses the host. The caller connects to an admitted address and asks
:meth:`EgressGate.peer_refusal` about the peer that it really got.
"""

import contextlib
import socket
from collections.abc import Collection
from dataclasses import dataclass

from ingather.fetch.addresses import (
    Address,
    AddressKind,
    Network,
    classify,
    embedded,
    parse_address,
    parse_networks,
    refusal,
)
from ingather.fetch.proxies.hop import Reach, Target
from ingather.model.resource import FailureKind
from ingather.model.scope import Scope
from ingather.ports.resolver import Resolver

__all__ = ["Beforehand", "EgressGate", "Refusal"]

_MEMO = 4096


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request may not be made; *kind* is ``EGRESS`` or ``DNS``, *detail* is for people."""

    kind: FailureKind
    detail: str


class _Reach:
    """One scope, read once: hosts as sets, ranges as networks, verdicts remembered."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        hosts = [host.strip().lower().strip("[]").rstrip(".") for host in scope.hosts]
        self.any_host = "*" in hosts
        self.domains = tuple(host for host in hosts if host.startswith(".") and len(host) > 1)
        self.names = {host for host in hosts if host} | {domain[1:] for domain in self.domains}
        self.networks: tuple[Network, ...] = parse_networks(scope.addresses)
        self.origins: dict[tuple[str, str, int], str] = {}
        self.addresses: dict[str, str] = {}

    def origin_refusal(self, scheme: str, host: str, port: int) -> str:
        """Say why the scope has no such origin; ``""`` when it has."""
        known = self.origins.get((scheme, host, port))
        if known is None:
            if len(self.origins) >= _MEMO:
                self.origins.clear()
            known = self.origins[scheme, host, port] = self._judge(scheme, host, port)
        return known

    def _judge(self, scheme: str, host: str, port: int) -> str:
        scope = self.scope
        name = host.strip("[]").rstrip(".").lower()
        if scheme not in scope.schemes:
            return f"source {scope.source} does not allow {scheme}:"
        if not 0 < port < 1 << 16:
            return f"port {port} does not exist"
        if scope.ports and port not in scope.ports:
            return f"source {scope.source} does not allow port {port}"
        if not (self.any_host or name in self.names or name.endswith(self.domains)):
            return f"source {scope.source} does not allow host {name}"
        return ""

    def address_refusal(self, text: str) -> str:
        """Say why the scope may not connect to *text*; ``""`` when it may."""
        known = self.addresses.get(text)
        if known is None:
            if len(self.addresses) >= _MEMO:
                self.addresses.clear()
            address = parse_address(text)
            known = refusal(address, self.networks) if address else f"{text} is not an address"
            self.addresses[text] = known
        return known

    def port_refusal(self, text: str, port: int) -> str:
        """Say why the scope may not connect to *port* of *text*, which is reachable as such; ``""`` when it may."""
        allowed = self.scope.address_ports
        address = parse_address(text) if allowed and port not in allowed else None
        if address is None or not refusal(address, ()):
            return ""
        return f"source {self.scope.source} does not allow port {port} of {text}"


class Beforehand:
    """What a scope refuses without asking anybody: schemes, hosts, ports, and addresses that stand in a URL. One thread."""

    def __init__(self, scope: Scope) -> None:
        self._reach = _Reach(scope)

    def refusal(self, scheme: str, host: str, port: int) -> str:
        """Say why there is no going to such an origin; ``""`` when the gate may still admit it."""
        refused = self._reach.origin_refusal(scheme, host, port)
        bare = host.strip("[]")
        if refused or not (bare[-1:].isdigit() or ":" in bare) or (literal := parse_address(bare)) is None:
            return refused
        return self._reach.address_refusal(str(literal)) or self._reach.port_refusal(str(literal), port)


class EgressGate:
    """Admits or refuses; opens nothing itself. One instance for an event loop.

    Args:
        resolver: names to addresses.
        own_ports: (address, port) of our own listeners; read anew at each question, so the
            collection may grow while it is in use. A wildcard address stands for all of this
            machine's, and so does text that is not an address.
    """

    def __init__(self, resolver: Resolver, own_ports: Collection[tuple[str, int]] = ()) -> None:
        self._resolver = resolver
        self._own_ports = own_ports
        self._reaches: dict[Scope, _Reach] = {}
        self._last: _Reach | None = None

    async def admit(
        self, scheme: str, host: str, port: int, scope: Scope, url: str = ""
    ) -> tuple[str, ...] | Refusal:
        """Return the checked addresses of *host*, in order of preference, or a refusal.

        *scheme* and *host* are lower case as a WHATWG parser gives them; a name that such a
        parser would read as an address never comes here as a name. *url* is what is asked for there: a
        scope that names its URLs admits those alone.
        """
        if scope.only_urls and url not in scope.only_urls:
            return Refusal(FailureKind.EGRESS, f"source {scope.source} may ask for its own page alone")
        reach = self._last
        if reach is None or reach.scope is not scope:
            reach = self._reach(scope)
        refused = reach.origin_refusal(scheme, host, port)
        if refused:
            return Refusal(FailureKind.EGRESS, refused)
        bare = host.strip("[]")
        literal = parse_address(bare) if bare[-1:].isdigit() or ":" in bare else None
        if literal is not None:
            found: tuple[str, ...] = (str(literal),)
        else:
            try:
                found = tuple(await self._resolver.resolve(bare))
            except (OSError, UnicodeError) as error:
                return Refusal(FailureKind.DNS, f"{bare}: {error}")
            if not found:
                return Refusal(FailureKind.DNS, f"{bare}: the name does not exist or has no address")
        admitted = []
        for text in found:
            refused = (
                reach.address_refusal(text)
                or reach.port_refusal(text, port)
                or self._own_refusal(text, port, scope)
            )
            if refused:
                return Refusal(FailureKind.EGRESS, f"{bare}: {refused}" if bare != text else refused)
            admitted.append(_plain(text))
        return tuple(admitted)

    async def admit_through(
        self, target: Target, scope: Scope, proxy: tuple[str, int], where: Reach
    ) -> tuple[str, ...] | Refusal:
        """Return the checked addresses of the proxy through which *target* is asked for, or a refusal.

        Of the target count scheme, host and port, and an address that stands in the URL; what its name leads to is the proxy's
        business. *proxy*: host and port; *where*: it may be. What refuses the proxy is of kind ``PROXY``.
        """
        url, scheme, host, port = target
        scope = scope.narrow or scope
        if scope.only_urls and url not in scope.only_urls:
            return Refusal(FailureKind.EGRESS, f"source {scope.source} may ask for its own page alone")
        reach, bare = self._reach(scope), host.strip("[]")
        refused = reach.origin_refusal(scheme, host, port)
        literal = parse_address(bare) if bare[-1:].isdigit() or ":" in bare else None
        if not refused and literal is not None:
            text = str(literal)
            refused = (
                reach.address_refusal(text)
                or reach.port_refusal(text, port)
                or self._own_refusal(text, port, scope)
            )
        if refused:
            return Refusal(FailureKind.EGRESS, refused)
        name, proxy_port = proxy
        try:
            own = parse_address(name)
            found = tuple(await self._resolver.resolve(name)) if own is None else (str(own),)
        except (OSError, UnicodeError) as error:
            return Refusal(FailureKind.PROXY, f"{name}: {error}")
        if not found:
            return Refusal(FailureKind.PROXY, f"{name}: the name does not exist or has no address")
        for text in found:
            if refused := self._proxy_refusal(text, proxy_port, scope, where):
                return Refusal(FailureKind.PROXY, f"{name}: {refused}" if name != text else refused)
        return tuple(map(_plain, found))

    def _proxy_refusal(self, text: str, port: int, scope: Scope, where: Reach) -> str:
        address, ranges = parse_address(text), parse_networks(where.ranges)
        if address is None:
            return f"{text} is not an address"
        refused = refusal(address, ranges).replace("the source does not name", "proxy.allowed does not name")
        if not refused and not where.public and not any(address in network for network in ranges):
            refused = f"{text} is an address that proxy.allowed does not name"
        return refused or self._own_refusal(text, port, scope)

    def peer_refusal(self, address: str, port: int, scope: Scope, proxy: Reach | None = None) -> str:
        """Say why a connection to *address* may not be used for *scope*; ``""`` when it may.

        *proxy*: it is a connection to a proxy, which may be there.
        """
        if proxy is not None:
            return self._proxy_refusal(address, port, scope, proxy)
        reach = self._last
        if reach is None or reach.scope is not scope:
            reach = self._reach(scope)
        return (
            reach.address_refusal(address)
            or reach.port_refusal(address, port)
            or self._own_refusal(address, port, scope)
        )

    def _reach(self, scope: Scope) -> _Reach:
        reach = self._reaches.get(scope)
        if reach is None:
            if len(self._reaches) >= _MEMO:
                self._reaches.clear()
            reach = self._reaches[scope] = _Reach(scope)
        self._last = reach
        return reach

    def _own_refusal(self, text: str, port: int, scope: Scope) -> str:
        """Say that *text* and *port* are a listener of ours; ``""`` when they are not, or the scope's own."""
        if scope.own_listener == (text, port):
            return ""
        for listener, own_port in self._own_ports:
            if own_port == port and _listens(listener, text):
                return f"{text} port {port} is a listener of Ingather itself"
        return ""


def _plain(text: str) -> str:
    """Write an address in the one form that libcurl and ``getpeername`` use as well."""
    return text if ":" not in text else str(parse_address(text) or text)


def _listens(listener: str, text: str) -> bool:
    """Whether a listener bound to *listener* takes connections to address *text*."""
    bound, address = parse_address(listener), parse_address(text)
    if address is None:
        return True
    parts: tuple[Address, ...] = (address, *embedded(address))
    if bound is not None and classify(bound) is not AddressKind.UNSPECIFIED:
        return bound in parts
    return any(classify(part) is AddressKind.LOOPBACK or _is_ours(part) for part in parts)


def _is_ours(address: Address) -> bool:
    """Whether *address* belongs to an interface of this machine: only then can it be bound."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004 - IP versions
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.bind((str(address), 0))
        return True
    return False
