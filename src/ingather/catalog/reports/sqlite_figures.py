"""Figures of runs and of hosts, counted in the transaction that they count.

In memory until the end of a batch, then one statement for each figure that moved; a rollback forgets them.
"""

from collections import Counter

import apsw

from ingather.model.error_class import error_class
from ingather.model.lifecycle import Outcome
from ingather.model.report import Report

__all__ = ["KEPT_RUNS", "Figures"]

KEPT_RUNS = 2_000
"""Runs whose figures are kept."""

_MOST_NAMES = 5_000
_OTHERS = "others"
_PUT_RUN = (
    "insert into run_figure (run, what, name, n) values (?1, ?2, ?3, ?4) on conflict do update set n = n + ?4"
)
_PUT_HOST = """
  insert into host_figure (id, visits, ms, slowest, bytes, errors, first, last, address) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)
  on conflict do update set visits = visits + ?2, ms = ms + ?3, slowest = max(slowest, ?4), bytes = bytes + ?5,
    errors = errors + ?6, last = max(last, ?7), address = iif(?8 = '', address, ?8)
"""


class _Host:
    """What a batch's visits of one host cost."""

    __slots__ = ("address", "bytes", "errors", "last_s", "ms", "slowest", "visits")

    def __init__(self) -> None:
        self.visits = self.ms = self.slowest = self.bytes = self.errors = 0
        self.last_s, self.address = 0.0, ""


class Figures:
    """Part of the one writer.

    Attributes:
        run: the run that is counted for, ``None`` = none.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._cursor = db.cursor()
        self.run: int | None = None
        self._counts: Counter[tuple[str, str]] = Counter()
        self._hosts: dict[int, _Host] = {}
        self._named: set[str] = set()

    def reload(self) -> None:
        """Forget what was not committed."""
        self._counts.clear()
        self._hosts.clear()

    def begin(self, run: int) -> None:
        """Count for *run* from now on, and forget the figures of old runs."""
        self.run = run
        self._named.clear()
        self._cursor.execute("delete from run_figure where run <= ?", (run - KEPT_RUNS,))

    def description(self, what: str) -> None:
        """Count what became of a resource description: ``new``, ``changed``, ``unchanged``, ``removed``, ``restored``."""
        self._counts["rds", what] += 1

    def described(self, *, known: bool, hidden: bool) -> None:
        """Count a description of a visit: of a URL that had one (*known*), behind another with equal bytes (*hidden*)."""
        self.description("changed" if known else "new")
        if hidden:
            self._counts["duplicates", "hidden"] += 1

    def excluded(self, directive: int) -> None:
        """Count a URL that a directive (its row) denied; reasons beyond the first thousands of a run are one."""
        name = str(directive)
        if name not in self._named:
            if len(self._named) >= _MOST_NAMES:
                name = _OTHERS
            else:
                self._named.add(name)
        self._counts["excluded", name] += 1

    def refused(self, limit: str) -> None:
        """Count a URL for which *limit* had no room."""
        self._counts["refused", limit] += 1

    def visit(self, report: Report, host: int, directive: int) -> None:
        """Count a visit that was settled, denied by *directive* if that is not 0; what came with a pushed feed is none."""
        if directive:
            self.excluded(directive)
        if report.fed:
            return
        counts, outcome = self._counts, Outcome(report.outcome)
        counts["visits", "all"] += 1
        counts["outcome", outcome.name.lower()] += 1
        ms = max(int(report.elapsed_s * 1000), 0)
        if report.status:
            counts["visits", "answered"] += 1
            counts["visits", "bytes"] += report.size
            counts["visits", "ms"] += ms
        wrong = error_class(outcome, report.status, report.detail)
        if wrong:
            counts["error", wrong] += 1
        if not (report.status or wrong):
            return  # nobody was asked
        of = self._hosts.get(host)
        if of is None:
            of = self._hosts[host] = _Host()
        of.visits += 1
        of.ms += ms
        of.slowest = max(of.slowest, ms)
        of.bytes += report.size
        of.errors += bool(wrong)
        of.last_s = max(of.last_s, report.at_s)
        of.address = report.address or of.address

    def flush(self) -> None:
        """Write what was counted; inside the caller's transaction."""
        if self._counts:
            if self.run is not None:
                self._cursor.executemany(
                    _PUT_RUN, [(self.run, what, name, n) for (what, name), n in sorted(self._counts.items())]
                )
            self._counts.clear()
        if self._hosts:
            self._cursor.executemany(
                _PUT_HOST,
                [
                    (host, of.visits, of.ms, of.slowest, of.bytes, of.errors, of.last_s, of.address)
                    for host, of in sorted(self._hosts.items())
                ],
            )
            self._hosts.clear()
