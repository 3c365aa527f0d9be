"""A task of the keeper's event loop that goes on until it is stopped."""

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress

__all__ = ["Background"]


class Background(ABC):
    """Runs :meth:`run` between :meth:`start` and :meth:`stop`."""

    _task: asyncio.Task[None] | None = None

    @abstractmethod
    async def run(self) -> None:
        """Go on for ever; ended by being cancelled."""

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self.run())

    async def stop(self) -> None:
        """End; what was asked for is made, now or after the next start."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
