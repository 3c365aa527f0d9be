"""The history of runs: when they began and ended, and with what."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ingather.catalog.sqlite_rows import Rows

__all__ = ["Run", "detail_of", "last_runs", "run_of"]


@dataclass(frozen=True, slots=True)
class Run:
    """A run of *kind* ``crawl`` or ``serve``; times are wall seconds, ``ended_s`` is ``None`` before its pool was empty.

    ``detail`` counts its visits; ``warnings`` say what should have been mended.
    """

    number: int
    kind: str
    started_s: float
    ended_s: float | None
    detail: str
    warnings: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """``unfinished`` (under way, or to be continued), ``completed`` or ``completed with warnings``."""
        if self.ended_s is None:
            return "unfinished"
        return "completed with warnings" if self.warnings else "completed"

    def form(self) -> dict[str, Any]:
        """Return it as JSON shows it."""
        return {
            "run": self.number, "kind": self.kind, "started": self.started_s, "ended": self.ended_s, "state": self.state,
            "detail": self.detail, "warnings": list(self.warnings),
        }  # fmt: skip


def last_runs(rows: Rows, limit: int) -> list[Run]:
    """Return the last runs, newest first."""
    found = rows.all("select id, kind, started, ended, detail from run order by id desc limit ?", (limit,))
    return [run_of(row) for row in found]


def run_of(row: tuple[Any, ...]) -> Run:
    """Return the run of a row (number, kind, started, ended, detail)."""
    number, kind, started_s, ended_s, kept = row
    detail, *warnings = kept.split("\n")
    return Run(number, kind, started_s, ended_s, detail, tuple(warnings))


def detail_of(detail: str, warnings: Sequence[str]) -> str:
    """Return what a run's row keeps: the detail, then a line a warning."""
    return "\n".join([detail, *(" ".join(text.split()) for text in warnings)])
