"""Which addresses may push feeds, and which may be fetched from because feeds name them (GSA feeds specification, section 3).

Two rights: ``accept`` (feeds from there are taken; this machine always has it) and ``fetch`` (URLs that feeds list may be
fetched from there, though the address is private). The list is a text file, one address or network a line, with the rights
behind it; a line without any has both, as all had before there were two. ``#`` begins a comment. The file is read again when it
has changed, so a command that edits it acts at once. A line that cannot be read admits nobody.
"""

import ipaddress
import os
import threading
from collections.abc import Collection, Mapping
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Final

from ingather.errors import UsageError

__all__ = [
    "BOTH",
    "Address",
    "Network",
    "TrustList",
    "TrustRight",
    "parse_peer",
    "parse_trusted",
    "write_durably",
]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_HEADER: Final = (
    "# Addresses that feeds are accepted from, besides this machine, and that pushed URLs may be fetched from.\n"
    "# Edited by: ingather feed accept-from, fetch-from and trust. One address or network (10.1.0.0/16, 2001:db8::/32) a line,\n"
    "# then what it may: accept, fetch, or nothing for both.\n"
)


class TrustRight(StrEnum):
    """What an address may."""

    ACCEPT = "accept"
    FETCH = "fetch"


BOTH: Final = frozenset(TrustRight)
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
    """The networks in the file at *path* and of the settings, with their rights; safe to use from several threads.

    *settings*: networks that ``feeds.accept-from`` and ``feeds.fetch-from`` name, by right.
    """

    def __init__(self, path: Path, settings: Mapping[TrustRight, Collection[Network]] | None = None) -> None:
        self.path = path
        self._settings = {right: tuple((settings or {}).get(right, ())) for right in TrustRight}
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._networks: Mapping[TrustRight, tuple[Network, ...]] = {}

    def networks(self, right: TrustRight = TrustRight.ACCEPT) -> tuple[Network, ...]:
        """Return the networks that have *right* now; loopback is not among them."""
        try:
            found = self.path.stat()
        except OSError:
            return self._settings[right]  # no list, or none that can be read: nobody
        signature = (found.st_mtime_ns, found.st_size, found.st_ino)
        with self._lock:
            if signature != self._seen:
                rights = self.rights()
                self._networks = {
                    one: tuple(network for network, has in rights.items() if one in has) for one in TrustRight
                }
                self._seen = signature
            return tuple(dict.fromkeys(self._networks[right] + self._settings[right]))

    def trusts(self, address: Address | None) -> bool:
        """Whether *address* may push."""
        if address is None:
            return False
        return address.is_loopback or any(
            address.version == network.version and address in network for network in self.networks()
        )

    def add(self, text: str, rights: Collection[TrustRight] = BOTH) -> bool:
        """Give an address or network *rights*; return whether any is new.

        Raises:
            UsageError: *text* is none.
            OSError: the file cannot be written.
        """
        return self._edit(text, give=rights)

    def remove(self, text: str, rights: Collection[TrustRight] = BOTH) -> bool:
        """Take *rights* from it; return whether it had any of them by a line of its own.

        Raises:
            UsageError: *text* is none.
            OSError: the file cannot be written.
        """
        return self._edit(text, take=rights)

    def rights(self) -> dict[Network, frozenset[TrustRight]]:
        """Return the rights of each network of the file."""
        found: dict[Network, frozenset[TrustRight]] = {}
        try:
            lines = self.path.read_text("utf-8", "replace").splitlines()
        except OSError:
            return found
        for line in lines:
            word, *rights = line.partition("#")[0].split() or [""]
            try:
                given = frozenset(map(TrustRight, rights)) or BOTH
                for network in parse_trusted(word) if word else ():
                    found[network] = found.get(network, frozenset()) | given
            except (UsageError, ValueError):
                continue
        return found

    def _edit(
        self, text: str, *, give: Collection[TrustRight] = (), take: Collection[TrustRight] = ()
    ) -> bool:
        old = self.rights()
        now = dict(old)
        for network in parse_trusted(text):
            has = (now.get(network, frozenset()) | frozenset(give)) - frozenset(take)
            if has:
                now[network] = has
            else:
                now.pop(network, None)
        if now == old:
            return False
        lines = (f"{network}{'' if has == BOTH else f' {min(has)}'}" for network, has in now.items())
        write_durably(self.path, _HEADER + "".join(f"{line}\n" for line in lines))
        return True


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
