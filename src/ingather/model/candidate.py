"""A URL with the circumstances under which it was met, before anything was asked of its host."""

from dataclasses import dataclass
from enum import Enum

__all__ = ["Candidate", "Pushed"]


class Pushed(Enum):
    """Whether a trusted sender or a web feed named the URL, so that it belongs to no site of the rules."""

    NO = 0
    URL = 1
    """It, or a URL of its host, is to be crawled: a host without a site is in scope."""
    CONTENT = 2
    """Its content came with a feed: sites and their rules say nothing about it."""
    LISTED = 3
    """A web feed or sitemap lists it: judged as ``URL``."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One URL as the filters see it.

    Attributes:
        url: canonical URL (the key form of :mod:`ingather.model.url`).
        depth: links from the nearest starting point, which has 0.
        max_depth: depth limit of the starting point that this path came from; -1 = none,
            ``None`` = the site's or the robot's default applies.
        source: name of the source that owns the URL.
        referrer: URL of the page on which it was found, ``""`` for a starting point.
        hops: redirects followed to come here.
        anchor: text of the link that led here.
        pushed: whether a feed brought it.
    """

    url: str
    depth: int = 0
    max_depth: int | None = None
    source: str = "web"
    referrer: str = ""
    hops: int = 0
    anchor: str = ""
    pushed: Pushed = Pushed.NO
