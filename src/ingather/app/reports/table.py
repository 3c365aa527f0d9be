"""What a report is asked for, and what it gives: columns and rows that are made while they are read."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ingather.app.home import Home
from ingather.catalog.reports.sqlite_reports import ReportReader
from ingather.conf.settings.values import Settings

__all__ = ["Ask", "Column", "Context", "Report", "Table"]


class Column(NamedTuple):
    """A column: its name, and what stands in it: ``text``, ``number``, ``bytes``, ``seconds`` or ``time`` (wall seconds)."""

    name: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Ask:
    """What is wanted of a report.

    Attributes:
        limit: rows, 0 = all.
        after: go on behind this row; a report says ``next`` where one may.
        run: number of a run, 0 = the newest.
        options: ``run`` as it was given, ``host``, ``reason``, ``class``, ``what``, ``group``: of which rows.
    """

    limit: int = 100
    after: int = 0
    run: int = 0
    options: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.options.get(name, "")

    @property
    def most(self) -> int:
        """Rows that are asked of an index: SQLite's "all" is -1."""
        return self.limit or -1


@dataclass(slots=True)
class Table:
    """A report: *rows* in the order of *columns*, made while they are read.

    Attributes:
        numbered: each row has one value more, its number for ``after``.
        note: what a reader must know.
        facts: what holds for the whole report (its run, totals).
    """

    columns: tuple[Column, ...]
    rows: Iterable[tuple[Any, ...]]
    numbered: bool = False
    note: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Context:
    """What reports are made of.

    Attributes:
        home, settings: the home's.
        reader: of the catalog.
        now_s: wall time.
        live: the robot's status (``robot_form``) as it is now.
    """

    home: Home
    settings: Settings
    reader: ReportReader
    now_s: float
    live: Callable[[], Mapping[str, Any]]


class Report(NamedTuple):
    """A report by name: what it shows, who makes it, which options it takes beside ``limit``."""

    about: str
    make: Callable[[Context, Ask], Table]
    options: tuple[str, ...] = ()
