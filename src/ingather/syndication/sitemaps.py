"""A sitemap as a listing: for sources whose kind is ``sitemap``; a feed serves as one too (sitemaps.org)."""

from hashlib import sha256

from ingather.extract import read_sitemap
from ingather.extract.sitemap import NOTHING, SitemapLimits
from ingather.syndication.datapage import is_document_data
from ingather.syndication.dates import listing_date, tidy
from ingather.syndication.esdocument import read_esdocument
from ingather.syndication.links import absolute
from ingather.syndication.listing import Listing, ListingItem

__all__ = ["list_sitemap"]

_DEFAULT = SitemapLimits()
_WORD_CHARS = 20
_ALTERNATES = 100


def list_sitemap(
    body: bytes, *, url: str, content_type: str | None = None, limits: SitemapLimits = _DEFAULT
) -> Listing:
    """Read a sitemap (XML, text, gzip, news, RSS or Atom), or one document's data, into a listing; never raises for what is in it.

    ``lastmod`` is the date of change, a news entry's publication date that of birth. The items of an index are
    sitemaps: ``kind`` is ``sitemap-index`` then, else ``sitemap``. A sitemap beyond its limits, or without an entry and broken, is an
    error: it proves nothing about any document. A document of data (``esdocument``) lists itself: its ``doc_url``, dated anew whenever
    it is dirty and has changed.
    """
    if is_document_data(body):
        return _list_data(body, content_type)
    found = read_sitemap(body, url=url, content_type=content_type, limits=limits)
    kind = "sitemap-index" if found.kind == "index" else "sitemap"
    if found.truncated:
        return Listing(
            "", remarks=found.remarks, malformed=found.malformed, error="larger than a sitemap may be"
        )
    if not found.entries and (found.malformed or found.remarks not in {(), (NOTHING,)}):
        return Listing("", remarks=found.remarks, malformed=found.malformed, error="not a sitemap")
    items = tuple(
        ListingItem(
            link=entry.url,
            published=entry.news_date,
            modified=entry.lastmod or listing_date(tidy(entry.lastmod_text)),
            title=entry.news_title,
            link_rule="loc",
            published_text=entry.news_date,
            modified_text=tidy(entry.lastmod_text),
            every=entry.changefreq[:_WORD_CHARS],
            priority=entry.priority,
            alternates=tuple(dict.fromkeys(url for _, url in entry.alternates))[:_ALTERNATES],
        )
        for entry in found.entries
    )
    return Listing(kind, items=items, malformed=found.malformed, remarks=found.remarks)


def _list_data(body: bytes, content_type: str | None) -> Listing:
    found = read_esdocument(body, content_type=content_type)
    link = absolute(next(iter(found.fields.get("doc_url", ())), ""))
    if found.error or not link:
        return Listing("", remarks=found.remarks, error=found.error or "a document of data without doc_url")
    date = tidy(next(iter(found.fields.get("system_location_modified", ())), ""))
    told = f"dirty {sha256(body).hexdigest()[:16]}" if found.dirty else date
    title = tidy(next(iter(found.fields.get("doc_title", ())), ""))
    item = ListingItem(
        link, modified=listing_date(told), title=title, link_rule="doc_url", modified_text=told
    )
    return Listing("sitemap", "esdocument", items=(item,), remarks=found.remarks)
