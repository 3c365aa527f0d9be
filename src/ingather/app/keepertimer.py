"""Rounds that the keeper makes by itself while it gathers: each takes a turn, and says when the next is worth while."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Final, Protocol

from ingather.app.background import Background
from ingather.errors import IngatherError

__all__ = ["CALM_S", "KeeperTimer", "WritingKeeper"]

CALM_S: Final = 5.0
"""How long a timer rests when it knows nothing better."""


class WritingKeeper(Protocol):
    """The keeper, as far as timers need it."""

    paused: bool
    disk_full: bool

    @property
    def clock_trusted(self) -> bool:
        """Whether decisions about what is gone may be made."""

    async def write(self, job: Callable[[Any, Any], Any]) -> Any:
        """Run *job* in the writer's next transaction; return its answer."""


class KeeperTimer(Background):
    """Takes turns on the keeper's event loop; none while it is paused or its disk is full.

    Args:
        keeper: the one writer.
        what: whose turns they are, as the log says it: "web feeds".
        log: of their room.

    Attributes:
        turn: held by whoever takes one, a run of its own too.
    """

    def __init__(self, keeper: WritingKeeper, what: str, log: Any) -> None:
        self.keeper, self.turn = keeper, asyncio.Lock()
        self._what, self._log = what, log

    @abstractmethod
    async def take_turn(self) -> float:
        """Do what is due; return seconds until the next turn.

        Raises:
            CatalogError: nothing was kept; the next turn is after :data:`CALM_S`.
        """

    async def run(self) -> None:
        """Take turns."""
        wait_s = 0.0
        while True:
            await asyncio.sleep(wait_s)
            wait_s = CALM_S
            if self.keeper.paused or self.keeper.disk_full:
                continue
            try:
                wait_s = await self.take_turn()
            except IngatherError as error:  # the storage: the keeper says what is wrong with it
                self._log.warning(f"{self._what} wait", error=str(error))
