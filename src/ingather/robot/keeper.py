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
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_frontier import FrontierQueries
from ingather.errors import CatalogError, DiskFullError
from ingather.log import get
from ingather.ports.clock import Clock
from ingather.robot.accesslog import AccessLog
from ingather.robot.committing import Batch, Committed, Committer, Writer
from ingather.robot.filterlog import FilterLog
from ingather.robot.frontier import Frontier
from ingather.robot.indexing import IndexFollower
from ingather.robot.intake import Counters, Intake, Taken
from ingather.robot.keeperlimits import KeeperLimits
from ingather.robot.lending import Lending
from ingather.robot.mourning import Mourning
from ingather.robot.politeness import AddressBook
from ingather.robot.progress import Progress
from ingather.robot.robotlog import Level, RobotLog
from ingather.robot.supervising import Death, Supervisor
from ingather.robot.tally import Tally
from ingather.robot.telling import Telling
from ingather.robot.timeguard import TimeGuard
from ingather.robot.wire import Stop

__all__ = ["ADDRESS_STATES", "Counters", "Keeper", "KeeperLimits"]

_log = get("keeper")
ADDRESS_STATES = "address-states"


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
    ) -> None:
        limits = limits or KeeperLimits()
        self._queries = queries
        self._committer = committer
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
        self._progress = Progress(self.counters, frontier, supervisor, robot_log, clock)
        self._telling = Telling(
            frontier=frontier, index=index, counters=self.counters, access_log=access_log, robot_log=robot_log, clock=clock
        )  # fmt: skip
        self._intake = Intake(self.counters, pending_bytes=limits.pending_bytes)
        self._mourning = Mourning(self.counters, frontier, self._intake, robot_log, clock)
        self._lending = Lending(
            queries=queries,
            frontier=frontier,
            intake=self._intake,
            counters=self.counters,
            addresses=addresses,
            clock=clock,
            dice=dice,
            own_host=own_host,
            may_lend=self._may_lend,
            changed=self._changed,
            max_pages=max_pages,
            newest_segment=newest_segment,
            version=version,
            tally=tally,
            filter_log=filter_log,
        )
        self._tasks: list[asyncio.Task[None]] = []
        self._server: asyncio.Server | None = None
        self._stopping = self._ending = False
        self._leaving = self._joining = False
        self._switch = asyncio.Lock()
        self._no_space_until = 0.0
        self.paused = False
        self.disk_full = False
        self.failed: BaseException | None = None

    def _may_lend(self) -> bool:
        return not (self.paused or self.disk_full or self.index.full or self._lending.stop_asked)

    # -- life -------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Open the socket, spawn the gatherers, begin."""
        self._socket_path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(
            self._lending.serve, str(self._socket_path), limit=1 << 20
        )
        self._socket_path.chmod(0o600)
        self._remember_waits()
        self.frontier.load()
        self.index.start()
        self._tasks = [
            asyncio.create_task(self._guarded(loop())) for loop in (self._commit_loop, self._tick_loop)
        ]
        self._supervisor.start()

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
        self._stopping = True
        loop = asyncio.get_running_loop()
        async with self._switch:
            await self._dismiss()
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

    async def _dismiss(self) -> None:
        """Let every gatherer finish what it fetches and end; what they reported is kept."""
        loop = asyncio.get_running_loop()
        self._leaving = self._lending.stopping = True
        self._lending.tell_all(Stop())
        deadline = loop.time() + 35
        while len(self._lending) and loop.time() < deadline and self.failed is None:  # noqa: ASYNC110 - several parties, one deadline
            await asyncio.sleep(0.05)
        self._ending = self._stopping
        self._joining = True
        await loop.run_in_executor(None, self._supervisor.stop, 2.0)
        deadline = loop.time() + 10
        while self._unsettled() and loop.time() < deadline:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.02)

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
                await self._dismiss()
                answer = await self.write(job)
                arguments, version = adopt(answer)
                self._supervisor.arguments = arguments
                self._version = self._lending.version = version
                return answer
            finally:
                if not self._stopping:
                    self._leaving = self._joining = self._lending.stopping = False
                    self._supervisor.start()

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

    # -- committing -------------------------------------------------------------------------------

    async def _commit_loop(self) -> None:
        limits, loop, intake = self._limits, asyncio.get_running_loop(), self._intake
        while True:
            await intake.work.wait()
            begun = loop.time()
            while not intake.has_jobs and intake.visits < limits.commit_rows:
                left = begun + limits.commit_s - loop.time()
                if left <= 0:
                    break
                await asyncio.sleep(min(left, 0.02))
            if intake.has_jobs:
                await asyncio.sleep(limits.client_s)
            taken = intake.take()
            try:
                await self._commit(taken)
            finally:
                intake.done()
            self._changed.set()

    async def _commit(self, taken: Taken) -> None:
        done = await self._durable(taken.batch, taken.waiters)
        self.counters.commits += 1
        if done.more and not self._ending:
            self._intake.again()
        self._telling.told(done, taken.senders)
        self._lending.feed()
        for future, answer in zip(taken.waiters, done.answers, strict=True):
            if not future.done():
                future.set_result(answer)

    async def _durable(self, batch: Batch, waiters: list[asyncio.Future[Any]]) -> Committed:
        """Commit *batch*, waiting for space if there is none; jobs that cannot be done are told so and left out."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                return await loop.run_in_executor(self._pool, self._committer.commit, batch)
            except DiskFullError as error:
                self._refuse(batch, waiters, error)
                if not self.disk_full:
                    self._robot_log.serious("disk full: no new work until there is space", self._clock.wall())
                    _log.error("disk full: no new work until there is space", error=str(error))
                self.disk_full = True
                await asyncio.sleep(self._limits.disk_retry_s)
            except CatalogError as error:
                self._refuse(batch, waiters, error)
                raise
            except Exception as error:
                if not batch.jobs:
                    raise
                self._refuse(batch, waiters, error)  # a job's own mistake must not cost the visits beside it

    @staticmethod
    def _refuse(batch: Batch, waiters: list[asyncio.Future[Any]], error: BaseException) -> None:
        for future in waiters:
            if not future.done():
                future.set_exception(error)
        waiters.clear()
        batch.jobs.clear()

    # -- the clock's business ---------------------------------------------------------------------

    async def _tick_loop(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            self._progress.tell()
            if self.idle():  # nothing more is to come: let the index have what it collected
                self.index.hurry()
            self._progress.note()
            self._guard.check(self._clock.monotonic(), self._clock.wall())
            if not self._joining:  # then the supervisor belongs to _dismiss()
                self._bury(self._supervisor.check())
            if self._supervisor.failing and not self._leaving:
                msg = "gatherers die right after their start"
                raise CatalogError(msg, hint="look at the log above; is the installation complete?")
            if not self._leaving:
                self._supervisor.replace()
            full = not self._headroom() or self._clock.monotonic() < self._no_space_until
            if full != self.disk_full and not self._intake.committing:
                self.disk_full = full
                if full:
                    self._robot_log.serious("disk reserve reached: no new work", self._clock.wall())
                _log.warning("disk reserve reached: no new work" if full else "disk has space again")
            if self._recheck and not self.paused and not self.disk_full and self._guard.trusted:
                await self._promote()
            if self._lending.addresses_changed:
                await self._remember_addresses()
            self._lending.feed()
            self._changed.set()

    async def _remember_addresses(self) -> None:
        """Keep the back-offs of addresses across restarts."""
        self._lending.addresses_changed = False
        states = self._addresses.export(self._clock.monotonic(), self._clock.wall())
        packed = msgspec.msgpack.encode(states)
        await self.write(lambda writer, _: writer.memory.remember(ADDRESS_STATES, packed))

    async def _promote(self) -> None:
        if self.frontier.waiting > self._limits.promote:
            return
        now_s, limit = self._clock.wall(), self._limits.promote
        woken: dict[int, int] = await self.write(lambda writer, _: writer.registry.promote_due(now_s, limit))
        if woken:
            self.frontier.woken(woken)

    def _bury(self, deaths: list[Death]) -> None:
        if self._mourning.bury(deaths, leaving=self._leaving, version=self._version):
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
