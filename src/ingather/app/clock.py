"""The system's clocks behind the port."""

import time

from ingather.ports.clock import Clock

__all__ = ["SystemClock"]


class SystemClock:
    """Monotonic and wall time of this machine; monotonic includes suspended time where the kernel tells it."""

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since the epoch."""
        return time.time()


_proof: Clock = SystemClock()
