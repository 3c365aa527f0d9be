"""What fetchers of ftp and sftp share: the egress gate, accounts, kept connections, threads, and one value for everything."""

import asyncio
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from email.utils import formatdate, parsedate_to_datetime
from typing import Final

import pycurl

from ingather.fetch.account import Account, AccountOf, Target, no_account, target_of
from ingather.fetch.egress import EgressGate, Refusal
from ingather.fetch.ftp_lines import Exchange, Line
from ingather.fetch.http_answer import failure_of
from ingather.fetch.http_dress import Dress
from ingather.fetch.limits import Limits
from ingather.fetch.logins.port import Login, LoginError
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.ports.clock import Clock
from ingather.ports.resolver import Resolver

__all__ = ["LineFetcher", "TypeOf", "Visit", "described", "is_unchanged"]

TypeOf = Callable[[str], str | None]
"""File name to media type; ``None`` = unknown."""

_IDLE: Final = 16
_FRESH_S: Final = 2.0

LineKey = tuple[str, str, Account | None, bool]


class Visit:
    """One request on its way, in its thread.

    Attributes:
        request, target, scope, account: as they are.
        line: the connection that it may use.
    """

    def __init__(
        self, request: Request, target: Target, scope: Scope, account: Account | None, line: Line
    ) -> None:
        self.request, self.target, self.scope, self.account, self.line = request, target, scope, account, line


class LineFetcher(ABC):
    """A fetcher of files from servers; see :class:`ingather.ports.fetcher.Fetcher`. Subclasses speak a protocol.

    Args:
        limits: what one request may cost.
        resolver: names to addresses.
        own_ports: (address, port) of our own listeners.
        clock: for ``elapsed_s`` and for files that changed a moment ago.
        account: as whom a URL is asked for on behalf of a source.
        guard: who counts refusals of an account, ``None`` = nobody.
        type_of: media types by file name.
        max_connections: requests at once; more wait.
        ca_file: certificates to trust instead of the system's (PEM).
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
        ca_file: str | None = None,
    ) -> None:
        self.limits, self.clock, self.type_of, self.ca_file = limits, clock, type_of, ca_file
        self._account, self._guard = account, guard
        self._gate = EgressGate(resolver, own_ports)
        self._slots = asyncio.Semaphore(max_connections)
        self._threads = ThreadPoolExecutor(max_connections, thread_name_prefix="ingather-files")
        self._idle: OrderedDict[int, tuple[LineKey, Line]] = OrderedDict()
        self._flying: set[Line] = set()
        self._closed = False

    # -- the protocol -----------------------------------------------------------------------------

    @abstractmethod
    def options(self, target: Target, scope: Scope, account: Account | None) -> dict[int, object]:
        """Return libcurl's options for connections to *target*."""

    @abstractmethod
    def active(self, scope: Scope) -> bool:
        """Whether servers connect to us for data."""

    @abstractmethod
    def work(self, visit: Visit) -> Response | Failure:
        """Make the request, in a thread; ``elapsed_s`` is the caller's business."""

    def refused(self, target: Target, scope: Scope, account: Account | None) -> Response | Failure | None:
        """Say before anybody is asked why this cannot be; ``None`` = it can."""
        del target, scope, account
        return None

    # -- the port ---------------------------------------------------------------------------------

    async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
        """Ask for ``request.url`` within *scope*; see the port."""
        if self._closed:
            raise RuntimeError("this fetcher is closed")
        async with self._slots:
            started_s = self.clock.monotonic()
            got = await self._asked(request, scope)
            return replace(got, elapsed_s=self.clock.monotonic() - started_s)

    async def close(self) -> None:
        """Close all connections; requests in flight end as ``CANCELLED``."""
        self._closed = True
        for line in self._flying:
            line.cancel()
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._threads.shutdown(wait=True)
        while self._idle:
            self._idle.popitem()[1][1].close()

    async def _asked(self, request: Request, scope: Scope) -> Response | Failure:  # noqa: PLR0911 - one a reason not to ask
        target = target_of(request.url)
        if isinstance(target, str):
            return Failure(request.url, FailureKind.PROTOCOL, target)
        if request.method not in {"GET", "HEAD"}:
            return Failure(
                request.url, FailureKind.PROTOCOL, f"method {request.method!r} is not for a gatherer"
            )
        admitted = await self._gate.admit(target.scheme, target.host, target.port, scope, url=request.url)
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
            return await self._sent(request, target, scope, admitted, account)

        async def send(request: Request, scope: Scope, dress: Dress) -> Response | Failure:
            return await self._sent(request, target, scope, admitted, account if dress.private else None)

        return await guard.ask(request, scope, send)

    async def _sent(
        self,
        request: Request,
        target: Target,
        scope: Scope,
        admitted: tuple[str, ...],
        account: Account | None,
    ) -> Response | Failure:
        key = (f"{target.scheme}://{target.host}:{target.port}", scope.source, account, scope.verify_tls)
        line = self._line(key) or Line(
            self.limits, peer_refusal=self._gate.peer_refusal, options=self.options(target, scope, account),
            active=self.active(scope),
        )  # fmt: skip
        line.aim(admitted, scope, target.host, target.port)
        return await self._flown(key, Visit(request, target, scope, account, line))

    async def _flown(self, key: LineKey, visit: Visit) -> Response | Failure:
        line = visit.line
        self._flying.add(line)
        done = asyncio.get_running_loop().run_in_executor(self._threads, self._worked, visit)
        try:
            got = await asyncio.shield(done)
        except asyncio.CancelledError:
            line.cancel()
            done.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            raise
        finally:
            self._flying.discard(line)
        if line.cancelled:
            return Failure(visit.request.url, FailureKind.CANCELLED, "the fetcher was closed")
        self._idle[id(line)] = (key, line)
        if len(self._idle) > _IDLE:
            old = self._idle.popitem(last=False)[1][1]
            await asyncio.get_running_loop().run_in_executor(self._threads, old.close)
        return got

    def _worked(self, visit: Visit) -> Response | Failure:
        """Do the work in a thread; who is not waited for any more closes what it used."""
        try:
            got = self.work(visit)
        except (pycurl.error, OSError, ValueError) as error:  # libcurl would not take the request
            got = Failure(visit.request.url, FailureKind.INTERNAL, str(error))
        if visit.line.cancelled:
            visit.line.close()
        return got

    def _line(self, key: LineKey) -> Line | None:
        for number, (known, line) in reversed(self._idle.items()):
            if known == key:
                del self._idle[number]
                return line
        return None

    # -- for subclasses ---------------------------------------------------------------------------

    def most(self, request: Request) -> int:
        """Return how many bytes of content are taken, 0 = any number."""
        return request.max_wire_bytes or self.limits.max_wire_bytes

    def failure(self, visit: Visit, got: Exchange) -> Failure:
        """Name what went wrong where the protocol has no word for it."""
        url, line = visit.request.url, visit.line
        if line.refused:
            return Failure(url, FailureKind.EGRESS, line.refused, got.address)
        if got.code == pycurl.E_OPERATION_TIMEDOUT:
            kind, detail = line.late(got)
        elif got.code == pycurl.E_ABORTED_BY_CALLBACK:
            kind, detail = FailureKind.CANCELLED, "it was ended"
        else:
            kind, detail = failure_of(got.code, got.message, self.limits)
        return Failure(url, kind, detail, got.address)

    def validators(self, got: Exchange) -> tuple[str, str]:
        """Return (etag, last-modified) of what the server says of a file; empty when it says too little.

        A file that changed within the last seconds gets none: it may change again without a later date.
        """
        if got.size < 0 or got.mtime_s < 0 or abs(self.clock.wall() - got.mtime_s) < _FRESH_S:
            return "", ""
        return f'"{got.size:x}-{got.mtime_s:x}"', formatdate(got.mtime_s, usegmt=True)

    def answer(self, visit: Visit, got: Exchange, *, known: Exchange | None = None) -> Response:
        """Return the file that *got* brought; *known*: what the server says of it, if that came before."""
        request = visit.request
        facts = known or got
        etag, modified = self.validators(facts)
        size = facts.size if facts.size >= 0 and not got.cut else len(got.body)
        return Response(
            request.url, 200, described(self.type_of(visit.target.name), size, etag, modified),
            b"" if request.method == "HEAD" else got.body, len(got.body), 0.0, got.address, cut=got.cut,
            authorized=visit.account is not None,
        )  # fmt: skip

    def plain(self, visit: Visit, status: int, address: str = "", location: str = "") -> Response:
        """Return an answer without content."""
        headers = (("Location", location),) if location else ()
        return Response(
            visit.request.url, status, headers, address=address, authorized=visit.account is not None
        )

    def unchanged(self, visit: Visit, got: Exchange) -> Response:
        """Return the answer for a file that is as it was."""
        etag, modified = self.validators(got)
        return Response(
            visit.request.url, 304, described(None, -1, etag, modified), address=got.address,
            authorized=visit.account is not None,
        )  # fmt: skip


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
