"""A clock that stands still until it is told to go on."""

from threading import Lock

from ingather.ports.clock import Clock

__all__ = ["FakeClock"]


class FakeClock:
    """Implements :class:`ingather.ports.clock.Clock`; both clocks move only by :meth:`advance`.

    Starts at monotonic 1,000 s and wall 1,790,000,000 s (21 September 2026, 14:13:20 UTC).
    """

    def __init__(self, *, monotonic_s: float = 1_000.0, wall_s: float = 1_790_000_000.0) -> None:
        self._lock = Lock()
        self._monotonic = monotonic_s
        self._wall = wall_s

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return self._monotonic

    def wall(self) -> float:
        """Seconds since the epoch, UTC."""
        return self._wall

    def advance(self, seconds: float) -> float:
        """Let *seconds* (>= 0) pass on both clocks; return the new monotonic time.

        Raises:
            ValueError: *seconds* is negative: monotonic time does not go back.
        """
        if seconds < 0:
            msg = "monotonic time does not go back; jump() moves the wall clock"
            raise ValueError(msg)
        with self._lock:
            self._monotonic += seconds
            self._wall += seconds
            return self._monotonic

    def jump(self, seconds: float) -> float:
        """Set the wall clock forward or back by *seconds*, as an operator does; return the new wall time."""
        with self._lock:
            self._wall += seconds
            return self._wall


_fits: Clock = FakeClock()
