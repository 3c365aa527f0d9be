"""Proxies as settings and variables name them: one by its URL, several by the scheme of what is asked for, or a PAC file."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

from ingather.errors import UnitError

__all__ = [
    "KINDS",
    "SCHEMES",
    "SOCKS_PORT",
    "USUAL_PORTS",
    "Proxy",
    "Ways",
    "login_of",
    "names_pac",
    "read_proxy",
    "read_ways",
    "without_login",
]

KINDS: Final = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")
"""Schemes of proxies. All SOCKS proxies are given names, not addresses: they resolve them."""

SCHEMES: Final = ("http", "https", "ftp")
"""Schemes of URLs that go through proxies."""

USUAL_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}
SOCKS_PORT: Final = 1080
"""Ports of proxies that name none."""

_HOST: Final = re.compile(r"[A-Za-z0-9_.-]{1,253}\Z|[0-9A-Fa-f:.]{2,45}\Z")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_OF_SCHEME: Final = re.compile(r"([a-z]+)=(.*)\Z")
_PAC: Final = "pac:"
_EXAMPLE: Final = 'write it like "http://proxy.example:3128"'


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy: *kind* is one of :data:`KINDS`, *host* lower case, an IPv6 address without brackets."""

    kind: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.kind}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Ways:
    """What one setting names.

    Attributes:
        proxies: by the scheme of what is asked for; ``""`` = every other. ``None`` = directly.
        pac: location of a PAC file, URL or path, ``""`` = none.
    """

    proxies: Mapping[str, Proxy | None] = field(default_factory=dict)
    pac: str = ""

    def of(self, scheme: str) -> Proxy | None:
        """Return the proxy for URLs of *scheme*, ``None`` = directly."""
        return self.proxies[scheme] if scheme in self.proxies else self.proxies.get("")


def read_proxy(text: str) -> Proxy:
    """Read ``http://proxy.example:3128``; without a scheme it is an HTTP proxy. User, password and path are left out.

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
    if not _HOST.match(host) or port == 0:
        raise UnitError("this names no proxy", hint=_EXAMPLE)
    return Proxy(kind, host, port or USUAL_PORTS.get(kind, SOCKS_PORT))


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


def without_login(text: str) -> str:
    """Return the URL of a proxy without user and password."""
    scheme, separator, rest = text.strip().rpartition("//")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def names_pac(text: str) -> bool:
    """Whether the path of *text*, URL or path, ends as PAC files do."""
    return text.strip().lower().partition("#")[0].partition("?")[0].endswith((".pac", ".dat"))


def read_ways(words: Iterable[str]) -> Ways:
    """Read a list of proxies: ``"http://p:3128"`` for all, ``"https=http://p:3128"`` for one scheme, ``"direct"``, or one PAC file.

    A PAC file ends in ``.pac`` or ``.dat``, or has ``pac:`` before it: ``"pac:http://wpad.example/settings"``.

    Raises:
        UnitError: a word cannot be read, stands twice, or has a password in it.
    """
    found: dict[str, Proxy | None] = {}
    pac = ""
    for word in words:
        text = word.strip()
        if text.startswith(_PAC) or names_pac(text):
            if pac:
                raise UnitError("there can be one PAC file", hint="it can name several proxies itself")
            pac = _location(text.removeprefix(_PAC))
            continue
        match = _OF_SCHEME.match(text)
        scheme, text = (match[1], match[2].strip()) if match else ("", text)
        if scheme and scheme not in SCHEMES:
            raise UnitError(f"{scheme}: goes through no proxy", hint=f"there are: {', '.join(SCHEMES)}")
        if scheme in found:
            raise UnitError(f"two proxies for {scheme or 'everything'}", hint="a PAC file can name several")
        if login_of(text) is not None:
            raise UnitError(
                "a proxy's URL has no user and password here", hint="proxy-credentials names them"
            )
        found[scheme] = None if text.lower() == "direct" else read_proxy(text)
    if pac and found:
        raise UnitError("a PAC file says all by itself: no other proxy can stand beside it")
    return Ways(found, pac)


def _is_place(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _location(text: str) -> str:
    """Return a PAC file's location: a URL of http or https, or a whole path."""
    if text.lower().startswith("file:"):
        text = unquote(urlsplit(text).path)
    if text.startswith("/") and "\0" not in text:
        return text
    if (
        not text.lower().startswith(("http://", "https://"))
        or not _is_place(text)
        or login_of(text) is not None
    ):
        raise UnitError(
            "a PAC file is named by a URL of http or https, or by a whole path",
            hint='write it like "http://proxy.example/proxy.pac" or "/etc/proxy.pac"',
        )
    return text
