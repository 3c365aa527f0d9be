"""Whether the wall clock may be trusted with what expires. Pure.

Delays, leases and back-off run on the monotonic clock and never ask here. Decisions that
compare dates with now (an expired description, the second look at a 404, a hold's age) ask
:meth:`TimeGuard.check` first: when the two clocks disagree by more than a minute, one of
them jumped (or the machine slept), and expiry waits until the new time is re-confirmed: by
an operator or another witness (:meth:`TimeGuard.confirm`), or by standing still for a while.
"""

from dataclasses import dataclass

__all__ = ["TimeGuard", "TimeGuardLimits"]


@dataclass(frozen=True, slots=True)
class TimeGuardLimits:
    """When the clocks disagree, and how they are believed again.

    Attributes:
        tolerance_s: disagreement that is still harmless, added up since the time was last believed.
            (Slewing moves both clocks alike and does not count; steps and a sleeping machine do.)
        confirm_s: a new offset that holds for this long is re-confirmed by itself.
        max_gap_s: a start this long after the last known wall time is doubted like a jump.
    """

    tolerance_s: float = 60.0
    confirm_s: float = 600.0
    max_gap_s: float = 90 * 86_400.0


class TimeGuard:
    """Compares the clocks; one per process that decides about expiry, owned by one thread.

    *last_wall_s* is the latest wall time that the catalog remembers: a start before it, or very
    long after it, is doubted from the beginning.
    """

    def __init__(
        self,
        monotonic_s: float,
        wall_s: float,
        *,
        last_wall_s: float | None = None,
        limits: TimeGuardLimits | None = None,
    ) -> None:
        self._limits = limits or TimeGuardLimits()
        self._offset = wall_s - monotonic_s
        self._doubt_since: float | None = None
        self._jump_s = 0.0
        if last_wall_s is not None:
            gap = wall_s - last_wall_s
            if gap < -self._limits.tolerance_s or gap > self._limits.max_gap_s:
                self._doubt_since, self._jump_s = monotonic_s, gap

    @property
    def trusted(self) -> bool:
        """The answer of the last :meth:`check`, without looking again."""
        return self._doubt_since is None

    @property
    def jump_s(self) -> float:
        """By how much the wall clock last left its course, positive = forwards; for people."""
        return self._jump_s

    def check(self, monotonic_s: float, wall_s: float) -> bool:
        """Return whether expiry decisions may be made now; ``False`` = they wait."""
        limits = self._limits
        offset = wall_s - monotonic_s
        strayed = offset - self._offset
        if abs(strayed) > limits.tolerance_s:
            # A new jump, also during doubt: the waiting starts again from here.
            self._offset, self._doubt_since, self._jump_s = offset, monotonic_s, strayed
        elif self._doubt_since is not None and monotonic_s - self._doubt_since >= limits.confirm_s:
            self._settle(offset)
        return self._doubt_since is None

    def confirm(self, monotonic_s: float, wall_s: float) -> None:
        """Believe the present wall time: somebody who knows said that it is right."""
        self._settle(wall_s - monotonic_s)

    def _settle(self, offset: float) -> None:
        self._offset, self._doubt_since = offset, None
