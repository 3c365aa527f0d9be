"""This machine's addresses, as a PAC file's ``myIpAddress`` tells them."""

import contextlib
import socket
from typing import Final

__all__ = ["own_addresses"]

_SOMEWHERE: Final = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses of documentation: the kernel chooses the route to them, and nothing is sent."""


def own_addresses() -> tuple[str, ...]:
    """Return the addresses from which this machine reaches others, IPv4 before IPv6; loopback's where there are none."""
    found: list[str] = []
    for family, far in _SOMEWHERE:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((far, 9))
            found.append(str(probe.getsockname()[0]))
    return tuple(found) or ("127.0.0.1",)
