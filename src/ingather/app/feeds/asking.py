"""Having the feed worker read on: what it is told, and what is made of its deaths and of damaged files."""

from contextlib import suppress
from typing import Any

from ingather.app.feeds.home import FeedHome, Transact
from ingather.app.feeds.order import FeedOrder
from ingather.app.feeds.process import FeedProcess, WorkerLostError
from ingather.catalog.bodies.folder import segments
from ingather.catalog.feeds.sqlite_feed_book import FeedRow
from ingather.errors import CatalogError
from ingather.feeds.authority import grant_in
from ingather.feeds.desk import WEB_SOURCE, FeedFormat, FeedKind
from ingather.feeds.policy import source_row_name
from ingather.feeds.prepared import FeedBatch
from ingather.feeds.spool import DAMAGED
from ingather.log import get
from ingather.model.feed import FeedType

__all__ = ["Asking"]

_log = get("feeds")


class Asking:
    """Asks *process* for the batches of feeds; used by the feed thread alone."""

    def __init__(self, home: FeedHome, process: FeedProcess, transact: Transact[Any]) -> None:
        self._home, self._process, self._transact = home, process, transact
        self._afresh: tuple[int, int] | None = None

    def read_afresh(self, feed: FeedRow) -> None:
        """Have the next items of *feed* read although what is kept was made from the same contents."""
        self._afresh = feed.id, feed.done

    def ask(self, feed: FeedRow) -> FeedBatch:
        """Have the worker read on. When it dies it is asked for single records, and the one that kills is passed over.

        Raises:
            CatalogError: the storage cannot take what it read: the next call does it again.
            WorkerMissingError: no worker starts.
        """
        order = self.order(feed, feed.cursor, feed.done)
        try:
            return self._asked(order)
        except WorkerLostError as lost:
            _log.warning("the feed worker was lost", feed=feed.name, done=feed.done, error=str(lost))
        order.most = 1
        try:
            return self._asked(order)
        except WorkerLostError as lost:
            _log.error("a record ends its reader", feed=feed.name, record=feed.done + 1, error=str(lost))
        order.pass_over = feed.done + 1
        try:
            return self._asked(order)
        except WorkerLostError:  # not the record's content but reading the file
            return FeedBatch([], feed.cursor, ended=True, trouble="its reader ends over this file")

    def order(self, feed: FeedRow, cursor: bytes, done: int) -> FeedOrder:
        """Return what the worker is told to read next."""
        return FeedOrder(
            feed=feed.id, path=str(self._home.path / feed.file), kind=_kind(feed), feedtype=feed.feedtype,
            source=source_row_name(feed.datasource), cursor=cursor, done=done,
            listed=feed.datasource == WEB_SOURCE or feed.feedtype == FeedType.METADATA_AND_URL,
            follow=self._home.follow(feed.datasource), prefixes=grant_in(feed.fields).prefixes, size=feed.size, sha256=feed.sha256,
            afresh=self._afresh == (feed.id, done),
        )  # fmt: skip

    def _asked(self, order: FeedOrder) -> FeedBatch:
        newest = max(segments(self._home.bodies), default=0)
        batch = self._process.ask(order, self._home.blueprint(), newest_segment=newest)
        if batch.later:
            raise CatalogError(batch.later)
        return batch

    def set_aside(self, feed: FeedRow) -> None:
        """Give a damaged file another name, by which it is still found; what it would have brought is not guessed."""
        aside = feed.file.removesuffix(DAMAGED) + DAMAGED
        if aside != feed.file:  # else it was set aside before, and tried again
            file = self._home.path / feed.file
            with suppress(OSError):  # both names until the row has the new one
                (self._home.path / aside).hardlink_to(file)
                self._transact(lambda w, _: w.feeds.moved(feed.id, aside))
                file.unlink()
        _log.error("the file of a feed is damaged and set aside", feed=feed.name, file=aside)


def _kind(feed: FeedRow) -> str:
    if feed.kind == FeedKind.GROUPS:
        return "groups"
    return "jsonl" if feed.fields.get("format") == FeedFormat.JSON_LINES else "xml"
