"""A named job where it may die: hostile or heavy documents are parsed in converter processes."""

from collections.abc import Mapping
from typing import Protocol

__all__ = ["Isolation"]


class Isolation(Protocol):
    """Run one of the registered jobs (``convert``, ``page``) in a process of its own, under limits.

    At-most-once: a job that died is not repeated by the port; the caller counts strikes.
    Calls queue when all converters are busy.
    """

    async def run(self, job: str, body: bytes, options: Mapping[str, str]) -> bytes:
        """Give *body* and *options* to job *job* and return its answer (msgpack).

        Raises:
            IsolationError: it died (``reason`` is ``died``), ran out of time (``timeout``), memory or processor
                time (``cpu``): each is a strike against the document. ``unavailable`` is none: no converter could
                be had, and another try may end otherwise.
            ExtractError: the job itself refused the document; ``reason`` is a documented flag.
        """

    async def close(self) -> None:
        """End all converters."""
