"""The outermost ring: limits on what comes in, headers on what goes out, no exception beyond.

Plain ASGI, one object for each listener. It refuses what is too large or too slow before a
handler sees it, refuses host names that are not ours (``ownhosts``) and bodies that two readers could
end at two places, puts the security headers on every answer, and counts it.
"""

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ingather import log
from ingather.web.failures import WebError, explain_error
from ingather.web.metering import HttpMetrics
from ingather.web.ownhosts import OwnHosts

__all__ = ["CONTENT_SECURITY_POLICY", "SECURITY_HEADERS", "Boundary", "RequestLimits"]

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing from elsewhere, nothing inline, nothing compiled from text."""

SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # Not no-referrer: that would make browsers send "Origin: null" with our own forms.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)

_log = log.get("web")

Problems = Callable[[Request, Exception], Response]


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What one request may bring. A query of 2,048 characters is up to 18 KiB when escaped.

    Attributes:
        target_bytes: path and query as sent.
        head_bytes: names and values of all header fields.
        head_fields: number of header fields.
        body_bytes: body, declared or not.
        body_s: seconds for the whole body to arrive.
        large_paths: addresses whose bodies may have ...
        large_body_bytes: ... so much.
        streamed_paths: addresses whose handlers read bodies of any size piece by piece, under limits of their own.
    """

    target_bytes: int = 24_576
    head_bytes: int = 32_768
    head_fields: int = 100
    body_bytes: int = 65_536
    body_s: float = 30.0
    large_paths: frozenset[str] = frozenset()
    large_body_bytes: int = 8 << 20
    streamed_paths: frozenset[str] = frozenset()

    def body_at(self, path: str) -> int:
        """Return how long a body may be at *path*."""
        return self.large_body_bytes if path in self.large_paths else self.body_bytes


class Boundary:
    """ASGI middleware; see the module's docstring.

    Args:
        app: what lies inside.
        listener: its name, for counting.
        hosts: by which names it may be called; ``None`` = any.
        limits: what a request may bring.
        metrics: where requests are counted, if anywhere.
        refuse: makes the answer for an exception.
    """

    def __init__(  # noqa: PLR0913 - all by keyword
        self,
        app: ASGIApp,
        *,
        listener: str,
        hosts: OwnHosts | None,
        limits: RequestLimits,
        metrics: HttpMetrics | None,
        refuse: Problems,
    ) -> None:
        self._app = app
        self._listener = listener
        self._hosts = hosts
        self._limits = limits
        self._metrics = metrics
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; nothing but cancellation escapes."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        began_s = time.perf_counter()
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                names = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(pair for pair in SECURITY_HEADERS if pair[0] not in names),
                    *([] if b"cache-control" in names else [(b"cache-control", b"no-store")]),
                ]
            await send(message)

        limits, limited = self._limits, receive
        if scope["path"] not in limits.streamed_paths:
            limited = _LimitedBody(receive, limits.body_at(scope["path"]), limits.body_s)
        try:
            self._inspect(scope)
            await self._app(scope, limited, sending)
        except Exception as error:  # noqa: BLE001 - the last resort of this listener
            await self._answer(error, scope, limited, sending, began=bool(status))
        finally:
            if self._metrics is not None:
                elapsed_s = time.perf_counter() - began_s
                route = str(scope.get("state", {}).get("route", ""))
                self._metrics.observe(self._listener, route, scope["method"], status, elapsed_s)

    async def _answer(
        self, error: Exception, scope: Scope, receive: Receive, send: Send, *, began: bool
    ) -> None:
        problem = explain_error(error)
        if problem.status == 500:  # noqa: PLR2004
            # The path without its query: what people search for is nobody's business.
            # The trace as text: what prints it must not add the values of local variables.
            trace = "".join(traceback.format_exception(error))
            _log.error("request failed", listener=self._listener, path=scope["path"][:200], trace=trace)
        if not began:
            await self._refuse(Request(scope, receive), error)(scope, receive, send)

    def _inspect(self, scope: Scope) -> None:
        limits = self._limits
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > limits.target_bytes:
            raise WebError(414, "uri-too-long", "The address is too long.", hint="Shorten the query.")
        fields = scope["headers"]
        if len(fields) > limits.head_fields or sum(len(n) + len(v) for n, v in fields) > limits.head_bytes:
            raise WebError(
                431, "headers-too-large", "The header fields are too large.", hint="Send fewer cookies."
            )
        hosts = [value.decode("latin-1") for name, value in fields if name == b"host"]
        if len(hosts) > 1:
            raise WebError(400, "bad-host", "The header Host is given twice.", hint="Send it once.")
        if self._hosts is not None:
            self._hosts.require(hosts[0] if hosts else None)
        _require_one_length(fields)
        if scope["path"] in limits.streamed_paths:
            return
        most = limits.body_at(scope["path"])
        for name, value in fields:
            if name == b"content-length" and (not value.isdigit() or int(value[:20]) > most):
                raise _too_large(most)


class _LimitedBody:
    """A receive channel that refuses a body beyond its limits."""

    def __init__(self, receive: Receive, most_bytes: int, within_s: float) -> None:
        self._receive = receive
        self._most_bytes = most_bytes
        self._within_s = within_s
        self._read = 0
        self._ended = False
        self._end_s = 0.0

    async def __call__(self) -> Message:
        if self._ended:
            return await self._receive()  # only the disconnect is left
        loop = asyncio.get_running_loop()
        self._end_s = self._end_s or loop.time() + self._within_s
        waiting: Awaitable[Message] = self._receive()
        try:
            message = await asyncio.wait_for(waiting, max(0.0, self._end_s - loop.time()))
        except TimeoutError:
            raise WebError(
                408,
                "body-too-slow",
                "The body did not arrive in time.",
                hint="Try again.",
                headers={"Connection": "close"},
            ) from None
        if message["type"] != "http.request":
            self._ended = True
            return message
        self._read += len(message.get("body", b""))
        if self._read > self._most_bytes:
            raise _too_large(self._most_bytes)
        self._ended = not message.get("more_body", False)
        return message


def _too_large(limit: int) -> WebError:
    return WebError(
        413,
        "body-too-large",
        f"The body is longer than {limit} bytes.",
        hint="Send less.",
        headers={"Connection": "close"},
    )


def _require_one_length(fields: list[tuple[bytes, bytes]]) -> None:
    """Refuse a body that one reader ends by its length and another by its chunks (RFC 9112, sections 6.1, 6.3 and 11.2).

    Raises:
        WebError: 400, both are there.
    """
    names = {name for name, _ in fields}
    if {b"content-length", b"transfer-encoding"} <= names:
        raise WebError(
            400,
            "two-lengths",
            "The body has a Content-Length and comes in chunks.",
            hint="Send one or the other.",
            headers={"Connection": "close"},
        )
