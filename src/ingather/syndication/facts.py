"""What the decider keeps of sources, feeds and documents, as values: facts in, facts out, nothing else remembered.

Every ``*_s`` that is an instant is wall seconds UTC, every other one a duration; ``None`` = never. A document is named by the
number of its URL's row (``url.id``), a feed by that of its own row. Facts are encoded as maps without what stands at its
default, so fields may be added. What comes to the decider and what it rules is in ``rulings``, the clocks are in
``source_limits``; ``docs/reference/rss-states.md`` says what they mean.
"""

import msgspec

from ingather.model.intent import Intent
from ingather.syndication.states import DocState, Due, FeedState, Want

__all__ = [
    "CycleFacts",
    "DocState",
    "Due",
    "Event",
    "FeedFacts",
    "FeedState",
    "ListedDates",
    "Registration",
    "SourceFacts",
    "Want",
]


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """A transition: of a document (``document``), of a feed (``feed`` alone) or of a source (neither).

    Attributes:
        at_s: when.
        before: name of the state before, in small letters, ``""`` if there was none.
        after: name of the state after; the same = something happened within the state.
        cause: fit for people.
        status: HTTP status, 0 = none.
        document: its number, 0 = none.
        feed: the feed that caused it, 0 = none.
        notice: a person should see it.
    """

    at_s: float
    before: str
    after: str
    cause: str
    status: int = 0
    document: int = 0
    feed: int = 0
    notice: bool = False


class Registration(msgspec.Struct, frozen=True, omit_defaults=True):
    """A document that a source looks after.

    What a feed lists now was seen at that feed's ``good_s``; ``seen_s`` here is older then, because it is written only when
    a document leaves a list. A visit that is wanted is ``intent``, since ``asked_s``; what comes next without anybody's doing
    is ``due_s``, and that is ``None`` exactly while a visit is wanted or nothing is ever to be done.

    Attributes:
        key: number of its URL's row.
        link: as first seen; used for fetching.
        state: see :class:`DocState`.
        intent: the visit that is wanted.
        asked_s: since when it is.
        due_s: something is to be done from this instant on, ...
        due: ... namely this.
        listed: how many feeds list it now (lapsed feeds list nothing).
        dated: how many of those give a date.
        unlisted_s: when the last feed ceased to list it.
        known_s: when it was registered.
        seen_s: last seen in a good list; see above.
        indexed_s: last indexed.
        checked_s: last definite answer.
        looked_s: last visit that ended, whatever came of it.
        etag: validators as received with the last 200, ...
        last_modified: ... or a later 304.
        digest: of the last body indexed.
        final: URL to which its link led, ``""`` = itself.
        alias: key of the document that it is the same as, 0 = none.
        guid: the feed's name of it; an alias only.
        not_before_s: no visit before this instant (back-off, grace).
        reindex_s: dates wait to be registered: an unconditional visit from this instant on.
        absent_s: since when it is missing from a complete list, or declared deleted, and was not looked at.
        fails: failures in a row.
        failing_s: since when.
        alerted: somebody was told that it cannot be reached.
        gone: 404s and the like in a row.
        gone_s: the first of them.
        refusals: 401, 403, 407 in a row.
        refused_s: the first of them.
        hidden_s: since when it is hidden.
        disallows: looks in a row that found it forbidden (robots.txt, scope).
        disallowed_s: the first of them.
        want: why it is to go; then the state is ``GONE_HELD``.
        want_s: since when.
        confirmations: further looks since then that found the same.
        breaker: it is held by the breaker: too many would go with it.
        deleted_s: when it went.
        suspect: why it may be a soft 404, ``""`` = it is not suspected.
        status: HTTP status of the last answer.
        reason: what the last visit brought, fit for people.
    """

    key: int
    link: str = ""
    state: DocState = DocState.PENDING
    intent: Intent = Intent.NONE
    asked_s: float | None = None
    due_s: float | None = None
    due: Due = Due.NOTHING
    listed: int = 0
    dated: int = 0
    unlisted_s: float | None = None
    known_s: float = 0.0
    seen_s: float | None = None
    indexed_s: float | None = None
    checked_s: float | None = None
    looked_s: float | None = None
    etag: str = ""
    last_modified: str = ""
    digest: bytes = b""
    final: str = ""
    alias: int = 0
    guid: str = ""
    not_before_s: float = 0.0
    reindex_s: float | None = None
    absent_s: float | None = None
    fails: int = 0
    failing_s: float | None = None
    alerted: bool = False
    gone: int = 0
    gone_s: float | None = None
    refusals: int = 0
    refused_s: float | None = None
    hidden_s: float | None = None
    disallows: int = 0
    disallowed_s: float | None = None
    want: Want = Want.NOTHING
    want_s: float | None = None
    confirmations: int = 0
    breaker: bool = False
    deleted_s: float | None = None
    suspect: str = ""
    status: int = 0
    reason: str = ""


class ListedDates(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one feed says of one document. Dates as in :class:`ingather.syndication.ListingItem`.

    Attributes:
        feed: number of the feed.
        key: the document.
        published: registered, that is, committed with a fetch that went well.
        modified: the same of the change.
        published_text: as written.
        modified_text: the same of the change.
        waiting: dates that are not registered yet: (published, modified, their texts); ``None`` = none.
        noticed_s: when those were met.
        listed: in the feed's last good list. That of a feed which lapsed does not count in ``Registration.listed``.
        first_s: first listed.
        last_s: last listed; of what is listed now see the feed's ``good_s``.
        guid: the feed's name of the item.
        title: of the item, for sources that fall back on it.
        idle: reindexings in a row that a date asked for and that found the content as it was.
        buried: the feed said that the entry was deleted, and that was acted upon.
        foreign: another source owned the URL when it was listed last: nothing is registered because of it.
    """

    feed: int
    key: int
    published: str = ""
    modified: str = ""
    published_text: str = ""
    modified_text: str = ""
    waiting: tuple[str, str, str, str] | None = None
    noticed_s: float | None = None
    listed: bool = True
    first_s: float = 0.0
    last_s: float = 0.0
    guid: str = ""
    title: str = ""
    idle: int = 0
    buried: bool = False
    foreign: bool = False

    @property
    def dated(self) -> bool:
        """Whether the feed gives a date."""
        if self.waiting is not None:
            return bool(self.waiting[0] or self.waiting[1])
        return bool(self.published or self.modified)


class FeedFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """A feed or a sitemap.

    Attributes:
        id: its number.
        url: where it is polled.
        state: see :class:`FeedState`.
        parent: the sitemap index that names it, 0 = the configuration does.
        asked_s: since when a poll is wanted, ``None`` = none is.
        due_s: next poll, ``None`` = none is planned.
        why: why then, fit for people.
        urgent: a person wants it polled at once.
        polled_s: last poll that ended.
        good_s: last poll that told what it lists.
        anew_s: last unconditional answer with a list.
        etag: validators as received with the last good list ...
        last_modified: ... or a later 304.
        digest: of its body.
        items: in the last good list.
        rejected: items without a usable link in it.
        ttl_s: what the list says, ``None`` = nothing.
        max_age_s: what Cache-Control or Expires said last.
        skip_hours: hours in GMT in which it is not polled.
        skip_days: days in GMT, 0 = Monday, on which it is not polled.
        errors: polls in a row that told nothing.
        failing_s: since when.
        error: the last one, fit for people, ``""`` = none.
        alerted: somebody was told that it fails.
        retry_s: ``Retry-After`` of the last answer, seconds.
        moved_to: target of permanent redirects.
        moved: how often in a row.
        moved_s: first time.
        malformed: the last good list broke its format.
        overrun: there was no link in common with the list before.
        overrun_s: last time that, or since when the interval is as short as it is.
        halvings: how often the interval is halved.
        page: further pages read in this walk.
        volatile: dates of some of its items move while the contents do not.
        lapsed: it failed for ``max_unseen_age``: what it listed is looked after as if it were not listed.
        status: HTTP status of the last answer.
        complete: its list is complete: what is missing is checked at once.
        kind: of its document: ``rss``, ``atom``, ``sitemap``...
        title: of its document.
        new: items that were new, at the last poll; ...
        changed: ... whose dates differed; ...
        dropped: ... which left the list.
    """

    id: int
    url: str = ""
    state: FeedState = FeedState.ACTIVE
    parent: int = 0
    asked_s: float | None = None
    due_s: float | None = None
    why: str = ""
    urgent: bool = False
    polled_s: float | None = None
    good_s: float | None = None
    anew_s: float | None = None
    etag: str = ""
    last_modified: str = ""
    digest: bytes = b""
    items: int = 0
    rejected: int = 0
    ttl_s: float | None = None
    max_age_s: float | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()
    errors: int = 0
    failing_s: float | None = None
    error: str = ""
    alerted: bool = False
    retry_s: float | None = None
    moved_to: str = ""
    moved: int = 0
    moved_s: float | None = None
    malformed: bool = False
    overrun: bool = False
    overrun_s: float | None = None
    halvings: int = 0
    page: int = 0
    volatile: bool = False
    lapsed: bool = False
    status: int = 0
    complete: bool = False
    kind: str = ""
    title: str = ""
    new: int = 0
    changed: int = 0
    dropped: int = 0


class CycleFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """One cycle of a source.

    Attributes:
        begun_s: when it began.
        polls: feeds that it asked.
        checks: visits that count against the budget and that were asked for.
        exhausted: its budget was used up while more was due.
    """

    begun_s: float = 0.0
    polls: int = 0
    checks: int = 0
    exhausted: bool = False


class SourceFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """A source.

    Attributes:
        cycle: the cycle that runs, ``None`` = none does.
        ended_s: when the last one ended.
        round_s: since when the budget of each cycle was used up; the checks that were due then are not yet worked off. ``None``: no such round.
        gone: deletions that were executed, as (instant, number), within the account's time; those that a person released or that were confirmed do not count.
        held_s: since when the breaker holds, ``None`` = it does not.
        held: documents that it holds.
    """

    cycle: CycleFacts | None = None
    ended_s: float | None = None
    round_s: float | None = None
    gone: tuple[tuple[float, int], ...] = ()
    held_s: float | None = None
    held: int = 0
