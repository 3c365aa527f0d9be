"""The robot's conductor: turns one run into the next, and carries out what it is told.

It lives on the keeper's loop. Under ``serve`` the robot is off, idle, running or paused
(:mod:`ingather.robot.running`); a run ends when nothing is left to visit, then comes ``cmd-hook``, then
``onCompletion`` (DEC-19). A ``crawl`` is one run of its own: it begins and ends here too, and nothing commands it.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ingather.app.robot.completing import Completion
from ingather.app.robot.port import RobotPort
from ingather.app.robot.runs import Runs
from ingather.app.robot.sourcehours import all_hours
from ingather.app.robot.statefile import Kept, StateFile
from ingather.app.robot.timetable import Timetable
from ingather.errors import HomeError, IngatherError, RobotStateError
from ingather.log import get
from ingather.robot.logs.robotlog import Level
from ingather.robot.politeness.restraint import Restraints
from ingather.robot.running import RobotState, require

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["Conductor"]

_log = get("robot")
_LOOK_S: Final = 0.25
_PATIENCE_S: Final = 90.0
"""A host that asks to be left alone for longer does not keep a run open; what waits of it begins another one."""
_PIECE: Final = 5_000


class Conductor:
    """Of one gathering.

    Attributes:
        runs: its runs.
        restraints: what an operator and the hours of sources forbid.
        timetable: when runs of sources begin by themselves.
        kept: what an operator set.
    """

    def __init__(self, gathering: "Gathering") -> None:
        self.gathering = gathering
        self.serves = gathering.plan.kind == "serve"
        self.runs = Runs(gathering)
        self._file = StateFile(gathering.home.path, str(gathering.loaded.robot.robot_state_dir))
        self.kept = self._file.read()
        if self._file.unreadable and not self.serves:
            raise HomeError(self.kept.why, hint="mend it, or delete it if no host is to be left alone")
        self.restraints = Restraints(
            all_hours(gathering.settings, gathering.sources),
            wall=gathering.clock.wall, slowed=self.kept.slowed, blocked=frozenset(self.kept.blocked),
        )  # fmt: skip
        self.timetable = Timetable(gathering.settings, gathering.sources, gathering.clock.wall())
        self._completion = Completion(self)
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.port = RobotPort(self, gathering)
        self.why = self.kept.why

    # -- life -------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Start the keeper, and the first run unless the robot is off."""
        keeper = self.gathering.keeper
        if not self.serves:
            await keeper.start()
            await self.runs.begin()
            return
        off = self.kept.state == "off"
        keeper.between_runs = True
        await keeper.start(off=off)
        keeper.pause(on=self.kept.state != "on")
        if off:
            await self.runs.prepare()
            _log.warning("the robot is off", why=self.why, hint="start it with: ingather robot start")
        else:
            await self.runs.begin()
            keeper.open_run()
        self._task = asyncio.create_task(self._conduct())
        await self.port.renew()

    async def stop(self) -> None:
        """End with the process: nothing is lost, a hook that still runs is ended."""
        await self.port.close()
        await self._completion.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def reconfigured(self) -> None:
        """Another configuration is in force."""
        if not self.serves:
            return
        try:
            self._file.move(str(self.gathering.loaded.robot.robot_state_dir))
        except IngatherError as error:
            _log.error("the robot's state stays where it was", error=str(error))
        await self.port.renew()

    # -- state ------------------------------------------------------------------------------------

    @property
    def state(self) -> RobotState:
        """What the robot does; may be read by any thread."""
        keeper = self.gathering.keeper
        if keeper.off:
            return RobotState.OFF
        if keeper.paused:
            return RobotState.PAUSED
        return RobotState.RUNNING if self.runs.open or self._completion.under_way else RobotState.IDLE

    @property
    def phase(self) -> str:
        """What a running robot is at: ``visiting``, ``indexing`` (the last of a run), ``cmd-hook``; else nothing."""
        return self._completion.phase or ("visiting" if self.state is RobotState.RUNNING else "")

    async def _conduct(self) -> None:
        quiet = 0
        while True:
            await asyncio.sleep(_LOOK_S)
            async with self._turn:
                quiet = quiet + 1 if self._is_over() else 0
                try:
                    await self._look(over=quiet > 1)
                except IngatherError as error:
                    _log.error("the robot could not go on; it tries again", error=str(error))

    def _is_over(self) -> bool:
        keeper = self.gathering.keeper
        return self.state is RobotState.RUNNING and self.runs.open and keeper.idle(patience_s=_PATIENCE_S)

    async def _look(self, *, over: bool) -> None:
        """Begin a run if something waits, end one if nothing does."""
        keeper = self.gathering.keeper
        if keeper.failed is not None or self.state in (RobotState.OFF, RobotState.PAUSED):
            return
        if keeper.stop_asked:
            await self._off(f"a filter asked to stop: {keeper.stop_asked}")
            return
        due = self.timetable.due(self.gathering.clock.wall())
        if due and keeper.clock_trusted:
            await self._scheduled(due)
        if over:
            await self._complete()
        elif self.state is RobotState.IDLE and keeper.frontier.waiting_now(self.gathering.clock.monotonic()):
            await self.runs.begin(starts=False)
            keeper.open_run()

    async def _scheduled(self, sources: list[str]) -> None:
        self.say(f"Schedule: {', '.join(sources)}")
        if self.runs.open:
            await self.gathering.keeper.write(partial(_revisit, sources))
        elif not self._completion.under_way:
            await self.runs.begin(again=True, sources=sources)
            self.gathering.keeper.open_run()

    async def _complete(self) -> None:
        keeper = self.gathering.keeper
        keeper.between_runs = True
        if not keeper.idle(patience_s=_PATIENCE_S):  # something came in at the last moment
            keeper.open_run()
            return
        visits = keeper.figures.fetched
        sequence = await self.runs.end()
        self._completion.start(sequence, visits=visits)

    async def completed(self, action: str) -> None:
        """Do what ``onCompletion`` says; the run, its index and its hook are done."""
        async with self._turn:
            if self.state is RobotState.OFF:
                return
            if action == "quit":
                self.say("Workload complete.")
                await self._off("onCompletion=quit: the run was completed")
            elif action == "loop":
                self.say("Restart Robot.")
                await self.runs.begin(again=True)
                self.gathering.keeper.open_run()
            else:
                self.say("Robot is idle....")

    async def finish(self) -> None:
        """End the one run of a crawl: who links where, the index up to date, the run closed, ``cmd-hook``."""
        gathering = self.gathering
        await gathering.expire()
        await gathering.link_pass()
        if gathering.revisited:
            await gathering.compact()
        sequence = await self.runs.end()
        await self.runs.index_all(sequence)
        await gathering.prune()
        await self._completion.hook()
        self.say("Robot is idle....")

    def say(self, text: str) -> None:
        """Write a line of robot.log that concerns the robot as a whole."""
        gathering = self.gathering
        gathering.robot_log.event(Level.GENERATION, text, gathering.clock.wall())
        gathering.robot_log.flush()

    # -- commands ---------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin a run, or go on with the one that was stopped."""
        async with self._turn:
            require("start", self.state)
            if self._completion.under_way:
                raise RobotStateError(
                    "the robot is off, and the program of cmd-hook has not ended yet", state="off", hint="wait for it"
                )  # fmt: skip
            self._require_work()
            before = self.kept
            self._keep(state="on")
            keeper = self.gathering.keeper
            try:
                await self.runs.begin(again=not self.runs.open)
            except BaseException:
                with suppress(IngatherError):
                    self._file.write(before)
                raise
            self.why = ""
            keeper.pause(on=False)
            await keeper.work()
            keeper.open_run()

    def _require_work(self) -> None:
        gathering = self.gathering
        if gathering.loaded.starting_points or gathering.plan.starts or gathering.desk.sources:
            return
        if gathering.keeper.frontier.waiting:
            return
        raise RobotStateError(
            "the robot is off and cannot start: Starting Points: 0 defined", state="off",
            hint="put a <Site> with a Start line into config/filterrules.conf, then: ingather robot reload",
        )  # fmt: skip

    async def halt(self) -> None:
        """Stop the run where it stands; :meth:`start` goes on with it."""
        async with self._turn:
            require("stop", self.state)
            await self._off("stopped")

    async def quit(self) -> None:
        """End the run and the robot, not the process; :meth:`start` begins another run."""
        async with self._turn:
            require("quit", self.state)
            await self._off("ended by command")
            if self.runs.open:
                await self.runs.end(how="ended by command")

    async def _off(self, why: str) -> None:
        self._keep(state="off", why=why)
        self.why = why
        self.gathering.keeper.between_runs = True
        await self.gathering.keeper.rest()
        self.say(f"Robot is off: {why}")

    async def pause(self) -> None:
        """Begin no visit any more; what is under way ends."""
        async with self._turn:
            require("pause", self.state)
            self._keep(state="paused")
            self.gathering.keeper.pause(on=True)
            self.say("Robot is paused")

    async def resume(self) -> None:
        """Go on where it was paused."""
        async with self._turn:
            require("resume", self.state)
            self._keep(state="on")
            self.gathering.keeper.pause(on=False)
            self.say("Robot goes on")

    async def clear(self) -> dict[str, int]:
        """Forget pool and URL states; return how many URLs were ``forgotten`` and how many are ``renewed`` (due at once)."""
        async with self._turn:
            require("clear", self.state)
            keeper, now_s = self.gathering.keeper, self.gathering.clock.wall()
            forgotten = await self._by_pieces(lambda w, after: w.clearing.forget(after, _PIECE))
            renewed = await self._by_pieces(lambda w, after: w.clearing.renew(after, _PIECE, now_s))
            await keeper.write(partial(_end_clearing, now_s))
            keeper.begin_run()
            keeper.frontier.reload()
            self.runs.open = False
            self.say(f"Robot database cleared: {forgotten} URLs forgotten, {renewed} to be visited anew")
            return {"forgotten": forgotten, "renewed": renewed}

    async def _by_pieces(self, step: Callable[[Any, int], tuple[int, int]]) -> int:
        after = total = 0
        while True:
            after, count = await self.gathering.keeper.write(partial(_step, step, after))
            total += int(count)
            if not count:
                return total

    async def slow(self, key: str, delay_s: float) -> None:
        """Keep at least *delay_s* between two starts at a host (politeness name), 0 = no more."""
        async with self._turn:
            slowed = {k: v for k, v in self.kept.slowed.items() if k != key}
            if delay_s > 0:
                slowed[key] = delay_s
            self._keep(slowed=slowed)
            self.gathering.keeper.lending.slow(key, delay_s)

    async def block(self, key: str, *, on: bool) -> None:
        """Ask a host nothing any more, or ask it again; what waits of it goes on waiting."""
        async with self._turn:
            others = {k for k in self.kept.blocked if k != key}
            self._keep(blocked=sorted({*others, key} if on else others))
            lending = self.gathering.keeper.lending
            if on:
                lending.block(key)
            else:
                lending.unblock(key)

    def _keep(self, **changes: Any) -> None:
        kept = self.kept
        values = {"state": kept.state, "why": "", "slowed": kept.slowed, "blocked": kept.blocked, **changes}
        fresh = Kept(at=self.gathering.clock.wall(), **values)
        self._file.write(fresh)
        self.kept = fresh


def _revisit(sources: list[str], writer: Any, applied: Any) -> int:
    return int(writer.clearing.revisit(sources, applied))


def _end_clearing(now_s: float, writer: Any, _applied: Any) -> None:
    writer.clearing.end(now_s)


def _step(step: Callable[[Any, int], tuple[int, int]], after: int, writer: Any, _applied: Any) -> Any:
    return step(writer, after)
