"""Feeds for programs of other people: records and rejections, one at a time, and nothing between them.

The product reads with ``reading`` and ``groups_reading``, whose items begin with a header and end with how it ended. Here
both are attributes, so that a loop meets records and rejections alone, and the loop still learns when a feed is cut off:
the last item is a rejection then.
"""

from collections.abc import Iterator
from typing import Generic, Self, TypeVar, cast

from ingather.feeds.encoding import ByteStream
from ingather.feeds.groups_reading import read_group_items
from ingather.feeds.limits import FeedLimits
from ingather.feeds.reading import read_items
from ingather.model.feed import (
    FeedAcl,
    FeedEnd,
    FeedHeader,
    FeedRecord,
    FeedRejection,
    FeedType,
    GroupMembership,
)

__all__ = ["FeedStream", "Record", "Rejection", "read_feed", "read_groups"]

Record = FeedRecord | FeedAcl
"""What a feed brings: a record, or a free ACL."""
Rejection = FeedRejection
_T = TypeVar("_T", bound=FeedRecord | FeedAcl | GroupMembership)


class FeedStream(Generic[_T]):
    """An iterator over what was pushed.

    Attributes:
        end: how reading ended; ``None`` while it goes on.
    """

    def __init__(self, items: Iterator[_T | FeedHeader | FeedRejection | FeedEnd]) -> None:
        self._items = items
        self._header = FeedHeader()
        self._first: list[_T | FeedRejection | FeedEnd] = []
        self._begun = False
        self._rejected = False
        self.end: FeedEnd | None = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> _T | FeedRejection:
        item = self._first.pop() if self._first else self._pull()
        if isinstance(item, FeedEnd):
            self.end = item
            if item.complete or self._rejected:
                raise StopIteration
            return FeedRejection(item.line, 0, "", item.trouble, denies=True)
        self._rejected = isinstance(item, FeedRejection)
        return item

    @property
    def header(self) -> FeedHeader:
        """What the feed says of itself; asking reads as far as that, and raises what reading raises."""
        if not self._begun:
            self._first = [self._pull()]
        return self._header

    def _pull(self) -> _T | FeedRejection | FeedEnd:
        self._begun = True
        item = next(self._items)
        if isinstance(item, FeedHeader):
            self._header = item
            return self._pull()
        return item


def read_feed(
    stream: ByteStream, *, limits: FeedLimits | None = None, feedtype: FeedType | None = None
) -> FeedStream[FeedRecord | FeedAcl]:
    """Yield the records and free ACLs of a pushed feed in order, a rejection for each that cannot be read.

    Memory depends on the largest record. Of the iterator ``header`` says what the feed says of itself, and ``end``, once
    all was read, whether it was complete. The last item of a feed that is cut off between two records is a rejection too.

    Args:
        stream: the feed from its first byte, in any encoding: anything with ``read(size)`` that gives bytes.
        limits: what it may hold; ``None`` = the defaults.
        feedtype: what the form field of a push says; without it the header's counts.

    Raises:
        FeedError: at the first item: it is no feed, or its encoding is unknown; or at any: it declares entities, which is
            refused as a whole.

    Source: GSA feeds specification, sections 6 to 11 and 15.
    """
    items = read_items(stream, limits=limits, feedtype=feedtype)
    return FeedStream(cast("Iterator[Record | FeedHeader | FeedRejection | FeedEnd]", items))


def read_groups(stream: ByteStream, *, limits: FeedLimits | None = None) -> FeedStream[GroupMembership]:
    """Yield the memberships of a pushed group feed (``xmlgroups``), a rejection for each that cannot be read.

    A rejection's ``url`` is the text of the group, if that much could be read. The rest is as with :func:`read_feed`.

    Raises:
        FeedError: as :func:`read_feed`.

    Source: GSA feeds specification, section 12.
    """
    return FeedStream(read_group_items(stream, limits=limits))
