"""Feeds of groups: memberships loaded piece by piece, with receipts of those that could not be read."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from ingather.app.feeds.asking import Asking
from ingather.app.feeds.home import Transact
from ingather.catalog.feeds.sqlite_feed_book import FeedRow
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.feeds.authority import grant_in
from ingather.feeds.batches import decode_batch
from ingather.feeds.groups_applying import GroupLoading, LoadMode, clean_up
from ingather.feeds.receipts import FeedState, Written, joined
from ingather.model.feed import FeedRejection, GroupMembership
from ingather.ports.clock import Clock

__all__ = ["Close", "GroupFeeds"]

T = TypeVar("T")

Close = Callable[[int, str, str, CatalogWriter, Applied], None]
"""Writes the end of a feed: its number, the trouble that ended it early, what its report says."""


class GroupFeeds:
    """Loads group feeds; used by the feed thread alone."""

    def __init__(self, asking: Asking, transact: Transact[Any], clock: Clock, close: Close) -> None:
        self._asking, self._transact, self._clock, self._close = asking, transact, clock, close
        self._loadings: dict[int, GroupLoading] = {}
        self._rejections: dict[int, list[tuple[int, str, str]]] = {}
        """Of feeds that are being loaded: what of the batch at hand could not be read."""

    def forget(self, number: int) -> None:
        """Drop what is known of a feed that ended."""
        self._loadings.pop(number, None)
        self._rejections.pop(number, None)

    def piece(self, feed: FeedRow) -> bool:
        """Load the next piece; return whether the feed is at its end. A load is begun again from its start after a crash."""
        source = str(feed.fields.get("groupsource") or feed.datasource)
        if feed.fields.get("cleanup"):
            removed = clean_up(self._in_writer, source)
            self._transact(
                partial(self._close, feed.id, "", f"{removed} memberships of {source} are out of force")
            )
            return True
        loading = self._loadings.get(feed.id)
        if loading is None:
            mode = LoadMode.FULL if feed.feedtype == "full" else LoadMode.INCREMENTAL
            rejected_now = self._rejections[feed.id] = []
            loading = self._loadings[feed.id] = GroupLoading(
                self._in_writer, source, mode, now_s=self._clock.wall(),
                on_reject=lambda *told: rejected_now.append(told), grant=grant_in(feed.fields),
            )  # fmt: skip
            loading.begin()
            self._transact(lambda w, _: _rewind(w, feed.id))
            feed = self._transact(lambda w, _: w.feeds.feed(feed.id))
        answer = self._asking.ask(feed)
        if answer.damaged:
            self._asking.set_aside(feed)
        if not answer.raw:
            self._loadings.pop(feed.id, None)
            self._transact(partial(self._close, feed.id, answer.trouble, answer.trouble))
            return True
        batch = decode_batch(answer.raw)
        before = loading.report.rejected
        told = self._rejections[feed.id]
        told.clear()
        loading.take(item for item in batch.items if isinstance(item, GroupMembership | FeedRejection))
        count, rejected = len(batch.items), loading.report.rejected - before

        def advance(writer: CatalogWriter, _applied: Applied) -> None:
            writer.feeds.begin(feed.id, self._clock.wall())
            _receipts(writer, feed.id, told)
            writer.feeds.advance(
                feed.id, feed.done + count, answer.cursor, applied=count - rejected, rejected=rejected
            )

        self._transact(advance)
        if batch.end is None:
            return False
        report = loading.finish(batch.end)
        self._transact(
            partial(self._close, feed.id, report.trouble, joined([report.trouble] if report.trouble else []))
        )
        return True

    def _in_writer(self, job: Callable[[Any], T]) -> T:
        answer: T = self._transact(lambda w, _: job(w))
        return answer


def _rewind(writer: CatalogWriter, number: int) -> None:
    feed = writer.feeds.feed(number)
    if feed is not None and feed.done:
        writer.feeds.end(number, int(FeedState.FAILED), "", 0.0)
        writer.feeds.again(number)


def _receipts(writer: CatalogWriter, number: int, rejections: Iterable[tuple[int, str, str]]) -> None:
    """Write the receipts of memberships that could not be read; the others have none."""
    last = writer.feeds.last_receipt(number)
    for n, (line, reason, group) in enumerate(rejections, last + 1):
        writer.feeds.receipt(
            number, n, line=line, url=group, url_id=None, action="membership", state=Written.REJECTED, note=reason
        )  # fmt: skip
