"""Who sends: the peer of the socket, or what a configured proxy says of it (promise F8)."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ingather.feeds.trust import Address, Network, parse_peer

__all__ = ["Proxies", "shown_tokens"]

_FOR: Final = re.compile(r"for\s*=\s*(\"[^\"]*\"|[^;,\s]+)", re.IGNORECASE)
_WITH_PORT: Final = re.compile(r"(\[[^\]]+\]|[0-9.]+):[0-9]+")


@dataclass(frozen=True, slots=True)
class Proxies:
    """Networks whose ``X-Forwarded-For`` or ``Forwarded`` is believed; read from the right, never from the left."""

    networks: Sequence[Network] = ()

    def sender(self, peer: Address | None, fields: Mapping[str, str]) -> Address | None:
        """Return the address that counts, ``None`` if a proxy does not say whom it forwards."""
        if peer is None or not self._ours(peer):
            return peer
        hops = _hops(fields)
        for hop in reversed(hops):
            address = parse_peer(_WITH_PORT.sub(r"\1", hop))
            if address is None or not self._ours(address):
                return address
        return peer if not hops else parse_peer(_WITH_PORT.sub(r"\1", hops[0]))

    def _ours(self, address: Address) -> bool:
        return any(address.version == n.version and address in n for n in self.networks)


def _hops(fields: Mapping[str, str]) -> list[str]:
    listed = fields.get("x-forwarded-for")
    if listed is not None:
        return [hop.strip() for hop in listed.split(",")]
    return [hop.strip('"') for hop in _FOR.findall(fields.get("forwarded", ""))]


def shown_tokens(fields: Mapping[str, str]) -> list[str]:
    """Return the tokens that a request shows: a bearer token, or name and password of Basic credentials."""
    scheme, _, value = fields.get("authorization", "").partition(" ")
    value = value.strip()
    if scheme.lower() == "bearer" and value:
        return [value]
    if scheme.lower() == "basic":
        try:
            text = base64.b64decode(value, validate=True).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            return []
        return [part for part in text.split(":", 1)[::-1] if part]
    return []
