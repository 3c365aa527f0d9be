"""Hosts that a command line named, and the addresses that this opens: those that are not public, for one run."""

import socket
from dataclasses import dataclass

from ingather.fetch.addresses import parse_address, parse_networks, refusal

__all__ = ["Resolved", "resolve"]


@dataclass(frozen=True)
class Resolved:
    """A host of the run with its addresses; those that are not public are opened for this run only.

    *closed*: why one of them is reached by no run, ``""`` = none is. *told*: of what is no host.
    """

    host: str
    addresses: tuple[str, ...]
    private: tuple[str, ...]
    trouble: str = ""
    told: str = ""
    closed: str = ""


def resolve(host: str, port: int) -> Resolved:
    """Ask the system where *host* is; a failure is told in the result."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        return Resolved(host, (), (), str(error))
    addresses = tuple(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))
    private: list[str] = []
    closed = ""
    for text in addresses:
        address = parse_address(text)
        if address is None or not refusal(address, ()):
            continue
        own = f"{text}/{address.max_prefixlen}"
        if why := refusal(address, parse_networks([own])):
            closed = closed or why
        else:
            private.append(own)
    return Resolved(host, addresses, tuple(private), closed=closed)
