"""When the index is committed: soon while little comes, seldom at full speed, and soon again behind it. No clock, no thread."""

from collections import deque
from dataclasses import dataclass

__all__ = ["CommitPace", "FollowLimits"]

_WINDOW_S = 2.0
_SOONEST_S = 0.01


@dataclass(frozen=True, slots=True)
class FollowLimits:
    """When to commit, and how much may lie in the queue.

    Attributes:
        quiet_docs, quiet_s: commit at this many documents or this age while documents come slowly.
        steady_rate, steady_s: the age from that many documents a second on. A commit costs nearly the same for
            one document as for a hundred, and what many small ones wrote is merged soon after.
        busy_docs, busy_s: the same at full crawl speed (*busy_rate* documents a second and more, and *calm_s* after:
            a stall of a moment must not cost small commits, and what comes alone behind a burst waits no longer).
        collect_s, collect_docs: descriptions are collected for so long, and at most so many; 0 s = not at all. What
            somebody may not find any more is committed at the other pace, with all that was collected.
        flip_s: how long what a full feed replaces may be shown as it was, and all others wait with it; then it is
            shown as it comes.
        queue_docs: the keeper hands out no claims above this lag.
        queue_bytes: texts kept in the queue; beyond it documents are read again when their turn comes.
        report_bytes: a description with more text does not wait in memory; it is read again when its turn comes.
        group: documents that are taken up at once.
        retry_s: pause before another try after a failure that may pass (no space, for instance).
    """

    quiet_docs: int = 1_000
    quiet_s: float = 0.5
    steady_rate: float = 20.0
    steady_s: float = 1.3
    busy_docs: int = 5_000
    busy_s: float = 10.0
    busy_rate: float = 200.0
    calm_s: float = 1.5
    collect_s: float = 0.0
    collect_docs: int = 1_000
    flip_s: float = 10.0
    queue_docs: int = 5_000
    queue_bytes: int = 96 << 20
    report_bytes: int = 96 << 20
    group: int = 200
    retry_s: float = 5.0


class CommitPace:
    """What was taken up and is not committed yet, and how fast documents come. Times are a monotonic clock's, in seconds."""

    def __init__(self) -> None:
        self.pending = 0
        """Changes that were taken up since the last commit."""
        self._since = 0.0
        self._busy_until = float("-inf")
        self._window: deque[tuple[float, int]] = deque()
        self._wake = float("inf")

    def took(self, count: int, now: float) -> None:
        """Note that *count* changes were taken up at *now*."""
        if not self.pending:
            self._since = now
        self.pending += count
        self._window.append((now, count))

    def due(self, now: float, limits: FollowLimits, lag: int, *, hidden: bool) -> bool:
        """Return whether to commit; sets what :meth:`wait_s` gives.

        Args:
            now: the time.
            limits: those of the moment; they may change from call to call.
            lag: changes that wait to be taken up.
            hidden: somebody may not find one of the pending ones any more: it is not collected.
        """
        rate = self._rate(now)
        if rate > limits.busy_rate or lag > 2 * limits.group:
            self._busy_until = now + limits.calm_s
        busy = now < self._busy_until
        if limits.collect_s and not hidden:
            docs, age = limits.collect_docs, limits.collect_s
        elif busy:
            docs, age = limits.busy_docs, limits.busy_s
        else:
            docs = limits.quiet_docs
            age = limits.steady_s if rate >= limits.steady_rate else limits.quiet_s
        self._wake = self._since + age
        if busy:  # when it is over the shorter age holds, also for what waits already
            self._wake = min(self._wake, self._busy_until)
        return bool(self.pending) and (self.pending >= docs or now - self._since >= age)

    def wait_s(self, now: float) -> float | None:
        """Return how long to wait for more before :meth:`due` is to be asked again; ``None``: for ever."""
        return max(self._wake - now, _SOONEST_S) if self.pending else None

    def committed(self) -> None:
        """Note that what was taken up is committed."""
        self.pending = 0

    def _rate(self, now: float) -> float:
        while self._window and self._window[0][0] < now - _WINDOW_S:
            self._window.popleft()
        return sum(count for _, count in self._window) / _WINDOW_S
