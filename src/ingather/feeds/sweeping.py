"""What a full feed leaves out: deleted, or held, when its file was read whole; the last step of the feed.

A full feed is one generation: each document is the old one until its record is applied, and what is left out goes
only when every record is in; searchers are shown all of it at once (``robot.indexing.flip``), for as long as others can
wait (promise F3). Source: GSA feeds specification, sections 8.1, 8.6, 11.2, 19.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from ingather.catalog.deletion.sqlite_deletion import SourceFacts
from ingather.catalog.deletion.sqlite_evidence import Seen
from ingather.catalog.feeds.sqlite_feed_book import FeedRow
from ingather.catalog.sqlite_apply import Applied
from ingather.feeds.authority import grant_in
from ingather.feeds.desk import FeedKind
from ingather.feeds.policy import FeedWriter, source_row_name
from ingather.feeds.receipts import FeedState, Written
from ingather.model.feed import FeedType

__all__ = ["DELETED", "Guard", "Ruled", "may_leave_out", "sweep"]

DELETED: Final = "deleted"
"""Type of what deletes everything of a data source at an operator's command: no file, never held."""
_PIECE: Final = 500
_BY_POLICY, _BY_PERSON = 0, 1
_GOES, _HELD, _STAYS = 1, 2, 3
REASON: Final = "missing from a full feed"
"""As the deletion policy calls it; holds and tombstones carry it."""


@dataclass(frozen=True, slots=True)
class Ruled:
    """What the deletion policy says of all that a full feed leaves out: *why* it is held, ``""`` = it may go."""

    why: str
    hidden: bool = False


Guard = Callable[[str, int, int, SourceFacts, float], Ruled]
"""``guard(reason, left_out, of_these_held, facts, now_s)``: the deletion policy's answer for a source."""


def may_leave_out(feed: FeedRow) -> bool:
    """Return whether a feed is of a type that says something by what it leaves out."""
    return feed.kind == FeedKind.DOCUMENTS and feed.feedtype in {FeedType.FULL, DELETED}


def sweep(
    writer: FeedWriter, applied: Applied, feed: FeedRow, *, now_s: float, guard: Guard
) -> tuple[bool, str]:
    """Deal with a piece of what *feed*, which has been applied to its end, leaves out.

    Returns:
        Whether nothing is left to do, and what is to be said of it.
    """
    feeds = writer.feeds
    current = feeds.feed(feed.id)
    if current is None or current.state > FeedState.IN_PROGRESS or not may_leave_out(current):
        return True, ""
    parts, reason = _generation(writer, current)
    if reason:
        feeds.swept(feed.id, decision=_STAYS)
        return True, reason
    source = feeds.make_source(source_row_name(feed.datasource))
    if not current.sweep:
        return _decide(writer, applied, current, source, parts, now_s, guard)
    commanded = current.feedtype == DELETED
    reason = "the data source was deleted by the operator" if commanded else REASON
    decided = _BY_PERSON if commanded else _BY_POLICY
    covers = _covers(current)
    left = feeds.left_out(source, parts, 0, _PIECE, covers) if current.sweep == _GOES else []
    number = feeds.last_receipt(feed.id)
    for n, (url_id, url) in enumerate(left, number + 1):
        writer.deletions.observe(Seen(url_id, source, reason, "delete", detail=_said(feed)), now_s)
        writer.deletions.delete(url_id, reason, now_s, applied, gone=True, decided=decided)
        writer.access.delete_acl(url, applied)
        feeds.rest(url_id)
        feeds.unlist(url_id)
        feeds.deleted_by(url_id, feed.id, n)
        feeds.receipt(
            feed.id, n, line=0, url=url, url_id=url_id, action="omitted", state=Written.DELETED, note=reason
        )
    deleted = len(left)
    listed = feeds.listed_for(source, _PIECE) if commanded and not left else []
    for url_id, url, own in listed:  # an appliance could not: what it had crawled stayed
        deleted += _unlist(writer, applied, feed, (url_id, url, own), now_s)
    feeds.swept(feed.id, deleted=deleted)
    if left or listed:
        return False, ""
    if current.sweep == _GOES and grant_in(current.fields).acls:
        _sweep_acls(writer, applied, source, parts, covers)
    return True, ""


def _unlist(
    writer: FeedWriter, applied: Applied, feed: FeedRow, listed: tuple[int, str, bool], now_s: float
) -> bool:
    """The data source that lists a URL for the crawler is deleted: its document goes, unless another data source lists it, too."""
    url_id, url, own = listed
    feeds = writer.feeds
    if feeds.list_for_next(url_id, own, applied):
        return False
    feeds.unlist(url_id)
    if not own:
        return False
    reason, number = "the data source was deleted by the operator", feeds.last_receipt(feed.id) + 1
    source = feeds.make_source(source_row_name(feed.datasource))
    writer.deletions.observe(Seen(url_id, source, reason, "delete", detail=_said(feed)), now_s)
    writer.deletions.delete(url_id, reason, now_s, applied, gone=True, decided=_BY_PERSON)
    writer.access.delete_acl(url, applied)
    feeds.rest(url_id)
    feeds.receipt(
        feed.id, number, line=0, url=url, url_id=url_id, action="omitted", state=Written.DELETED, note=reason
    )
    return True


def _generation(writer: FeedWriter, feed: FeedRow) -> tuple[Sequence[int], str]:
    """Return the feeds that make the full one together, and why nothing may be deleted, ``""`` if it may."""
    if not feed.session:
        if not feed.complete:
            return (), "the file was not read whole to its end tag: nothing that it leaves out is deleted"
        return (feed.id,), ""
    parts = [part for part in writer.feeds.session(feed.datasource, feed.session) if part.id <= feed.id]
    if not feed.fields.get("last"):
        return (), "other parts of this full feed follow: what it leaves out is decided with the last one"
    numbers = sorted({int(part.fields.get("part", 0)) for part in parts if part.complete})
    wanted = list(range(1, int(feed.fields.get("part", 0)) + 1))
    if numbers != wanted:
        missing = sorted(set(wanted) - set(numbers))
        return (), f"parts {missing} of this full feed were not read whole: nothing is deleted"
    return tuple(part.id for part in parts), ""


def _decide(  # noqa: PLR0913, PLR0917 - the state of the sweep
    writer: FeedWriter,
    applied: Applied,
    feed: FeedRow,
    source: int,
    parts: Sequence[int],
    now_s: float,
    guard: Guard,
) -> tuple[bool, str]:
    """Rule once on everything together, so that no order and no restart changes the answer."""
    feeds = writer.feeds
    covers = _covers(feed)
    count, held = feeds.count_left_out(source, parts, covers)
    ruled = guard(REASON, count, held, writer.deletions.facts(source, now_s), now_s)
    if not count or not ruled.why or feed.feedtype == DELETED:
        feeds.swept(feed.id, decision=_GOES)
        return False, ""
    number, after = feeds.last_receipt(feed.id), 0
    while left := feeds.left_out(source, parts, after, _PIECE, covers):
        for url_id, url in left:
            number += 1
            writer.deletions.observe(
                Seen(url_id, source, REASON, "hold", ruled.why, detail=_said(feed)), now_s
            )
            writer.deletions.hold(
                url_id, source, REASON, now_s, hidden=ruled.hidden, applied=applied, why=ruled.why
            )
            feeds.receipt(
                feed.id, number, line=0, url=url, url_id=url_id, action="omitted", state=Written.HELD,
                note=f"{REASON}; held: {ruled.why}",
            )  # fmt: skip
        after = left[-1][0]
    feeds.swept(feed.id, held=count, decision=_HELD)
    return True, f"{count} documents that it leaves out are held: {ruled.why}; see: ingather holds list"


def _said(feed: FeedRow) -> str:
    """Return which feed it was, as evidence."""
    received = datetime.fromtimestamp(feed.received_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"feed {feed.name}, received {received}"


def _covers(feed: FeedRow) -> Callable[[str], bool] | None:
    """Return of which URLs the sender may speak, so by leaving them out, too; ``None`` = of all."""
    grant = grant_in(feed.fields)
    return grant.covers if grant.prefixes else None


def _sweep_acls(
    writer: FeedWriter,
    applied: Applied,
    source: int,
    parts: Sequence[int],
    covers: Callable[[str], bool] | None,
) -> None:
    """Delete the ACLs of the source that no part names; what inherits from one of them is hidden by that."""
    named = set(writer.feeds.mentioned(parts))
    gone = [url for url in writer.access.urls_of(source) if url not in named]
    for url in gone:
        if (covers is None or covers(url)) and not writer.feeds.described(url):
            writer.access.delete_acl(url, applied)
