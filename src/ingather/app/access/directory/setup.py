"""From the settings to a directory."""

import ssl
from typing import Any, cast
from urllib.parse import urlsplit

from ingather.app.access.directory.filters import parse_filter
from ingather.app.access.directory.known import KnownPeople
from ingather.app.access.directory.people import Directory, DirectoryConf
from ingather.app.access.directory.wire import Server, Talk
from ingather.app.home import Home
from ingather.app.secrets import secret_of
from ingather.conf.settings.values import Settings
from ingather.errors import UsageError
from ingather.model.acl import DEFAULT_NAMESPACE
from ingather.ports.clock import Clock

__all__ = ["directory_of", "people_of"]

_PORTS = {"ldap": 389, "ldaps": 636}
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def people_of(home: Home, settings: Settings, clock: Clock) -> KnownPeople | None:
    """Return the people of the directory that the settings name, if they name one.

    Raises:
        UsageError: a setting is wrong, or a file cannot be read.
    """
    directory = directory_of(home, settings, clock)
    if directory is None:
        return None
    return KnownPeople(
        directory,
        clock,
        fresh_s=settings.seconds("directory.fresh"),
        last_s=settings.seconds("directory.last-known"),
    )


def directory_of(home: Home, settings: Settings, clock: Clock) -> Directory | None:
    """Return the directory that the settings name, if they name one.

    Raises:
        UsageError: a setting is wrong, or a file cannot be read.
    """
    servers = tuple(_server(text) for text in settings.words("directory.servers"))
    if not servers:
        return None
    start_tls = settings.flag("directory.start-tls")
    for server in servers:
        if not (server.tls or start_tls or server.host in _LOOPBACK):
            raise UsageError(
                f"directory.servers: {server} would carry passwords in clear",
                hint="write ldaps://, or let directory.start-tls be true",
            )
    base = settings.text("directory.base").strip()
    if not base:
        raise UsageError("directory.servers wants directory.base", hint='write it like "dc=corp,dc=example"')
    names = settings.words("directory.user-names")
    group_names = settings.words("directory.group-names")
    if not names or not group_names:
        raise UsageError("directory.user-names and directory.group-names name at least one attribute")
    bind_dn, file = settings.text("directory.bind-dn").strip(), settings.text("directory.bind-password-file")
    if bool(bind_dn) != bool(file):
        raise UsageError("directory.bind-dn and directory.bind-password-file go together")
    conf = DirectoryConf(
        servers=servers,
        base=base,
        bind_dn=bind_dn,
        bind_password=secret_of(home.path, file, "directory.bind-password-file") if file else "",
        group_base=settings.text("directory.group-base").strip(),
        user_names=tuple(names),
        user_filter=_filter(settings, "directory.user-filter"),
        group_names=tuple(group_names),
        group_filter=_filter(settings, "directory.group-filter"),
        groups=cast("Any", settings.text("directory.groups")),
        domain=settings.text("directory.domain").strip(),
        namespace=settings.text("directory.namespace").strip() or DEFAULT_NAMESPACE,
        login=settings.flag("directory.login"),
    )
    talk = Talk(
        tls=_tls(home, settings),
        start_tls=start_tls,
        timeout_s=settings.seconds("directory.timeout"),
        page=settings.count("directory.page"),
        monotonic=clock.monotonic,
    )
    return Directory(conf, talk)


def _server(text: str) -> Server:
    parts = urlsplit(text.strip())
    try:
        port = parts.port
    except ValueError:
        port = -1
    bare = not (parts.path.strip("/") or parts.query or parts.fragment or parts.username)
    if parts.scheme not in _PORTS or not parts.hostname or port == -1 or not bare:
        raise UsageError(
            f"directory.servers: {text!r} is no server", hint='write it like "ldaps://dc1.corp.example"'
        )
    return Server(parts.hostname, port or _PORTS[parts.scheme], parts.scheme == "ldaps")


def _filter(settings: Settings, key: str) -> bytes | None:
    text = settings.text(key).strip()
    if not text:
        return None
    try:
        return parse_filter(text)
    except UsageError as error:
        raise UsageError(f"{key}: {error.text}", hint=error.hint) from error


def _tls(home: Home, settings: Settings) -> ssl.SSLContext:
    file = settings.text("directory.ca-file").strip()
    try:
        return ssl.create_default_context(cafile=str(home.path / file) if file else None)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            f"directory.ca-file: {home.path / file} cannot be read: {error}", hint="PEM, below the home"
        ) from error
