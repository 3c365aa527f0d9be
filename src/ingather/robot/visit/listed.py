"""What a source that feeds or sitemaps control says of the visits to what they list."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["FEED_BYTES", "SITEMAP_BYTES", "ListedRules", "RulesOf", "honoured", "is_soft_404"]

FEED_BYTES: Final = 10 << 20
SITEMAP_BYTES: Final = 50 << 20


@dataclass(frozen=True, slots=True)
class ListedRules:
    """One source of kind ``rss`` or ``sitemap``.

    Attributes:
        kind: what is polled.
        discover: links of fetched documents are followed, to the document's own scheme, host and port.
        same_host: a redirect of a document is followed only to its own scheme and host (``link-scope = same-host``; whoever
            takes a link off a feed holds it against the feed's).
        document_bytes: largest document, as it travels and decoded; 0 = as for every page.
        honoured_query: parameters that links may keep; ``None`` = all.
        feed_bytes: largest feed, as it travels and decoded; 0 = 10 MiB, a sitemap's 50 MiB.
        feed_items: most items of a feed; 0 = 10,000, a sitemap's 50,000.
        redirects: hops that are followed within a visit.
        obey_robots: whether robots.txt binds the feed's own URL; what it lists is always bound.
        poll_s: from a request for the feed to its last byte; 0 = 10 s, a sitemap's 60 s.
    """

    kind: Literal["rss", "sitemap"] = "rss"
    discover: bool = False
    same_host: bool = False
    document_bytes: int = 0
    honoured_query: frozenset[str] | None = None
    feed_bytes: int = 0
    feed_items: int = 0
    redirects: int = 10
    obey_robots: bool = True
    poll_s: float = 0.0

    @property
    def most_bytes(self) -> int:
        """Largest feed in bytes."""
        return self.feed_bytes or (SITEMAP_BYTES if self.kind == "sitemap" else FEED_BYTES)

    @property
    def most_items(self) -> int:
        """Most items of a feed."""
        return self.feed_items or (50_000 if self.kind == "sitemap" else 10_000)

    @property
    def most_s(self) -> float:
        """Longest request for a feed in seconds."""
        return self.poll_s or (60.0 if self.kind == "sitemap" else 10.0)


RulesOf = Callable[[str], ListedRules | None]
"""Name of a source -> its rules; ``None`` = neither feeds nor sitemaps control it."""


def honoured(url: str, parameters: frozenset[str] | None) -> str:
    """Return canonical *url* with those of its query's parameters alone; ``None`` keeps all."""
    bare, mark, query = url.partition("?")
    if parameters is None or not mark:
        return url
    kept = [part for part in query.split("&") if part.partition("=")[0] in parameters]
    return f"{bare}?{'&'.join(kept)}" if kept else bare


def is_soft_404(url: str, final_url: str) -> str:
    """Say why a redirect from *url* may stand for "not found", ``""`` if nothing speaks for it; both canonical."""
    root = final_url.split("/", 3)
    if len(root) == 4 and not root[3] and url.split("/", 3)[3:] not in ([], [""]):  # noqa: PLR2004 - scheme:, "", host, path
        return "redirects to the root of the site"
    return ""
