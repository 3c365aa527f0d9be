"""A small company's directory as Active Directory would tell it, and how tests reach it."""

import ssl
import struct
import time
from functools import cache
from pathlib import Path
from typing import Any

from ingather.app.access.directory.people import Directory, DirectoryConf
from ingather.app.access.directory.wire import Server, Talk
from ingather.testing.directory import ScriptedDirectory

__all__ = [
    "BASE",
    "ENTRIES",
    "GROUPS",
    "JOE",
    "READER",
    "READERS",
    "RIGHT",
    "conf_of",
    "directory_at",
    "dn",
    "group",
    "talk",
]

BASE = "dc=corp,dc=example"
READER = f"cn=reader,{BASE}"
READERS = "reader-secret"
JOE = f"cn=Joe (a*b)\\\\,people,{BASE}"
RIGHT = "joe's password"


def sid(rid: int) -> bytes:
    """Return a security identifier."""
    return b"\x01\x05\0\0\0\0\0\x05" + struct.pack("<5I", 21, 1, 2, 3, rid)


def group(name: str, *members: str, rid: int = 0) -> dict[str, list[str | bytes]]:
    """Return a group's attributes."""
    held: dict[str, list[str | bytes]] = {"objectClass": ["group"], "sAMAccountName": [name]}
    if members:
        held["member"] = list(members)
    if rid:
        held["objectSid"] = [sid(rid)]
    return held


def dn(name: str) -> str:
    """Return a group's DN."""
    return f"cn={name},ou=groups,{BASE}"


ENTRIES: dict[str, dict[str, list[str | bytes]]] = {
    BASE: {"objectClass": ["domain"]},
    READER: {"objectClass": ["person"], "cn": ["reader"], "userPassword": [READERS]},
    JOE: {
        "objectClass": ["user"], "sAMAccountName": ["Joe"], "userPassword": [RIGHT], "userAccountControl": ["512"],
        "objectSid": [sid(1104)], "primaryGroupID": ["513"], "memberOf": [dn("eng")],
    },
    f"cn=gone,{BASE}": {"objectClass": ["user"], "sAMAccountName": ["gone"], "userAccountControl": ["514"], "userPassword": ["x"]},
    f"cn=star,{BASE}": {"objectClass": ["user"], "sAMAccountName": ["a*"]},
    f"cn=twin1,{BASE}": {"objectClass": ["user"], "sAMAccountName": ["twin"]},
    f"cn=twin2,{BASE}": {"objectClass": ["user"], "uid": ["twin"]},
    dn("eng"): {**group("eng", JOE), "memberOf": [dn("staff")]},
    dn("staff"): {**group("staff", dn("eng"), dn("all")), "memberOf": [dn("all")]},
    dn("all"): {**group("all", dn("staff")), "memberOf": [dn("staff")]},
    dn("Domain Users"): group("Domain Users", rid=513),
    dn("everyone"): group("everyone", dn("Domain Users")),
    dn("others"): group("others"),
}  # fmt: skip
ENTRIES[dn("Domain Users")]["memberOf"] = [dn("everyone")]
GROUPS = {"eng", "staff", "all", "Domain Users", "everyone"}


def talk(
    *, trusted: Path | None = None, start_tls: bool = False, timeout_s: float = 20.0, page: int = 2
) -> Talk:
    """Return how servers are spoken to; pages are small."""
    return Talk(_context(trusted), start_tls, timeout_s, page, time.monotonic)


def conf_of(*ports: int, host: str = "127.0.0.1", ldaps: bool = False, **more: Any) -> DirectoryConf:
    """Return a configuration with servers at these ports."""
    servers = tuple(Server(host, port, ldaps) for port in ports)
    return DirectoryConf(servers, BASE, READER, READERS, **more)


def directory_at(server: ScriptedDirectory, **more: Any) -> Directory:
    """Return the directory that *server* is."""
    return Directory(conf_of(server.port, **more), talk())


@cache
def _context(trusted: Path | None) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=None if trusted is None else str(trusted))
