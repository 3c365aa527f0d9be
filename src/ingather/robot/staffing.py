"""Gatherers as the keeper employs them: dismissed in order, called back, or left at home while the robot is off."""

import asyncio
from collections.abc import Callable

from ingather.robot.frontier.lending import Lending
from ingather.robot.supervising import Supervisor
from ingather.robot.wire import Stop

__all__ = ["Staff"]

_FETCH_S = 35.0
"""What is being fetched may take so long to end."""
_SETTLE_S = 10.0


class Staff:
    """Lives on the keeper's loop.

    Args:
        unsettled: whether something is on its way into the catalog and can arrive.
        broken: whether the keeper failed, so that nothing arrives any more.

    Attributes:
        off: nobody works until :meth:`call`.
        leaving: gatherers were told to end, or are gone; their deaths mean nothing.
        joining: they are being buried by :meth:`dismiss`, or are gone: nobody else looks after them.
        final: the keeper itself ends.
    """

    def __init__(
        self, supervisor: Supervisor, lending: Lending, *, unsettled: Callable[[], bool], broken: Callable[[], bool]
    ) -> None:  # fmt: skip
        self.supervisor, self._lending = supervisor, lending
        self._unsettled, self._broken = unsettled, broken
        self.off = self.leaving = self.joining = self.final = self.ending = False

    def begin(self) -> None:
        """Spawn the gatherers, unless the robot is off."""
        if self.off:
            self.leaving = self.joining = self._lending.stopping = True
        else:
            self.supervisor.start()

    async def dismiss(self) -> None:
        """Let every gatherer finish what it fetches and end; what they reported is kept."""
        loop = asyncio.get_running_loop()
        self.leaving = self._lending.stopping = True
        self._lending.tell_all(Stop())
        deadline = loop.time() + _FETCH_S
        while len(self._lending) and loop.time() < deadline and not self._broken():  # noqa: ASYNC110 - several parties, one deadline
            await asyncio.sleep(0.05)
        self.ending = self.final
        self.joining = True
        await loop.run_in_executor(None, self.supervisor.stop, 2.0)
        deadline = loop.time() + _SETTLE_S
        while self._unsettled() and loop.time() < deadline:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.02)

    def call(self) -> None:
        """Spawn them again after :meth:`dismiss`, unless the robot is off or the keeper ends."""
        if self.final or self.off:
            return
        self.leaving = self.joining = self._lending.stopping = False
        self.supervisor.start()
