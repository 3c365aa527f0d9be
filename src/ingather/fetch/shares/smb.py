"""The fetcher for smb: folders of shares as pages of links, files with size and date, over SMB 2 and 3."""

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from email.utils import formatdate
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote_to_bytes

from ingather.fetch.limits import Limits
from ingather.fetch.shares.account import Account, Target
from ingather.fetch.shares.file_server import ServerFetcher, described, is_unchanged
from ingather.fetch.shares.listing import listing_response
from ingather.model.resource import LISTING_ENTRIES, Failure, FailureKind, Request, Response
from ingather.model.scope import Scope

if TYPE_CHECKING:
    from ingather.fetch.shares.smb_line import Found, SmbLine

__all__ = ["MISSING", "SmbFetcher", "has_smb"]

MISSING: Final = "smb needs a package that is not installed: pip install 'ingather[smb]'"
_IDLE: Final = 8
_FRESH_S: Final = 2.0
_MOST_NAMES: Final = 2 * LISTING_ENTRIES
_CUT_TO: Final = 1 << 30
_NOT_IN_NAMES: Final = frozenset('\\:*?"<>|')
_ABSENT: Final = frozenset(
    {0xC000000F, 0xC0000033, 0xC0000034, 0xC0000039, 0xC000003A, 0xC000003B, 0xC0000056, 0xC0000103, 0xC0000225}
)  # fmt: skip
"""No such file; a name that is none, or not found; its path; deleted by now; no folder; not found."""
_DENIED: Final = frozenset({0xC0000022, 0x8000002D, 0xC0000257, 0xC0000279})
"""Access denied; stopped at a link; not of this server (DFS); a kind of link that it does not know."""
_BUSY: Final = frozenset({0xC0000043, 0xC0000054, 0xC000009A, 0xC00000D0})
"""Somebody has it open for himself; a lock; too few resources; too many sessions."""
_ENDED: Final = frozenset({0xC0000203, 0xC000035C, 0xC00000C9})
"""The session is gone or has expired; the share was taken away."""
_NO_SHARE: Final = frozenset({0xC00000CC, 0xC00000BE})
_IS_FOLDER: Final = 0xC00000BA

LineKey = tuple[str, int, str, Account | None]


def has_smb() -> bool:
    """Whether what speaks SMB is installed."""
    return find_spec("smbprotocol") is not None


@dataclass(eq=False, slots=True)
class _Visit:
    """One request on its way, in its thread.

    Attributes:
        line: the connection that it uses, once it is logged in.
        sock: of a new connection.
        ended: nobody waits for it any more.
    """

    request: Request
    target: Target
    scope: Scope
    admitted: tuple[str, ...]
    account: Account | None
    line: "SmbLine | None" = None
    sock: socket.socket | None = None
    address: str = ""
    ended: bool = False

    def cancel(self) -> None:
        self.ended = True
        if self.line is not None:
            self.line.cancel()
        elif self.sock is not None:  # on its way in
            with suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)


class _Answered(Exception):  # noqa: N818 - a value that travels up, never out of the file
    def __init__(self, answer: Response | Failure) -> None:
        super().__init__()
        self.answer = answer


class SmbFetcher(ServerFetcher):
    """Asks for ``smb://server/share/path``. Everything it answers is ``authorized``.

    Args:
        limits: see :class:`ServerFetcher`, as for *parts*.
        guest: whether a source asks as a guest where there is no account.
        max_connections: requests at once; more wait.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        guest: Callable[[str], bool] = lambda _: False,
        max_connections: int = 8,
        **parts: Any,
    ) -> None:
        super().__init__(limits, max_connections=max_connections, **parts)
        self._guest = guest
        self._idle: OrderedDict[int, tuple[LineKey, str, SmbLine]] = OrderedDict()

    def refused(self, target: Target, scope: Scope, account: Account | None) -> Response | Failure | None:
        """Answer without asking: what is no file of a share, and 401 when there is neither account nor leave to be a guest."""
        url = f"smb://{target.host}{'' if target.port == 445 else f':{target.port}'}{target.path}"  # noqa: PLR2004 - smb
        if not has_smb():
            return Failure(url, FailureKind.INTERNAL, MISSING)
        if target.path == "/":
            detail = f"shares are not listed: begin with {url}SHARE/"
            return Failure(url, FailureKind.PROTOCOL, detail)
        names = _names(target)
        if names is None or names[0].upper() == "IPC$":
            return Response(url, 404, authorized=True)
        if len(names) == 1 and not target.is_folder:
            return Response(url, 301, (("Location", f"{url}/"),), authorized=True)
        if account is None and not self._guest(scope.source):
            return Response(url, 401, authorized=True)
        return None

    def close_idle(self) -> None:
        """Close the connections that are kept."""
        while self._idle:
            self._idle.popitem()[1][2].close()

    async def sent(
        self,
        request: Request,
        target: Target,
        scope: Scope,
        admitted: tuple[str, ...],
        account: Account | None,
    ) -> Response | Failure:
        """Ask in a thread, over a kept connection or a new one, for no longer than the limit."""
        if account is None and not self._guest(scope.source):
            return Response(request.url, 401, authorized=True)
        key = (target.host, target.port, scope.source, account)
        visit = _Visit(request, target, scope, admitted, account)
        self._take(key, visit)
        self.flying.add(visit)
        loop = asyncio.get_running_loop()
        done = loop.run_in_executor(self.threads, self._worked, visit)
        try:
            async with asyncio.timeout(self.limits.total_s):
                got = await asyncio.shield(done)
        except (TimeoutError, asyncio.CancelledError) as error:
            visit.cancel()
            done.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            if isinstance(error, asyncio.CancelledError):
                raise
            return Failure(
                request.url, FailureKind.TOTAL_TIMEOUT, f"no end within {self.limits.total_s:g} s", visit.address
            )  # fmt: skip
        finally:
            self.flying.discard(visit)
        if visit.ended:
            return Failure(request.url, FailureKind.CANCELLED, "the fetcher was closed")
        if visit.line is not None:
            self._idle[id(visit.line)] = (key, visit.address, visit.line)
            if len(self._idle) > _IDLE:
                old = self._idle.popitem(last=False)[1][2]
                await loop.run_in_executor(self.threads, old.close)
        return got

    def _take(self, key: LineKey, visit: _Visit) -> None:
        """Give *visit* a kept connection to an address where it may go."""
        for number, (known, address, line) in reversed(self._idle.items()):
            if known == key and address in visit.admitted:
                if not self.gate.peer_refusal(address, key[1], visit.scope):
                    del self._idle[number]
                    visit.line, visit.address = line, address
                return

    # -- in the thread ----------------------------------------------------------------------------

    def _worked(self, visit: _Visit) -> Response | Failure:
        """Do the work; a kept connection that has ended meanwhile is replaced once. A line that failed is closed here."""
        from ingather.fetch.shares.smb_line import SmbClosedError, SmbRefusedError

        got: Response | Failure
        keep, kept = False, visit.line is not None
        try:
            try:
                got = self._asked_of(visit)
            except SmbClosedError:
                if not kept or visit.ended:
                    raise
                self._drop(visit)
                got = self._asked_of(visit)
            keep = True
        except _Answered as early:
            got = early.answer
        except SmbRefusedError:
            got = Response(visit.request.url, 401, address=visit.address, authorized=True)
        except SmbClosedError as error:
            got = Failure(visit.request.url, FailureKind.CLOSED, str(error), visit.address)
        finally:
            if not keep or visit.ended:
                self._drop(visit)
        return got

    def _drop(self, visit: _Visit) -> None:
        line, visit.line = visit.line, None
        if line is not None:
            line.close()

    def _asked_of(self, visit: _Visit) -> Response | Failure:
        from ingather.fetch.shares.smb_line import SmbClosedError, SmbStatusError

        if visit.line is None:
            self._connect(visit)
        line, names = visit.line, _names(visit.target)
        if line is None or names is None or visit.ended:
            raise SmbClosedError("nobody waits for it any more")
        try:
            found = line.opened(names[0], "\\".join(names[1:]), folder=visit.target.is_folder)
            try:
                return (
                    self._folder(visit, line, found)
                    if visit.target.is_folder
                    else self._file(visit, line, found)
                )
            finally:
                line.closed(found)
        except SmbStatusError as error:
            if error.status in _ENDED:
                raise SmbClosedError(str(error)) from None
            return self._said(visit, error.status, names[0])

    def _connect(self, visit: _Visit) -> None:
        from ingather.fetch.shares.smb_line import SmbLine

        target, scope, url = visit.target, visit.scope, visit.request.url
        trouble = Failure(url, FailureKind.CONNECT, "no address")
        for address in visit.admitted:
            visit.address = address
            try:
                sock = socket.create_connection((address, target.port), timeout=self.limits.connect_s)
            except TimeoutError:
                detail = f"no connection to {address} within {self.limits.connect_s:g} s"
                trouble = Failure(url, FailureKind.CONNECT_TIMEOUT, detail, address)
                continue
            except OSError as error:
                detail = f"{address} port {target.port}: {error.strerror}"
                trouble = Failure(url, FailureKind.CONNECT, detail, address)
                continue
            sock.settimeout(None)
            refused = self._peer_refusal(sock, visit.admitted, target.port, scope)
            if refused:
                sock.close()
                raise _Answered(Failure(url, FailureKind.EGRESS, refused, address))
            visit.sock = sock
            if visit.ended:
                sock.close()
                return
            wait_s = self.limits.first_byte_s
            visit.line = SmbLine(sock, target.host.strip("[]"), target.port, visit.account, wait_s)
            return
        raise _Answered(trouble)

    def _peer_refusal(self, sock: socket.socket, admitted: tuple[str, ...], port: int, scope: Scope) -> str:
        """Say why nothing may be sent over *sock*; ``""`` when it may."""
        peer = "nobody"
        with suppress(OSError):
            peer = str(sock.getpeername()[0])
        if peer not in admitted:
            return f"{peer} is not an address that was checked"
        return self.gate.peer_refusal(peer, port, scope)

    def _folder(self, visit: _Visit, line: "SmbLine", found: "Found") -> Response:
        entries = [
            entry for entry in islice(line.entries(found), _MOST_NAMES) if not _NOT_IN_NAMES & set(entry.name)
        ]
        answer = listing_response(visit.request, entries, address=visit.address, authorized=True)
        return replace(answer, cut=True) if len(entries) >= _MOST_NAMES else answer

    def _file(self, visit: _Visit, line: "SmbLine", found: "Found") -> Response | Failure:
        request, address = visit.request, visit.address
        etag, modified = self._validators(found)
        if is_unchanged(request, etag, modified):
            return Response(
                request.url, 304, described(None, -1, etag, modified), address=address, authorized=True
            )
        most = self.most(request)
        if most and found.size > most and not request.cut:
            detail = f"{found.size} bytes, more than {most}"
            return Failure(request.url, FailureKind.TOO_LARGE, detail, address)
        body, cut, size = b"", False, found.size
        if request.method == "GET":
            body, cut = line.content(found, most or _CUT_TO)
            if cut and not request.cut:
                return Failure(
                    request.url, FailureKind.TOO_LARGE, f"more than {most or _CUT_TO} bytes", address
                )
            if not cut and len(body) != size:  # somebody writes
                etag, modified, size = "", "", len(body)
        fields = described(self.type_of(visit.target.name), size, etag, modified)
        return Response(
            request.url, 200, fields, body, len(body), address=address, cut=cut, authorized=True
        )  # fmt: skip

    def _validators(self, found: "Found") -> tuple[str, str]:
        """Return (etag, last-modified); none for what changed a moment ago and may do so again within the same tick."""
        at_s = found.modified_s
        if at_s is None or abs(self.clock.wall() - at_s) < _FRESH_S:
            return "", ""
        return f'"{found.size:x}-{round(at_s * 1_000_000):x}"', formatdate(int(at_s), usegmt=True)

    def _said(self, visit: _Visit, status: int, share: str) -> Response | Failure:
        url, address = visit.request.url, visit.address
        for statuses, code in ((_ABSENT, 404), (_DENIED, 403), (_BUSY, 503)):
            if status in statuses:
                return Response(url, code, address=address, authorized=True)
        if status == _IS_FOLDER:
            return Response(url, 301, (("Location", f"{url}/"),), address=address, authorized=True)
        if status in _NO_SHARE:  # that says nothing of any file
            return Failure(url, FailureKind.CLOSED, f"there is no share {share} now", address)
        return Failure(url, FailureKind.PROTOCOL, f"the server says NTSTATUS 0x{status:08x}", address)


def _names(target: Target) -> list[str] | None:
    """Return share and names of a path, ``None`` when one cannot be a name on a share (streams, patterns, bytes that are no text)."""
    try:
        names = [unquote_to_bytes(part).decode() for part in target.path.strip("/").split("/")]
    except UnicodeDecodeError:
        return None
    return names if all(name and not _NOT_IN_NAMES & set(name) for name in names) else None
