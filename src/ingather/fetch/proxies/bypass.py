"""Hosts that are asked directly: lists of names, domains, address ranges and ports."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ingather.fetch.addresses import Network, parse_address

__all__ = ["Bypass"]

_PORT: Final = re.compile(r"(.*):(\d{1,5})\Z")
_LOCAL: Final = "<local>"


@dataclass(frozen=True, slots=True)
class _Entry:
    text: str
    name: str = ""
    below: bool = False
    network: Network | None = None
    port: int = 0


class Bypass:
    """A list of hosts that need no proxy; immutable.

    An entry is a name (``intranet.example``), a domain with all below it (``.example``, ``*.example``), an address or a range of them
    (``10.0.0.0/8``; it fits addresses in URLs, names are not resolved for it), ``<local>`` (names without a dot) or ``*`` (everything); a port
    may follow (``intranet.example:8080``).

    Args:
        entries: of the list.
        suffixes: a name stands for all names below it, too, as in ``no_proxy``.
    """

    def __init__(self, entries: Iterable[str] = (), *, suffixes: bool = False) -> None:
        self._entries: tuple[_Entry, ...] = tuple(
            _read(text.strip(), suffixes=suffixes) for text in entries if text.strip()
        )

    def __add__(self, other: "Bypass") -> "Bypass":
        """Return a list with the entries of both."""
        both = Bypass()
        both._entries = self._entries + other._entries
        return both

    def fits(self, host: str, port: int) -> str:
        """Return the entry by which *host* (as URLs carry it) at *port* is asked directly, ``""`` if none does."""
        name = host.strip("[]").rstrip(".").lower()
        address = parse_address(name) if name[-1:].isdigit() or ":" in name else None
        for entry in self._entries:
            if entry.port and entry.port != port:
                continue
            if entry.network is not None:
                fits = address is not None and address in entry.network
            elif entry.name == _LOCAL:
                fits = address is None and "." not in name
            else:
                fits = entry.name in {"*", name} or (entry.below and name.endswith(f".{entry.name}"))
            if fits:
                return entry.text
        return ""


def _read(text: str, *, suffixes: bool) -> _Entry:
    rest, port = text.lower(), 0
    match = _PORT.match(rest)
    if match and (":" not in match[1] or match[1].endswith("]")):
        rest, port = match[1], int(match[2])
    bare = rest.strip("[]")
    try:
        return _Entry(text, network=ipaddress.ip_network(bare, strict=False), port=port)
    except ValueError:
        pass
    name = bare.removeprefix("*").removeprefix(".") if bare != "*" else bare
    return _Entry(text, name.rstrip("."), below=suffixes or bare != name, port=port)
