"""What a visit to a feed or sitemap brought; travels inside a report (``Report.polled``)."""

from enum import StrEnum

import msgspec

__all__ = ["Hop", "PollKind", "Polled", "decode_polled", "encode_polled"]


class PollKind(StrEnum):
    """How a poll ended."""

    LISTED = "listed"
    """A complete answer that could be read: its items count. Only here ``Polled.listing`` proves anything."""
    UNCHANGED = "unchanged"
    """304, or the body of the last time: the list of the last time is still the feed's content."""
    NOT_A_FEED = "not-a-feed"
    """An answer that is no list: HTML, empty, broken beyond reading, refused, too large, too many items."""
    GONE = "gone"
    """410."""
    MISSING = "missing"
    """404."""
    BACK_OFF = "back-off"
    """429 or 503: the host asked for time."""
    REFUSED = "refused"
    """Any other 4xx."""
    SERVER_ERROR = "server-error"
    """Any other 5xx."""
    FAILED = "failed"
    """No complete answer: address, DNS, connection, TLS, time, a body cut short, redirects in a circle."""
    ROBOTS = "robots"
    """robots.txt forbids it, at the URL or at a hop."""
    ROBOTS_UNREACHABLE = "robots-unreachable"
    """robots.txt cannot be had: nothing may be concluded."""
    EXCLUDED = "excluded"
    """Our own rules forbid the URL or a hop."""


class Hop(msgspec.Struct, array_like=True, frozen=True):
    """One redirect that was followed: its status and the absolute URL that it named, canonical."""

    status: int
    url: str


class Polled(msgspec.Struct, array_like=True):
    """One poll, as it went. Field order is the wire order: append only.

    Attributes:
        kind: see :class:`PollKind`.
        status: of the last answer, 0 = none came.
        detail: why, fit for people; ``""`` when it went well.
        etag, last_modified: exactly as received in a 200 or 304, ``""`` if absent.
        max_age_s: seconds for which ``Cache-Control: max-age`` or else ``Expires`` call the answer fresh; ``None`` = not told.
        retry_s: seconds for which ``Retry-After`` asks to be left alone; ``None`` = not told.
        hops: redirects in order; empty = none.
        url: where the last answer came from (the URL itself without redirects), canonical.
        digest: MD5 of the decoded body, empty when there was none.
        size: bytes of the decoded body.
        elapsed_s: from the first request to the last byte, waiting for other hosts' turns not counted.
        listing: msgpack of a ``syndication.Listing`` when a body was read (``syndication.unpack_listing``), else empty.
        items: items in it, usable ones.
        confined: whether a converter process read it.
    """

    kind: PollKind
    status: int = 0
    detail: str = ""
    etag: str = ""
    last_modified: str = ""
    max_age_s: float | None = None
    retry_s: float | None = None
    hops: tuple[Hop, ...] = ()
    url: str = ""
    digest: bytes = b""
    size: int = 0
    elapsed_s: float = 0.0
    listing: bytes = b""
    items: int = 0
    confined: bool = False


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Polled)


def encode_polled(polled: Polled) -> bytes:
    """Return *polled* as a report carries it."""
    return _encoder.encode(polled)


def decode_polled(packed: bytes) -> Polled:
    """Return what a report carries.

    Raises:
        msgspec.DecodeError: not a poll of ours.
    """
    polled: Polled = _decoder.decode(packed)
    return polled
