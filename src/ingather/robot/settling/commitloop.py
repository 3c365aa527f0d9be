"""The keeper's commits: what came in goes into one transaction at a time, then everybody is told.

A batch is at most a quarter of a second or 4,000 rows; when somebody waits for an answer it is a few
milliseconds. Without space it is tried again until there is some; jobs that cannot be done are told so.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from ingather.errors import CatalogError, DiskFullError, StorageError
from ingather.log import get
from ingather.ports.clock import Clock
from ingather.robot.keeperlimits import KeeperLimits
from ingather.robot.logs.robotlog import RobotLog
from ingather.robot.settling.committing import Batch, Committed, Committer
from ingather.robot.settling.intake import Intake, Taken
from ingather.robot.settling.telling import Telling

__all__ = ["CommitLoop"]

_log = get("keeper")
_TRIES: Final = 5
"""A call that fails once costs a pause; storage that goes on failing ends the keeper, and the next start finds what was kept."""


class CommitLoop:
    """Lives on the keeper's loop; :meth:`run` until it is cancelled.

    Args:
        pool: one thread, the writer's.
        committed: called after each commit.
        full: called when there is no space; answers whether that is new.
        ending: whether the keeper ends, so that what was put off stays put off.
    """

    def __init__(  # noqa: PLR0913 - the parts that the keeper wires
        self,
        committer: Committer,
        intake: Intake,
        telling: Telling,
        *,
        clock: Clock,
        limits: KeeperLimits,
        robot_log: RobotLog,
        pool: ThreadPoolExecutor,
        committed: Callable[[], None],
        full: Callable[[], bool],
        ending: Callable[[], bool],
    ) -> None:
        self._committer, self._intake, self._telling = committer, intake, telling
        self._clock, self._limits, self._robot_log, self._pool = clock, limits, robot_log, pool
        self._committed, self._full, self._ending = committed, full, ending

    async def run(self) -> None:
        """Commit what comes in, on and on."""
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
            self._committed()

    async def _commit(self, taken: Taken) -> None:
        done = await self._durable(taken.batch, taken.waiters)
        if done.more and not self._ending():
            self._intake.again()
        self._telling.told(done, taken.senders)
        for future, answer in zip(taken.waiters, done.answers, strict=True):
            if not future.done():
                future.set_result(answer)

    async def _durable(self, batch: Batch, waiters: list[asyncio.Future[Any]]) -> Committed:
        """Commit *batch*, waiting for space if there is none; jobs that cannot be done are told so and left out."""
        loop, tries = asyncio.get_running_loop(), 0
        while True:
            try:
                return await loop.run_in_executor(self._pool, self._committer.commit, batch)
            except DiskFullError as error:
                self._refuse(batch, waiters, error)
                if self._full():
                    self._robot_log.serious("disk full: no new work until there is space", self._clock.wall())
                    _log.error("disk full: no new work until there is space", error=str(error))
                await asyncio.sleep(self._limits.disk_retry_s)
            except StorageError as error:
                self._refuse(batch, waiters, error)
                tries += 1
                if tries > _TRIES:
                    raise
                self._robot_log.serious(f"{error}; tried again", self._clock.wall())
                _log.error("a batch could not be kept, tried again", error=str(error), tries=tries)
                await asyncio.sleep(self._limits.storage_retry_s)
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
