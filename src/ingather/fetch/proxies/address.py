"""What a PAC file answers: ``PROXY host:port; SOCKS5 host:port; DIRECT``."""

import re
from typing import Final

from ingather.errors import UnitError
from ingather.model.proxies import SOCKS_PORT, USUAL_PORTS, Proxy

__all__ = ["read_answer"]

_KINDS: Final = {
    "proxy": "http", "http": "http", "https": "https", "socks": "socks5h", "socks4": "socks4a", "socks5": "socks5h",
}  # fmt: skip
_WAY: Final = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.-]{1,253})(?::([0-9]{1,5}))?\Z")
_MOST_WAYS: Final = 32
_LAST_PORT: Final = 65535


def read_answer(text: str) -> tuple[Proxy | None, ...]:
    """Read what ``FindProxyForURL`` answered, in its order; ``None`` stands for DIRECT.

    The words may be in any case, a port that is missing is the usual one. A way that cannot be read is left out, as browsers do; an
    empty answer is DIRECT.

    Raises:
        UnitError: it says something, and nothing of it can be used.
    """
    found: list[Proxy | None] = []
    pieces = [piece.split() for piece in text.split(";") if piece.strip()]
    for piece in pieces[:_MOST_WAYS]:
        direct = [word.upper() for word in piece] == ["DIRECT"]
        way = None if direct else _way(piece)
        if (direct or way is not None) and way not in found:
            found.append(way)
    if pieces and not found:
        raise UnitError(f"nothing of {text[:100]!r} names a proxy")
    return tuple(found) or (None,)


def _way(piece: list[str]) -> Proxy | None:
    kind = _KINDS.get(piece[0].lower())
    match = _WAY.match(piece[1]) if kind and len(piece) == 2 else None  # noqa: PLR2004 - a word and a place
    if kind is None or match is None:
        return None
    port = int(match[2]) if match[2] else USUAL_PORTS.get(kind, SOCKS_PORT)
    if not 0 < port <= _LAST_PORT:
        return None
    return Proxy(kind, match[1].strip("[]").lower().rstrip("."), port)
