"""Connections to servers of files (ftp, sftp): one libcurl handle each, used by one thread at a time.

libcurl's farewell to such a server and some steps of libssh2 block. So these transfers run in threads of their own and
not on the event loop: a server that keeps silent holds one thread for a bounded time and nothing else. What holds of http
holds here: nothing of the environment, no proxy, no .netrc, TLS verified with the original name, addresses that were
checked, and the egress gate's verdict at every socket, those of data included.
"""

import os
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import pycurl

from ingather.fetch.limits import Limits
from ingather.model.resource import FailureKind
from ingather.model.scope import Scope

__all__ = ["Exchange", "Line", "PeerCheck"]

PeerCheck = Callable[[str, int, Scope], str]

_OPEN_LINES: Final = 1
_DEFAULTS: Final = (
    (pycurl.PROXY, ""),
    (pycurl.NOPROXY, "*"),
    (pycurl.NETRC, pycurl.NETRC_IGNORED),
    (pycurl.FOLLOWLOCATION, 0),
    (pycurl.NOSIGNAL, 1),
    (pycurl.NOPROGRESS, 0),
    (pycurl.OPT_FILETIME, 1),
    (pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_2),
    (pycurl.MAXCONNECTS, _OPEN_LINES),
)
_TOO_SLOW: Final = "too slow"
_NOT_IN: Final = frozenset({0, 220, 331})
"""Replies before a login has ended; ssh has none."""


@dataclass(slots=True)
class Exchange:
    """What one transfer gave.

    Attributes:
        code: libcurl's, 0 = done.
        message: libcurl's own sentence.
        reply: last reply code of an FTP server, 0 = none.
        lines: reply lines of an FTP server.
        body: as it came; *cut*: it goes on.
        size, mtime_s: of the file as the server says, -1 = it does not.
        address: peer.
    """

    code: int
    message: str = ""
    reply: int = 0
    lines: list[bytes] = field(default_factory=list)
    body: bytes = b""
    cut: bool = False
    size: int = -1
    mtime_s: int = -1
    address: str = ""


class Line:
    """A handle with at most one connection kept.

    Args:
        limits: what one transfer may cost.
        peer_refusal: the egress gate's question about a peer.
        options: of every transfer: protocols, credentials, TLS.
        active: the server connects to us for data.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        peer_refusal: PeerCheck,
        options: Mapping[int, object],
        active: bool = False,
    ) -> None:
        self._limits = limits
        self._peer_refusal = peer_refusal
        self._active = active
        self._scope: Scope | None = None
        self._addresses: tuple[str, ...] = ()
        self._sockets: set[int] = set()
        self._lock = threading.Lock()
        self._cancelled = False
        self._room = 0
        self._chunks: list[bytes] = []
        self._cut = False
        self.refused = ""
        curl = self._curl = pycurl.Curl()
        for option, value in (
            *_DEFAULTS,
            (pycurl.CONNECTTIMEOUT_MS, _ms(limits.connect_s + limits.tls_s)),
            (pycurl.TIMEOUT_MS, _ms(limits.total_s)),
            (pycurl.FTP_RESPONSE_TIMEOUT, _seconds(limits.first_byte_s)),
            (pycurl.LOW_SPEED_LIMIT, limits.min_rate_bytes_s),
            (pycurl.LOW_SPEED_TIME, _seconds(limits.rate_window_s)),
            (pycurl.OPENSOCKETFUNCTION, self._open_socket),
            (pycurl.CLOSESOCKETFUNCTION, self._close_socket),
            (pycurl.SOCKOPTFUNCTION, self._socket_made),
            (pycurl.PREREQFUNCTION, self._before_request),
            (pycurl.XFERINFOFUNCTION, self._progress),
            (pycurl.WRITEFUNCTION, self._take),
            *options.items(),
        ):
            curl.setopt(option, value)

    def aim(self, addresses: tuple[str, ...], scope: Scope, host: str, port: int) -> None:
        """Let the next transfers reach *host* at *addresses* only, for *scope*."""
        self._addresses, self._scope = addresses, scope
        literals = ",".join([f"[{text}]" if ":" in text else text for text in addresses])
        named = addresses[0] != host and host[:1] != "["
        self._curl.setopt(pycurl.RESOLVE, [f"+{host}:{port}:{literals}"] if named else [])
        self._curl.setopt(pycurl.SSL_VERIFYPEER, int(scope.verify_tls))
        self._curl.setopt(pycurl.SSL_VERIFYHOST, 2 if scope.verify_tls else 0)

    def run(
        self, url: str, *, most: int, body: bool = True, cut: bool = False, command: str = ""
    ) -> Exchange:
        """Make one transfer; blocks, within the limits.

        Args:
            url: as libcurl takes it.
            most: bytes that are taken, 0 = any number.
            body: whether the content is wanted, or only what is known of it.
            cut: more than *most* is cut off, and no failure.
            command: what an FTP server is asked with for a folder.
        """
        curl = self._curl
        self.refused, self._cut, self._chunks, self._room = "", False, [], most or 1 << 62
        lines: list[bytes] = []
        curl.setopt(pycurl.HEADERFUNCTION, lines.append)
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.NOBODY, 0 if body else 1)
        curl.setopt(pycurl.MAXFILESIZE_LARGE, 0 if cut else most)
        if command:
            curl.setopt(pycurl.CUSTOMREQUEST, command)
        else:
            curl.unsetopt(pycurl.CUSTOMREQUEST)
        code, message = 0, ""
        try:
            if self._cancelled:
                return Exchange(pycurl.E_ABORTED_BY_CALLBACK, "cancelled")
            curl.perform()
        except pycurl.error as error:
            code, message = int(error.args[0]), str(error.args[1] if len(error.args) > 1 else "")
        if self._cut and code in {pycurl.E_WRITE_ERROR, pycurl.E_FILESIZE_EXCEEDED} and cut:
            code, message = 0, ""
        return Exchange(
            code, message, int(curl.getinfo(pycurl.RESPONSE_CODE)), lines, b"".join(self._chunks), self._cut,
            int(curl.getinfo(pycurl.CONTENT_LENGTH_DOWNLOAD_T)), int(curl.getinfo(pycurl.INFO_FILETIME)),
            str(curl.getinfo(pycurl.PRIMARY_IP) or ""),
        )  # fmt: skip

    def late(self, exchange: Exchange) -> tuple[FailureKind, str]:
        """Name the limit behind a transfer that took too long."""
        limits = self._limits
        if _TOO_SLOW in exchange.message.lower():
            return FailureKind.TOO_SLOW, exchange.message
        if not self._curl.getinfo(pycurl.CONNECT_TIME):
            return FailureKind.CONNECT_TIMEOUT, f"no connection within {limits.connect_s + limits.tls_s:g} s"
        if self._curl.getinfo(pycurl.TOTAL_TIME) >= limits.total_s:
            return FailureKind.TOTAL_TIMEOUT, f"no end within {limits.total_s:g} s"
        if exchange.reply in _NOT_IN and exchange.mtime_s < 0 and not exchange.body:
            return FailureKind.CONNECT_TIMEOUT, "connected, and no greeting or login in time"
        return FailureKind.FIRST_BYTE_TIMEOUT, f"no reply within {limits.first_byte_s:g} s"

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for it any more."""
        return self._cancelled

    def cancel(self) -> None:
        """End what is under way; any thread may say so. The handle is closed by the thread that uses it."""
        self._cancelled = True
        with self._lock:
            for fd in self._sockets:
                _hang_up(fd)

    def close(self) -> None:
        """Close the connection without waiting for a farewell; not while a transfer runs."""
        self.cancel()
        self._curl.close()

    # -- at the socket ----------------------------------------------------------------------------

    def _open_socket(self, purpose: int, address: tuple[int, int, int, tuple[object, ...]]) -> int:
        family, kind, protocol, place = address
        peer, port = str(place[0]), int(str(place[1]))
        if family not in {socket.AF_INET, socket.AF_INET6}:
            self.refused = "a socket that is not IP was asked for"
        elif not self._listens(peer, port):
            if peer not in self._addresses or purpose != pycurl.SOCKTYPE_IPCXN:
                self.refused = f"{peer} is not an address that was checked"
            else:
                self.refused = self._refusal(peer, port)
        if self.refused or self._cancelled:
            return int(pycurl.SOCKET_BAD)
        fd = socket.socket(family, kind, protocol).detach()
        with self._lock:
            self._sockets.add(fd)
        return fd

    def _listens(self, address: str, port: int) -> bool:
        """Whether a socket is ours, for a server that is to connect to us: at our end of the connection to it."""
        if not self._active or port or not self._sockets:
            return False
        return any(_own_end(fd) == address for fd in self._sockets)

    def _close_socket(self, fd: int) -> int:
        with self._lock:
            self._sockets.discard(fd)
            os.close(fd)
        return 0

    def _socket_made(self, given: "int | socket.socket", purpose: int) -> int:
        """Refuse a connection that somebody else than the server made to us."""
        if purpose == pycurl.SOCKTYPE_ACCEPT:
            peer = _other_end(given if isinstance(given, int) else given.fileno())
            if peer not in self._addresses:
                self.refused = f"{peer or 'somebody'} connected in place of the server"
                return int(pycurl.SOCKOPT_ERROR)
        return int(pycurl.SOCKOPT_OK)

    def _before_request(self, address: str, _local: str, port: int, _local_port: int) -> int:
        self.refused = self._refusal(address, port)
        return int(pycurl.PREREQFUNC_ABORT if self.refused else pycurl.PREREQFUNC_OK)

    def _refusal(self, address: str, port: int) -> str:
        return "no scope" if self._scope is None else self._peer_refusal(address, port, self._scope)

    # -- on the way -------------------------------------------------------------------------------

    def _progress(self, *_figures: int) -> int:
        return int(self._cancelled)

    def _take(self, data: bytes) -> int:
        """Keep what there is room for; a short count ends the transfer."""
        if len(data) <= self._room:
            self._room -= len(data)
            self._chunks.append(data)
            return len(data)
        self._chunks.append(data[: self._room])
        self._cut = True
        return 0


def _ms(seconds: float) -> int:
    return max(1, int(seconds * 1000))


def _seconds(value: float) -> int:
    return max(1, round(value))


def _borrowed(fd: int) -> socket.socket | None:
    try:
        return socket.socket(fileno=fd)
    except OSError:
        return None


def _hang_up(fd: int) -> None:
    borrowed = _borrowed(fd)
    if borrowed is None:
        return
    try:
        borrowed.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    finally:
        borrowed.detach()


def _own_end(fd: int) -> str:
    return _end(fd, peer=False)


def _other_end(fd: int) -> str:
    return _end(fd, peer=True)


def _end(fd: int, *, peer: bool) -> str:
    borrowed = _borrowed(fd)
    if borrowed is None:
        return ""
    try:
        return str((borrowed.getpeername() if peer else borrowed.getsockname())[0])
    except OSError:
        return ""
    finally:
        borrowed.detach()
