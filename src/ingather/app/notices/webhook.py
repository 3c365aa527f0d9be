"""One notice to one address: through the egress gate, signed, never redirected.

The signature is ``t=SECONDS,v1=HEX``: HMAC-SHA256, by the shared secret, of the seconds, a full stop and the body. Whoever receives it
computes it anew, compares in constant time, and refuses what is older than a few minutes.
"""

import hashlib
import hmac
import json
import socket
import ssl
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from threading import Timer
from typing import Any, Final
from urllib.parse import urlsplit

from ingather import __version__
from ingather.app.notices.reaching import admitted
from ingather.errors import UsageError
from ingather.fetch.egress import Refusal
from ingather.model.scope import Scope
from ingather.ports.clock import Clock
from ingather.ports.resolver import Resolver

__all__ = ["Delivery", "Notice", "Webhook", "WebhookConf", "signature"]

_PORTS: Final = {"http": 80, "https": 443}
_OK: Final = range(200, 300)
_LASTING: Final = frozenset({400, 401, 403, 404, 405, 410, 413, 415, 422})
"""Statuses that the same notice will get again."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What happened: *id* is the same at every attempt, *kind* like ``feed.failed``, *at* in ISO 8601."""

    id: str
    kind: str
    at: str
    about: Mapping[str, Any]

    def body(self) -> bytes:
        """Return what is sent."""
        told = {"id": self.id, "kind": self.kind, "at": self.at, "about": self.about}
        return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class Delivery:
    """How an attempt ended: *trouble* ``""`` = delivered; *lasting*: another attempt is of no use."""

    status: int = 0
    trouble: str = ""
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class WebhookConf:
    """Where to, with which secret; *addresses*: ranges that may be reached although they are not public."""

    url: str
    secret: str = field(repr=False)
    addresses: tuple[str, ...] = ()
    timeout_s: float = 10.0


def signature(secret: str, body: bytes, at_s: int) -> str:
    """Return the value of ``X-Ingather-Signature``."""
    mac = hmac.digest(secret.encode(), b"%d." % at_s + body, hashlib.sha256)
    return f"t={at_s},v1={mac.hex()}"


class Webhook:
    """Sends notices; blocks, and belongs to one thread at a time.

    Args:
        conf: where to.
        clock: of signatures.
        resolver: makes a resolver; each attempt has one of its own.
        own_ports: of our listeners, which are never reached.
        tls: verifies certificates; the machine's authorities without it.

    Raises:
        UsageError: the address is none that can be used.
    """

    def __init__(
        self,
        conf: WebhookConf,
        clock: Clock,
        resolver: Callable[[], Resolver],
        *,
        own_ports: Collection[tuple[str, int]] = (),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        parts = urlsplit(conf.url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if (
            parts.scheme not in _PORTS
            or not parts.hostname
            or port == -1
            or parts.username
            or not conf.url.isascii()
        ):
            raise UsageError(
                "notices.url is no http or https address", hint='write it like "https://ops.example/ingather"'
            )
        self._conf, self._clock, self._resolver, self._own_ports = conf, clock, resolver, own_ports
        self._scheme, self._host, self._port = parts.scheme, parts.hostname, port or _PORTS[parts.scheme]
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._authority = parts.netloc
        self._tls = tls or ssl.create_default_context()

    @property
    def place(self) -> str:
        """Scheme and host for people: paths of webhooks may be secrets."""
        return f"{self._scheme}://{self._authority}"

    def send(self, notice: Notice) -> Delivery:
        """Send *notice* once."""
        scope = Scope(source="notices.url", addresses=self._conf.addresses)
        addresses = admitted((self._scheme, self._host, self._port), scope, self._resolver, self._own_ports)
        if isinstance(addresses, Refusal):
            return Delivery(trouble=f"{self.place} may not be reached: {addresses.detail}")
        body, at_s = notice.body(), int(self._clock.wall())
        headers = {
            "Host": self._authority, "Content-Type": "application/json; charset=utf-8", "User-Agent": f"Ingather/{__version__}",
            "X-Ingather-Notice": notice.id, "X-Ingather-Kind": notice.kind,
            "X-Ingather-Signature": signature(self._conf.secret, body, at_s), "Connection": "close",
        }  # fmt: skip
        connection = HTTPConnection(self._host, self._port, timeout=self._conf.timeout_s)
        end = Timer(self._conf.timeout_s, self._cut, (connection,))
        end.daemon = True
        try:
            connection.sock = self._connected(addresses[0])
            end.start()
            connection.request("POST", self._target, body, headers)
            status = connection.getresponse().status
        except (OSError, HTTPException, ValueError) as error:
            why = str(error) or type(error).__name__
            return Delivery(trouble=f"{self.place} could not be told: {why}")
        finally:
            end.cancel()
            connection.close()
        if status in _OK:
            return Delivery(status)
        return Delivery(status, f"{self.place} answered {status}", lasting=status in _LASTING)

    def _connected(self, address: str) -> socket.socket:
        plain = socket.create_connection((address, self._port), timeout=self._conf.timeout_s)
        if self._scheme == "http":
            return plain
        try:
            return self._tls.wrap_socket(plain, server_hostname=self._host)
        except BaseException:
            plain.close()
            raise

    @staticmethod
    def _cut(connection: HTTPConnection) -> None:
        """End an answer that comes too slowly; the reader gets an error."""
        try:
            connection.sock.shutdown(socket.SHUT_RDWR)
        except (OSError, AttributeError):
            return
