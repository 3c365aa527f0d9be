"""How uvicorn serves a listener: one door into it, with the guards that it lacks.

uvicorn waits for ever for a head that drips and for a client that does not read, and lets one address open any number of
connections. :class:`GuardedProtocol` bounds these; :func:`listener_config` sets everything else
that must not be forgotten (no ``Server`` header, no trust in forwarding headers, no access log
of queries).
"""

import asyncio
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from ingather.connections import Connection, GateLimits, Guard, Phase
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
        total: open connections; one more takes the place of another, or is closed at once.
        per_address: of them from one address (a /64 of IPv6).
        head_s: seconds from a head's first byte (or the connection's start) to its last.
        answer_s: seconds for a request from head to the answer's last byte, slow readers included.
        unread_s: seconds for which a client may read nothing of an answer that waits for it.
        idle_s: seconds that a connection may wait for its next request.
    """

    total: int = 256
    per_address: int = 32
    head_s: float = 30.0
    answer_s: float = 300.0
    unread_s: float = 30.0
    idle_s: int = 15


@dataclass(frozen=True, slots=True)
class _Wire:
    """What ends a connection; uvicorn's task sees that nobody is there."""

    transport: asyncio.Transport

    def cancel(self) -> None:
        self.transport.abort()


class GuardedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 with a time limit on heads, answers and silent readers, and a guard over all connections.

    Subclassed once for each listener by :func:`listener_config`, so that limits and guard are its own.
    """

    limits = ConnectionLimits()
    guard: ClassVar[Guard] = Guard(GateLimits())
    _timer: asyncio.TimerHandle | None = None
    _held: Connection | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place among the connections; close it when there is none."""
        super().connection_made(transport)
        address = self.client[0] if self.client else "?"
        held = Connection(address, trusted=False, began_s=self.loop.time(), task=_Wire(transport))
        if not self.guard.admit(held):
            transport.abort()
            return
        self._held = held
        self._arm(self.limits.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place free."""
        self._disarm()
        if self._held is not None:
            self.guard.leave(self._held)
            self._held = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Time the head from its first byte to its last, then the answer."""
        if self._held is None:
            return
        self._held.got(len(data))
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._answering():
            self._arm(self.limits.answer_s)
        elif self._timer is None:
            self._arm(self.limits.head_s)
        self._enter()

    def on_response_complete(self) -> None:
        """Stop the clock; uvicorn's own counts the wait for the next request, but not for what is not read yet."""
        self._disarm()
        super().on_response_complete()
        if self._answering():  # the next one was here already
            self._arm(self.limits.answer_s)
        elif self.transport.get_write_buffer_size():
            self._arm(self.limits.unread_s)
        self._enter()

    def pause_writing(self) -> None:
        """Begin to wait for a client that does not read."""
        super().pause_writing()
        self._arm(self.limits.unread_s)
        self._enter(Phase.ANSWER)

    def resume_writing(self) -> None:
        """Go on: it reads."""
        super().resume_writing()
        if self._answering():
            self._arm(self.limits.answer_s)
        self._enter()

    def _enter(self, phase: Phase | None = None) -> None:
        """Tell the guard what the connection is at."""
        if self._held is None:
            return
        if phase is None:
            answering = self._answering()
            phase = Phase.HEAD if not answering else Phase.BODY if self.cycle.more_body else Phase.WORK
        self._held.enter(phase, self.loop.time())

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP in the shape and with the headers of every other answer."""
        if not self._answering():
            self.transport.write(_NO_HTTP)
        self.transport.close()
        self._arm(self.limits.unread_s)

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
    guard = Guard(GateLimits(total=bounds.total, per_address=bounds.per_address))
    members: dict[str, Any] = {"limits": bounds, "guard": guard}
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
