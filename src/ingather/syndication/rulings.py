"""What comes to the decider (visits, polls, what the catalog knows) and what it rules."""

from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum
from typing import Protocol

import msgspec

from ingather.model.intent import Intent
from ingather.model.polled import Hop, PollKind
from ingather.syndication.facts import (
    Event,
    FeedFacts,
    ListedDates,
    Registration,
    SourceFacts,
)
from ingather.syndication.listing import Hints, Tombstone

__all__ = [
    "Account",
    "Answer",
    "Asked",
    "Book",
    "CycleRuling",
    "DeletionRuling",
    "DocumentRuling",
    "DueRuling",
    "FeedRuling",
    "Listed",
    "Poll",
    "Visit",
]


class Answer(IntEnum):
    """What came of a visit to a listed document (section 9.2); ``outcomes.answer_of`` tells it from a report."""

    OK = 0
    """200 or 203 with a usable body."""
    UNCHANGED = 1
    """304."""
    EMPTY = 2
    """204, 205, or no body: an error."""
    NOT_FOUND = 3
    GONE = 4
    """410, 451."""
    REFUSED = 5
    """401, 403, 407."""
    BACK_OFF = 6
    """408, 425, 429, 5xx."""
    OTHER = 7
    """Any other 4xx, or a status that means nothing here."""
    FAILED = 8
    """Time, DNS, connection, TLS, truncated, a redirect loop or more than ten hops."""
    SCOPE = 9
    """Redirected out of scope."""
    ROBOTS = 10
    """robots.txt disallows it."""
    ROBOTS_UNREACHABLE = 11
    NOINDEX = 12
    FILTER = 13
    """Our rules say no."""
    UNUSABLE = 14
    """Too large, or of a type that is not handled."""
    NONE = 15
    """The visit did not take place (budget, shutdown, quarantine): nothing is concluded."""


class Visit(msgspec.Struct, frozen=True):
    """What came of a visit to a listed document.

    Attributes:
        answer: see :class:`Answer`.
        intent: what the visit was for.
        started_s: when the request was sent; dates met later are not committed with this visit.
        status: HTTP status, 0 = none.
        detail: why, fit for people.
        digest: of the body; equal = the same content.
        etag: as received.
        last_modified: as received.
        final: URL that answered, ``""`` or the link itself = not redirected.
        final_key: its row's number if this source has a registration for it, 0 if it has none.
        retry_s: seconds of ``Retry-After``.
        soft_404: why the body looks like an error page, ``""`` = it does not. A redirect to the root of the site is noticed by the decider.
    """

    answer: Answer
    intent: Intent
    started_s: float
    status: int = 0
    detail: str = ""
    digest: bytes = b""
    etag: str = ""
    last_modified: str = ""
    final: str = ""
    final_key: int = 0
    retry_s: float | None = None
    soft_404: str = ""


class Listed(msgspec.Struct, frozen=True):
    """One item of a list with its document's key (``keyed`` makes them).

    Attributes:
        foreign: another source owns the URL: a listing is kept, nothing else.
    """

    key: int
    link: str
    published: str = ""
    modified: str = ""
    guid: str = ""
    title: str = ""
    published_text: str = ""
    modified_text: str = ""
    foreign: bool = False


class Poll(msgspec.Struct, frozen=True):
    """What came of a visit to a feed, or to a further page of it.

    Attributes:
        kind: ``LISTED`` and ``UNCHANGED`` tell what it lists, nothing else does.
        intent: ``FEED``, ``FEED_ANEW`` or ``PAGE``.
        items: one for each key (``keyed``).
        listed: items with a usable link in the document, before those of one key were joined.
        rejected: items without a usable link, or out of scope.
        children: sitemaps that an index names (canonical URLs); then there are no items.
        feed_kind: of the document: ``rss``, ``sitemap``, ``sitemap-index``...
        title: of the document.
    """

    kind: PollKind
    intent: Intent = Intent.FEED
    status: int = 0
    detail: str = ""
    etag: str = ""
    last_modified: str = ""
    max_age_s: float | None = None
    retry_s: float | None = None
    hops: tuple[Hop, ...] = ()
    digest: bytes = b""
    items: tuple[Listed, ...] = ()
    listed: int = 0
    rejected: int = 0
    tombstones: tuple[Tombstone, ...] = ()
    hints: Hints = Hints()
    malformed: bool = False
    children: tuple[str, ...] = ()
    feed_kind: str = ""
    title: str = ""


class Book(Protocol):
    """What the catalog knows, asked for when it is needed; answers belong to the transaction that carries out the ruling."""

    def listings(self, feed: int) -> Collection[ListedDates]:
        """Return what *feed* lists now (``listed``)."""

    def listings_among(self, feed: int, keys: Sequence[int]) -> Mapping[int, ListedDates]:
        """Return what *feed* says or said of *keys*."""

    def registrations(self, keys: Sequence[int]) -> Mapping[int, Registration]:
        """Return the registrations of *keys*."""

    def listings_of(self, key: int) -> Collection[ListedDates]:
        """Return what all feeds of the source say or said of *key*."""

    def named(self, feed: int, guids: Sequence[str]) -> Mapping[str, int]:
        """Return the keys of items that *feed* calls *guids*."""

    def linked(self, links: Sequence[str]) -> Mapping[str, int]:
        """Return the keys of *links*, as far as they are registered."""

    def leading_to(self, key: int) -> Collection[Registration]:
        """Return the other registrations whose ``final`` is the URL of *key*, or whose ``alias`` is *key*."""


class DocumentRuling(msgspec.Struct, frozen=True):
    """What follows from one visit, or from one transition.

    Attributes:
        registration: as it is now. ``registration.intent`` is the visit that the URL's row is to wait for (``NONE`` = none).
        listings: those that changed.
        others: other registrations that changed (aliases, what is an alias of it).
        events: what happened.
        index: the body of the report becomes the document; otherwise what is described stays as it is.
        remove: the document goes from catalog and index now: tombstone with ``cause`` first, then the index.
        cause: why, fit for people.
        hide: ``True`` = not shown from now on, ``False`` = shown again, ``None`` = no change.
        duplicates: keys whose documents go now, because another has the same; no deletion in the policy's sense.
        host_until_s: the whole host is left alone until then; ``None`` = no wish.
        volatile: feeds whose dates were found to move without their contents.
        forget: the registration itself goes, with its listings.
        want: it is to go; ``DeletionRuling`` says when.
    """

    registration: Registration
    listings: tuple[ListedDates, ...] = ()
    others: tuple[Registration, ...] = ()
    events: tuple[Event, ...] = ()
    index: bool = False
    remove: bool = False
    cause: str = ""
    hide: bool | None = None
    duplicates: tuple[int, ...] = ()
    host_until_s: float | None = None
    volatile: tuple[int, ...] = ()
    forget: bool = False
    want: bool = False


class FeedRuling(msgspec.Struct, frozen=True):
    """What follows from one poll, or from the end of a feed.

    Attributes:
        feed: as it is now; its ``due_s`` is moved once more when the cycle ends.
        registrations: new and changed ones; put in the frontier what has an ``intent``.
        listings: new and changed ones.
        events: what happened.
        page: the next page to visit (``Intent.PAGE``), ``""`` = none.
        children: sitemaps that the index names now; each is a feed of its own with ``parent`` = this one, due at once. Those that were its
            children and are not named any more are ``removed``. ``None`` = nothing is known.
        host_until_s: the whole host is left alone until then.
    """

    feed: FeedFacts
    registrations: tuple[Registration, ...] = ()
    listings: tuple[ListedDates, ...] = ()
    events: tuple[Event, ...] = ()
    page: str = ""
    children: tuple[str, ...] | None = None
    host_until_s: float | None = None


class Asked(msgspec.Struct, frozen=True):
    """A poll to be made: the feed as it is now, how, and why, fit for people."""

    feed: FeedFacts
    intent: Intent
    why: str


class CycleRuling(msgspec.Struct, frozen=True):
    """Begin or end of a cycle.

    Attributes:
        source: as it is now.
        asks: polls to be made (begin only).
        feeds: feeds that changed (end only: their next poll counts from now).
        events: what happened.
    """

    source: SourceFacts
    asks: tuple[Asked, ...] = ()
    feeds: tuple[FeedFacts, ...] = ()
    events: tuple[Event, ...] = ()


class DueRuling(msgspec.Struct, frozen=True):
    """What is to be done with registrations whose time came.

    Attributes:
        source: as it is now (checks counted).
        rulings: one for each registration that is asked for, forgotten or wanted gone.
        exhausted: more is due than the cycle's budget allows.
    """

    source: SourceFacts
    rulings: tuple[DocumentRuling, ...] = ()
    exhausted: bool = False


class Account(msgspec.Struct, frozen=True):
    """What the catalog counts for the decision about deletions.

    Attributes:
        documents: documents that the source has, those to be deleted among them.
        asked: visits that count against the budget and have not ended yet.
        asked_since_s: when the oldest of them was asked for.
        oldest_due_s: smallest ``due_s`` of those registrations whose ``due`` counts; ``None`` = there is none.
    """

    documents: int
    asked: int = 0
    asked_since_s: float | None = None
    oldest_due_s: float | None = None


class DeletionRuling(msgspec.Struct, frozen=True):
    """What becomes of the documents that are to go.

    Attributes:
        source: as it is now.
        rulings: deletions to be carried out now, and registrations that the breaker holds from now on.
        held: how many the breaker holds.
        why: why none was executed, fit for people, ``""`` if nothing stood in the way.
        events: notices.
    """

    source: SourceFacts
    rulings: tuple[DocumentRuling, ...] = ()
    held: int = 0
    why: str = ""
    events: tuple[Event, ...] = ()
