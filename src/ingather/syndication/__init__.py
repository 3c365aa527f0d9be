"""RSS, Atom, JSON Feed, sitemaps: documents that list what is new and changed, and what is done about it.

1. *Read.* :func:`read_listing` makes a :class:`Listing` of a feed's bytes: ``encodings`` says what the bytes mean, ``strict`` reads
well-formed XML (``rss``, ``atom``, with ``names``, ``bases`` and ``marks`` below them) and ``jsonfeed`` JSON; what is not
well-formed is put right where nothing has to be guessed (``mending``) or goes to feedparser (``lenient``). ``links`` and
``dates`` hold the two rules that all of them obey, ``collecting`` the limits.
2. *Decided.* ``deciding.Decider`` is given facts (``facts``, ``states``) and the time and returns rulings (``rulings``): ``cycles`` says
which feeds are polled, ``polls`` and ``relisting`` what follows from a poll, ``outcomes`` (with ``casework`` and ``answers``) what
follows from a visit to a document, ``deletions`` what may go, ``clocks`` and ``feed_clocks`` when something is due next, and
``explaining`` says it in words.

Nothing here fetches, stores or knows the time; ``app.syndication`` carries out what is ruled.
"""

from typing import TYPE_CHECKING, Any

from ingather.syndication.listing import Hints, Listing, ListingItem, ListingLimits, Rejection, Tombstone
from ingather.syndication.packing import pack_listing, unpack_listing

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    # Its dozen modules are read when something is to be read: most processes only handle what others read.
    if name == "read_listing":
        from ingather.syndication.reading import read_listing

        return read_listing
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
