"""Where a source may go: the egress gate checks every socket against one of these."""

from dataclasses import dataclass

__all__ = ["Scope"]


@dataclass(frozen=True, slots=True)
class Scope:
    """The reach of one source.

    Attributes:
        source: name of the source, for messages.
        schemes: lower case; only ``http`` and ``https`` unless the source says otherwise.
        hosts: exact names (``intranet.example``), domains with their subdomains (``.example``), or ``*``.
        ports: allowed ports; empty = any but our own listeners'.
        addresses: CIDR ranges that are reachable although they are not public unicast
            (private, loopback, unique local). Link-local, multicast, metadata addresses and our
            own listeners are refused whatever stands here.
        address_ports: ports at which those ranges are reachable; empty = any.
        user_agent: what is sent as such; ``""`` = the fetcher's own.
        own_listener: (address, port) of the one listener of ours that may be reached: the canary's, by its source alone.
        only_urls: the only URLs that may be asked for; empty = any.
        narrow: what this was widened from for a redirect of robots.txt: through a proxy, whose reach nobody checks, that alone counts.
        verify_tls: ``False`` only when the source's settings say so; logged at each start.
    """

    source: str = "web"
    schemes: frozenset[str] = frozenset({"http", "https"})
    hosts: tuple[str, ...] = ("*",)
    ports: frozenset[int] = frozenset()
    addresses: tuple[str, ...] = ()
    address_ports: frozenset[int] = frozenset()
    verify_tls: bool = True
    user_agent: str = ""
    own_listener: tuple[str, int] | None = None
    only_urls: frozenset[str] = frozenset()
    narrow: "Scope | None" = None
