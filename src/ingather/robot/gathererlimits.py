"""How much a gatherer has in hand, as values."""

from dataclasses import dataclass

__all__ = ["GathererLimits"]


@dataclass(frozen=True, slots=True)
class GathererLimits:
    """How much a gatherer has in hand.

    Attributes:
        max_connections: visits under way.
        working: claims in hand (``max-working`` of robot.conf, this gatherer's share).
        unkept_pages, unkept_bytes: reports sent or waiting to be sent and not yet kept.
        flush_pages, flush_bytes, flush_s: an outbox of this size or age is made durable and sent.
        hosts: hosts remembered with their robots.txt; beyond it idle ones are handed back.
        hold_s: a host that asks to be left alone for longer goes back to the keeper.
    """

    max_connections: int = 8
    working: int = 1024
    unkept_pages: int = 1500
    unkept_bytes: int = 48 << 20
    flush_pages: int = 64
    flush_bytes: int = 4 << 20
    flush_s: float = 0.1
    hosts: int = 2000
    hold_s: float = 20.0
