"""Documents that are replaced together: readers find the old ones until all of the new are in. No clock, no thread, no lock."""

__all__ = ["Flip"]


class Flip:
    """Says while what nothing may be committed, because half of a generation would be seen.

    A window begins with the first who holds and ends when nobody holds any more and everything up to the last release is
    taken up, or when its time is up: others wait for the same commit, so a window that lasts too long is given up, with all who hold in it.
    Times are a monotonic clock's, in seconds.
    """

    def __init__(self) -> None:
        self._holders: set[int] = set()
        self._since = 0.0
        self._upto = 0

    def hold(self, key: int, now: float) -> None:
        """Show nothing from now on of what is behind the last commit."""
        if not self._holders and not self._upto:
            self._since = now
        self._holders.add(key)

    def release(self, key: int, upto: int) -> None:
        """All is in, with change *upto* at the latest; nothing happens if the window was given up before."""
        if key in self._holders:
            self._holders.remove(key)
            self._upto = max(self._upto, upto)

    def left_s(self, at: int, now: float, limit_s: float) -> float:
        """Return for how long nothing may be committed yet, 0 = it may; *at*: the last change taken up, *limit_s*: how long a window may last."""
        return max(0.0, self._since + limit_s - now) if self._holders or at < self._upto else 0.0

    def due(self, at: int) -> bool:
        """Whether a generation is complete and to be shown at once."""
        return bool(self._upto) and not self._holders and at >= self._upto

    def committed(self) -> None:
        """Note a commit: the window is over, whoever still holds."""
        self._holders.clear()
        self._upto = 0
