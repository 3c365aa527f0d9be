"""Rows of syndication as both the writer and readers have them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = [
    "CYCLE_COLUMNS",
    "DOCUMENT_COLUMNS",
    "EVENT_COLUMNS",
    "FEED_COLUMNS",
    "LISTING_COLUMNS",
    "CycleRow",
    "DocumentRow",
    "EventRow",
    "FeedRow",
    "ListingRow",
    "SourceRow",
    "document_row",
    "feed_row",
    "listing_row",
]

FEED_COLUMNS: Final = (
    "id, url, source, name, parent, configured, paused, state, asked, due, polled, good, facts"
)
DOCUMENT_COLUMNS: Final = "id, source, state, intent, asked, due, why, counted, wanted, alias, final, facts"
LISTING_COLUMNS: Final = "feed, id, listed, guid, facts"
EVENT_COLUMNS: Final = "id, at, source, feed, document, before, after, cause, status, notice"
CYCLE_COLUMNS: Final = "id, source, begun, ended, polls, checks, wanted, removed, note"


@dataclass(slots=True)
class SourceRow:
    """A source: when its next cycle may begin (``None`` = not while it is off), the cycle that runs, facts."""

    id: int
    next_s: float | None
    cycle: int | None
    facts: bytes


@dataclass(slots=True)
class FeedRow:
    """A feed or sitemap; ``url`` is the row where it is polled, ``name`` its URL as configured. Times are wall seconds.

    ``parent``: the sitemap index that names it, 0 = the configuration does. ``configured``: it is named there still.
    """

    id: int
    url: int
    source: int
    name: str
    parent: int
    configured: bool
    paused: bool
    state: int
    asked_s: float | None
    due_s: float | None
    polled_s: float | None
    good_s: float | None
    facts: bytes


@dataclass(slots=True)
class DocumentRow:
    """A registration; ``id`` is its URL's row.

    A visit with ``intent`` is wanted since ``asked_s``, or something (``why``) is to be done at ``due_s``; ``counted``: it counts
    against the cycle's budget. ``wanted``: why the document is to go. ``alias``: the document that it is the same as. 0 = none.
    """

    id: int
    source: int
    state: int
    intent: int
    asked_s: float | None
    due_s: float | None
    why: int
    counted: bool
    wanted: int
    alias: int
    final: str
    facts: bytes


@dataclass(slots=True)
class ListingRow:
    """What one feed says of one document; ``listed``: in its last good list; ``guid``: its name of the item."""

    feed: int
    id: int
    listed: bool
    guid: str
    facts: bytes


@dataclass(frozen=True, slots=True)
class EventRow:
    """A transition of a document, or of a feed (``document`` is ``None``)."""

    id: int
    at_s: float
    source: int
    feed: int | None
    document: int | None
    before: str
    after: str
    cause: str
    status: int = 0
    notice: bool = False


@dataclass(slots=True)
class CycleRow:
    """A cycle of a source; it runs while ``ended_s`` is ``None``. ``note``: why wanted deletions were not executed."""

    id: int
    source: int
    begun_s: float
    ended_s: float | None
    polls: int = 0
    checks: int = 0
    wanted: int = 0
    removed: int = 0
    note: str = ""


def feed_row(row: Sequence[Any]) -> FeedRow:
    """Make a feed of its columns."""
    number, url, source, name, parent, configured, paused, *rest = row
    return FeedRow(number, url, source, name, parent, bool(configured), bool(paused), *rest)


def document_row(row: Sequence[Any]) -> DocumentRow:
    """Make a registration of its columns."""
    number, source, state, intent, asked, due, why, counted, *rest = row
    return DocumentRow(number, source, state, intent, asked, due, why, bool(counted), *rest)


def listing_row(row: Sequence[Any]) -> ListingRow:
    """Make a listing of its columns."""
    feed, url_id, listed, *rest = row
    return ListingRow(feed, url_id, bool(listed), *rest)
