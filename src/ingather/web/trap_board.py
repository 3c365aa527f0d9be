"""What the admin listener needs of crawler traps."""

from collections.abc import Mapping
from typing import Any, Protocol

__all__ = ["TrapBoard"]


class TrapBoard(Protocol):
    """Traps that were found; what ``ingather traps`` does. Called from several threads."""

    def listed(self, state: str = "") -> Mapping[str, Any]:
        """Return ``traps``; of one *state*, ``""`` = all.

        Raises:
            UsageError: there is no such state.
        """

    def shown(self, number: int) -> Mapping[str, Any]:
        """Return one trap.

        Raises:
            UsageError: there is none of that number.
        """

    def dismiss(self, number: int, by: str = "") -> Mapping[str, Any]:
        """Note that something is no trap.

        Raises:
            UsageError: there is none of that number.
        """

    def note_published(self, number: int, by: str = "") -> Mapping[str, Any]:
        """Note that the rule of a trap was published.

        Raises:
            UsageError: there is none of that number.
        """

    def publish_by(self, number: int, by: str, fields: Mapping[str, str]) -> Mapping[str, Any]:
        """Put the rule of a trap into force; *fields*: ``note``, ``yes``, ``dry-run``.

        Raises:
            UsageError: there is none of that number, or no rule.
            ConsentError: it would cost documents, and ``yes`` was not said.
        """
