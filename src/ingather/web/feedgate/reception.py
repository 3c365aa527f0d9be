"""One body on its way: unpacked, taken apart, and the feed in it written to the spool. No sockets, no waiting."""

from dataclasses import dataclass, field
from functools import partial
from typing import Final

from ingather.feeds.desk import FeedFormat, FeedKind
from ingather.feeds.spool import Spool, SpoolFile
from ingather.web.feedgate.fields import Order, early_check, order_of
from ingather.web.feedgate.form import Form
from ingather.web.feedgate.head import RequestHead, content_type
from ingather.web.feedgate.refusal import RefusedError
from ingather.web.feedgate.shape import JSON_LINES, Sniffing, bare_name
from ingather.web.feedgate.transfer import Ratio, inflater_of

__all__ = ["KINDS", "BodyLimits", "Reception"]

KINDS: Final = {"/xmlfeed": FeedKind.DOCUMENTS, "/xmlgroups": FeedKind.GROUPS}
_PAYLOADS: Final = {
    FeedKind.DOCUMENTS: frozenset({"data"}),
    FeedKind.GROUPS: frozenset({"data", "groupsfilename"}),
}
_AROUND: Final = 1 << 20
"""Bytes that a form may have besides the feed."""


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """What a body may be.

    Attributes:
        feed_bytes: of the feed, as it is stored.
        ratio: of a compressed body.
    """

    feed_bytes: int = 1 << 30
    ratio: Ratio = field(default_factory=Ratio)


class Reception:
    """Takes a body's bytes (chunks already joined) and ends with a file and an order.

    Raises:
        RefusedError: the head alone says that the body cannot be taken.
    """

    def __init__(self, head: RequestHead, spool: Spool, limits: BodyLimits) -> None:
        self._kind = KINDS[head.path]
        self._query = head.query
        self._inflater = inflater_of(head, limits.ratio)
        kind = content_type(head.fields.get("content-type", ""))
        # Percent signs make three bytes of one.
        times = 1 if kind.media.startswith("multipart/") and kind.boundary else 3
        self._most = times * limits.feed_bytes + _AROUND
        if self._inflater is None and (head.length or 0) > self._most:
            raise RefusedError(
                413,
                f"Error - the feed is larger than {limits.feed_bytes} bytes; send it in several incremental feeds",
            )
        self.file: SpoolFile = spool.begin(_needle(self._kind, kind.media))
        # No method of ours: it would hold us in a circle, and the collector comes by seldom.
        seen = partial(early_check, kind=self._kind)
        self._form = Form(_PAYLOADS[self._kind], self.file, limits.feed_bytes, seen)
        self._shape = Sniffing(kind, self._form)
        self._bytes = 0

    @property
    def quick(self) -> bool:
        """Whether :meth:`feed` is short work: nothing to unpack, no percent signs to undo."""
        return self._inflater is None and self._shape.quick

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the body; without :attr:`quick` in a thread, for it may unpack and write.

        Raises:
            RefusedError: they cannot be taken.
            OSError: they cannot be written.
        """
        if self._inflater is None:
            self._plain(piece)
        else:
            self._inflater.feed(piece, self._unpacked)

    def finish(self) -> Order:
        """End the body.

        Raises:
            RefusedError: it is not whole, or does not say what it has to.
        """
        if self._inflater is not None:
            self._inflater.finish()
        self._shape.finish()
        bare = bare_name(self._shape)
        lines = self._form.media in JSON_LINES
        return order_of(
            self._form.values,
            self._query,
            kind=self._kind,
            format_=FeedFormat.JSON_LINES if lines else FeedFormat.XML,
            bare=bare,
            has_payload=self._form.payload_bytes > 0,
            head=self.file.head,
        )

    def discard(self) -> None:
        """Forget what has come."""
        self.file.discard()

    def _plain(self, piece: bytes) -> None:
        self._bytes += len(piece)
        if self._bytes > self._most:
            raise RefusedError(413, "Error - the body is too large")
        if piece:
            self._shape.feed(piece)

    def _unpacked(self, piece: bytes) -> None:
        self._plain(piece)
        if self.file.full:
            self.file.flush()


def _needle(kind: FeedKind, media: str) -> bytes:
    """Return what is counted for the estimate of records."""
    if media in JSON_LINES:
        return b"\n"
    return b"<membership" if kind is FeedKind.GROUPS else b"<record"
