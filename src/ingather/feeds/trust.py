"""Who may push feeds: this machine, and the addresses that the operator has named (GSA feeds specification, section 3).

The list is a text file, one address or network a line, ``#`` begins a comment. It is read again when it has
changed, so a command that edits it acts at once. A line that cannot be read admits nobody.
"""

import ipaddress
import os
import threading
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final

from ingather.errors import UsageError

__all__ = ["Address", "Network", "TrustList", "parse_peer", "parse_trusted", "write_durably"]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_HEADER: Final = (
    "# Senders whose feeds are taken, besides this machine. Edited by: ingather feed trust\n"
    "# One address or network (10.1.0.0/16, 2001:db8::/32) a line.\n"
)
_EVERYBODY: Final = (ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0"))


def parse_trusted(text: str) -> tuple[Network, ...]:
    """Return the network that *text* names; ``all`` is everybody.

    Raises:
        UsageError: it is no address and no network.
    """
    word = text.strip().strip("[]")
    if word.lower() == "all":
        return _EVERYBODY
    try:
        network = ipaddress.ip_network(word, strict=False)
    except ValueError:
        raise UsageError(
            f"{text!r} is no address and no network",
            hint="write 10.1.2.3, 10.1.0.0/16, 2001:db8::7 or 2001:db8::/32",
        ) from None
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped is not None and network.prefixlen >= 96:  # noqa: PLR2004 - the mapped form's own prefix
        network = ipaddress.ip_network(f"{mapped}/{network.prefixlen - 96}", strict=False)
    return (network,)


@lru_cache(maxsize=256)
def parse_peer(text: str) -> Address | None:
    """Return the address of a peer (zone cut off, IPv4 in IPv6 unwrapped), ``None`` if it is none."""
    try:
        address = ipaddress.ip_address(text.strip().strip("[]").partition("%")[0])
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped if mapped is not None else address


class TrustList:
    """The trusted networks in the file at *path*; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._networks: tuple[Network, ...] = ()

    def networks(self) -> tuple[Network, ...]:
        """Return the networks of the file as it is now; loopback is not among them."""
        try:
            found = self.path.stat()
        except OSError:
            return ()  # no list, or none that can be read: nobody
        signature = (found.st_mtime_ns, found.st_size, found.st_ino)
        with self._lock:
            if signature != self._seen:
                self._networks = tuple(self._read())
                self._seen = signature
            return self._networks

    def trusts(self, address: Address | None) -> bool:
        """Whether *address* may push."""
        if address is None:
            return False
        return address.is_loopback or any(
            address.version == network.version and address in network for network in self.networks()
        )

    def add(self, text: str) -> bool:
        """Trust an address or network; return whether that is new.

        Raises:
            UsageError: *text* is none.
            OSError: the file cannot be written.
        """
        return self._edit(add=parse_trusted(text))

    def remove(self, text: str) -> bool:
        """Trust it no longer; return whether it was on the list.

        Raises:
            UsageError: *text* is none.
            OSError: the file cannot be written.
        """
        return self._edit(remove=parse_trusted(text))

    def _edit(self, *, add: Iterable[Network] = (), remove: Iterable[Network] = ()) -> bool:
        old = list(self._read()) if self.path.exists() else []
        kept = [network for network in old if network not in set(remove)]
        kept += [network for network in add if network not in kept]
        if kept == old:
            return False
        write_durably(self.path, _HEADER + "".join(f"{network}\n" for network in kept))
        return True

    def _read(self) -> Iterable[Network]:
        try:
            lines = self.path.read_text("utf-8", "replace").splitlines()
        except OSError:
            return
        for line in lines:
            word = line.partition("#")[0].strip()
            if word:
                try:
                    yield from parse_trusted(word)
                except UsageError:
                    continue


def write_durably(path: Path, text: str) -> None:
    """Replace the file at *path* whole, readable by its owner only.

    Raises:
        OSError: it cannot be written; the old one stays.
    """
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(fd)
    new.replace(path)
