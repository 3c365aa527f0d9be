"""What fetchers of ftp and sftp share: kept connections of libcurl, threads, and one value for everything."""

import asyncio
from abc import abstractmethod
from collections import OrderedDict
from email.utils import formatdate
from typing import Any, Final

import pycurl

from ingather.fetch.http_answer import failure_of
from ingather.fetch.limits import Limits
from ingather.fetch.shares.account import Account, Target
from ingather.fetch.shares.file_server import ServerFetcher, described, is_unchanged
from ingather.fetch.shares.ftp_lines import Exchange, Line
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope

__all__ = ["LineFetcher", "Visit"]

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


class LineFetcher(ServerFetcher):
    """A fetcher of files from servers over libcurl. Subclasses speak a protocol.

    Args:
        limits: see :class:`ServerFetcher`, as for *parts*.
        max_connections: requests at once; more wait.
        ca_file: certificates to trust instead of the system's (PEM).
    """

    def __init__(
        self, limits: Limits, *, max_connections: int = 8, ca_file: str | None = None, **parts: Any
    ) -> None:
        super().__init__(limits, max_connections=max_connections, **parts)
        self.ca_file = ca_file
        self._idle: OrderedDict[int, tuple[LineKey, Line]] = OrderedDict()

    # -- the protocol -----------------------------------------------------------------------------

    @abstractmethod
    def options(self, target: Target, scope: Scope, account: Account | None) -> dict[int, object]:
        """Return libcurl's options for connections to *target*."""

    @abstractmethod
    def active(self, scope: Scope) -> bool:
        """Whether servers connect to us for data."""

    @abstractmethod
    def url(self, visit: Visit, path: str = "") -> str:
        """Return what libcurl is asked for, at *path* instead of the target's own if given."""

    @abstractmethod
    def folder(self, visit: Visit) -> Response | Failure:
        """List a folder as a page of links."""

    @abstractmethod
    def is_folder(self, visit: Visit, got: Exchange) -> bool:
        """Whether what could not be had as a file (*got*) is a folder; asks if need be."""

    @abstractmethod
    def trouble(self, visit: Visit, got: Exchange) -> Response | Failure:
        """Say what an exchange that failed means."""

    # -- the port ---------------------------------------------------------------------------------

    def close_idle(self) -> None:
        """Close the connections that are kept."""
        while self._idle:
            self._idle.popitem()[1][1].close()

    async def sent(
        self,
        request: Request,
        target: Target,
        scope: Scope,
        admitted: tuple[str, ...],
        account: Account | None,
    ) -> Response | Failure:
        """Ask over a kept connection, or a new one."""
        key = (f"{target.scheme}://{target.host}:{target.port}", scope.source, account, scope.verify_tls)
        line = self._line(key) or Line(
            self.limits, peer_refusal=self.gate.peer_refusal, options=self.options(target, scope, account),
            active=self.active(scope),
        )  # fmt: skip
        line.aim(admitted, scope, target.host, target.port)
        return await self._flown(key, Visit(request, target, scope, account, line))

    async def _flown(self, key: LineKey, visit: Visit) -> Response | Failure:
        line = visit.line
        self.flying.add(line)
        done = asyncio.get_running_loop().run_in_executor(self.threads, self._worked, visit)
        try:
            got = await asyncio.shield(done)
        except asyncio.CancelledError:
            line.cancel()
            done.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            raise
        finally:
            self.flying.discard(line)
        if line.cancelled:
            return Failure(visit.request.url, FailureKind.CANCELLED, "the fetcher was closed")
        self._idle[id(line)] = (key, line)
        if len(self._idle) > _IDLE:
            old = self._idle.popitem(last=False)[1][1]
            await asyncio.get_running_loop().run_in_executor(self.threads, old.close)
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

    def work(self, visit: Visit) -> Response | Failure:
        """Make the request, in a thread; ``elapsed_s`` is the caller's business."""
        return self.folder(visit) if visit.target.is_folder else self._file(visit)

    def _file(self, visit: Visit) -> Response | Failure:
        """Ask for a file: first for its size and date alone, where they can be the answer."""
        request, line, url = visit.request, visit.line, self.url(visit)
        known: Exchange | None = None
        if request.method == "HEAD" or request.etag or request.last_modified:
            known = line.run(url, most=0, body=False)
            if not known.code and request.method == "HEAD":
                return self.answer(visit, known)
            if not known.code and is_unchanged(request, *self.validators(known)):
                return self.unchanged(visit, known)
        got = (
            known
            if known is not None and known.code
            else line.run(url, most=self.most(request), cut=request.cut)
        )
        if not got.code:
            return self.answer(visit, got)
        if self.is_folder(visit, got):
            return self.plain(visit, 301, got.address, f"{request.url}/")
        return self.trouble(visit, got)

    # -- for subclasses ---------------------------------------------------------------------------

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
