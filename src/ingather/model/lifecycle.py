"""Where a URL stands in its life, and what became of the last visit."""

from enum import IntEnum

__all__ = ["Outcome", "State"]


class State(IntEnum):
    """State of a URL row. After a crash every state is right as it stands: claims are not states.

    WAITING: to be visited; it is in the frontier (again after a crash).
    EXCLUDED: a filter, budget or scope denied it before any fetch; judged again when rules or depth change.
    DONE: visited; ``due`` says when to look again.
    GONE: a tombstone: deleted for a recorded reason; never resurrected by older records.
    QUARANTINED: it killed its reader twice; left alone until released.
    """

    WAITING = 0
    EXCLUDED = 1
    DONE = 2
    GONE = 3
    QUARANTINED = 4


class Outcome(IntEnum):
    """How a visit ended; every visit ends in exactly one (``docs/reference/outcomes.md``)."""

    INDEXED = 0
    """Described: an RD was made or renewed."""
    UNCHANGED = 1
    """304 or an equal body: the RD stands, its dates are renewed."""
    ENUMERATED = 2
    """Links were followed, no RD was made (the generation filter denied)."""
    EXCLUDED = 3
    """Both filters denied after the fetch, or before it."""
    REDIRECTED = 4
    ROBOTS = 5
    """robots.txt forbids it."""
    ROBOTS_UNREACHABLE = 6
    """robots.txt cannot be had: nothing is fetched from the host until it answers."""
    NOT_FOUND = 7
    """404 or 410."""
    REFUSED = 8
    """401, 403, 407, 451 and other 4xx."""
    BACK_OFF = 9
    """429 or 503: the host asked for time."""
    SERVER_ERROR = 10
    FAILED = 11
    """No response: the failure kind tells why."""
    DUPLICATE = 12
    CONVERSION_FAILED = 13
    """Kept and findable by its metadata; the text could not be read."""
    QUARANTINED = 14
    BUDGET = 15
    NOINDEX = 16
    """A page-level robots rule forbids an RD."""
    SOFT_404 = 17
    """200, but what the host says of names that cannot exist."""
