"""What the feed's reader hands to the keeper: records with everything that needs no catalog done.

It crosses a process border, from a process that reads what strangers wrote: values only, checked by their types.
"""

from typing import Final

import msgspec

from ingather.model.feed import FeedAcl, FeedRecord
from ingather.model.report import Discovery, Report

__all__ = ["FeedBatch", "Prepared", "pack_batch", "unpack_batch"]


class Prepared(msgspec.Struct, array_like=True):
    """One item of a feed; exactly one of *record*, *acl* and *rejected* says what it is.

    Attributes:
        n: its number in the feed, from 1.
        line: where it begins.
        url: canonical, or as written if it is no URL.
        record: without its content.
        acl: with canonical URLs.
        rejected: why it cannot be taken.
        denies: nobody may see its URL, because a denial was lost with it.
        leaves: what is known of its URL goes (a Do-Not-Follow pattern).
        has_content: it brought content.
        report: its content as a description, for records whose content counts.
        found: the URL as the crawler is to know it, for records that are to be crawled.
        notes: what was tolerated, in words.
        written: the URL as the feed writes it, if that is another than *url*.
        mark: of its content, ``b""`` = it has none; with a report of :data:`Outcome.UNCHANGED` it is the mark of what is kept.
        short: what links to *url* are cut to, ``""`` if they lose nothing.
    """

    n: int
    line: int
    url: str
    record: FeedRecord | None = None
    acl: FeedAcl | None = None
    rejected: str = ""
    denies: bool = False
    leaves: bool = False
    has_content: bool = False
    report: Report | None = None
    found: Discovery | None = None
    notes: tuple[str, ...] = ()
    written: str = ""
    short: str = ""
    mark: bytes = b""


class FeedBatch(msgspec.Struct, array_like=True):
    """Some items of one feed, in order.

    Attributes:
        items: at most as many as were asked for.
        cursor: where the reader stood behind them.
        ended: nothing follows.
        complete: it was read to its end tag without repair; counts when *ended*.
        trouble: why it was not, or could not be read at all.
        warnings: about the feed as a whole.
        segment: WARC segment that the reader appended to before the first of them, 0 = none was open.
        datasource, feedtype: of the XML's own header.
        raw: of group feeds, a batch as ``feeds.batches`` packs it.
        damaged: the file is not what was acknowledged; it is to be set aside.
        version: configuration whose patterns and filters judged the items, 0 = nobody says.
        later: why nothing could be read now, though it is not the feed's fault (a full disk, say): ask again.
    """

    items: list[Prepared]
    cursor: bytes = b""
    ended: bool = False
    complete: bool = False
    trouble: str = ""
    warnings: tuple[str, ...] = ()
    segment: int = 0
    datasource: str = ""
    feedtype: str = ""
    raw: bytes = b""
    later: str = ""
    damaged: bool = False
    version: int = 0


_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final = msgspec.msgpack.Decoder(FeedBatch)


def pack_batch(batch: FeedBatch) -> bytes:
    """Return *batch* as bytes; an item with a text that is no Unicode (half a character, which JSON can spell) is rejected."""
    try:
        return _encoder.encode(batch)
    except UnicodeEncodeError:  # seldom: items are looked at one by one only now
        batch.items = [_storable(item) for item in batch.items]
        return _encoder.encode(batch)


def _storable(item: Prepared) -> Prepared:
    try:
        _encoder.encode(item)
    except UnicodeEncodeError:
        url = item.url.encode(errors="replace").decode()
        return Prepared(item.n, item.line, url, rejected="it has text that is not Unicode", denies=True)
    return item


def unpack_batch(data: bytes) -> FeedBatch:
    """Return what :func:`pack_batch` packed.

    Raises:
        msgspec.DecodeError: it is no batch.
    """
    return _decoder.decode(data)
