"""What one visit may bring, as values."""

from dataclasses import dataclass

__all__ = ["PipelineLimits"]


@dataclass(frozen=True, slots=True)
class PipelineLimits:
    """What one visit may bring: redirects in a chain, links, characters of text kept for search."""

    redirects: int = 5
    links: int = 1024
    text_chars: int = 5_000_000
    anchor_chars: int = 200
    marked_chars: int = 400
