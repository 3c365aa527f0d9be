"""One connection to a server of the kit: HTTP/1.1 with keep-alive, conditional requests, HEAD."""

import asyncio
import re
from dataclasses import replace
from http import HTTPStatus
from time import monotonic
from typing import Final, NamedTuple, Protocol, cast

from ingather.testing.web import Answer

__all__ = ["Connection", "Seen", "Serving"]

_HOST: Final = re.compile(rb"\r\nhost:[ \t]*([^\r]*)", re.IGNORECASE)
_AGENT: Final = re.compile(rb"\r\nuser-agent:[ \t]*([^\r]*)", re.IGNORECASE)
_NONE_MATCH: Final = re.compile(rb"\r\nif-none-match:[ \t]*([^\r]*)", re.IGNORECASE)
_SINCE: Final = re.compile(rb"\r\nif-modified-since:[ \t]*([^\r]*)", re.IGNORECASE)
_CLOSE: Final = re.compile(rb"\r\nconnection:[ \t]*close", re.IGNORECASE)
_REASONS: Final = {status.value: status.phrase for status in HTTPStatus}
_MAX_HEAD = 65_536


class Seen(NamedTuple):
    """One request: when it came and when its answer was written (monotonic seconds), to whom, what, by which connection."""

    at_s: float
    ended_s: float
    host: str
    path: str
    status: int
    connection: int
    method: str = "GET"
    agent: str = ""


class Serving(Protocol):
    """What a connection needs of its server: answers, a memory, and its set of live connections."""

    latency_s: float
    requests: list[Seen]
    live: set["Connection"]

    def answer(self, host: str, path: str) -> Answer:
        """Return what is answered to a GET."""


class Connection(asyncio.Protocol):
    """One client connection; one request at a time, what comes early waits."""

    def __init__(self, server: Serving, number: int) -> None:
        self._server = server
        self._buffer = b""
        self._busy = False
        self._transport: asyncio.Transport | None = None
        self._number = number
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be in use."""
        # uvloop's transports are no asyncio.Transport by inheritance.
        self._transport = cast("asyncio.Transport", transport)
        self._server.live.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Be done."""
        self._transport = None
        self._server.live.discard(self)

    def abort(self) -> None:
        """Close without a word."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what came; answer every whole request in it, one after the other."""
        self._buffer = self._buffer + data if self._buffer else data
        self._go_on()

    def _go_on(self) -> None:
        while not self._busy and self._transport is not None:
            head, end, rest = self._buffer.partition(b"\r\n\r\n")
            if not end:
                if len(self._buffer) > _MAX_HEAD:
                    self._transport.abort()
                return
            self._buffer = rest
            self._request(head)

    def _request(self, head: bytes) -> None:
        assert self._transport is not None
        at_s = monotonic()
        method, _, tail = head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
        path = tail.rpartition(" ")[0]
        host = _header(_HOST, head).lower()
        if method not in {"GET", "HEAD"} or not path.startswith("/"):
            answer = Answer(501)
        else:
            answer = _condition(self._server.answer(host, path), head)
        close = _CLOSE.search(head) is not None
        reply = _reply(answer, with_body=method != "HEAD", close=close)
        seen = Seen(at_s, at_s, host, path, answer.status, self._number, method, _header(_AGENT, head))
        if self._server.latency_s > 0:
            self._busy = True
            self._loop.call_later(self._server.latency_s, self._finish, reply, seen, close)
        else:
            self._finish(reply, seen, close)

    def _finish(self, reply: bytes, seen: Seen, close: bool) -> None:  # noqa: FBT001 - a callback
        delayed = self._busy
        if not seen.path.startswith("/-/"):
            self._server.requests.append(seen._replace(ended_s=monotonic()) if delayed else seen)
        self._busy = False
        if self._transport is None:
            return
        self._transport.write(reply)
        if close:
            self._transport.close()
        elif delayed:
            self._go_on()


def _header(pattern: re.Pattern[bytes], head: bytes) -> str:
    match = pattern.search(head)
    return match[1].decode("latin-1").strip() if match else ""


def _condition(answer: Answer, head: bytes) -> Answer:
    # RFC 9110 section 13.2.2: If-None-Match goes before If-Modified-Since.
    if answer.status != HTTPStatus.OK:
        return answer
    have = {name.lower(): value for name, value in answer.headers}
    tags = _header(_NONE_MATCH, head)
    same = have.get("etag") in tags.split(", ") if tags else False
    if not tags and (since := _header(_SINCE, head)):
        same = have.get("last-modified") == since
    return replace(answer, status=304, body=b"") if same else answer


def _reply(answer: Answer, *, with_body: bool, close: bool) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, '')}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    if answer.status != HTTPStatus.NOT_MODIFIED:
        lines.append(f"Content-Length: {len(answer.body)}")
    if close:
        lines.append("Connection: close")
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    return head + answer.body if with_body else head
