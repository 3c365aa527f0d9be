"""What an IP address is, by tables of our own.

``ipaddress.is_private`` calls NAT64 and 6to4 forms of loopback public, and differs between
Python releases; a gate cannot stand on that. Here an address that carries another one is
judged by both, and whatever no table names is not public.

Sources: IANA special-purpose registries (RFC 6890 and successors), RFC 4291, RFC 6052,
RFC 8215 (NAT64), RFC 3056 (6to4), RFC 4380 (Teredo), RFC 5214 (ISATAP), RFC 2765 (SIIT);
the metadata addresses from the cloud vendors' manuals.
"""

import ipaddress
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache

__all__ = [
    "Address",
    "AddressKind",
    "Network",
    "classify",
    "embedded",
    "parse_address",
    "parse_networks",
    "refusal",
]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class AddressKind(StrEnum):
    """Kind of an address, as messages name it."""

    PUBLIC = "public"
    PRIVATE = "private"
    LOOPBACK = "loopback"
    SHARED = "shared (carrier NAT)"
    UNIQUE_LOCAL = "unique local"
    SITE_LOCAL = "site-local"
    BENCHMARK = "benchmarking"
    DOCUMENTATION = "documentation"
    RESERVED = "reserved"
    UNSPECIFIED = "unspecified"
    LINK_LOCAL = "link-local"
    METADATA = "cloud metadata"
    MULTICAST = "multicast"
    BROADCAST = "broadcast"


NEVER = frozenset(
    {
        AddressKind.UNSPECIFIED,
        AddressKind.LINK_LOCAL,
        AddressKind.METADATA,
        AddressKind.MULTICAST,
        AddressKind.BROADCAST,
    }
)
"""Kinds that no source can name."""

_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "169.254.169.254",  # AWS, Azure, Google, OpenStack, DigitalOcean, Oracle
        "169.254.169.253",  # AWS name service
        "169.254.170.2",  # AWS ECS credentials
        "169.254.170.23",  # AWS EKS pod identity
        "100.100.100.200",  # Alibaba
        "192.0.0.192",  # Oracle classic
        "168.63.129.16",  # Azure wire server
        "fd00:ec2::254",  # AWS
        "fd00:ec2::23",  # AWS EKS pod identity
        "fd20:ce::254",  # Google
        "fd00:42::42",  # Scaleway
    )
)


def _table(*rows: tuple[str, AddressKind]) -> tuple[tuple[int, int, AddressKind], ...]:
    """Turn networks into (first, last, kind), in the order in which they are tried."""
    networks = [(ipaddress.ip_network(text), kind) for text, kind in rows]
    return tuple((int(net.network_address), int(net.broadcast_address), kind) for net, kind in networks)


_V4 = _table(
    ("0.0.0.0/8", AddressKind.UNSPECIFIED),
    ("10.0.0.0/8", AddressKind.PRIVATE),
    ("100.64.0.0/10", AddressKind.SHARED),
    ("127.0.0.0/8", AddressKind.LOOPBACK),
    ("169.254.0.0/16", AddressKind.LINK_LOCAL),
    ("172.16.0.0/12", AddressKind.PRIVATE),
    ("192.0.2.0/24", AddressKind.DOCUMENTATION),
    ("192.0.0.0/24", AddressKind.RESERVED),
    ("192.88.99.0/24", AddressKind.RESERVED),
    ("192.168.0.0/16", AddressKind.PRIVATE),
    ("198.18.0.0/15", AddressKind.BENCHMARK),
    ("198.51.100.0/24", AddressKind.DOCUMENTATION),
    ("203.0.113.0/24", AddressKind.DOCUMENTATION),
    ("224.0.0.0/4", AddressKind.MULTICAST),
    ("255.255.255.255/32", AddressKind.BROADCAST),
    ("240.0.0.0/4", AddressKind.RESERVED),
    ("0.0.0.0/0", AddressKind.PUBLIC),
)

_V6 = _table(
    ("::/128", AddressKind.UNSPECIFIED),
    ("::1/128", AddressKind.LOOPBACK),
    ("64:ff9b::/96", AddressKind.PUBLIC),  # NAT64: the embedded address decides
    ("64:ff9b:1::/48", AddressKind.RESERVED),  # NAT64 of one's own network
    ("2001::/32", AddressKind.PUBLIC),  # Teredo: the embedded addresses decide
    ("2001:2::/48", AddressKind.BENCHMARK),
    ("2001:db8::/32", AddressKind.DOCUMENTATION),
    ("2001::/23", AddressKind.RESERVED),
    ("3fff::/20", AddressKind.DOCUMENTATION),
    ("2000::/3", AddressKind.PUBLIC),  # 2002::/16 (6to4) too: the embedded address decides
    ("fc00::/7", AddressKind.UNIQUE_LOCAL),
    ("fe80::/10", AddressKind.LINK_LOCAL),
    ("fec0::/10", AddressKind.SITE_LOCAL),
    ("ff00::/8", AddressKind.MULTICAST),
    ("::/0", AddressKind.RESERVED),
)

_LOW32 = 0xFFFF_FFFF
_MAPPED = 0xFFFF  # ::ffff:a.b.c.d, above the low 32 bits
_TRANSLATED = 0xFFFF_0000  # ::ffff:0:a.b.c.d
_NAT64 = 0x0064_FF9B << 64
_NAT64_LOCAL = 0x0064_FF9B_0001
_SIX_TO_FOUR = 0x2002
_TEREDO = 0x2001_0000
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})
_HIGHEST_V4_COMPATIBLE = 1 << 32


@lru_cache(4096)
def parse_address(text: str) -> Address | None:
    """Read an address literal; ``None`` for everything else, odd spellings and zones included.

    An IPv4-mapped IPv6 address is the IPv4 address, in another notation.
    """
    if "%" in text:
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and int(address) >> 32 == _MAPPED:
        return ipaddress.IPv4Address(int(address) & _LOW32)
    return address


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Read CIDR ranges and single addresses; what cannot be read names nothing."""
    networks = []
    for text in texts:
        try:
            networks.append(ipaddress.ip_network(text.strip().strip("[]"), strict=False))
        except ValueError:
            continue
    return tuple(networks)


def classify(address: Address) -> AddressKind:
    """Name the kind of *address* itself, without the addresses that it carries."""
    if address in _METADATA:
        return AddressKind.METADATA
    number = int(address)
    for first, last, kind in _V4 if address.version == 4 else _V6:  # noqa: PLR2004 - IP versions
        if first <= number <= last:
            return kind
    return AddressKind.RESERVED  # unreachable: both tables end with everything


def embedded(address: Address) -> tuple[ipaddress.IPv4Address, ...]:
    """Return the IPv4 addresses to which a packet for *address* may end up being sent."""
    if address.version == 4:  # noqa: PLR2004 - IP versions
        return ()
    n = int(address)
    low = n & _LOW32
    found: tuple[int, ...] = ()
    if n >> 32 in {_MAPPED, _TRANSLATED, _NAT64}:
        found = (low,)
    elif n >> 80 == _NAT64_LOCAL:  # RFC 6052 figure 1: the prefix may be 48, 56, 64 or 96 bits long
        p48 = (n >> 64 & 0xFFFF) << 16 | n >> 40 & 0xFFFF
        p56 = (n >> 64 & 0xFF) << 24 | n >> 32 & 0xFF_FFFF
        layouts = (p48, p56, n >> 24 & _LOW32, low)
        found = tuple(part for part in layouts if part >> 24) or (low,)  # the rest is the prefix's zeros
    elif n >> 112 == _SIX_TO_FOUR:
        found = (n >> 80 & _LOW32,)
    elif n >> 96 == _TEREDO:  # server, and the client's address inverted
        found = (n >> 64 & _LOW32, low ^ _LOW32)
    elif n >> 32 & _LOW32 in _ISATAP or 1 < n < _HIGHEST_V4_COMPATIBLE:
        found = (low,)
    return tuple(ipaddress.IPv4Address(part) for part in found)


def refusal(address: Address, named: tuple[Network, ...]) -> str:
    """Say why *address* may not be connected to; ``""`` when it may.

    Public unicast is free, *named* ranges are free, :data:`NEVER` is refused whatever is named.
    An address that carries others is judged by all of them.
    """
    for part in (address, *embedded(address)):
        kind = classify(part)
        if kind is AddressKind.PUBLIC:
            continue
        if kind in NEVER:
            return f"{_tell(address, part)} is a {kind} address"
        if not any(part in network for network in named):
            return f"{_tell(address, part)} is a {kind} address that the source does not name"
    return ""


def _tell(address: Address, part: Address) -> str:
    return str(address) if part is address else f"{address} (leads to {part})"
