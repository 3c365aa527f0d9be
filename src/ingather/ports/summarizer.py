"""A Harvest summarizer: a program that prints attributes about a body, run where it may hang or die."""

from collections.abc import Mapping
from typing import Protocol

__all__ = ["Summarizer"]


class Summarizer(Protocol):
    """Run programs under limits of time, output and memory; calls queue when all places are taken."""

    async def summarize(
        self, program: str, body: bytes, *, content_type: str
    ) -> Mapping[str, tuple[str, ...]]:
        """Return what *program* says about *body*: attributes, names in lower case.

        Raises:
            IsolationError: it could not be started (``unavailable``), failed (``died``), took too long (``timeout``).
            ExtractError: what it printed cannot be read, or is too long; ``reason`` is ``output``.
        """
