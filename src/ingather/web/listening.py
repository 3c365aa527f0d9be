"""How uvicorn serves a listener: one door into it, with the guards that it lacks.

uvicorn waits for ever for a head that drips, and lets one address open any number of
connections. :class:`GuardedProtocol` bounds both; :func:`listener_config` sets everything else
that must not be forgotten (no ``Server`` header, no trust in forwarding headers, no access log
of queries).
"""

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from ingather.web.boundary import SECURITY_HEADERS

__all__ = ["ConnectionLimits", "GuardedProtocol", "listener_config"]

_HEAD_BYTES = 65_536
_BAD = msgspec.json.encode(
    {
        "error": {
            "code": "bad-request",
            "message": "This is not an HTTP request.",
            "hint": "Speak HTTP/1.1 to this port.",
        }
    }
)
_NO_HTTP = b"HTTP/1.1 400 Bad Request\r\n%s\r\n%s" % (
    b"".join(
        b"%s: %s\r\n" % field
        for field in (
            *SECURITY_HEADERS,
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(_BAD)),
            (b"connection", b"close"),
        )
    ),
    _BAD,
)


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Bounds of a listener's connections.

    Attributes:
        total: open connections; more are closed at once.
        per_address: of them from one address.
        head_s: seconds from a head's first byte (or the connection's start) to its last.
        answer_s: seconds for a request from head to the answer's last byte, slow readers included.
        idle_s: seconds that a connection may wait for its next request.
    """

    total: int = 256
    per_address: int = 32
    head_s: float = 30.0
    answer_s: float = 300.0
    idle_s: int = 15


class GuardedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 with a time limit on heads and answers, and connections counted by address.

    Subclassed once for each listener by :func:`listener_config`, so that limits and counts are its own.
    """

    limits = ConnectionLimits()
    open_by_address: ClassVar[Counter[str]] = Counter()
    _timer: asyncio.TimerHandle | None = None
    _counted = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection; close it when there are too many."""
        super().connection_made(transport)
        address = self.client[0] if self.client else "?"
        counts = self.open_by_address
        if counts.total() >= self.limits.total or counts[address] >= self.limits.per_address:
            transport.abort()
            return
        self._counted = address
        counts[address] += 1
        self._arm(self.limits.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place free."""
        self._disarm()
        if self._counted:
            counts = self.open_by_address
            counts[self._counted] -= 1
            if not counts[self._counted]:
                del counts[self._counted]
            self._counted = ""
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Time the head from its first byte to its last, then the answer."""
        if not self._counted:
            return
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._answering():
            self._arm(self.limits.answer_s)
        elif self._timer is None:
            self._arm(self.limits.head_s)

    def on_response_complete(self) -> None:
        """Stop the clock; uvicorn's own counts the wait for the next request."""
        self._disarm()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP in the shape and with the headers of every other answer."""
        if not self._answering():
            self.transport.write(_NO_HTTP)
        self.transport.close()

    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        return cycle is not None and not cycle.response_complete

    def _arm(self, seconds: float) -> None:
        self._disarm()
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def listener_config(app: ASGIApp, *, limits: ConnectionLimits | None = None) -> uvicorn.Config:
    """Return uvicorn's configuration for one listener.

    ``uvicorn.Server(listener_config(app)).run(sockets=[socket])`` may run in any thread; the
    caller binds the socket, so that a taken port is known before anything starts.
    """
    bounds = limits or ConnectionLimits()
    members: dict[str, Any] = {"limits": bounds, "open_by_address": Counter()}
    protocol = type("ListenerProtocol", (GuardedProtocol,), members)
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        loop="uvloop",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=bounds.idle_s,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=_HEAD_BYTES,
    )
