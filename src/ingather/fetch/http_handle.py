"""One libcurl easy handle, set up once and used for request after request.

Everything here is said to libcurl outright, because its defaults obey the environment: no
proxy whatever the variables say, no .netrc, no cookies, no redirects, no protocol but HTTP,
no decoding, TLS verified with the original name. Two hooks hold the egress gate's verdict at
the socket: one when a connection is opened, one before each request, so that a kept
connection cannot carry a request of a source that may not go there.
"""

import socket
import ssl
from collections.abc import Callable, Sequence

import pycurl

from ingather.fetch.http_dress import Dress, Lane
from ingather.fetch.http_engine import Transfer
from ingather.fetch.http_via import direct_options, key_of, options_of
from ingather.fetch.proxies.hop import Hop, Reach
from ingather.model.scope import Scope

__all__ = ["Handle"]

_FIND = (
    b'<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/></prop></propfind>'
)
_BUFFER_BYTES = 128 * 1024
_PROTOCOLS = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS
_BACKSTOP_S = 5.0
_DNS_CACHE_S = 60

PeerCheck = Callable[[str, int, Scope, Reach | None], str]
Placing = Callable[[int], int]


class Handle(Transfer):
    """A reusable handle; ``lines`` and ``chunks`` receive head and body of the answer.

    Both are filled by C code calling ``list.append``: no Python runs for a header field.

    Args:
        user_agent: sent as it is, unless the scope has another.
        headers: sent with every request.
        peer_refusal: the egress gate's question about a peer.
        place: what becomes of a new socket; see :meth:`ingather.fetch.http_engine.Engine.place`.
        ca_file: trusted certificates instead of the system's.
        connect_s, total_s: backstops of the pace watch.
        lane: the connections that it is for; ``None`` = everybody's.
    """

    __slots__ = (
        "_ca_file",
        "_headers",
        "_hop",
        "_hop_key",
        "_method",
        "_peer_refusal",
        "_place",
        "_port",
        "_resolve",
        "_room",
        "_scope",
        "_standing",
        "_user_agent",
        "_usual_agent",
        "_verifying",
        "_wire_bytes",
        "addresses",
        "chunks",
        "cut",
        "lines",
        "refused",
        "was_cut",
    )

    def __init__(  # noqa: PLR0913 - the parts of one set-up
        self,
        *,
        user_agent: str,
        headers: list[bytes],
        peer_refusal: PeerCheck,
        place: Placing,
        ca_file: str | None,
        connect_s: float,
        total_s: float,
        lane: Lane | None = None,
    ) -> None:
        curl = pycurl.Curl()
        super().__init__(curl)
        self._peer_refusal = peer_refusal
        self._place = place
        self._standing = self._headers = headers
        self._resolve: list[str] = []
        self._verifying = True
        self._usual_agent = self._user_agent = user_agent
        self._wire_bytes = 0
        self._scope: Scope | None = None
        self._ca_file = ca_file
        self._hop: Hop | None = None
        self._hop_key: tuple[object, ...] | None = None
        self._method = "GET"
        self._port = 0
        self._room = 0
        self.addresses: tuple[str, ...] = ()
        self.refused = ""
        self.cut = self.was_cut = False
        self.lines: list[bytes] = []
        self.chunks: list[bytes] = []
        for option, value in (
            (pycurl.PROTOCOLS, _PROTOCOLS),
            (pycurl.REDIR_PROTOCOLS, _PROTOCOLS),
            (pycurl.FOLLOWLOCATION, 0),
            (pycurl.PROXY, ""),
            (pycurl.NOPROXY, "*"),
            (pycurl.NETRC, pycurl.NETRC_IGNORED),
            (pycurl.UNRESTRICTED_AUTH, 0),
            (pycurl.HTTP_CONTENT_DECODING, 0),
            (pycurl.HTTP_TRANSFER_DECODING, 1),
            (pycurl.HTTP09_ALLOWED, 0),
            (pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS),
            (pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_2),
            (pycurl.SSL_VERIFYPEER, 1),
            (pycurl.SSL_VERIFYHOST, 2),
            (pycurl.PATH_AS_IS, 1),
            (pycurl.NOSIGNAL, 1),
            (pycurl.BUFFERSIZE, _BUFFER_BYTES),
            (pycurl.DNS_CACHE_TIMEOUT, _DNS_CACHE_S),
            (pycurl.CONNECTTIMEOUT_MS, int((connect_s + _BACKSTOP_S) * 1000)),
            (pycurl.TIMEOUT_MS, int((total_s + _BACKSTOP_S) * 1000)),
            (pycurl.USERAGENT, user_agent),
            (pycurl.HTTPHEADER, headers),
            (pycurl.OPENSOCKETFUNCTION, self._open_socket),
            (pycurl.PREREQFUNCTION, self._before_request),
            (pycurl.HEADERFUNCTION, self.lines.append),
            (pycurl.WRITEFUNCTION, self.chunks.append),
        ):
            curl.setopt(option, value)
        if ca_file is not None:
            curl.setopt(pycurl.CAINFO, ca_file)
        if lane is not None:
            _put_in(curl, lane)

    def aim(  # noqa: PLR0913 - what one request consists of
        self,
        url: str,
        host: str,
        port: int,
        addresses: tuple[str, ...],
        scope: Scope,
        *,
        wire_bytes: int,
        cut: bool = False,
    ) -> None:
        """Point the handle at *url*, which is reached at *addresses* only.

        *wire_bytes* 0 = no limit; with *cut* the body is cut there and the transfer is no failure.
        """
        curl = self.curl
        curl.setopt(pycurl.URL, url)
        if addresses[0] != host and host[0] != "[":
            literals = ",".join([f"[{text}]" if ":" in text else text for text in addresses])
            resolve = [f"+{host}:{port}:{literals}"]
        else:
            resolve = []
        if resolve != self._resolve:
            curl.setopt(pycurl.RESOLVE, resolve)
            self._resolve = resolve
        if scope.verify_tls is not self._verifying:
            self._verifying = scope.verify_tls
            curl.setopt(pycurl.SSL_VERIFYPEER, int(self._verifying))
            curl.setopt(pycurl.SSL_VERIFYHOST, 2 if self._verifying else 0)
        agent = scope.user_agent or self._usual_agent
        if agent != self._user_agent:
            self._user_agent = agent
            curl.setopt(pycurl.USERAGENT, agent)
        limit = 0 if cut else wire_bytes
        if limit != self._wire_bytes:
            curl.setopt(pycurl.MAXFILESIZE_LARGE, limit)
            self._wire_bytes = limit
        if cut is not self.cut:
            self.cut = cut
            curl.setopt(pycurl.WRITEFUNCTION, self._take if cut else self.chunks.append)
        self._room = wire_bytes
        self._scope = scope
        self._port = port
        self.addresses = addresses
        self.refused = ""
        self.was_cut = False

    def route(self, hop: Hop | None) -> None:
        """Let the next request go through *hop*, or directly; :meth:`aim` is then given the proxy's host, port and addresses."""
        self._hop = hop
        key = None if hop is None else key_of(hop)
        if key != self._hop_key:
            for option, value in direct_options() if hop is None else options_of(hop, self._ca_file):
                self.curl.setopt(option, value)
            self._hop_key = key

    def send(self, extra: Sequence[bytes]) -> None:
        """Send *extra* header lines with the next request, beside the standing ones."""
        if extra or self._headers is not self._standing:
            self._headers = [*self._standing, *extra] if extra else self._standing
            self.curl.setopt(pycurl.HTTPHEADER, self._headers)

    def ask(self, method: str, body: bytes | None = None) -> None:
        """Let the next request be GET, HEAD or PROPFIND, for what a folder holds; with *body* it is POST."""
        method = method if body is None else "POST"
        if method == self._method and body is None:
            return
        curl = self.curl
        if self._method == "PROPFIND":
            curl.unsetopt(pycurl.CUSTOMREQUEST)
        if self._method != "GET":
            curl.setopt(pycurl.HTTPGET, 1)
        self._method = method
        if method == "HEAD":
            curl.setopt(pycurl.NOBODY, 1)
        elif method == "PROPFIND":
            curl.setopt(pycurl.CUSTOMREQUEST, method)
        if method in {"POST", "PROPFIND"}:
            curl.setopt(pycurl.POSTFIELDS, _FIND if body is None else body)

    def tell(self, dress: Dress) -> None:
        """Write into *dress* what it wants to know of the connection."""
        dress.opened = int(self.curl.getinfo(pycurl.NUM_CONNECTS))
        if dress.lane is not None and dress.lane.single:
            dress.peer = _first_certificate(self.curl)

    def clear(self) -> None:
        """Forget the answer; the next request may come."""
        self.lines.clear()
        self.chunks.clear()

    def close(self) -> None:
        """Release the handle; it may not be in flight."""
        self.curl.close()

    def _open_socket(self, purpose: int, address: tuple[int, int, int, tuple[object, ...]]) -> int:
        family, kind, protocol, place = address
        if purpose != pycurl.SOCKTYPE_IPCXN or family not in {socket.AF_INET, socket.AF_INET6}:
            self.refused = "a socket that is not IP was asked for"
        elif str(place[0]) not in self.addresses:
            self.refused = f"{place[0]} is not an address that was checked"
        else:
            # An int: a socket object would be duplicated and dropped, with a warning each time.
            self.fd = self._place(socket.socket(family, kind, protocol).detach())
            return self.fd
        return pycurl.SOCKET_BAD

    def _before_request(self, address: str, _local: str, port: int, _local_port: int) -> int:
        scope, hop = self._scope, self._hop
        where = None if hop is None else hop.reach
        self.refused = "no scope" if scope is None else self._peer_refusal(address, port, scope, where)
        return pycurl.PREREQFUNC_ABORT if self.refused else pycurl.PREREQFUNC_OK

    def _take(self, data: bytes) -> int:
        """Keep what there is room for; a short count ends the transfer."""
        if len(data) <= self._room:
            self._room -= len(data)
            self.chunks.append(data)
            return len(data)
        self.chunks.append(data[: self._room])
        self.was_cut = True
        return 0


def _put_in(curl: pycurl.Curl, lane: Lane) -> None:
    if lane.single:
        curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        curl.setopt(pycurl.OPT_CERTINFO, 1)
    if lane.certificate:
        curl.setopt(pycurl.SSLCERT, lane.certificate)
        curl.setopt(pycurl.SSLKEY, lane.key)
        curl.setopt(pycurl.KEYPASSWD, lane.passphrase)  # always said: else OpenSSL would ask at a terminal


def _first_certificate(curl: pycurl.Curl) -> bytes:
    """Return the host's own certificate in DER, empty if it showed none."""
    for certificate in curl.getinfo(pycurl.INFO_CERTINFO) or ():
        for name, value in certificate:
            if name == "Cert":
                return ssl.PEM_cert_to_DER_cert(value)
    return b""
