"""Why a URL is visited, when somebody asked for that visit: the decider of web feeds asks, the frontier carries it."""

from enum import IntEnum
from typing import Final

__all__ = ["DOCUMENTS", "FEEDS", "POLLS", "Intent"]


class Intent(IntEnum):
    """What a visit is for; column ``url.intent``.

    A visit that ends clears it, unless what follows from the visit sets another. After a crash the row still
    has it: the visit is made again.
    """

    NONE = 0
    """An ordinary visit: found, due or pushed."""
    NEW = 1
    """A listed document of which nothing is kept; unconditional."""
    REINDEX = 2
    """A listed document whose dates changed; unconditional."""
    CHECK = 3
    """Is a document that no feed lists any more still there? Conditional."""
    REFRESH = 4
    """Did a listed document change whose dates never do? Conditional."""
    FEED = 5
    """Poll a feed or sitemap; conditional."""
    FEED_ANEW = 6
    """Poll a feed or sitemap; unconditional."""
    PAGE = 7
    """A further page of a feed, or a sitemap that an index names; unconditional."""

    SITEMAP = 8
    """Poll a sitemap of a site (robots.txt, settings or an index name it); conditional."""

    @property
    def conditional(self) -> bool:
        """Whether stored validators are sent."""
        return self in _CONDITIONAL


_CONDITIONAL: Final = frozenset({Intent.NONE, Intent.CHECK, Intent.REFRESH, Intent.FEED, Intent.SITEMAP})
DOCUMENTS: Final = frozenset({Intent.NEW, Intent.REINDEX, Intent.CHECK, Intent.REFRESH})
"""Visits of listed documents; redirects are followed within them."""
FEEDS: Final = frozenset({Intent.FEED, Intent.FEED_ANEW, Intent.PAGE, Intent.SITEMAP})
"""Visits of what lists documents; they end in a :class:`ingather.model.polled.Polled`."""
POLLS: Final = frozenset({Intent.FEED, Intent.SITEMAP})
"""Those that are asked conditionally: an equal body is the list of the last time."""
