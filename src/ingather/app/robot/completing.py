"""After a run: the index up to date, ``cmd-hook``, then what ``onCompletion`` says, in this order (DEC-19)."""

import asyncio
from typing import TYPE_CHECKING, Final

from ingather.app.robot.hook import HookLimits, hook_variables, run_hook
from ingather.errors import IngatherError
from ingather.log import get

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering
    from ingather.app.robot.conductor import Conductor

__all__ = ["Completion"]

_log = get("robot")
_LOOP_S: Final = 1.0
_VAIN_S: Final = 60.0
"""Pause before a loop that follows on a run which got no response: its hosts are asked for nothing meanwhile."""


class Completion:
    """The end of the runs of one conductor; at most one is under way."""

    def __init__(self, conductor: "Conductor") -> None:
        self._conductor = conductor
        self._task: asyncio.Task[None] | None = None
        self.phase = ""

    @property
    def under_way(self) -> bool:
        """Whether a run was ended and what follows has not been done."""
        return self._task is not None and not self._task.done()

    def start(self, sequence: int, *, visits: int) -> None:
        """Begin: the run is closed at change *sequence*."""
        self._task = asyncio.create_task(self._run(sequence, visits=visits))

    async def cancel(self) -> None:
        """Give up, because the process ends."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, sequence: int, *, visits: int) -> None:
        try:
            self.phase = "indexing"
            await self._conductor.runs.index_all(sequence)
            await self.hook()
            action = str(self._gathering.loaded.robot.oncompletion)
            if action == "loop":
                self.phase = "pause"
                await asyncio.sleep(_LOOP_S if visits else _VAIN_S)
            while self._gathering.keeper.paused and not self._gathering.keeper.off:  # noqa: ASYNC110 - an operator's time
                await asyncio.sleep(_LOOP_S)
            await self._conductor.completed(action)
        except IngatherError as error:
            _log.error("a run was not completed in order", error=str(error))
        finally:
            self.phase = ""

    async def hook(self) -> None:
        """Call ``cmd-hook`` if there is one and a resource description was registered in the run."""
        gathering, robot = self._gathering, self._gathering.loaded.robot
        command = str(robot.cmd_hook)
        if not command or not gathering.keeper.figures.registered:
            return
        self.phase = "cmd-hook"
        self._conductor.say(f"Run cmd: {command}")
        variables = hook_variables(
            bindir=str(robot.bindir or ""), tmpdir=str(robot.tmpdir or ""), run=gathering.run
        )
        ended = await run_hook(command, gathering.home.path, variables=variables, limits=HookLimits())
        self._conductor.say(f"Complete cmd: {command} ({ended.text})")
        if ended.code != 0:
            _log.warning("cmd-hook did not end well", command=command, how=ended.text)

    @property
    def _gathering(self) -> "Gathering":
        return self._conductor.gathering
