"""Who calls us by which name, and whose page asks: what every listener refuses before it looks at anything else.

A page of a stranger in a browser on a trusted machine can send requests to our ports. Two things give it away, and
no page can change either: ``Host`` is the name in the address that the browser called, and ``Origin`` (Fetch
standard, section 3.2) and ``Sec-Fetch-Site`` (W3C Fetch Metadata) say whose page asked.

**Host.** A stranger who lets a name of his own point to our address (DNS rebinding) has his pages count as ours in
the browser, but not that name in ``Host``. So only names of this machine are answered. An IP literal is always
answered: there is no name in such an address that could point elsewhere, and a page that was loaded from it came
from us. No ``Host`` at all is answered too: HTTP/1.0 has none, and every browser sends one.

**Origin.** What changes something must come from a page of this very address, or from no page: programs send neither
header. ``null`` (a file, a frame in a sandbox) is nobody's page, so it is not ours.

A token makes no exception. Credentials of a trusted address and of the Basic scheme go along with whatever page asks, and a
bearer token does not come from a foreign page: no answer of ours ever allows one to send it (no CORS).
"""

import ipaddress
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from ingather import log
from ingather.web.failures import WebError

__all__ = ["OwnHosts", "require_own_page"]

_SETTING: Final = "listen.names"
_HOST: Final = re.compile(r"(?:\[([^\[\]]*)\]|([^:\[\]]+))(?::([0-9]{1,5}))?")
_NAME: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_LONGEST: Final = 253
_KEPT: Final = 1024
_TOLD: Final = 64
_PORTS: Final = {"http": "80", "https": "443"}
_OWN_SITES: Final = frozenset({"same-origin", "none"})
_SAFE: Final = frozenset({"GET", "HEAD"})

_log = log.get("web")


class OwnHosts:
    """The names by which this machine may be called, beside ``localhost`` and every IP literal.

    One object serves all listeners; any thread may ask and add.

    Args:
        names: in lower case, ASCII, without a dot at the end.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = frozenset({"localhost", *names})
        self._known: set[str] = set()
        self._told: set[str] = set()

    @property
    def names(self) -> frozenset[str]:
        """The names, in lower case, without a dot at the end."""
        return self._names

    def add(self, names: Iterable[str]) -> None:
        """Learn further names of this machine."""
        self._names |= frozenset(names)

    def require(self, host: str | None) -> None:
        """Refuse a request whose ``Host`` is *host* if that is no name of ours; ``None`` = it has none.

        Raises:
            WebError: 421 ``unknown-host``; the text names the setting.
        """
        if host is None or host in self._known:
            return
        if not self._owns(host):
            self._refuse(host)
        if len(self._known) < _KEPT:  # so that most requests cost one look
            self._known.add(host)

    def _owns(self, host: str) -> bool:
        text = host.strip()
        match = _HOST.fullmatch(text)
        if match is None:
            return _is_address(text)  # IPv6 without brackets, from old clients
        literal, name, _ = match.groups()
        if name is None:
            return _is_address(literal)
        return name.lower().removesuffix(".") in self._names or _is_address(name)

    def _refuse(self, host: str) -> None:
        match = _HOST.fullmatch(host.strip())
        shown = (match[2] or "" if match else "")[:_LONGEST].lower()
        name = shown.removesuffix(".") if _NAME.fullmatch(shown.removesuffix(".")) else ""
        wanted = name or "NAME"
        hint = (
            f'If this machine is meant by it, set {_SETTING} = ["{wanted}"] in ingather.toml and start anew.'
        )
        if (name or host) not in self._told and len(self._told) < _TOLD:
            self._told.add(name or host)
            _log.warning("called by a name that is not ours", host=host[:_LONGEST], hint=hint)
        called = f"the host name {name!r}" if name else "that host name"
        raise WebError(421, "unknown-host", f"This server does not answer to {called}.", hint=hint)


def require_own_page(
    method: str, host: str | None, origin: str | None, site: str | None, *, secure: bool = False
) -> None:
    """Refuse a request that changes something and that a page of somebody else sent.

    Args:
        method: of the request; GET and HEAD change nothing and may come from everywhere.
        host: the field ``Host``.
        origin: the field ``Origin``, ``None`` = none; given twice it is joined by commas.
        site: the field ``Sec-Fetch-Site``, likewise.
        secure: the connection to us is TLS. Without it the browser may speak TLS all the same, to a proxy before us; that a page
            came without it is then told by Sec-Fetch-Site, which browsers send over TLS.

    Raises:
        WebError: 403 ``cross-site``.
    """
    if (origin is None and site is None) or method in _SAFE:
        return
    if (origin is None or _same_origin(origin, host, secure=secure)) and (
        site is None or site.strip().lower() in _OWN_SITES
    ):
        return
    raise WebError(
        403,
        "cross-site",
        "This change was not asked for by a page of this server.",
        hint="Open the page of this server itself and try there; a program sends neither Origin nor Sec-Fetch-Site.",
    )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("%")[0])  # a zone is the caller's own business
    except ValueError:
        return False
    return True


def _same_origin(origin: str, host: str | None, *, secure: bool) -> bool:
    try:
        parts = urlsplit(origin.strip())
    except ValueError:
        return False
    port = _PORTS.get(parts.scheme)
    if host is None or port is None or (secure and parts.scheme != "https"):
        return False
    theirs, ours = _place(parts.netloc, port), _place(host.strip(), port)
    return theirs == ours and theirs is not None


def _place(netloc: str, port: str) -> tuple[str, str] | None:
    match = _HOST.fullmatch(netloc.lower())
    return None if match is None else (match[1] or match[2], match[3] or port)
