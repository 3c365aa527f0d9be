"""Two spellings of one URL in one feed: both records are told, for the later replaced what the earlier brought.

What a sender takes for two documents (``#part`` of a page, the same host with and without its port) is one here, because
one key cannot hold two (:func:`ingather.model.url.fed_url`).
"""

from contextlib import suppress

from ingather.catalog.feeds.sqlite_feed_book import Receipt
from ingather.catalog.feeds.sqlite_feeds import FeedStore
from ingather.errors import UrlError
from ingather.feeds.prepared import Prepared
from ingather.feeds.receipts import joined

__all__ = ["Spellings"]

_NOTE = 8


class Spellings:
    """How the records of one batch, and of those before it, write their URLs.

    Args:
        book: receipts and spellings of earlier batches.
        feed: the feed.
    """

    def __init__(self, book: FeedStore, feed: int) -> None:
        self._book, self._feed = book, feed
        self._met: dict[str, tuple[int, str]] = {}

    def met(self, item: Prepared, receipts: list[Receipt]) -> list[str]:
        """Return what is to be said of *item*, before it is applied; what is to be said of an earlier record is put into its receipt.

        *receipts*: of the records of this batch that came before it.
        """
        if not item.url:
            return []
        written = item.written or item.url
        before = self._met.get(item.url) or self._before(item)
        self._met[item.url] = item.n, written
        if item.written:
            self._book.spellings([(self._feed, item.url, item.n, item.written)])
        if before is None or before[1] == written:
            return []
        n, other = before
        self._tell(
            n,
            f"record {item.n} of this feed, {_shown(written)}, is kept as the same URL: the later counts",
            receipts,
        )
        return [f"record {n} of this feed, {_shown(other)}, is kept as the same URL: the later counts"]

    def _before(self, item: Prepared) -> tuple[int, str] | None:
        """Return the number of a record of an earlier batch that names the same URL, and how it writes it."""
        earlier = [(n, written) for n, written in self._book.spelled(self._feed, item.url) if n < item.n]
        if earlier:
            return earlier[-1]
        if not item.written:  # spelled alike, if there is one
            return None
        with suppress(UrlError):  # what is no URL has no row
            n = self._book.named(self._feed, item.url)
            return (n, item.url) if 0 < n < item.n else None
        return None

    def _tell(self, n: int, note: str, receipts: list[Receipt]) -> None:
        at = n - int(receipts[0][1]) if receipts else -1
        if 0 <= at < len(receipts) and receipts[at][1] == n:
            receipt = list(receipts[at])
            receipt[_NOTE] = joined([one for one in (str(receipt[_NOTE]), note) if one])
            receipts[at] = tuple(receipt)  # type: ignore[assignment]
        else:
            self._book.remark(self._feed, n, note)


def _shown(url: str) -> str:
    return url if len(url) <= 200 else f"{url[:200]}..."  # noqa: PLR2004 - of a note
