"""How much the sitemaps of a host may bring."""

from dataclasses import dataclass

__all__ = ["SitemapLimits"]


@dataclass(frozen=True, slots=True)
class SitemapLimits:
    """Bounds of one host: sitemaps, and URLs that they list together."""

    files: int = 1_000
    urls: int = 200_000
