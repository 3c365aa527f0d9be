"""From what a poll brought to what the decider reads: one item for each document, by the number of its URL's row."""

from collections.abc import Mapping
from typing import Final

from msgspec import structs

from ingather.app.syndication.sources import FedSource
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.syndication.sqlite_syndication_rows import FeedRow
from ingather.catalog.syndication.sqlite_syndication_urls import Claimed
from ingather.errors import UrlError
from ingather.model.intent import Intent
from ingather.model.polled import Polled, PollKind
from ingather.robot.settling.writing import Writer
from ingather.syndication import ListingItem, joining, unpack_listing
from ingather.syndication.rulings import Listed, Poll

__all__ = ["poll_of", "rank"]

_INDEX: Final = "sitemap-index"
_RANKS: Final = {"rss": 2, "sitemap": 1}


def rank(kind: str) -> int:
    """Return who comes first among sources that list the same URL: feeds over sitemaps over sites."""
    return _RANKS.get(kind, 0)


def poll_of(  # noqa: PLR0913 - one poll with its circumstances
    polled: Polled, intent: Intent, source: FedSource, feed: FeedRow, *, writer: Writer, applied: Applied
) -> Poll:
    """Return *polled* for the decider; URLs that are new get rows, those that the source may take become its own."""
    listing = unpack_listing(polled.listing) if polled.listing else None
    if listing is None or polled.kind is not PollKind.LISTED:
        return joining.poll_of(polled, intent, None)
    base = polled.url or writer.syndication.url(feed.url)
    wanted, refused = joining.joined(listing.items, lambda link: _key(link, source, base))
    if listing.kind == _INDEX:
        poll = joining.poll_of(polled, intent, listing, (), refused)
        return structs.replace(poll, children=tuple(wanted))
    items, lost = _keyed(wanted, source, feed, writer, applied)
    return joining.poll_of(polled, intent, listing, items, refused + lost)


def _key(link: str, source: FedSource, base: str) -> str | None:
    """Return the URL that is the key of what *link* names, ``None`` if it is not asked for."""
    try:
        url = source.key_of(link)
    except UrlError:
        return None
    return None if source.refusal(url, base) else url


def _keyed(
    wanted: Mapping[str, ListingItem], source: FedSource, feed: FeedRow, writer: Writer, applied: Applied
) -> tuple[tuple[Listed, ...], int]:
    store, number = writer.syndication, feed.source
    rows = store.meant(list(wanted))
    claims = store.claims(list(rows.values()))
    keys: dict[str, int] = {}
    others: set[int] = set()
    for url in wanted:
        row = rows.get(url)
        if row is None:
            row = store.make(url, number, applied, charge=True)
        elif store.is_removed(url) or store.feed_at(row) is not None:
            row = None
        elif not _take(claims[row], source, row, number, writer=writer, applied=applied):
            others.add(row)
        if row is not None:
            keys[url] = row
    return joining.keyed(wanted, keys, others.__contains__), len(wanted) - len(keys)


def _take(  # noqa: PLR0913 - who takes what from whom
    claim: Claimed, source: FedSource, row: int, number: int, *, writer: Writer, applied: Applied
) -> bool:
    """Make a known URL the source's own, if it comes before whoever has it; return whether it is now."""
    if claim.content:
        return False
    if claim.source == number:
        return True
    if claim.access != "public" and source.conf.access == "public":
        return False  # what a feed lists is foreign input: it opens nothing
    mine, theirs = rank(source.conf.kind), rank(claim.kind)
    if theirs > mine or (theirs == mine and claim.registered):
        return False
    writer.syndication.drop_registration(row)
    writer.feeds.move(row, number, applied)
    writer.syndication.rest(row)
    return True
