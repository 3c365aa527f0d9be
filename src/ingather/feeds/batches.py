"""Batches: what one transaction applies of a feed, as bytes between processes.

A batch is made in a disposable process, from a cursor on, and says with which cursor the next one begins. Making a
batch again gives the same batch, so a keeper that was killed asks again with the cursor that it committed.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from ingather.feeds.cursor import FeedCursor
from ingather.feeds.groups_reading import GroupReader
from ingather.feeds.jsonlines import JsonLinesReader
from ingather.feeds.limits import FeedLimits
from ingather.feeds.reading import FeedItem, FeedReader
from ingather.model.feed import (
    FeedAcl,
    FeedEnd,
    FeedHeader,
    FeedRecord,
    FeedRejection,
    FeedType,
    GroupMembership,
)

__all__ = [
    "BATCH_BYTES",
    "BATCH_ITEMS",
    "READERS",
    "Batch",
    "decode_batch",
    "encode_batch",
    "make_batch",
    "read_batch",
]

BATCH_ITEMS: Final = 500
BATCH_BYTES: Final = 8 << 20
"""A batch ends behind the item with which its contents reach this size."""

READERS: Final = {"xml": FeedReader, "groups": GroupReader, "jsonl": JsonLinesReader}
_KINDS: Final = (FeedHeader, FeedRecord, FeedAcl, FeedRejection, GroupMembership, FeedEnd)
_DECODERS: Final[tuple[msgspec.msgpack.Decoder[Any], ...]] = tuple(
    msgspec.msgpack.Decoder(kind) for kind in _KINDS
)
_BIGGER_THAN_PLAIN: Final = 200


BatchItem = FeedHeader | FeedRecord | FeedAcl | FeedRejection | GroupMembership


@dataclass(frozen=True, slots=True)
class Batch:
    """A part of a feed.

    Attributes:
        items: in the order of the feed. Only the first batch begins with the ``FeedHeader``.
        cursor: behind the last of them.
        end: how the feed ended, in the last batch.
    """

    items: tuple[BatchItem, ...]
    cursor: FeedCursor
    end: FeedEnd | None = None


class _Wire(msgspec.Struct):
    items: list[tuple[int, msgspec.Raw]]
    cursor: FeedCursor


_WIRE: Final = msgspec.msgpack.Decoder(_Wire)


def read_batch(  # noqa: PLR0913 (given by name)
    path: Path,
    *,
    kind: str,
    cursor: FeedCursor,
    feedtype: FeedType | None = None,
    limits: FeedLimits | None = None,
    most_items: int = BATCH_ITEMS,
    most_bytes: int = BATCH_BYTES,
    pass_over: str = "",
) -> Batch:
    """Read on in the feed at *path* and return a batch.

    Args:
        path: the spooled file.
        kind: a key of :data:`READERS`.
        cursor: where to begin.
        feedtype: what the form field says.
        limits: of a record.
        most_items: records, ACLs, memberships and rejections.
        most_bytes: of content and metadata, passed by at most one record.
        pass_over: a reason to reject the first record without parsing it.

    Raises:
        FeedError: it is no feed, or is refused as a whole.
        OSError: the file cannot be read.
    """
    items: list[FeedItem] = []
    count = size = 0
    with path.open("rb") as stream:
        reader = READERS[kind](stream, limits=limits, feedtype=feedtype, start=cursor)
        reader.pass_over = pass_over
        for item in reader.items():
            if isinstance(item, FeedHeader):
                if not cursor.headed:
                    items.append(item)
                continue
            items.append(item)
            count += not isinstance(item, FeedEnd)
            size += _size(item)
            if count >= most_items or size >= most_bytes:
                break
        ended = items.pop() if items and isinstance(items[-1], FeedEnd) else None
        return Batch(tuple(items), reader.cursor, ended)  # type: ignore[arg-type]


def make_batch(path: Path, *, kind: str, cursor: FeedCursor, **options: Any) -> bytes:
    """Return what :func:`read_batch` gives as bytes."""
    batch = read_batch(path, kind=kind, cursor=cursor, **options)
    return encode_batch([*batch.items, *([batch.end] if batch.end else [])], batch.cursor)


def encode_batch(items: list[FeedItem], cursor: FeedCursor) -> bytes:
    """Return a batch of *items* as bytes; a ``FeedEnd`` may be the last of them."""
    kinds = [(_KINDS.index(type(item)), item) for item in items]
    return msgspec.msgpack.encode({"items": kinds, "cursor": cursor})


def decode_batch(data: bytes) -> Batch:
    """Return the batch that :func:`make_batch` made bytes of.

    Raises:
        msgspec.DecodeError: *data* is something else.
    """
    wire = _WIRE.decode(data)
    items: list[BatchItem] = []
    end = None
    for kind, raw in wire.items:
        if not 0 <= kind < len(_DECODERS):
            raise msgspec.ValidationError("an unknown kind of item")
        item = _DECODERS[kind].decode(raw)
        if isinstance(item, FeedEnd):
            end = item
        else:
            items.append(item)
    return Batch(tuple(items), wire.cursor, end)


def _size(item: FeedItem) -> int:
    size = _BIGGER_THAN_PLAIN
    if isinstance(item, FeedRecord):
        size += len(item.content.body) if item.content else 0
        size += sum(len(name) + len(content) for name, content in item.metadata or ())
        size += _BIGGER_THAN_PLAIN * len(item.acl.entries) if item.acl else 0
    elif isinstance(item, FeedAcl):
        size += _BIGGER_THAN_PLAIN * len(item.acl.entries)
    elif isinstance(item, GroupMembership):
        size += _BIGGER_THAN_PLAIN * len(item.members)
    return size
