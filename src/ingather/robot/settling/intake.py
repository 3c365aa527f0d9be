"""What came in and is not yet committed: visits, host states, other people's jobs, and who waits for them."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ingather.catalog.sqlite_apply import Applied
from ingather.model.lifecycle import Outcome
from ingather.model.report import HostReport, Report, Row
from ingather.robot.settling.committing import Batch
from ingather.robot.settling.tally import Tally
from ingather.robot.settling.writing import Writer

__all__ = ["Counters", "Intake", "Taken"]


@dataclass(slots=True)
class Counters:
    """What happened since the start; read by status, metrics and the progress display."""

    outcomes: Counter[str] = field(default_factory=Counter)
    hosts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    limits: Counter[str] = field(default_factory=Counter)
    pages: int = 0
    bytes: int = 0
    found: int = 0
    commits: int = 0
    deaths: int = 0


@dataclass(slots=True)
class Taken:
    """One batch on its way into the catalog: what, who waits for its jobs, and how many reports each gatherer sent."""

    batch: Batch
    waiters: list[asyncio.Future[Any]]
    senders: Counter[object]


class Intake:
    """Collects until the writer takes; owned by the keeper's loop.

    ``work`` is set while there is something, ``room`` is cleared while *pending_bytes* wait: whoever reads
    sockets waits for it.
    """

    def __init__(self, counters: Counters, *, pending_bytes: int) -> None:
        self._counters = counters
        self._pending_bytes = pending_bytes
        self._batch = Batch()
        self._waiters: list[asyncio.Future[Any]] = []
        self._senders: Counter[object] = Counter()
        self._bytes = 0
        self._committing: frozenset[int] | None = None
        self._again = False
        self.work = asyncio.Event()
        self.room = asyncio.Event()
        self.room.set()

    def visit(self, report: Report, row: Row) -> None:
        """Take in how a visit ended."""
        counters = self._counters
        self._batch.visits.append((report, row))
        counters.outcomes[Outcome(report.outcome).name.lower()] += 1
        if report.denial is not None:
            counters.reasons[report.denial.category] += 1
        self.work.set()

    def sent(self, sender: object, reports: int) -> None:
        """Note that *sender* waits to hear that so many reports are kept."""
        self._senders[sender] += reports

    def hosts(self, hosts: list[HostReport], size: int) -> None:
        """Take in host states, and how many bytes came with them and their reports."""
        self._batch.hosts += hosts
        self._bytes += size
        if self._bytes > self._pending_bytes:
            self.room.clear()
        self.work.set()

    def counted(self, tally: Tally) -> None:
        """Take in what filter-by-max let pass since the last time: kept no later than the visits it was for."""
        if tally.fresh:
            self._batch.counted += tally.fresh
            tally.fresh.clear()
            self.work.set()

    def job(self, job: Callable[[Writer, Applied], Any]) -> asyncio.Future[Any]:
        """Take in a job; the future has its answer once that is durable."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._batch.jobs.append(job)
        self._waiters.append(future)
        self.work.set()
        return future

    def again(self) -> None:
        """Ask for another batch, an empty one if need be: the last one put work off."""
        self._again = True
        self.work.set()

    @property
    def visits(self) -> int:
        """Visits that wait to be taken."""
        return len(self._batch.visits)

    @property
    def has_jobs(self) -> bool:
        """Whether somebody waits, or work was put off."""
        return bool(self._batch.jobs) or self._again

    def take(self) -> Taken:
        """Hand everything to the writer; :meth:`done` ends what this begins."""
        self.work.clear()
        self._again = False
        taken = Taken(self._batch, self._waiters, self._senders)
        self._batch, self._waiters, self._senders, self._bytes = Batch(), [], Counter(), 0
        self._committing = frozenset(report.id for report, _ in taken.batch.visits)
        self.room.set()
        return taken

    def done(self) -> None:
        """What was taken is committed (or given up)."""
        self._committing = None

    @property
    def committing(self) -> bool:
        """Whether the writer is at work."""
        return self._committing is not None

    @property
    def empty(self) -> bool:
        """Whether nothing waits and nothing is on its way."""
        return not (
            self._batch.visits or self._batch.jobs or self._batch.counted or self._again or self.committing
        )

    def reported(self) -> set[int]:
        """Return the rows whose visits came in and are not yet committed."""
        return {report.id for report, _ in self._batch.visits} | (self._committing or frozenset())
