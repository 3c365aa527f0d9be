"""What a feed lists: items with a link and two dates, and what it says of itself. Values only."""

from dataclasses import dataclass

__all__ = ["Hints", "Listing", "ListingItem", "ListingLimits", "Rejection", "Tombstone"]


@dataclass(frozen=True, slots=True)
class ListingLimits:
    """Bounds of one document; beyond ``body_bytes`` or ``items`` it is a feed error, never a shorter list.

    Attributes:
        body_bytes: decoded size.
        items: items and rejected items together.
        link_chars: a longer link rejects its item.
        text_chars: titles, guids and dates are cut here.
        rejections: how many are told one by one; all are counted.
    """

    body_bytes: int = 10 << 20
    items: int = 10_000
    link_chars: int = 8192
    text_chars: int = 1000
    rejections: int = 100


@dataclass(frozen=True, slots=True)
class ListingItem:
    """One item of a feed.

    Attributes:
        link: absolute ``http`` or ``https`` URL without fragment, parsed by the WHATWG's rules but with all of its
            query; the key of the document is the canonical form of it.
        published: date of the birth: RFC 3339 in UTC to the second (``2018-03-20T08:33:00Z``) when it can be read, else
            the text of the feed with blanks collapsed, ``""`` if there is none. Never the time of reading. Two
            values differ exactly when the date rule says that they do.
        modified: date of the last change, in the same form.
        guid: the feed's name for the item (``guid``, ``id``, ``rdf:about``), ``""`` if none. An alias, not a key.
        title: blanks collapsed, markup not interpreted; for people and for sources that fall back on it.
        link_rule: which step of the link rule gave the link: ``origLink``, ``link``, ``url``, ``external_url``,
            ``atom:link``, ``guid``, ``rdf:about``, ``content@src`` or ``id``.
        published_text: the date as written, blanks collapsed.
        modified_text: the same of the change.
        every: how often it changes, in a sitemap's words (``changefreq``), ``""`` if it does not say.
        priority: of a sitemap, 0 to 1, ``None`` if it does not say.
        alternates: translations that a sitemap names, canonical URLs.
    """

    link: str
    published: str = ""
    modified: str = ""
    guid: str = ""
    title: str = ""
    link_rule: str = ""
    published_text: str = ""
    modified_text: str = ""
    every: str = ""
    priority: float | None = None
    alternates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejection:
    """An item without a usable link: its number in the document from 1, its guid, why."""

    number: int
    guid: str
    reason: str


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A deleted entry (RFC 6721): the id that it had, when it went (as ``ListingItem`` has dates), its link if told."""

    ref: str
    when: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Hints:
    """What a feed says about its polling and its other pages.

    Attributes:
        ttl_minutes: RSS ``ttl``, ``None`` if absent or not a number.
        skip_hours: hours of the day in GMT, 0 to 23, in which not to poll.
        skip_days: days of the week in GMT, 0 = Monday.
        hubs: WebSub hubs, absolute URLs.
        self_url: what the feed calls itself, ``""`` if it does not.
        next_url: the next page (``rel=next``, ``next_url``), ``""`` if none.
        prev_archive: the older archive document (RFC 5005), ``""`` if none.
        complete: ``fh:complete``: what is not listed does not exist.
        archive: ``fh:archive``: this document never changes again.
        expired: JSON Feed's ``expired``: nothing will be added.
    """

    ttl_minutes: int | None = None
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()
    hubs: tuple[str, ...] = ()
    self_url: str = ""
    next_url: str = ""
    prev_archive: str = ""
    complete: bool = False
    archive: bool = False
    expired: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """What a document lists.

    Attributes:
        kind: ``rss``, ``rdf`` (RSS 0.90 and 1.0), ``atom``, ``json`` or ``sitemap``; ``""`` if it is no feed.
        version: as the document says it (``2.0``, ``0.3``), ``""`` if it does not.
        title: of the feed.
        items: in the document's order; one link may occur more than once.
        rejected: items without a usable link, the first of them.
        rejected_count: all of them.
        tombstones: deleted entries.
        hints: see :class:`Hints`.
        malformed: the document breaks its format; items may be missing, none is invented.
        remarks: what was odd, fit for people.
        error: why this is no list at all, ``""`` if it is one. Nothing may be concluded from such a document.
    """

    kind: str
    version: str = ""
    title: str = ""
    items: tuple[ListingItem, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    rejected_count: int = 0
    tombstones: tuple[Tombstone, ...] = ()
    hints: Hints = Hints()
    malformed: bool = False
    remarks: tuple[str, ...] = ()
    error: str = ""
