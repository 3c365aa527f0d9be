"""Ports: what a served home answers, or whether one that is not served could have them."""

import errno
import json
import socket
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from typing import Final

from ingather.app.doctor.finding import Finding, error, fine, warning
from ingather.app.home import Home
from ingather.app.owner import owner_address
from ingather.conf import RobotConf
from ingather.conf.settings.values import Settings
from ingather.errors import HomeError, HomeLockedError

__all__ = ["check_ports", "owner_of"]

_PATIENCE_S: Final = 10.0
_OK: Final = 200
_FEED_PORTS: Final = ("feeds.port", "feeds.tls-port")


def owner_of(home: Home) -> HomeLockedError | None:
    """Return who owns the home now, ``None`` if nobody does."""
    try:
        home.lock("ingather doctor", wait_s=0.0).release()
    except HomeLockedError as locked:
        return locked
    except HomeError:  # the look at permissions says why
        return None
    return None


def check_ports(
    home: Home, settings: Settings, robot: RobotConf, owner: HomeLockedError | None
) -> Iterator[Finding]:
    """Ask a served home for its health; else try each address."""
    if owner is not None:
        yield _answering(home, settings, owner)
        return
    for name, (host, port) in _wanted(settings, robot).items():
        if not port:
            continue
        trouble = _refused(host, port)
        if trouble is None:
            yield fine("ports", f"{host}:{port} is free for {name}")
        else:
            optional = name in _FEED_PORTS and settings.origin(name) == "default"
            do = f"stop who has it, or set {name} to another one"
            make = warning if optional else error
            yield make("ports", f"{host}:{port} for {name}: {trouble}", do)


def _wanted(settings: Settings, robot: RobotConf) -> dict[str, tuple[str, int]]:
    wanted = {name: settings.address(name) for name in ("listen.search", "listen.admin")}
    host = settings.text("feeds.listen").strip()
    if host:
        wild = "0.0.0.0" if host == "*" else host  # noqa: S104 - what the setting says
        wanted["feeds.port"] = wild, settings.count("feeds.port")
        if settings.flag("feeds.tls"):
            wanted["feeds.tls-port"] = wild, settings.count("feeds.tls-port")
    if int(robot.command_port):
        anywhere = "0.0.0.0" if robot.remote_access else "127.0.0.1"  # noqa: S104 - remote-access says so
        wanted["command-port (robot.conf)"] = anywhere, int(robot.command_port)
    return wanted


def _refused(host: str, port: int) -> str | None:
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as trouble:
        if trouble.errno == errno.EACCES:
            return "ports below 1024 want CAP_NET_BIND_SERVICE"
        return trouble.strerror or str(trouble)
    return None


def _answering(home: Home, settings: Settings, owner: HomeLockedError) -> Finding:
    if "serve" not in owner.owner:
        return fine("ports", f"the home is in use by {owner.owner}, which listens nowhere")
    host, port = owner_address(home, settings, owner)
    connection = HTTPConnection(host, port, timeout=_PATIENCE_S)
    try:
        connection.request("GET", "/health")
        response = connection.getresponse()
        said = str(json.loads(response.read())["status"])
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as trouble:
        return error(
            "ports",
            f"{owner.owner} does not answer at {host}:{port}: {trouble}",
            "look at its log; if it hangs, restart it: nothing is lost",
        )
    finally:
        connection.close()
    if response.status != _OK:
        return error("ports", f"{owner.owner} says: {said}", "look at its log, and at: ingather index check")
    return fine("ports", f"{owner.owner} answers at {host}:{port}: {said}")
