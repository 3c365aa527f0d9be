"""Time as an argument."""

from typing import Protocol

__all__ = ["Clock"]


class Clock(Protocol):
    """Two clocks. Delays, back-offs and leases use *monotonic*; dates use *wall*.

    Neither blocks. Thread-safe. The two may disagree after a jump or a suspend: who decides
    about expiry compares both (see ``ingather.robot.timeguard``).
    """

    def monotonic(self) -> float:
        """Seconds that never go back, of an arbitrary start."""

    def wall(self) -> float:
        """Seconds since the epoch, UTC."""
