"""What fetchers of files from servers share: the egress gate, accounts and their guards, and how a file is described."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Protocol

from ingather.fetch.egress import EgressGate, Refusal
from ingather.fetch.http_dress import Dress
from ingather.fetch.limits import Limits
from ingather.fetch.logins.port import Login, LoginError
from ingather.fetch.shares.account import Account, AccountOf, Target, no_account, target_of
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.ports.clock import Clock
from ingather.ports.resolver import Resolver

__all__ = ["Flight", "ServerFetcher", "TypeOf", "described", "is_unchanged"]

TypeOf = Callable[[str], str | None]
"""File name to media type; ``None`` = unknown."""


class Flight(Protocol):
    """A request under way in a thread."""

    def cancel(self) -> None:
        """End it soon; any thread may say so."""


class ServerFetcher(ABC):
    """A fetcher of files from servers; see :class:`ingather.ports.fetcher.Fetcher`. Subclasses carry requests out.

    Args:
        limits: what one request may cost.
        resolver: names to addresses.
        own_ports: (address, port) of our own listeners.
        clock: for ``elapsed_s`` and for files that changed a moment ago.
        account: as whom a URL is asked for on behalf of a source.
        guard: who counts refusals of an account, ``None`` = nobody.
        type_of: media types by file name.
        max_connections: requests at once; more wait.

    Attributes:
        threads: where requests are carried out: the libraries block.
        flying: requests under way.
    """

    def __init__(  # noqa: PLR0913 - the parts that app wires
        self,
        limits: Limits,
        *,
        resolver: Resolver,
        own_ports: Collection[tuple[str, int]] = (),
        clock: Clock,
        account: AccountOf = no_account,
        guard: Callable[[str, str], Login | None] = lambda _url, _source: None,
        type_of: TypeOf = lambda _: None,
        max_connections: int = 8,
    ) -> None:
        self.limits, self.clock, self.type_of = limits, clock, type_of
        self._account, self._guard = account, guard
        self.gate = EgressGate(resolver, own_ports)
        self._slots = asyncio.Semaphore(max_connections)
        self.threads = ThreadPoolExecutor(max_connections, thread_name_prefix="ingather-files")
        self.flying: set[Flight] = set()
        self.closed = False

    @abstractmethod
    async def sent(
        self,
        request: Request,
        target: Target,
        scope: Scope,
        admitted: tuple[str, ...],
        account: Account | None,
    ) -> Response | Failure:
        """Carry out a request that may be made, at one of the *admitted* addresses; ``elapsed_s`` is the caller's business."""

    @abstractmethod
    def close_idle(self) -> None:
        """Close the connections that are kept; in a thread, when nothing is in flight any more."""

    async def close(self) -> None:
        """Close all connections; requests in flight end as ``CANCELLED``."""
        self.closed = True
        for flight in self.flying:
            flight.cancel()
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self.threads.shutdown(wait=True)
        self.close_idle()

    def refused(self, target: Target, scope: Scope, account: Account | None) -> Response | Failure | None:
        """Say before anybody is asked why this cannot be; ``None`` = it can."""
        del target, scope, account
        return None

    async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
        """Ask for ``request.url`` within *scope*; see the port."""
        if self.closed:
            raise RuntimeError("this fetcher is closed")
        async with self._slots:
            started_s = self.clock.monotonic()
            got = await self._asked(request, scope)
            return replace(got, elapsed_s=self.clock.monotonic() - started_s)

    def most(self, request: Request) -> int:
        """Return how many bytes of content are taken, 0 = any number."""
        return request.max_wire_bytes or self.limits.max_wire_bytes

    async def _asked(self, request: Request, scope: Scope) -> Response | Failure:  # noqa: PLR0911 - one a reason not to ask
        target = target_of(request.url)
        if isinstance(target, str):
            return Failure(request.url, FailureKind.PROTOCOL, target)
        if request.method not in {"GET", "HEAD"}:
            return Failure(
                request.url, FailureKind.PROTOCOL, f"method {request.method!r} is not for a gatherer"
            )
        admitted = await self.gate.admit(target.scheme, target.host, target.port, scope, url=request.url)
        if isinstance(admitted, Refusal):
            return Failure(request.url, admitted.kind, admitted.detail)
        bare, question, _ = request.url.partition("?")
        if question:  # files have no queries: one document, one URL
            return Response(request.url, 301, (("Location", bare),))
        try:
            account = self._account(request.url, scope.source)
        except LoginError as error:
            return Failure(request.url, FailureKind.AUTH, error.text)
        refused = self.refused(target, scope, account)
        if refused is not None:
            return refused
        guard = None if account is None else self._guard(request.url, scope.source)
        if guard is None:
            return await self.sent(request, target, scope, admitted, account)

        async def send(request: Request, scope: Scope, dress: Dress) -> Response | Failure:
            return await self.sent(request, target, scope, admitted, account if dress.private else None)

        return await guard.ask(request, scope, send)


def described(media_type: str | None, size: int, etag: str, modified: str) -> tuple[tuple[str, str], ...]:
    """Return header fields of a file; what is not known is left out."""
    fields = (
        ("Content-Type", media_type or ""),
        ("Content-Length", str(size) if size >= 0 else ""),
        ("ETag", etag),
        ("Last-Modified", modified),
    )
    return tuple(field for field in fields if field[1])


def is_unchanged(request: Request, etag: str, modified: str) -> bool:
    """Whether a file with these validators is the one that *request* knows (RFC 9110 section 13.2.2)."""
    if request.etag:
        return bool(etag) and request.etag == etag
    if not request.last_modified or not modified:
        return False
    try:
        return parsedate_to_datetime(modified) <= parsedate_to_datetime(request.last_modified)
    except (ValueError, TypeError):
        return False
