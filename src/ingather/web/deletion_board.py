"""What the admin listener may ask about deletions, as a protocol; ``app`` has it."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from ingather.web.boards import Tree

__all__ = ["DeletionBoard"]


class DeletionBoard(Protocol):
    """What was deleted, why, and who decided; what ``ingather tombstones`` and ``holds`` say. Called from several threads."""

    def tombstones(self, form: Mapping[str, str]) -> Tree:
        """Return ``tombstones`` and ``next``; *form*: ``run``, ``reason``, ``hold``, ``source``, ``after``, ``limit``.

        Raises:
            UsageError: a number is none.
        """

    def tombstone(self, text: str) -> Tree:
        """Return ``tombstone`` and ``evidence`` of a URL.

        Raises:
            UsageError: it is no URL, or nobody ever met it.
        """

    def closed_holds(self, limit: int) -> Sequence[Tree]:
        """Return the holds that ended, newest first."""

    def hold(self, number: int, *, after: int, limit: int) -> Tree:
        """Return a hold with its ``items``, each with its evidence, and ``next``.

        Raises:
            UsageError: there never was such a hold.
        """

    def decisions(self, limit: int) -> Sequence[Tree]:
        """Return what people decided, newest first."""
