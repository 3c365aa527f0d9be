"""The fetcher for http and https: egress gate, libcurl, limits, one decoded layer, one value.

The journey of a request: read the URL's origin → ``EgressGate``
→ a ``Handle`` aimed at the checked addresses →
``Engine`` → head read, content decoded → Response or Failure.
"""

import asyncio
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple, Protocol

import pycurl

import can_ada
from ingather.fetch.decoding import ACCEPT_ENCODING, Undecodable, decode_body, encoding_of
from ingather.fetch.egress import EgressGate, Refusal
from ingather.fetch.http_answer import asked_wait, failure_of, head_trouble, read_head
from ingather.fetch.http_dress import Dress, Send
from ingather.fetch.http_engine import Engine
from ingather.fetch.http_handle import Handle
from ingather.fetch.http_lanes import Lanes
from ingather.fetch.http_pace import judge_pace, tick_of
from ingather.fetch.http_via import judged, refused
from ingather.fetch.limits import Limits
from ingather.fetch.proxies.hop import Hop, Routing, Target
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.ports.clock import Clock
from ingather.ports.resolver import Resolver

__all__ = ["Asking", "HttpFetcher"]

_PORTS = {"http": 80, "https": 443, "ftp": 21}  # ftp: through an HTTP proxy alone
_PLAIN = re.compile(r"[!$-;=?-\[\]-~]*")
_NO_ORIGIN = re.compile(r"[?#\\]").search
_FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD_VALUE = re.compile(r"[\t -~\x80-\xff]*")
_ORIGINS = 4096
_THREAD_BYTES = 64 * 1024
_NO_ADDRESS = "user@domain"
_ENCODING = "content-encoding"
_ENCODING_LEN = len(_ENCODING)
_METHODS = frozenset({"GET", "HEAD", "PROPFIND"})  # the last for ingather.fetch.shares.webdav alone
_BODILESS = frozenset({204, 304})
_WRITE_ERRORS = frozenset({pycurl.E_WRITE_ERROR, pycurl.E_FILESIZE_EXCEEDED})


def _no_credentials(_url: str, _source: str) -> bytes | None:
    return None


class Asking(Protocol):
    """What carries out a fetch that wants a login: as many exchanges as it takes; see :mod:`ingather.fetch.logins`."""

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Return the answer to *request*, asked for by means of *send*; never raises for what a host does."""


def _no_login(_url: str, _source: str) -> Asking | None:
    return None


class _Origin(NamedTuple):
    """Where a URL leads: *prefix* is what libcurl gets instead of the text before the path."""

    prefix: str
    scheme: str
    host: str
    port: int


class HttpFetcher:
    """Asks for http and https URLs; see :class:`ingather.ports.fetcher.Fetcher`.

    One instance for an event loop (asyncio's selector loop or uvloop). Connections are kept and
    reused, HTTP/2 is spoken where TLS negotiates it.

    Args:
        limits: what one request may cost.
        user_agent: honest product token, version and contact.
        email: address of the operator for ``From``; nothing is sent when empty or the vendor's
            placeholder ``user@domain``.
        resolver: names to addresses.
        own_ports: (address, port) of our own listeners, never fetched from.
        max_connections: requests in flight at once; more wait.
        clock: for ``elapsed_s`` and dates in ``Retry-After``.
        ca_file: certificates to trust instead of the system's (PEM).
        authorization: the header line with credentials for (URL, source), ``None`` = none are sent. It is asked for every single request,
            so that nothing goes along with a redirect.
        logins: the login for (URL, source), ``None`` = none; asked for every single request, before *authorization*.
        routing: which requests go through proxies; ``None`` = none. It is closed with the fetcher.
    """

    def __init__(  # noqa: PLR0913 - the parts that app wires
        self,
        limits: Limits,
        *,
        user_agent: str,
        email: str,
        resolver: Resolver,
        own_ports: Collection[tuple[str, int]] = (),
        max_connections: int = 64,
        clock: Clock,
        ca_file: str | None = None,
        authorization: Callable[[str, str], bytes | None] = _no_credentials,
        logins: Callable[[str, str], Asking | None] = _no_login,
        routing: Routing | None = None,
    ) -> None:
        self._routing = routing
        self._authorization = authorization
        self._logins = logins
        self._limits = limits
        self._user_agent = user_agent
        self._clock = clock
        self._ca_file = ca_file
        self._max_connections = max_connections
        self._gate = EgressGate(resolver, own_ports)
        self._headers = [f"Accept-Encoding: {ACCEPT_ENCODING}".encode()]
        if email and email != _NO_ADDRESS and _FIELD_VALUE.fullmatch(email):
            self._headers.append(b"From: " + email.encode("latin-1"))
        self._origins: dict[str, _Origin] = {}
        self._idle: list[Handle] = []
        self._slots = asyncio.Semaphore(max_connections)
        self._engine: Engine | None = None
        self._closed = False
        self._lanes = Lanes(self._new_engine)

    async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
        """Ask for ``request.url`` within *scope*; see the port."""
        async with self._slots:
            target = self._target(request.url)
            if isinstance(target, str):
                return Failure(request.url, FailureKind.PROTOCOL, target)
            login = self._logins(target[0], scope.source)
            if login is not None:
                return await login.ask(request, scope, self._send)
            return await self._exchange(request, scope, target, None)

    async def _send(self, request: Request, scope: Scope, dress: Dress) -> Response | Failure:
        target = self._target(request.url)
        if isinstance(target, str):
            return Failure(request.url, FailureKind.PROTOCOL, target)
        return await self._exchange(request, scope, target, dress)

    async def _exchange(
        self, request: Request, scope: Scope, target: tuple[str, _Origin], dress: Dress | None
    ) -> Response | Failure:
        """One request and its answer, by whichever way it goes."""
        if self._routing is None:
            return await self._pass(request, scope, target, dress, None)
        url, origin = target

        async def ask(hop: Hop | None) -> Response | Failure:
            return await self._pass(request, scope, target, dress, hop)

        return await self._routing.take(Target(url, *origin[1:]), scope, ask)

    async def _pass(
        self,
        request: Request,
        scope: Scope,
        target: tuple[str, _Origin],
        dress: Dress | None,
        hop: Hop | None,
    ) -> Response | Failure:
        """One request through the gate, and the proxy *hop* if there is one, and its answer."""
        started_s = self._clock.monotonic()
        url, origin = target
        extra: list[bytes] | str = _extra_headers(request) if _special(request) else []
        if isinstance(extra, str):
            return Failure(request.url, FailureKind.PROTOCOL, extra)
        admitted = await self._admitted(url, origin, scope, hop)
        if isinstance(admitted, Refusal):
            spent_s = self._clock.monotonic() - started_s
            return refused(request.url, admitted, hop, spent_s)
        extra, private = self._dressed(url, scope.source, extra, dress)
        engine, idle = self._connections(dress)
        handle = idle.pop() if idle else self._new_handle(engine, dress)
        try:
            limit = request.max_wire_bytes or self._limits.max_wire_bytes
            handle.route(hop)
            handle.aim(url, *_peer(origin, hop), admitted, scope, wire_bytes=limit, cut=request.cut)
            handle.send(extra)
            handle.ask(request.method, None if dress is None else dress.body)
            code = await engine.start(handle)
            answer = await self._answer(request, handle, code, started_s)
            if hop is not None:
                answer = judged(answer, hop, handle.curl, code, began=bool(handle.lines))
            if dress is not None:
                handle.tell(dress)
        except pycurl.error as error:  # libcurl would not take the request
            engine.abandon(handle)
            handle.close()
            return Failure(request.url, FailureKind.INTERNAL, str(error))
        except BaseException:
            engine.abandon(handle)
            handle.close()
            raise
        handle.clear()
        self._keep(handle, idle, dress)
        return replace(answer, authorized=True) if private and isinstance(answer, Response) else answer

    async def _admitted(
        self, url: str, origin: _Origin, scope: Scope, hop: Hop | None
    ) -> tuple[str, ...] | Refusal:
        """Return the addresses that may be connected to: the host's, or the proxy's."""
        if hop is None:
            return await self._gate.admit(origin.scheme, origin.host, origin.port, scope, url=url)
        return await self._gate.admit_through(Target(url, *origin[1:]), scope, _peer(origin, hop), hop.reach)

    def _dressed(
        self, url: str, source: str, extra: list[bytes], dress: Dress | None
    ) -> tuple[list[bytes], bool]:
        """Return the header lines that go along, and whether the answer is not for everybody because of them."""
        if dress is not None:
            return [*extra, *dress.headers], dress.private
        authorization = self._authorization(url, source)
        return (extra, False) if authorization is None else ([*extra, authorization], True)

    def _connections(self, dress: Dress | None) -> tuple[Engine, list[Handle]]:
        if dress is None or dress.lane is None:
            return self._running(), self._idle
        return self._lanes.of(dress.lane)

    def _keep(self, handle: Handle, idle: list[Handle], dress: Dress | None) -> None:
        """Put *handle* away for the next request, unless its connections are closed."""
        if self._closed or (dress is not None and dress.lane is not None and not self._lanes.has(dress.lane)):
            handle.close()
        else:
            idle.append(handle)

    async def close(self) -> None:
        """Close all connections; requests in flight end as ``CANCELLED``."""
        self._closed = True
        if self._engine is not None:
            self._engine.close()
        for handle in self._idle:
            handle.close()
        self._idle.clear()
        self._lanes.close()
        if self._routing is not None:
            await self._routing.close()

    # -- before the request ---------------------------------------------------------------

    def _target(self, url: str) -> tuple[str, _Origin] | str:
        """Split *url* into what libcurl gets and its origin, or say why it cannot be asked for."""
        slash = url.find("/", 8)
        if slash > 0 and _PLAIN.fullmatch(url, slash):
            origin = self._origins.get(url[:slash])
            if origin is not None:
                return (url if len(origin.prefix) == slash else origin.prefix + url[slash:]), origin
        try:
            parsed = can_ada.parse(url)
        except (ValueError, TypeError):
            return "not a URL"
        scheme = parsed.protocol[:-1]
        host = parsed.hostname
        if not host:
            return "a URL without a host"
        port = int(parsed.port) if parsed.port else _PORTS.get(scheme, 0)
        origin = _Origin(f"{scheme}://{parsed.host}", scheme, host, port)
        before = url[:slash] if slash > 0 and scheme in _PORTS else ""
        if before and not _NO_ORIGIN(before):  # what stands before the path is the origin, for every path
            if len(self._origins) >= _ORIGINS:
                self._origins.clear()
            self._origins[before] = origin
        return f"{origin.prefix}{parsed.pathname}{parsed.search}", origin

    def _new_handle(self, engine: Engine, dress: Dress | None) -> Handle:
        return Handle(
            user_agent=self._user_agent,
            headers=self._headers,
            peer_refusal=self._gate.peer_refusal,
            place=engine.place,
            ca_file=self._ca_file,
            connect_s=self._limits.connect_s + self._limits.tls_s,
            total_s=self._limits.total_s,
            lane=None if dress is None else dress.lane,
        )

    def _running(self) -> Engine:
        engine = self._engine
        if engine is None:
            engine = self._engine = self._new_engine(self._max_connections)
        return engine

    def _new_engine(self, max_idle: int) -> Engine:
        if self._closed:
            raise RuntimeError("this fetcher is closed")
        limits = self._limits
        return Engine(
            asyncio.get_running_loop(),
            watch=lambda transfer, elapsed_s: judge_pace(transfer, elapsed_s, limits),
            tick_s=tick_of(limits),
            max_idle=max_idle,
        )

    # -- after the request ----------------------------------------------------------------

    async def _answer(
        self, request: Request, handle: Handle, code: int, started_s: float
    ) -> Response | Failure:
        elapsed_s = self._clock.monotonic() - started_s
        lines = handle.lines
        address = handle.curl.getinfo(pycurl.PRIMARY_IP)
        limits = self._limits
        kind: FailureKind | None = None
        detail = ""
        if code and not (handle.was_cut and code in _WRITE_ERRORS):
            kind, detail = self._trouble(handle, code)
        elif len(lines) > limits.max_head_fields or sum(map(len, lines)) > limits.max_head_bytes:
            kind, detail = head_trouble(lines, limits, long=request.long_head) or (None, "")
        head = read_head(lines) if kind is None or lines else None
        if kind is None and head is None and lines:
            kind, detail = FailureKind.CLOSED, "the connection ended within the response head"
        elif kind is None and (head is None or not head[0]):
            kind, detail = FailureKind.PROTOCOL, "no HTTP status line"
        if kind is not None or head is None:
            wait = asked_wait(head[2], self._clock.wall(), limits) if head else None
            said = (head[0], head[2]) if head and kind is not FailureKind.HEAD_TOO_LARGE else (0, ())
            return Failure(request.url, kind or FailureKind.PROTOCOL, detail, address, elapsed_s, wait, *said)
        status, version, fields = head
        chunks = handle.chunks
        body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        wire_bytes, was_cut = len(body), handle.was_cut
        if status in _BODILESS:
            body = b""
        encoding = ",".join([v for k, v in fields if len(k) == _ENCODING_LEN and k.lower() == _ENCODING])
        if encoding and body:
            decoded = await self._decode(body, encoding, request, partial=was_cut)
            if isinstance(decoded, Undecodable):
                return Failure(
                    request.url,
                    decoded.kind,
                    decoded.detail,
                    address,
                    elapsed_s,
                    status=status,
                    headers=fields,
                )
            body = decoded
            was_cut = was_cut or (request.cut and len(body) == self._decoded_limit(request))
        return Response(
            request.url, status, fields, body, wire_bytes, elapsed_s, address, version, cut=was_cut
        )

    def _trouble(self, handle: Handle, code: int) -> tuple[FailureKind, str]:
        if handle.refused:
            return FailureKind.EGRESS, handle.refused
        if isinstance(handle.verdict, tuple):
            kind, detail = handle.verdict
            return kind, detail
        if code < 0:
            return FailureKind.CANCELLED, "the fetcher was closed"
        return failure_of(code, handle.message, self._limits)

    async def _decode(
        self, body: bytes, header: str, request: Request, *, partial: bool
    ) -> bytes | Undecodable:
        encoding = encoding_of(header)
        if isinstance(encoding, Undecodable) or not encoding:
            return encoding or body
        limits = self._limits

        def work() -> bytes | Undecodable:
            return decode_body(
                body,
                encoding,
                max_bytes=self._decoded_limit(request),
                max_ratio=limits.max_ratio,
                ratio_after_bytes=limits.ratio_after_bytes,
                cut=request.cut,
                partial=partial,
            )

        return work() if len(body) < _THREAD_BYTES else await asyncio.to_thread(work)

    def _decoded_limit(self, request: Request) -> int:
        return request.max_decoded_bytes or self._limits.max_decoded_bytes


def _peer(origin: _Origin, hop: Hop | None) -> tuple[str, int]:
    return (origin.host, origin.port) if hop is None else (hop.proxy.host, hop.proxy.port)


def _special(request: Request) -> bool:
    return bool(request.etag or request.last_modified or request.headers or request.method != "GET")


def _extra_headers(request: Request) -> list[bytes] | str:
    """Make the header lines of a request that has some of its own, or say what is wrong with it."""
    if request.method not in _METHODS:
        return f"method {request.method!r} is not for a gatherer"
    fields = list(request.headers)
    if request.etag:
        fields.append(("If-None-Match", request.etag))
    if request.last_modified:
        fields.append(("If-Modified-Since", request.last_modified))
    for name, value in fields:
        if not _FIELD_NAME.fullmatch(name) or not _FIELD_VALUE.fullmatch(value):
            return f"header field {name!r} cannot be sent"
    return [f"{name}: {value}".encode("latin-1") for name, value in fields]
