"""What a synthetic web looks like: its size, and how much of what a real web has."""

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["PLAIN_TREE", "Traits", "WebShape"]


@dataclass(frozen=True, slots=True)
class WebShape:
    """What a synthetic web looks like; shares are chances per page between 0 and 1.

    Attributes:
        sites: number of sites.
        pages: pages of one site in generation 0.
        depth: links from the start page to the deepest pages, as long as there are no shortcuts.
        degree: links on a page to other pages of its site, beside the tree's.
        paragraphs: paragraphs of text on a page (about 60 words, 400 bytes each).
        shortcuts: share of the extra links that lead anywhere, not just one level down.
        foreign: pages that link to another site.
        redirected: pages whose tree link goes through a redirect.
        dead: pages with a link that answers 404.
        forbidden: pages under ``/private/``, which robots.txt forbids.
        noindex: pages with META robots noindex.
        nofollow: pages with META robots nofollow.
        copies: pages with an exact copy under ``/copy/``.
        plain: pages that are plain text, without links.
        crawl_delay_s: ``Crawl-delay`` of robots.txt, 0 = none.
        sitemaps: whether robots.txt names the site's sitemap.
        change: share of the pages that change from one generation to the next.
        growth: new pages by generation, as a share of ``pages``.
        decay: pages that are gone (404 or 410) from some generation between 1 and 4 on.
    """

    sites: int = 3
    pages: int = 100
    depth: int = 4
    degree: int = 6
    paragraphs: int = 4
    shortcuts: float = 0.05
    foreign: float = 0.1
    redirected: float = 0.04
    dead: float = 0.04
    forbidden: float = 0.03
    noindex: float = 0.03
    nofollow: float = 0.02
    copies: float = 0.03
    plain: float = 0.03
    crawl_delay_s: float = 0.0
    sitemaps: bool = False
    change: float = 0.2
    growth: float = 0.0
    decay: float = 0.0


PLAIN_TREE = WebShape(
    shortcuts=0.0,
    foreign=0.0,
    redirected=0.0,
    dead=0.0,
    forbidden=0.0,
    noindex=0.0,
    nofollow=0.0,
    copies=0.0,
    plain=0.0,
)
"""Nothing but pages: each of them is found once and indexed, as deep as the tree says."""


class Traits(NamedTuple):
    """What a page has of the things that a real web has; the start page has none."""

    foreign: bool = False
    redirected: bool = False
    dead: bool = False
    forbidden: bool = False
    noindex: bool = False
    nofollow: bool = False
    copied: bool = False
    plain: bool = False
    decays: bool = False
