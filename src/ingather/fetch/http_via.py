"""libcurl through a proxy: its options, and what an answer says of the proxy.

Headers for a proxy are apart from those for the host, so that neither sees the other's credentials; the head that answers CONNECT never
comes among the lines of the response.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pycurl

from ingather.fetch.egress import Refusal
from ingather.fetch.proxies.hop import Hop
from ingather.model.resource import Failure, FailureKind, Response

__all__ = ["direct_options", "judged", "key_of", "options_of", "refused"]

_SUPPRESS_CONNECT_HEADERS: Final = 265
"""CURLOPT_SUPPRESS_CONNECT_HEADERS, which pycurl has no name for."""
_REMOTE: Final = {"socks4": "socks4a", "socks5": "socks5h"}
"""Kinds that would have us resolve names: the proxy does."""
_DIRECT_PROTOCOLS: Final = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS
_E_PROXY: Final = 97
_SOCKS_LOGIN: Final = frozenset({12, 33})
"""CURLPX_NO_AUTH, CURLPX_USER_REJECTED."""
_SOCKS_TARGET: Final = range(17, 27)
"""CURLPX_REPLY_...: the proxy answers that it cannot reach the host."""
_LOGIN: Final = 407
_OK: Final = range(200, 300)
_GATEWAY: Final = frozenset({502, 503, 504})


def key_of(hop: Hop) -> tuple[object, ...]:
    """Return what a handle is set up for: with the same key nothing has to be said again."""
    return hop.proxy, hop.login, hop.ca_file


def options_of(hop: Hop, ca_file: str | None) -> Iterator[tuple[int, object]]:
    """Give libcurl's options for *hop*; *ca_file* is what hosts are believed by."""
    user, password = hop.login or ("", "")
    # ftp: is allowed through an HTTP proxy alone, which speaks HTTP to us.
    ftp = pycurl.PROTO_FTP if hop.proxy.kind in {"http", "https"} else 0
    yield pycurl.PROTOCOLS, _DIRECT_PROTOCOLS | ftp
    yield pycurl.NOPROXY, ""
    # Its scheme says the type; without one libcurl would go by the last that was set.
    yield pycurl.PROXY, str(replace(hop.proxy, kind=_REMOTE.get(hop.proxy.kind, hop.proxy.kind)))
    yield pycurl.PROXYAUTH, pycurl.HTTPAUTH_BASIC | pycurl.HTTPAUTH_DIGEST
    yield pycurl.PROXYUSERNAME, user.encode()
    yield pycurl.PROXYPASSWORD, password.encode()
    yield pycurl.HEADEROPT, pycurl.HEADER_SEPARATE
    yield _SUPPRESS_CONNECT_HEADERS, 1
    yield pycurl.PROXY_SSL_VERIFYPEER, 1
    yield pycurl.PROXY_SSL_VERIFYHOST, 2
    if authority := hop.ca_file or ca_file:
        yield pycurl.PROXY_CAINFO, authority


def direct_options() -> Iterator[tuple[int, object]]:
    """Give libcurl's options for no proxy at all, after one was used."""
    yield pycurl.PROTOCOLS, _DIRECT_PROTOCOLS
    yield pycurl.PROXY, ""
    yield pycurl.NOPROXY, "*"
    yield pycurl.PROXYUSERNAME, b""
    yield pycurl.PROXYPASSWORD, b""


def judged(
    answer: Response | Failure, hop: Hop, curl: pycurl.Curl, code: int, *, began: bool
) -> Response | Failure:
    """Return *answer* with the proxy named where it failed, and mark *hop* where the fault is the proxy's own.

    Args:
        answer: as if there were no proxy.
        hop: the way.
        curl: the handle, before its next request.
        code: libcurl's.
        began: a response had begun.
    """
    told = int(curl.getinfo(pycurl.HTTP_CONNECTCODE) or 0)
    if isinstance(answer, Response):
        tunnels = hop.proxy.kind.startswith("socks") or answer.url[:6].lower() == "https:"
        refused = answer.status == _LOGIN and not tunnels
        hop.spoke = "" if tunnels else _own_words(answer)
        # The address is the proxy's, not the host's.
        return (
            _failure(answer, FailureKind.PROXY_LOGIN, hop, _wants(hop))
            if refused
            else replace(answer, address="")
        )
    if told and told not in _OK:
        if told == _LOGIN:
            return _failure(answer, FailureKind.PROXY_LOGIN, hop, _wants(hop))
        return _failure(answer, FailureKind.PROXY, hop, f"it answers {told} to CONNECT")
    if code == _E_PROXY:
        return _socks(answer, hop, int(curl.getinfo(pycurl.PROXY_ERROR)))
    hop.failed = _is_its_own(answer, hop, curl, code, reached=bool(told) or began)
    through = f"{answer.detail} (through {hop})".lstrip()
    return (
        _failure(answer, FailureKind.PROXY, hop, answer.detail)
        if hop.failed
        else replace(answer, detail=through, address="")
    )


def refused(url: str, refusal: Refusal, hop: Hop | None, spent_s: float) -> Failure:
    """Return the failure of a request that the gate refused; that of a proxy marks *hop*."""
    if hop is None or refusal.kind is not FailureKind.PROXY:
        return Failure(url, refusal.kind, refusal.detail, elapsed_s=spent_s)
    hop.failed = True
    return Failure(url, FailureKind.PROXY, f"{hop}: {refusal.detail}", elapsed_s=spent_s)


def _is_its_own(answer: Failure, hop: Hop, curl: pycurl.Curl, code: int, *, reached: bool) -> bool:
    """Whether nothing but the proxy can have failed: the connection to it, or what comes before a tunnel."""
    if reached or not (code > 0 or code == -1):
        return False
    if (
        answer.kind in {FailureKind.CONNECT, FailureKind.CONNECT_TIMEOUT}
        or code == pycurl.E_COULDNT_RESOLVE_PROXY
    ):
        return True
    if hop.proxy.kind.startswith("socks") or not curl.getinfo(pycurl.NUM_CONNECTS):  # a kept tunnel broke
        return False
    return answer.kind in {FailureKind.TLS, FailureKind.TLS_TIMEOUT, FailureKind.CLOSED}


def _socks(answer: Failure, hop: Hop, error: int) -> Failure:
    kind = FailureKind.PROXY_LOGIN if error in _SOCKS_LOGIN else FailureKind.PROXY
    hop.failed = error not in _SOCKS_LOGIN and error not in _SOCKS_TARGET
    return _failure(answer, kind, hop, answer.detail)


def _own_words(answer: Response) -> str:
    """Return what tells that a proxy made *answer*, a 502, 503 or 504, by itself; most proxies do not tell.

    Squid names its error; ``Proxy-Status`` (RFC 9209) has its last member from the proxy next to us, with ``error`` where it made the
    answer, and ``received-status`` where it passes on the host's.
    """
    if answer.status not in _GATEWAY:
        return ""
    squid = answer.header("x-squid-error")
    if squid:
        return squid
    said = answer.header("proxy-status").rpartition(",")[2].lower()
    return said.strip() if "error=" in said and "received-status=" not in said else ""


def _wants(hop: Hop) -> str:
    return "it refuses our user and password (407)" if hop.login else "it wants a user and password (407)"


def _failure(answer: Response | Failure, kind: FailureKind, hop: Hop, what: str) -> Failure:
    return Failure(answer.url, kind, f"{hop}: {what}", elapsed_s=answer.elapsed_s)
