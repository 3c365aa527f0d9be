"""What happened in this run, as the robot's status tells it (DEC-33); counted when it is committed."""

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from ingather.model.change import ChangeKind
from ingather.model.lifecycle import Outcome
from ingather.model.report import Settled
from ingather.ports.clock import Clock
from ingather.robot.settling.committing import Committed

__all__ = ["RATES", "Figures"]

RATES = ("fetch", "filter", "generate")
"""Names of what is told a second."""

_ERRORS = frozenset({Outcome.NOT_FOUND, Outcome.REFUSED, Outcome.SERVER_ERROR, Outcome.FAILED, Outcome.BACK_OFF,
                     Outcome.ROBOTS_UNREACHABLE, Outcome.QUARANTINED})  # fmt: skip
_GENERATED = frozenset({Outcome.INDEXED, Outcome.CONVERSION_FAILED, Outcome.DUPLICATE})
_POINTS = 20


class Figures:
    """Counts of one run in this process; owned by the keeper's loop, read by any thread.

    Attributes:
        fetched: visits that got a response.
        bytes: their bodies.
        extracted: URLs that were new.
        filtered: URLs and links that were denied, by category.
        errors: visits that failed, by outcome.
        duplicates: visits that brought a body that another URL has.
        new, changed, unchanged: resource descriptions.
        removed: documents that left search.
        updated_s: wall time of the last commit, 0 = there was none.
        last_error: the last failed visit: ``url``, ``at``, ``error``.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        """Begin a run."""
        self.fetched = self.bytes = self.extracted = self.duplicates = 0
        self.new = self.changed = self.unchanged = self.removed = 0
        self.filtered: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.updated_s = 0.0
        self.last_error: dict[str, Any] = {}
        self._history: deque[tuple[float, int, int, int]] = deque(maxlen=_POINTS)

    @property
    def registered(self) -> int:
        """Resource descriptions that were made or renewed in this run."""
        return self.new + self.changed

    def told(self, done: Committed, urls: Sequence[str]) -> None:
        """Take in what was committed; *urls* are those of the settled visits."""
        self.updated_s = self._clock.wall()
        self.extracted += done.applied.new_urls
        for _, limit in done.applied.refused:
            self.filtered[limit] += 1
        for _, _, kind, _ in done.applied.changes:
            self.removed += kind == ChangeKind.REMOVE
        for item, url in zip(done.settled, urls, strict=True):
            report = item.report
            if report.status:
                self.fetched += 1
                self.bytes += report.size
            denials = (report.denial, *(found.denial for found in report.found))
            self.filtered.update(denial.category for denial in denials if denial is not None)
            self._visited(item, url)

    def _visited(self, item: Settled, url: str) -> None:
        report, outcome = item.report, Outcome(item.report.outcome)
        if outcome in _GENERATED:
            self.duplicates += outcome is Outcome.DUPLICATE
            if item.row.version is None:
                self.new += 1
            else:
                self.changed += 1
        elif outcome is Outcome.UNCHANGED:
            self.unchanged += 1
        elif outcome in _ERRORS:
            name = outcome.name.lower()
            self.errors[name] += 1
            said = report.detail or (f"HTTP {report.status}" if report.status else name.replace("_", " "))
            self.last_error = {"url": url, "at": report.at_s, "error": said}

    def note(self) -> None:
        """Remember how many there are now; called twice a second."""
        filtered = sum(self.filtered.values())
        self._history.append((self._clock.monotonic(), self.fetched, filtered, self.registered))

    def rates(self) -> dict[str, float]:
        """Return what happened a second over the last ten seconds or so: ``fetch``, ``filter``, ``generate``."""
        names = RATES
        history = list(self._history)
        if len(history) < 2 or history[-1][0] <= history[0][0]:  # noqa: PLR2004 - a rate needs two points
            return dict.fromkeys(names, 0.0)
        (then, *before), (now, *after) = history[0], history[-1]
        return {
            name: round(max(b - a, 0) / (now - then), 1)
            for name, a, b in zip(names, before, after, strict=True)
        }

    def form(self) -> dict[str, Any]:
        """Return the counts as JSON shows them."""
        return {
            "fetched": self.fetched, "bytes": self.bytes, "extracted_urls": self.extracted,
            "filtered": dict(self.filtered), "errors": dict(self.errors), "duplicates": self.duplicates,
            "rds_new": self.new, "rds_changed": self.changed, "rds_unchanged": self.unchanged, "rds_removed": self.removed,
            "rate": self.rates(), "last_error": dict(self.last_error) or None,
        }  # fmt: skip
