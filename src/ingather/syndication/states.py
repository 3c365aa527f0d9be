"""Where a document and a feed stand, what is due and why something is to go (``docs/reference/rss-states.md``)."""

from enum import IntEnum

__all__ = ["DocState", "Due", "FeedState", "Want"]


class DocState(IntEnum):
    """State of a registration. After a crash every state is right as it stands; a visit that was asked for is made again."""

    PENDING = 0
    """A known link, nothing indexed yet."""
    LIVE = 1
    """Indexed."""
    RETRY = 2
    """The copy is kept, the last fetch failed."""
    GONE_HELD = 3
    """It is to go, and waits for a second look, for its cycle's end or for the breaker; the copy is kept."""
    HIDDEN = 4
    """Refused for long (401, 403, 407): the copy is kept and not shown."""
    ALIAS = 5
    """Its link leads to another registered document; it has none of its own."""
    EXCLUDED = 6
    """A filter, robots.txt, noindex, type, size or scope forbids it; no copy."""
    DELETED = 7
    """A tombstone."""

    @property
    def holds(self) -> bool:
        """Whether the document is in the catalog."""
        return self in {DocState.LIVE, DocState.RETRY, DocState.GONE_HELD, DocState.HIDDEN}


class FeedState(IntEnum):
    """State of a feed. That it is paused or no longer configured is the operator's, not a state."""

    ACTIVE = 0
    """Polled."""
    FAILING = 1
    """Polled; the last poll told nothing about its documents."""
    GONE = 2
    """410: not polled until somebody resumes it."""


class Due(IntEnum):
    """Why something is to be done with a registration at ``due_s``."""

    NOTHING = 0
    NEW = 1
    """Ask again for what was never indexed."""
    CHECK = 2
    """Neither indexed, seen nor checked for ``max_unseen_age``: does it still exist?"""
    REFRESH = 3
    """Still listed, not looked at for ``refresh_age``."""
    RETRY = 4
    """The last fetch failed; back-off."""
    CONFIRM = 5
    """Gone at the last look; a further look confirms."""
    AUTH = 6
    """Refused; a further look, or the day on which what is hidden goes."""
    ROBOTS = 7
    """Forbidden by robots.txt, or redirected out of scope; a further look."""
    REINDEX = 8
    """Its dates changed, but it was looked at a short time ago (volatile dates, a failure before)."""
    AGAIN = 9
    """A tombstone that is still listed: once a day."""
    AGE = 10
    """Indexed longer than ``max_index_age`` ago."""
    FORGET = 11
    """Nothing lists it any more and nothing is kept: the registration goes. No visit."""
    ABSENT = 12
    """Missing from a complete list, or its entry was declared deleted: checked without waiting."""

    @property
    def counted(self) -> bool:
        """Whether the visit counts against ``max_checks_per_cycle``."""
        return self not in {Due.NOTHING, Due.NEW, Due.REINDEX, Due.AGAIN, Due.FORGET}


class Want(IntEnum):
    """Why a document is to go."""

    NOTHING = 0
    NOT_FOUND = 1
    """404."""
    GONE = 2
    """410 or 451."""
    AUTH = 3
    """Hidden for ``auth_delete``."""
    ROBOTS = 4
    """robots.txt disallows it."""
    SCOPE = 5
    """Its link leads out of scope."""
    NOINDEX = 6
    FILTER = 7
    """Our rules say no."""
    SOFT_404 = 8
    AGE = 9
    """``max_index_age`` and ``on_max_index_age = "remove"``."""
    FEED = 10
    """Its feed was taken out of the configuration, and ``on_feed_removed = "delete"``."""

    @property
    def excludes(self) -> bool:
        """Whether what is left is ``EXCLUDED``, not ``DELETED``."""
        return self in {Want.ROBOTS, Want.SCOPE, Want.NOINDEX, Want.FILTER}
