"""What the sitemaps of a site may list, and what their entries say. Pure.

Source: sitemaps.org, "Sitemap file location" and "Sitemaps & Cross Submits"; issue "robot operations", part 7.
"""

import re
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Final

from ingather.catalog.syndication.sqlite_sitemaps import Entry
from ingather.model.urlparts import host_key, split
from ingather.syndication import Listing

__all__ = ["DEEPEST", "EVERY", "entries_of", "may_list", "priority_of"]

DEEPEST: Final = 3
"""Indexes above a sitemap; the protocol allows one."""
_H, _D = 3_600.0, 86_400.0
EVERY: Final = {
    "always": _H, "hourly": _H, "daily": _D, "weekly": 7 * _D, "monthly": 30 * _D, "yearly": 365 * _D, "never": 3_650 * _D,
}  # fmt: skip
"""Seconds of each word of ``changefreq``."""
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d\Z")
_USUAL: Final = 5


def may_list(url: str, sitemap: str, *, vouched: Collection[str], configured: bool) -> bool:
    """Return whether a sitemap counts for a URL.

    Args:
        url: canonical, an entry or a sitemap that an index names.
        sitemap: where the sitemap is fetched, canonical.
        vouched: politeness names of the hosts whose robots.txt names the sitemap, or its index.
        configured: settings name the sitemap, or its index: whoever runs us vouches.
    """
    # No host names files of ours: see Pipeline.
    if url.startswith("file:") and not sitemap.startswith("file:"):
        return False
    if configured:
        return True
    if host_key(split(url).origin) in vouched:
        return True
    folder = sitemap.partition("?")[0].rpartition("/")[0] + "/"
    return url.startswith(folder)


def entries_of(listing: Listing) -> Iterator[Entry]:
    """Yield what a listing says, each URL once; the translations of an entry follow it, without its date."""
    seen: set[str] = set()
    for item in listing.items:
        if item.link not in seen:
            seen.add(item.link)
            yield Entry(
                item.link,
                _moment(item.modified or item.published, item.modified_text),
                EVERY.get(item.every),
                item.priority,
            )
    for item in listing.items:
        for url in item.alternates:
            if url not in seen:
                seen.add(url)
                yield Entry(url)


def priority_of(entry: Entry) -> int:
    """Return the place of an entry in its host's queue: what its site calls important a little earlier, the rest later."""
    if entry.priority is None:
        return _USUAL
    return _USUAL - (entry.priority >= 0.8) + (entry.priority <= 0.2)  # noqa: PLR2004 - the upper and the lower fifth


def _moment(date: str, written: str) -> float | None:
    """Return a date as wall time; a day without a time ends with the day."""
    try:
        at = datetime.fromisoformat(date).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    return at + _D - 1 if _DAY.match(written) else at
