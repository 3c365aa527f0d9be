"""Canonical URLs taken apart: scheme, host and path, the key by which one is known, the name of its host.

All of it trusts that the URL is canonical (:mod:`ingather.model.url`), and costs a microsecond.
"""

import re
from typing import Final, NamedTuple

import xxhash

from ingather.errors import UrlError

__all__ = ["NO_DOCUMENTS", "PUSHED", "SCHEMES", "Parts", "host_key", "key", "path_prefix", "shown", "split"]

SCHEMES: Final = {"http": 80, "https": 443, "ftp": 21, "file": 0, "ftps": 990, "sftp": 22, "smb": 445}
"""Schemes that we gather, with the port that goes without saying."""
PUSHED: Final = re.compile(r"[a-z][a-z0-9+.\-]{0,62}\Z")
"""What a scheme of pushed documents may look like."""
NO_DOCUMENTS: Final = frozenset(
    {"about", "blob", "data", "gopher", "javascript", "mailto", "news", "tel", "urn", "vbscript"}
)
"""Schemes that name nothing that could be pushed to us."""
_SHARED_PORTS: Final = frozenset({80, 443, 21})


class Parts(NamedTuple):
    """A canonical URL taken apart.

    Attributes:
        scheme: ``http``, ``https``, ``ftp``, ``ftps``, ``sftp``, ``smb`` or ``file``; of what is pushed any.
        host: lower case, IPv6 in brackets, ``""`` for files.
        port: the effective port; 0 for files.
        origin: ``https://h:8443``, without the default port.
        path: path and query, starts with ``/``.
    """

    scheme: str
    host: str
    port: int
    origin: str
    path: str


def split(url: str) -> Parts:
    """Take a canonical URL apart; costs a microsecond, so it trusts its argument.

    Raises:
        UrlError: there is no ``scheme://`` of documents, or no path.
    """
    scheme, colon, rest = url.partition("://")
    slash = rest.find("/")
    if (
        not colon
        or (scheme not in SCHEMES and (scheme in NO_DOCUMENTS or not PUSHED.match(scheme)))
        or slash < 0
    ):
        raise UrlError(f"{shown(url)} is not a canonical URL")
    authority = rest[:slash]
    host, port = _host_and_port(scheme, authority)
    return Parts(scheme, host, port, f"{scheme}://{authority}", rest[slash:])


def key(url: str, seed: int = 0) -> int:
    """Return the signed 64-bit hash (xxh3) by which a canonical URL is known; *seed* is the installation's.

    Two different URLs may share a key (chance 3e-8 among a million): who stores keys compares the URL.
    """
    value = xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"), seed)
    return value - (1 << 64) if value >> 63 else value


def host_key(origin: str) -> str:
    """Return the name under which politeness is kept: ``h`` or ``h:8443``.

    All protocols of a host on their own ports are one host: ``https://h``, ``http://h`` and ``sftp://h`` give ``h``. The files
    of this machine are one host, too: ``file:``.
    """
    scheme, _, authority = origin.partition("://")
    host, port = _host_and_port(scheme, authority.partition("/")[0])
    if scheme == "file" and not host:
        return "file:"
    return host if port in _SHARED_PORTS or not port or port == SCHEMES.get(scheme) else f"{host}:{port}"


def path_prefix(path: str, segments: int = 2) -> str:
    """Return the first *segments* segments of *path* (query cut): ``/a/b/c?d`` gives ``/a/b``."""
    return "/".join(path.partition("?")[0].split("/", segments + 1)[: segments + 1]) or "/"


def _host_and_port(scheme: str, authority: str) -> tuple[str, int]:
    host, _, digits = authority.rpartition(":")
    if host and digits.isdecimal():
        return host.lower(), int(digits)
    return authority.lower(), SCHEMES.get(scheme, 0)


def shown(url: str) -> str:
    """Return *url* as messages name it: ASCII, and not too long."""
    return ascii(url if len(url) <= 200 else f"{url[:200]}...")  # noqa: PLR2004 - enough for a message
