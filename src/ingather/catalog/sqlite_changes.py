"""The change log, and the account of what a batch did."""

from collections.abc import Callable
from dataclasses import dataclass, field

import apsw

from ingather.catalog.statements import SQL
from ingather.model.change import ChangeKind
from ingather.model.report import Report

__all__ = ["Applied", "ChangeLog"]


@dataclass(slots=True)
class Applied:
    """What a batch did; true once its transaction is durable.

    Attributes:
        changes: (sequence, row, kind, report at hand or ``None``), ascending.
        waiting: how many more URLs wait at which host.
        refused: (URL, what refused it): ``urls-per-host``, ``urls-per-prefix``, ``urls-per-path``, ``removed``.
        proposals: (row, source, reason) of deletions that the policy has to rule on.
        new_urls: rows that were made.
        carried: links that were looked at to carry better paths.
        ahead: hosts where something waits that goes ahead of what waited there before.
    """

    changes: list[tuple[int, int, ChangeKind, Report | None]] = field(default_factory=list)
    waiting: dict[int, int] = field(default_factory=dict)
    refused: list[tuple[str, str]] = field(default_factory=list)
    proposals: list[tuple[int, int, str]] = field(default_factory=list)
    new_urls: int = 0
    carried: int = 0
    ahead: set[int] = field(default_factory=set)

    def wakes(self, host: int, count: int = 1) -> None:
        """Note that *count* more URLs of *host* wait."""
        self.waiting[host] = self.waiting.get(host, 0) + count


def _nobody(_row: int, _kind: ChangeKind, _applied: Applied) -> None:
    """Watch nothing."""


class ChangeLog:
    """Appends to the log; sequence numbers ascend without gaps and are never given twice."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._cursor = db.cursor()
        self.sequence = 0
        self.now_s = 0.0
        """Wall time of the batch at hand."""
        self.watch: Callable[[int, ChangeKind, Applied], None] = _nobody
        """Told of each change that is appended (row, kind, account): who stands behind that row may have to step forward."""

    def reload(self) -> None:
        """Read the last number again."""
        self.sequence = int(self._cursor.execute("select coalesce(max(seq), 0) from change").get)

    def append(self, url_id: int, kind: ChangeKind, applied: Applied, report: Report | None = None) -> int:
        """Append one change; return its number."""
        self.sequence += 1
        self._cursor.execute(SQL["put_change"], (self.sequence, url_id, int(kind)))
        applied.changes.append((self.sequence, url_id, kind, report))
        sequence = self.sequence
        self.watch(url_id, kind, applied)
        return sequence

    def append_shown(self, source: int) -> int:
        """Append a PUT for everything of *source* that the index holds; return how many."""
        self._cursor.execute(
            "insert into change (seq, id, kind) select ?1 + row_number() over (order by id), id, 1 from url "
            "where source = ?2 and version is not null and dup is null and held is not 2",
            (self.sequence, source),
        )
        count = self._db.changes()
        self.sequence += count
        return count

    def event(self, kind: str, subject: str, detail: str) -> None:
        """Note what operators should know."""
        self._cursor.execute(
            "insert into event (at, kind, subject, detail) values (?, ?, ?, ?)",
            (self.now_s, kind, subject, detail),
        )
