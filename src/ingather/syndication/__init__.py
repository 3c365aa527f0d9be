"""RSS, Atom, JSON Feed: documents that list what is new and changed.

:func:`read_listing` makes a :class:`Listing` of a feed's bytes: ``encodings`` says what the bytes mean, ``strict`` reads
well-formed XML (``rss``, ``atom``, with ``names``, ``bases`` and ``marks`` below them) and ``jsonfeed`` JSON; what is not
well-formed is put right where nothing has to be guessed (``mending``) or goes to feedparser (``lenient``). ``links`` and
``dates`` hold the two rules that all of them obey, ``collecting`` the limits.

Nothing here fetches, stores or knows the time.
"""

from ingather.syndication.listing import Hints, Listing, ListingItem, ListingLimits, Rejection, Tombstone
from ingather.syndication.packing import pack_listing, unpack_listing
from ingather.syndication.reading import read_listing

__all__ = [
    "Hints",
    "Listing",
    "ListingItem",
    "ListingLimits",
    "Rejection",
    "Tombstone",
    "pack_listing",
    "read_listing",
    "unpack_listing",
]
