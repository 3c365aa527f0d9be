"""What asking for a URL gave: a response or a typed failure. Both are values."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

__all__ = ["LISTING_ENTRIES", "Failure", "FailureKind", "Request", "Response", "Way"]

LISTING_ENTRIES: Final = 20_000
"""So many entries of a folder are followed: as many links as any page may hold."""


class FailureKind(StrEnum):
    """Every way in which a fetch can fail; documented in ``docs/reference/outcomes.md``."""

    EGRESS = "refused-address"
    """The egress gate refused the scheme, port or a resolved address."""
    DNS = "dns"
    CONNECT = "connect"
    CONNECT_TIMEOUT = "connect-timeout"
    TLS = "tls"
    TLS_TIMEOUT = "tls-timeout"
    FIRST_BYTE_TIMEOUT = "first-byte-timeout"
    TOTAL_TIMEOUT = "total-timeout"
    TOO_SLOW = "too-slow"
    HEAD_TOO_LARGE = "head-too-large"
    TOO_LARGE = "too-large"
    """More wire bytes than allowed (``max-filesize-kb``)."""
    DECODED_TOO_LARGE = "decoded-too-large"
    RATIO = "compression-ratio"
    ENCODING = "bad-encoding"
    """Content-Encoding unknown, stacked, or its data broken."""
    CLOSED = "closed"
    """The connection ended before the response did."""
    PROTOCOL = "protocol"
    """What came back is not HTTP as we can trust it."""
    REDIRECT_LOOP = "redirect-loop"
    REDIRECTS = "too-many-redirects"
    REDIRECT_TARGET = "bad-redirect"
    """A redirect without a usable Location."""
    AUTH = "auth"
    """A login failed, or is not tried for now; the detail names the credential."""
    PROXY = "proxy"
    """No proxy can be had, or it does not take us to the host; the detail names it."""
    PROXY_LOGIN = "proxy-login"
    """A proxy wants a user and password, or others than ours (407)."""
    CANCELLED = "cancelled"
    INTERNAL = "internal"


class Way(NamedTuple):
    """What lay between us and the host, and whether it failed; ``None`` in its place: nothing did.

    Attributes:
        names: of the PAC file, the proxies, and the proxies' way to this one host, in that order.
        failed: the one among them that failed, ``""`` = the answer is the host's.
        whole: what failed concerns every host behind it, not this one alone.
    """

    names: tuple[str, ...]
    failed: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """One URL to ask for; *validators* are sent back exactly as they were received.

    ``max_wire_bytes``/``max_decoded_bytes`` 0 = the fetcher's own limits.
    ``headers`` are added as they are; credentials never travel here but with the source.
    With ``cut`` a body beyond the limits is cut there instead of failing (``Response.cut``).
    ``long_head``: the host may say much of the document in its head (crawl-time headers).
    """

    url: str
    etag: str = ""
    last_modified: str = ""
    max_wire_bytes: int = 0
    max_decoded_bytes: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    method: str = "GET"
    cut: bool = False
    long_head: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """A complete HTTP response, content encoding removed.

    ``headers`` are in order of arrival, names as received; look up with :meth:`header`.
    ``body`` is empty for 304 and for bodies that were not wanted.
    ``elapsed_s`` is from start to last byte, ``address`` the peer that was connected to.
    ``cut``: the body goes on beyond what was asked for (only when ``Request.cut`` allowed it).
    ``authorized``: credentials were sent with the request, or it is a file: not everybody may see it.
    ``listing``: the contents of a folder, made into a page of links by us: they are followed, it is not described.
    ``way``: proxies that it came by; one that failed gave this answer in the host's place.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    wire_bytes: int = 0
    elapsed_s: float = 0.0
    address: str = ""
    http_version: str = "1.1"
    lowered: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    cut: bool = False
    authorized: bool = False
    listing: bool = False
    way: Way | None = None

    def header(self, name: str, default: str = "") -> str:
        """Return the value of *name* (lower case), several lines joined by comma and blank."""
        return (self.lowered or self.by_name()).get(name, default)

    def by_name(self) -> dict[str, str]:
        """Return the values by lower-case names, as :meth:`header` gives them."""
        if not self.lowered and self.headers:
            low = self.lowered
            for key, value in self.headers:
                k = key.lower()
                low[k] = f"{low[k]}, {value}" if k in low else value
        return self.lowered


@dataclass(frozen=True, slots=True)
class Failure:
    """A fetch that gave no response; ``detail`` is for people, ``retry_after_s`` what the host asked for.

    ``status`` and ``headers``: of the answer whose head came whole and whose body could not be taken.
    ``way``: proxies that it was tried by; with one that failed the host is not to blame.
    """

    url: str
    kind: FailureKind
    detail: str = ""
    address: str = ""
    elapsed_s: float = 0.0
    retry_after_s: float | None = None
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    way: Way | None = None
