"""A document that a source polls: by the source's kind a feed or a sitemap, and the other when it is that."""

from dataclasses import replace
from typing import Final

from ingather.extract.hostile import suspect_reason
from ingather.extract.sitemap import SitemapLimits
from ingather.syndication.listing import Listing, ListingLimits
from ingather.syndication.reading import read_listing, read_strictly
from ingather.syndication.sitemaps import list_sitemap

__all__ = ["list_document", "list_harmless"]

_SITEMAP: Final = "a sitemap, not a feed"
_GZIP: Final = b"\x1f\x8b"
_HARMLESS_BYTES: Final = 1 << 20


def list_document(
    body: bytes, *, url: str, content_type: str | None, sitemap: bool, limits: ListingLimits
) -> Listing:
    """Read a feed or a sitemap of any kind; never raises for what is in it.

    Args:
        body: as it arrived, content encoding undone.
        url: base of relative links.
        content_type: the header as received.
        sitemap: the source says that it is one; what then is none may still be a feed, and the other way round.
        limits: of size and number; a sitemap that is compressed is measured unpacked.
    """
    if sitemap:
        found = _sitemap(body, url, content_type, limits)
        if not found.error or body.startswith(_GZIP):
            return found
        feed = read_listing(body, url=url, content_type=content_type, limits=limits)
        return found if feed.error else feed
    feed = read_listing(body, url=url, content_type=content_type, limits=limits)
    return feed if not _is_sitemap(feed, body) else _sitemap(body, url, content_type, limits)


def list_harmless(
    body: bytes, *, url: str, content_type: str | None, sitemap: bool, limits: ListingLimits
) -> Listing | None:
    """Read what can be read in a moment by a strict parser; ``None`` = leave it to a process that may die.

    Arguments as for :func:`list_document`, whose answer it is.
    """
    if len(body) > _HARMLESS_BYTES or body.startswith(_GZIP) or suspect_reason(body):
        return None
    if sitemap:
        found = _sitemap(body, url, content_type, limits)
        return None if found.error else found
    feed = read_strictly(body, url=url, content_type=content_type, limits=limits)
    if feed is None or not _is_sitemap(feed, body):
        return feed
    return _sitemap(body, url, content_type, limits)


def _is_sitemap(feed: Listing, body: bytes) -> bool:
    return feed.error == _SITEMAP or (bool(feed.error) and body.startswith(_GZIP))


def _sitemap(body: bytes, url: str, content_type: str | None, limits: ListingLimits) -> Listing:
    bounds = SitemapLimits(decoded_bytes=limits.body_bytes, entries=limits.items)
    found = list_sitemap(body, url=url, content_type=content_type, limits=bounds)
    if found.kind and not found.items and not found.error and not body.strip():
        return replace(found, kind="", error="empty")
    return found
