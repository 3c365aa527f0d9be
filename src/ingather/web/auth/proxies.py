"""Proxies that are believed: who searches, where from, and whether over TLS.

Only the address of the socket decides whether a header counts; from anybody else it is as if it were not there.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request

from ingather.web.failures import WebError
from ingather.web.fields import peer

__all__ = ["Network", "Proxies"]

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_HOPS = 32


@dataclass(frozen=True, slots=True)
class Proxies:
    """The addresses that are believed, and the headers in which they speak; ``""`` = they say nothing of it.

    ``groups_header`` is a list with commas. Without networks nobody is believed.
    """

    networks: tuple[Network, ...] = ()
    user_header: str = ""
    groups_header: str = ""

    def believes(self, request: Request) -> bool:
        """Whether the other end of this socket is one of ours."""
        return self._ours(peer(request))

    def user(self, request: Request) -> str:
        """Return whom the proxy says this is, ``""`` = it does not say.

        Raises:
            WebError: 400, it says it twice or not in UTF-8.
        """
        if not self.user_header or not self.believes(request):
            return ""
        return _text(request, self.user_header).strip()

    def groups(self, request: Request) -> Sequence[str]:
        """Return the groups that the proxy names.

        Raises:
            WebError: 400, as for :meth:`user`.
        """
        if not self.groups_header or not self.believes(request):
            return ()
        return [name for part in _text(request, self.groups_header).split(",") if (name := part.strip())]

    def client(self, request: Request) -> str:
        """Return the address of whoever asks: behind our proxies the last one that none of them vouches away."""
        address = peer(request)
        if not self._ours(address):
            return address
        chain = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
        for hop in reversed(chain[-_HOPS:]):
            stripped = hop.strip()
            if _address(stripped) is None:
                break
            address = stripped
            if not self._ours(address):
                break
        return address

    def secure(self, request: Request) -> bool:
        """Whether the browser speaks TLS, to us or to a proxy of ours."""
        if request.url.scheme == "https":
            return True
        return self.believes(request) and request.headers.get("x-forwarded-proto", "").strip() == "https"

    def _ours(self, text: str) -> bool:
        address = _address(text)
        return address is not None and any(
            address.version == network.version and address in network for network in self.networks
        )


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def _text(request: Request, name: str) -> str:
    values = request.headers.getlist(name)
    if not values:
        return ""
    try:
        if len(values) == 1:
            return values[0].encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        pass
    raise WebError(
        400,
        "bad-proxy-header",
        f"The header {name} of the proxy cannot be read.",
        hint="Send it once, in UTF-8.",
    )
