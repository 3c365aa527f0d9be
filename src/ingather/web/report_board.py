"""What the admin listener needs of reports."""

from collections.abc import Mapping
from typing import Any, Protocol

__all__ = ["ReportBoard"]


class ReportBoard(Protocol):
    """Reports and the history of runs; what ``ingather report`` and ``ingather runs`` do. Called from several threads.

    *fields* are ``limit`` (1 to 10,000) and what ``reports.md`` names for a report, as text.
    """

    def catalogue(self) -> Mapping[str, Any]:
        """Return ``reports``: name, what it shows, what it takes."""

    def report(self, name: str, fields: Mapping[str, str]) -> Mapping[str, Any]:
        """Return a report: ``columns``, ``rows``, ``note``, ``more``, ``next``.

        Raises:
            UsageError: there is no such report, or a field is wrong.
        """

    def csv(self, name: str, fields: Mapping[str, str]) -> str:
        """Return a report as CSV; as :meth:`report`."""

    def history(self, fields: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the runs, newest first."""

    def run(self, number: str) -> Mapping[str, Any]:
        """Return one run with its figures; ``last`` = the newest.

        Raises:
            UsageError: there is none.
        """

    def compare(self, first: str, second: str) -> Mapping[str, Any]:
        """Return two runs side by side.

        Raises:
            UsageError: there is no such run.
        """
