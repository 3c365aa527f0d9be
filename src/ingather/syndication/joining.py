"""A listing's items by document: one for each key, of several the one with the newest date."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from ingather.model.intent import Intent
from ingather.model.polled import Polled
from ingather.syndication.listing import Listing, ListingItem
from ingather.syndication.rulings import Listed, Poll

__all__ = ["joined", "keyed", "poll_of"]

_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")


def joined(
    items: Iterable[ListingItem], canonical: Callable[[str], str | None]
) -> tuple[dict[str, ListingItem], int]:
    """Return the items by canonical URL, and how many were rejected.

    Args:
        items: as listed.
        canonical: link to canonical URL; ``None`` = not a link that may be fetched (no URL, out of ``link_scope``).
    """
    found: dict[str, ListingItem] = {}
    rejected = 0
    for item in items:
        url = canonical(item.link)
        if url is None:
            rejected += 1
            continue
        other = found.get(url)
        if other is None or _newest(item) > _newest(other):
            found[url] = item
    return found, rejected


def keyed(
    items: Mapping[str, ListingItem], keys: Mapping[str, int], foreign: Callable[[int], bool]
) -> tuple[Listed, ...]:
    """Return *items* with the keys of their URLs; those without one are left out. *foreign*: another source owns that key."""
    return tuple(
        Listed(
            key, item.link, item.published, item.modified, item.guid, item.title, item.published_text,
            item.modified_text, foreign(key),
        )
        for url, item in items.items()
        if (key := keys.get(url)) is not None
    )  # fmt: skip


def poll_of(
    polled: Polled, intent: Intent, listing: Listing | None, items: tuple[Listed, ...] = (), rejected: int = 0
) -> Poll:
    """Return a poll as the decider takes it.

    Args:
        polled: what the visit brought.
        intent: of the visit.
        listing: its list, if it brought one.
        items: of that list, by key (:func:`joined`, :func:`keyed`).
        rejected: items that :func:`joined` turned down; those without a link are in the listing.
    """
    base = Poll(
        polled.kind, intent, polled.status, polled.detail, polled.etag, polled.last_modified, polled.max_age_s, polled.retry_s,
        polled.hops, polled.digest,
    )  # fmt: skip
    if listing is None:
        return base
    index = listing.kind == "sitemap-index"
    return Poll(
        base.kind, intent, base.status, base.detail, base.etag, base.last_modified, base.max_age_s, base.retry_s, base.hops,
        base.digest, () if index else items, 0 if index else len(listing.items), listing.rejected_count + rejected,
        listing.tombstones, listing.hints, listing.malformed, tuple(dict.fromkeys(i.link for i in listing.items)) if index else (),
        listing.kind, listing.title,
    )  # fmt: skip


def _newest(item: ListingItem) -> str:
    # Instants in this form sort as texts; what cannot be read is older than anything.
    return max((text for text in (item.published, item.modified) if _INSTANT.match(text)), default="")
