"""A URL as patterns look at it: its head (scheme, host, port) taken apart once and remembered."""

from dataclasses import dataclass
from typing import Final

__all__ = ["Head", "head_of", "parted"]

_DEFAULT_PORTS: Final = {"http": 80, "https": 443, "ftp": 21, "smb": 445}


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before the path.

    Attributes:
        scheme, host: lower case.
        port: the effective one, 0 = unknown.
        clean: canonical text, ``http://h:8080``; the scheme's own port is not in it.
        bare: the same without any port.
    """

    scheme: str
    host: str
    port: int
    clean: str
    bare: str


def parted(url: str) -> tuple[str, str]:
    """Return (head, path and query) of *url*; its fragment is cut."""
    if "#" in url:
        url = url.partition("#")[0]
    at = url.find("://")
    slash = url.find("/", at + 3) if at >= 0 else -1
    if slash < 0:
        head, mark, query = url.partition("?")
        return head, f"/{mark}{query}"
    return url[:slash], url[slash:]


def head_of(text: str) -> Head:
    """Take apart what stands before the path."""
    scheme, _, authority = text.partition("://")
    scheme, authority = scheme.lower(), authority.rpartition("@")[2].lower()
    default = _DEFAULT_PORTS.get(scheme, 0)
    host, colon, digits = authority.rpartition(":")
    port = default
    if colon and digits.isdecimal():
        port = int(digits)
    else:
        host = authority
    bare = f"{scheme}://{host}"
    return Head(scheme, host, port, bare if port == default else f"{bare}:{port}", bare)
