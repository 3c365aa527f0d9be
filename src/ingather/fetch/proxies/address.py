"""Proxies as they are named: URLs in settings and variables, ``PROXY host:port`` in the answer of a PAC file."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from ingather.errors import UnitError

__all__ = ["DIRECT", "KINDS", "Proxy", "login_of", "read_answer", "read_proxy"]

KINDS: Final = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")
"""Schemes of proxies. All SOCKS proxies are given names, not addresses: they resolve them."""

DIRECT: Final = "DIRECT"
_PORTS: Final = {"http": 80, "https": 443}
_SOCKS_PORT: Final = 1080
_PAC_KINDS: Final = {
    "proxy": "http", "http": "http", "https": "https", "socks": "socks5h", "socks4": "socks4a", "socks5": "socks5h",
}  # fmt: skip
_HOST: Final = re.compile(r"[A-Za-z0-9_.-]{1,253}\Z|[0-9A-Fa-f:.]{2,45}\Z")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_MOST_WAYS: Final = 32
_LAST_PORT: Final = 65535


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy: *kind* is one of :data:`KINDS`, *host* lower case, an IPv6 address without brackets."""

    kind: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.kind}://{host}:{self.port}"


def read_proxy(text: str, *, usual_port: bool = True) -> Proxy:
    """Read ``http://proxy.example:3128``; without a scheme it is an HTTP proxy. User and password are left out.

    Args:
        text: the URL; what stands behind host and port is no part of it.
        usual_port: a missing port is the usual one of its kind: 80, 443, 1080.

    Raises:
        UnitError: it names no proxy.
    """
    written = text.strip()
    try:
        parts = urlsplit(written if _SCHEME.match(written) else f"http://{written}")
        host, port = (parts.hostname or "").lower().rstrip("."), parts.port
    except ValueError:
        raise UnitError("this names no proxy", hint=_EXAMPLE) from None
    kind = "socks5h" if parts.scheme == "socks" else parts.scheme
    if kind not in KINDS:
        raise UnitError(f"{kind}: is no kind of proxy", hint=f"there are: {', '.join(KINDS)}")
    if not _HOST.match(host) or (port is None and not usual_port) or port == 0:
        raise UnitError("this names no proxy", hint=_EXAMPLE)
    return Proxy(kind, host, port or _PORTS.get(kind, _SOCKS_PORT))


_EXAMPLE: Final = 'write it like "http://proxy.example:3128"'


def login_of(text: str) -> tuple[str, str] | None:
    """Return user and password that stand in the URL of a proxy, ``None`` if there are none."""
    written = text.strip()
    try:
        parts = urlsplit(written if _SCHEME.match(written) else f"http://{written}")
    except ValueError:
        return None
    if parts.username is None:
        return None
    return unquote(parts.username), unquote(parts.password or "")


def read_answer(text: str) -> tuple[Proxy | None, ...]:
    """Read what ``FindProxyForURL`` answered; ``None`` stands for DIRECT.

    Words are told apart by nothing but letters, whatever their case. What cannot be read is left out, as browsers do; an empty answer is
    DIRECT.

    Raises:
        UnitError: it says something, and nothing of it can be used.
    """
    found: list[Proxy | None] = []
    pieces = [piece.strip() for piece in text.split(";") if piece.strip()]
    for piece in pieces[:_MOST_WAYS]:
        word, _, rest = piece.partition(" ")
        way: Proxy | None = None
        if word.upper() != DIRECT or rest.strip():
            way = _way(word.lower(), rest.strip())
            if way is None:
                continue
        if way not in found:
            found.append(way)
    if pieces and not found:
        raise UnitError(f"nothing of {text[:100]!r} names a proxy")
    return tuple(found) or (None,)


def _way(word: str, rest: str) -> Proxy | None:
    kind = _PAC_KINDS.get(word)
    host, colon, port = rest.rpartition(":")
    if host.endswith("]") or "]" not in rest:  # [::1]:3128, or a name with a port
        host = host.strip("[]")
    if kind is None:
        return None
    if not colon or not port.isascii() or not port.isdigit():  # a port that is missing is the usual one
        host, port = rest.strip("[]"), str(_PORTS.get(kind, _SOCKS_PORT))
    if not _HOST.match(host) or not 0 < int(port[:6]) <= _LAST_PORT:
        return None
    return Proxy(kind, host.lower().rstrip("."), int(port))
