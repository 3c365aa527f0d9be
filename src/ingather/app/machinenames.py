"""The names of this machine: what the system, the network and the settings call it."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

from ingather.conf.settings.hostnames import host_name
from ingather.conf.settings.values import Settings
from ingather.errors import UnitError
from ingather.web import OwnHosts

__all__ = ["own_hosts"]


def own_hosts(settings: Settings) -> OwnHosts:
    """Return the names by which the listeners may be called.

    What only the network knows (the name with its domain) is asked for beside: a name server that does not answer
    must not hold the start up.
    """
    named = socket.gethostname()
    own = OwnHosts([*_names(*settings.words("listen.names"), *_in_settings(settings)), *_of_machine(named)])
    threading.Thread(target=_ask, args=(own, named), name="own-names", daemon=True).start()
    return own


def _in_settings(settings: Settings) -> Iterator[str]:
    """Yield the hosts of settings that say where we listen and how browsers reach us."""
    for name in ("listen.search", "listen.admin"):
        yield settings.address(name)[0]
    yield settings.text("feeds.listen")
    with contextlib.suppress(ValueError):
        yield urlsplit(settings.text("access.oidc-return").strip()).hostname or ""


def _of_machine(named: str) -> Iterator[str]:
    """Yield a name of the machine, its first label, and that as multicast DNS has it (RFC 6762)."""
    for name in _names(named):
        first = name.partition(".")[0]
        yield from (name, first)
        if first != "localhost":
            yield f"{first}.local"


def _ask(own: OwnHosts, named: str) -> None:
    with contextlib.suppress(OSError, UnicodeError):
        name, aliases, _ = socket.gethostbyaddr(named)
        own.add(name for one in (name, *aliases) for name in _of_machine(one))


def _names(*texts: str) -> Iterator[str]:
    for text in texts:
        with contextlib.suppress(UnitError):  # an address, or "*"
            yield host_name(text)
