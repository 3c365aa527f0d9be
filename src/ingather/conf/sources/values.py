"""What may stand in the lists of a source: hosts, address ranges, ports, readers. Each function reads one entry, or raises UnitError."""

import ipaddress
import re

from ingather.errors import UnitError

__all__ = ["address_range", "host", "own_host", "port", "reader"]

_HOST = re.compile(r"(?:\*|\.?[^\s/:@*\[\]]+|\[?[0-9a-fA-F:.]+\]?)\Z")
_OWN = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^\s/:@*\[\]]+)(?::(?P<port>\d{1,5}))?\Z")
_READER = re.compile(r"(?:user|group):[^\s*;\"\x00-\x1f](?:[^*;\"\x00-\x1f]*[^\s*;\"\x00-\x1f])?\Z")
_LAST_PORT = 65535


def host(text: str) -> str:
    """Read a host: a name, ``.example`` with all subdomains, or ``*``; as URLs carry it."""
    if not _HOST.match(text):
        raise UnitError(
            f"{text!r} is not a host",
            hint='write "intranet.example", ".example" or "*", without scheme and port',
        )
    return _ascii(text.strip("[]"))


def reader(text: str) -> str:
    """Read who may see a document: ``user:NAME`` or ``group:NAME``."""
    if not _READER.match(text):
        raise UnitError(f"{text!r} names no reader", hint='write "user:NAME" or "group:NAME"')
    return text


def own_host(text: str) -> str:
    """Read a host of ours: ``host`` or ``host:port``."""
    match = _OWN.match(text)
    if not match or (match["port"] and not 0 < int(match["port"]) <= _LAST_PORT):
        raise UnitError(f"{text!r} is not a host", hint='write "intranet.example" or "localhost:8000"')
    name = _ascii(match["host"])
    return f"{name}:{int(match['port'])}" if match["port"] else name


def _ascii(host: str) -> str:
    """Return *host* as URLs carry it: lower case, A-labels, no dot at the end."""
    bare = host.lower().rstrip(".")
    if bare.isascii():
        return bare
    try:
        dot = "." if bare.startswith(".") else ""
        return dot + bare.lstrip(".").encode("idna").decode("ascii")
    except UnicodeError as error:
        raise UnitError(f"{host!r} is not a host name") from error


def address_range(text: str) -> str:
    """Read a range of addresses in CIDR form, or one address."""
    try:
        return str(ipaddress.ip_network(text.strip().strip("[]"), strict=False))
    except ValueError as error:
        raise UnitError(
            f"{text!r} is not an address range", hint='write it like "10.0.0.0/8" or "192.168.1.7"'
        ) from error


def port(text: str) -> int:
    """Read a port number."""
    if not text.isdecimal() or not 0 < int(text) <= _LAST_PORT:
        raise UnitError(f"{text!r} is not a port", hint="1 to 65535")
    return int(text)
