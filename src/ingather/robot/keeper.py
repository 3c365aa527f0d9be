"""The keeper: owns catalog, frontier and index; lends hosts to gatherers and keeps what they report.

One event loop, three threads beside it: the writer (transactions), the index follower, and
whoever serves pages. A report's way: read from a gatherer's socket, joined with the row that was
claimed, put into a batch (at most a quarter of a second or 4,000 rows), committed by the
writer, then told: to the gatherer (kept), to the frontier (new work), to the index (changes), to
the access log (a line). Nobody is told before the commit.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from ingather.catalog.frontier.sqlite_frontier import FrontierQueries
from ingather.catalog.sqlite_apply import Applied
from ingather.errors import CatalogError, DiskFullError, IngatherError
from ingather.log import get
from ingather.ports.clock import Clock
from ingather.robot.frontier.hold import Frontier
from ingather.robot.frontier.lending import Lending
from ingather.robot.indexing.following import IndexFollower
from ingather.robot.keeperlimits import KeeperLimits
from ingather.robot.logs.accesslog import AccessLog
from ingather.robot.logs.filterlog import FilterLog
from ingather.robot.logs.progress import Progress
from ingather.robot.logs.robotlog import Level, RobotLog
from ingather.robot.mourning import Mourning
from ingather.robot.politeness.addresses import AddressBook
from ingather.robot.politeness.restraint import Restraints
from ingather.robot.politeness.visitbudget import VisitBudget
from ingather.robot.politeness.ways import WayState
from ingather.robot.settling.commitloop import CommitLoop
from ingather.robot.settling.committing import Committer
from ingather.robot.settling.figures import Figures
from ingather.robot.settling.intake import Counters, Intake
from ingather.robot.settling.remembering import promote, promote_asked
from ingather.robot.settling.tally import Tally
from ingather.robot.settling.telling import Telling
from ingather.robot.settling.writing import Writer
from ingather.robot.staffing import Staff
from ingather.robot.supervising import Death, Supervisor
from ingather.robot.timeguard import TimeGuard

__all__ = ["ADDRESS_STATES", "WAY_STATES", "Counters", "Keeper", "KeeperLimits"]

_log = get("keeper")
ADDRESS_STATES = "address-states"
WAY_STATES = "way-states"


class Keeper:
    """Runs on one event loop; the methods that say so may be called from other threads."""

    def __init__(  # noqa: PLR0913 - the parts that app wires
        self,
        *,
        queries: FrontierQueries,
        committer: Committer,
        frontier: Frontier,
        index: IndexFollower,
        supervisor: Supervisor,
        addresses: AddressBook,
        access_log: AccessLog,
        robot_log: RobotLog,
        clock: Clock,
        guard: TimeGuard,
        socket_path: Path,
        own_host: Callable[[str], bool],
        headroom: Callable[[], bool],
        version: int,
        recheck: bool,
        dice: Random,
        max_pages: int = 0,
        newest_segment: int = 0,
        limits: KeeperLimits | None = None,
        tally: Tally | None = None,
        filter_log: FilterLog | None = None,
        restraints: Restraints | None = None,
        budget: VisitBudget | None = None,
    ) -> None:
        limits = limits or KeeperLimits()
        self._queries = queries
        self.frontier = frontier
        self.index = index
        self._supervisor = supervisor
        self._addresses = addresses
        self._robot_log = robot_log
        self._clock = clock
        self._guard = guard
        self._socket_path = socket_path
        self._headroom = headroom
        self._version = version
        self._recheck = recheck
        self._max_pages = max_pages
        self._limits = limits
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="catalog")
        self._changed = asyncio.Event()
        self.counters = Counters()
        self.figures = Figures(clock)
        self._progress = Progress(self.counters, frontier, supervisor, robot_log, clock)
        self._telling = Telling(
            frontier=frontier, index=index, counters=self.counters, access_log=access_log, robot_log=robot_log, clock=clock,
            figures=self.figures, budget=budget,
        )  # fmt: skip
        self._intake = Intake(self.counters, pending_bytes=limits.pending_bytes)
        self._mourning = Mourning(self.counters, frontier, self._intake, robot_log, clock)
        self._lending = Lending(
            queries=queries, frontier=frontier, intake=self._intake, counters=self.counters, addresses=addresses,
            clock=clock, dice=dice, own_host=own_host, may_lend=self._may_lend, changed=self._changed, max_pages=max_pages,
            newest_segment=newest_segment, version=version, tally=tally, filter_log=filter_log, restraints=restraints, budget=budget,
        )  # fmt: skip
        self._staff = Staff(
            supervisor, self._lending, unsettled=self._unsettled, broken=lambda: self.failed is not None
        )
        self._commits = CommitLoop(
            committer, self._intake, self._telling, clock=clock, limits=limits, robot_log=robot_log, pool=self._pool,
            committed=self._committed, full=self._is_full, ending=lambda: self._staff.ending,
        )  # fmt: skip
        for key in self._lending.restraints.blocked:
            frontier.shut(key, inf)
        self._tasks: list[asyncio.Task[None]] = []
        self._server: asyncio.Server | None = None
        self._switch = asyncio.Lock()
        self._no_space_until = self._looked = 0.0
        self.paused = self.between_runs = False
        self.disk_full = False
        self.failed: BaseException | None = None

    def _may_lend(self) -> bool:
        if self.paused or self.between_runs:
            return False
        return not (self.disk_full or self.index.full or self._lending.stop_asked)

    # -- life -------------------------------------------------------------------------------------

    async def start(self, *, off: bool = False) -> None:
        """Open the socket, spawn the gatherers (unless the robot is *off*), begin."""
        self._socket_path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(
            self._lending.serve, str(self._socket_path), limit=1 << 20
        )
        self._socket_path.chmod(0o600)
        self._remember_waits()
        self.frontier.load()
        self.index.start()
        self._tasks = [
            asyncio.create_task(self._guarded(loop())) for loop in (self._commits.run, self._tick_loop)
        ]
        self._look_at_disk()
        self._staff.off = off
        self._staff.begin()

    def _remember_waits(self) -> None:
        """Hosts that asked to be left alone before the restart are left alone after it."""
        now, wall = self._clock.monotonic(), self._clock.wall()
        for _, _, key, not_before_s in self._queries.known_hosts():
            if not_before_s > wall:
                self.frontier.key_waits(key, now + not_before_s - wall)

    async def _guarded(self, loop: Any) -> None:
        try:
            await loop
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - kept, told, raised by who waits for the keeper
            self.failed = error
            self._robot_log.serious(f"the keeper failed: {error}", self._clock.wall())
            self._robot_log.flush()
            _log.error("keeper failed", error=str(error), exc_info=True)
            self._changed.set()

    async def stop(self) -> None:
        """Let gatherers finish what they fetch, keep it, end. Skipping this loses nothing."""
        self._staff.final = True
        loop = asyncio.get_running_loop()
        async with self._switch:
            await self._staff.dismiss()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            self._server.close()
        await loop.run_in_executor(None, self.index.stop)
        self._robot_log.event(Level.SPAWNING, "Robot stops", self._clock.wall())
        self._robot_log.flush()
        self._pool.shutdown(wait=True)
        self._socket_path.unlink(missing_ok=True)

    # -- the robot's states ---------------------------------------------------------------------

    @property
    def off(self) -> bool:
        """Whether nobody gathers until :meth:`work`; everything else goes on."""
        return self._staff.off

    async def rest(self) -> None:
        """Send the gatherers home; what they reported is kept, what waits goes on waiting."""
        async with self._switch:
            self._staff.off = self.paused = True
            await self._staff.dismiss()

    async def work(self) -> None:
        """Call gatherers after :meth:`rest`, or at the first time."""
        async with self._switch:
            self._staff.off = self.paused = False
            self._lending.stop_asked = ""
            self._staff.call()

    def pause(self, *, on: bool) -> None:
        """Begin no visit any more, or go on; what is under way ends and is kept."""
        self.paused = on
        self._lending.hold(on=on)
        if not on:
            self._lending.feed()

    def begin_run(self) -> None:
        """Nothing was let pass and nothing counted yet: a new run; lend again."""
        self._lending.tally.reset()
        self.figures.reset()

    def open_run(self) -> None:
        """The run is begun (committed): lend."""
        self.between_runs = False
        self._lending.feed()

    @property
    def stop_asked(self) -> str:
        """The line of a filter that asked to end the run in order, ``""`` = none did."""
        return self._lending.stop_asked

    @property
    def lending(self) -> Lending:
        """Who has which hosts: to slow down and block some."""
        return self._lending

    async def switch(
        self, job: Callable[[Writer, Applied], Any], adopt: Callable[[Any], tuple[tuple[object, ...], int]]
    ) -> Any:
        """Go on under another configuration: nobody judges by the old one when *job* runs, nor after it.

        Gatherers finish and end, *job* runs in a transaction, *adopt* makes from its answer what new
        gatherers are called with and the configuration's version.

        Raises:
            CatalogError: nothing was kept; gathering goes on as before.
        """
        async with self._switch:
            try:
                await self._staff.dismiss()
                answer = await self.write(job)
                arguments, version = adopt(answer)
                self._supervisor.arguments = arguments
                self._version = self._lending.version = version
                return answer
            finally:
                self._staff.call()

    def _unsettled(self) -> bool:
        """Whether something is on its way into the catalog and can arrive."""
        return not self._intake.empty and self.failed is None and not self.disk_full

    # -- other people's jobs --------------------------------------------------------------------

    async def write(self, job: Callable[[Writer, Applied], Any]) -> Any:
        """Run *job* in the writer's next transaction; return its answer once that is durable.

        Raises:
            CatalogError: the transaction failed, nothing of it was kept.
        """
        return await self._intake.job(job)

    def post(self, job: Callable[[Writer, Applied], Any]) -> asyncio.Future[Any]:
        """Take in *job* as :meth:`write` does, on the keeper's loop; the future has its answer once that is durable."""
        return self._intake.job(job)

    def _committed(self) -> None:
        self.counters.commits += 1
        self._lending.feed()
        self._changed.set()

    def _is_full(self) -> bool:
        """Take in that the disk is full; return whether that is new."""
        before, self.disk_full = self.disk_full, True
        return not before

    # -- the clock's business ---------------------------------------------------------------------

    async def _tick_loop(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            self._progress.tell()
            if self.idle():  # nothing more is to come: let the index have what it collected
                self.index.hurry()
            self._progress.note()
            self.figures.note()
            self._lending.look_at_hours()
            self._guard.check(self._clock.monotonic(), self._clock.wall())
            staff = self._staff
            if not staff.joining:  # then the supervisor belongs to dismiss()
                self._bury(self._supervisor.check())
            if self._supervisor.failing and not staff.leaving:
                msg = "gatherers die right after their start"
                raise CatalogError(msg, hint="look at the log above; is the installation complete?")
            if not staff.leaving:
                self._supervisor.replace()
            self._look_at_disk()
            await self._write_by_the_clock()
            self._lending.feed()
            self._changed.set()

    def _look_at_disk(self) -> None:
        """Take in whether there is room; a file system that cannot be looked at has as much as before."""
        try:
            room = self._headroom()
        except IngatherError as error:
            _log.warning("the disk cannot be looked at", error=str(error))
            return
        full = not room or self._clock.monotonic() < self._no_space_until
        if full == self.disk_full or self._intake.committing:
            return
        self.disk_full = full
        if full:
            self._robot_log.serious("disk reserve reached: no new work", self._clock.wall())
        _log.warning("disk reserve reached: no new work" if full else "disk has space again")

    async def _write_by_the_clock(self) -> None:
        """Write what nobody waits for; what cannot be kept now is kept at a later tick, and ends nobody."""
        try:
            if self._promotes():
                await self._promote()
            await self._remember()
        except (DiskFullError, CatalogError) as error:
            # What is worse than this one write, the commits find out: they end the keeper where nothing else is right.
            _log.warning("not kept now, tried again", error=str(error))

    async def _remember(self) -> None:
        """Keep the back-offs of addresses and the rests of ways across restarts: nobody hammers what was left alone."""
        if self._lending.addresses_changed:
            self._lending.addresses_changed = False
            states = self._addresses.export(self._clock.monotonic(), self._clock.wall())
            addresses = msgspec.msgpack.encode(states)
            try:
                await self.write(lambda writer, _: writer.memory.remember(ADDRESS_STATES, addresses))
            except IngatherError:
                self._lending.addresses_changed = True
                raise
        if self._lending.ways_changed:
            self._lending.ways_changed = False
            ways = msgspec.msgpack.encode(self._lending.way_states())
            try:
                await self.write(lambda writer, _: writer.memory.remember(WAY_STATES, ways))
            except IngatherError:
                self._lending.ways_changed = True
                raise

    def restore_ways(self, states: list[WayState]) -> None:
        """Take over the rests of ways from before the start."""
        self._lending.ways.take(states, self._clock.monotonic(), self._clock.wall())

    def ways(self) -> list[dict[str, float | str | int]]:
        """Return the ways of sources that failed last, by source: until when they rest, and what waits for them.

        ``until_s`` is wall time; ``in_s`` 0 = the next visit tries; ``hosts`` and ``waiting`` are of what was held back so far.
        """
        wall, waiting = self._clock.wall(), self.frontier.resting()
        found: list[dict[str, float | str | int]] = []
        for state in sorted(self._lending.way_states(), key=lambda state: (state.source, state.way)):
            hosts, urls = waiting.get((state.source, state.way), (0, 0))
            left_s = round(max(state.not_before_s - wall, 0.0), 1)
            found.append({
                "source": state.source, "way": state.way, "failures": state.failures, "until_s": round(state.not_before_s, 1),
                "in_s": left_s, "hosts": hosts, "waiting": urls, "why": state.detail,
            })  # fmt: skip
        return found

    def _promotes(self) -> bool:
        if self.paused or self.off or self.disk_full or not (self._recheck and self._guard.trusted):
            return False
        if not self.between_runs:
            return True
        now = self._clock.monotonic()
        if now - self._looked < self._limits.idle_look_s:
            return False
        self._looked = now
        return True

    async def _promote(self) -> None:
        now_s, limit = self._clock.wall(), self._limits.promote
        if self._queries.asked_due(now_s):
            asked = await self.write(lambda writer, _: promote_asked(writer, limit, now_s=now_s))
            self.frontier.woken(asked)
            self.frontier.rewind(asked)
        if self.frontier.waiting > limit:
            return
        sampling, most_s = self._limits.sampling, self._limits.longest_s
        woken: dict[int, int] = await self.write(
            lambda writer, _: promote(writer, limit, sampling, now_s=now_s, most_s=most_s)
        )
        if woken:
            self.frontier.woken(woken)

    def _bury(self, deaths: list[Death]) -> None:
        if self._mourning.bury(deaths, leaving=self._staff.leaving, version=self._version):
            self._no_space_until = self._clock.monotonic() + self._limits.disk_retry_s
            self.disk_full = True

    def rate(self) -> float:
        """Visits a second over the last ten seconds or so."""
        return self._progress.rate()

    def safe_segments(self, newest: int) -> int:
        """Return the number below which no gatherer writes any more; *newest* is the newest that exists."""
        return self._lending.safe_segments(newest)

    def slow_hosts(self, least_s: float) -> list[dict[str, float | str | int]]:
        """Hosts whose robots.txt asks for so much delay that they take long, with their estimated time."""
        return self.frontier.slow(least_s)

    # -- for who waits ----------------------------------------------------------------------------

    async def changed(self, timeout_s: float) -> None:
        """Wait until something happened, at most *timeout_s*."""
        self._changed.clear()
        try:
            await asyncio.wait_for(self._changed.wait(), timeout_s)
        except TimeoutError:
            return

    def idle(self, *, patience_s: float = 0.0) -> bool:
        """Whether nothing is out, nothing is being committed, and nothing waits at a host that may be asked soon.

        Also when a filter asked to end the run (``EXIT``).
        """
        if self._lending.stop_asked:
            return True
        if self.frontier.out or not self._intake.empty:
            return False
        if self._max_pages and self.counters.pages >= self._max_pages:
            return True
        return self.frontier.waiting_now(self._clock.monotonic() + patience_s) == 0

    @property
    def gatherers(self) -> int:
        """Gatherers that are connected."""
        return len(self._lending)

    @property
    def pids(self) -> list[int]:
        """Process ids of the gatherers."""
        return self._supervisor.pids()

    @property
    def clock_trusted(self) -> bool:
        """Whether decisions about expiry may be made."""
        return self._guard.trusted
