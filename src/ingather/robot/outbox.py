"""Finished visits on their way to the keeper: bodies are made durable first, then reports are sent in groups.

What was sent and is not yet kept (committed) is bounded in pages and in bytes; beyond it no visit starts.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from ingather.model.report import HostReport, Report
from ingather.robot.gathererlimits import GathererLimits
from ingather.robot.politeness.asking import Asking
from ingather.robot.visit.pipeline import Pipeline
from ingather.robot.wire import Reports

__all__ = ["Outbox"]

_FRAME = 500
"""Bytes of a report beside what it carries, about."""


class Outbox:
    """Reports of one gatherer; owned by one event loop.

    Args:
        send: gives the keeper a message, without waiting.
        drain: waits until the keeper took some of it.
        wake: set by whoever has something that is to be sent soon, also without reports.
        limits: sizes and age of a group, and what may be unkept.
        sync: makes all bodies durable that were written so far; runs in a thread.
        pipeline: has what filters noted for filter.log, and which line asked for the end.
        asking: connections that ended are told with each group.
    """

    def __init__(  # noqa: PLR0913 - what a group is made of
        self,
        send: Callable[[object], None],
        *,
        drain: Callable[[], Awaitable[None]],
        wake: asyncio.Event,
        limits: GathererLimits,
        sync: Callable[[], object],
        pipeline: Pipeline,
        asking: Asking,
    ) -> None:
        self._send, self._drain, self._limits, self._sync = send, drain, limits, sync
        self._pipeline, self._asking = pipeline, asking
        self._reports: list[Report] = []
        self._bytes = 0
        self._hosts: dict[int, HostReport] = {}
        self._unkept: deque[tuple[int, int]] = deque()
        self._unkept_pages = self._unkept_bytes = 0
        self._now = wake

    @property
    def room(self) -> bool:
        """Whether another visit may start."""
        return (
            self._unkept_pages + len(self._reports) < self._limits.unkept_pages
            and self._unkept_bytes + self._bytes < self._limits.unkept_bytes
        )

    def add(self, report: Report) -> None:
        """Take the report of a finished visit."""
        self._reports.append(report)
        self._bytes += (
            len(report.text)
            + len(report.attributes)
            + len(report.links)
            + len(report.anchors)
            + len(report.polled)
            + _FRAME
        )
        if self._ripe or len(self._reports) == 1:
            self._now.set()

    def learnt(self, report: HostReport) -> None:
        """Take what is known of a host now; it goes with the next group."""
        self._hosts[report.id] = report

    def kept(self, count: int) -> None:
        """Note that the keeper committed *count* reports, the oldest ones, in whole groups."""
        while count > 0 and self._unkept:
            pages, size = self._unkept.popleft()
            count -= pages
            self._unkept_pages -= pages
            self._unkept_bytes -= size

    @property
    def _ripe(self) -> bool:
        return len(self._reports) >= self._limits.flush_pages or self._bytes >= self._limits.flush_bytes

    async def run(self) -> None:
        """Send groups when they are large or old enough, for ever."""
        while True:
            await self._now.wait()
            if not self._ripe:
                await asyncio.sleep(self._limits.flush_s)
            self._now.clear()
            await self.flush()

    async def flush(self) -> None:
        """Make bodies durable, then tell the keeper; visits go on meanwhile."""
        if not self._reports and not self._hosts and not self._asking.ended:
            return
        reports, self._reports = self._reports, []
        size, self._bytes = self._bytes, 0
        hosts, self._hosts = list(self._hosts.values()), {}
        if any(report.stored for report in reports):
            await asyncio.get_running_loop().run_in_executor(None, self._sync)
        self._unkept.append((len(reports), size))
        self._unkept_pages += len(reports)
        self._unkept_bytes += size
        self._asking.send_ended()
        judged = self._pipeline.judged()
        self._send(Reports(reports, hosts, stop=self._pipeline.stop_asked, judged=judged))
        await self._drain()
