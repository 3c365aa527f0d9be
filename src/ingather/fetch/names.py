"""What the name service says of a host beside its addresses: its canonical name, other names, and the names of its addresses.

For people who look at a host; the gate never goes by it.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ingather.fetch.addresses import parse_address

__all__ = ["HostNames", "look_up"]

_Told = tuple[tuple[str, ...], str, tuple[str, ...]]
"""Addresses, the name, other names."""

_MOST_REVERSE: Final = 8


@dataclass(frozen=True, slots=True)
class HostNames:
    """What a name stands for.

    Attributes:
        host: as it was asked for.
        addresses: all of them, in the system's order of preference.
        canonical: the name at the end of its aliases, ``""`` = not told, or the same.
        aliases: other names that were told on the way.
        reverse: (address, name) of the addresses that have a name; at most eight are asked for.
        trouble: why nothing is known, ``""`` = something is.
    """

    host: str
    addresses: tuple[str, ...] = ()
    canonical: str = ""
    aliases: tuple[str, ...] = ()
    reverse: tuple[tuple[str, str], ...] = ()
    trouble: str = ""


async def look_up(host: str, *, timeout_s: float = 10.0, reverse: bool = True) -> HostNames:
    """Ask the system's resolver about *host* (brackets of IPv6 may stand); never raises for what it says.

    Args:
        host: a name or an address.
        timeout_s: of each question.
        reverse: whether the addresses' names are asked for.
    """
    bare = host.strip("[]").rstrip(".").lower()
    found = await _asked(_forward, bare, timeout_s)
    if isinstance(found, str):
        return HostNames(host, trouble=found)
    addresses, canonical, aliases = found
    named: list[tuple[str, str]] = []
    for address in addresses[:_MOST_REVERSE] if reverse else ():
        name = await _asked(_reverse, address, timeout_s)
        if isinstance(name, tuple) and name[1]:
            named.append((address, name[1]))
    others = tuple(name for name in aliases if name != bare)
    return HostNames(host, addresses, "" if canonical == bare else canonical, others, tuple(named))


async def _asked(ask: Callable[[str], _Told], about: str, timeout_s: float) -> _Told | str:
    """Return the answer of *ask*, made in a thread, or why there is none."""
    try:
        return await asyncio.wait_for(asyncio.to_thread(ask, about), timeout_s)
    except TimeoutError:
        return f"no answer in {timeout_s:g} s"
    except UnicodeError:
        return "it is no name of a host"
    except OSError as error:
        return str(error.strerror or error)


def _forward(host: str) -> _Told:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_CANONNAME)
    addresses = tuple(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))
    canonical = next((entry[3].rstrip(".").lower() for entry in found if entry[3]), "")
    if parse_address(host) is not None:
        return addresses, "", ()
    return addresses, canonical, _aliases(host)


def _aliases(host: str) -> tuple[str, ...]:
    try:
        name, aliases, _ = socket.gethostbyname_ex(host)
    except (OSError, UnicodeError):
        return ()
    told: Sequence[str] = [other.rstrip(".").lower() for other in (*aliases, name)]
    return tuple(dict.fromkeys(other for other in told if other and parse_address(other) is None))


def _reverse(address: str) -> _Told:
    try:
        return (), socket.gethostbyaddr(address)[0].rstrip(".").lower(), ()
    except OSError:
        return (), "", ()
