"""What every feed that is written has: a head, pieces one at a time, and an end tag only when it came to its end."""

from types import TracebackType
from typing import Self

from ingather.client.xmltext import FeedWriteError, Output

__all__ = ["FeedDocument"]


class FeedDocument:
    """Writes to *out*; a context manager, whose regular end writes the end tag.

    After an exception the end tag is left out, so that nobody takes half a feed for a whole one.

    Attributes:
        size: bytes so far.
    """

    def __init__(self, out: Output, head: str, foot: str) -> None:
        self.size = 0
        self._out, self._foot, self._closed = out, foot, False
        self._put(head)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        self._closed = True

    def close(self) -> None:
        """Write the end tag; *out* stays open."""
        if not self._closed:
            self._closed = True
            self._put(self._foot)

    def _see_open(self) -> None:
        if self._closed:
            raise FeedWriteError("the feed is closed")

    def _put(self, text: str) -> None:
        data = text.encode()
        self._out.write(data)
        self.size += len(data)
