"""Runs of a home: begun with their starting points, or gone on with; ended when the pool is empty."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ingather.app.runplan import JUDGED
from ingather.app.syndication.reconciling import reconcile
from ingather.conf import StartingPoint
from ingather.model.report import Discovery
from ingather.model.source_name import same_source
from ingather.robot.logs.robotlog import Level

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["Runs"]

_RUNS = 10_000
"""Runs that are remembered."""


class Runs:
    """The runs of one gathering; on the keeper's loop.

    Attributes:
        open: a run was begun and is not ended; it may stand still.
        started_s: wall time of its begin.
    """

    def __init__(self, gathering: "Gathering") -> None:
        self._gathering = gathering
        self.open = False
        self.started_s = 0.0
        self._first = True

    async def prepare(self) -> None:
        """Take in the configuration without beginning a run: the robot is off."""
        gathering = self._gathering

        def job(writer: Any, applied: Any) -> bool:
            writer.memory.remember(JUDGED, str(gathering.version).encode())
            if gathering.changed:
                writer.registry.rejudge_excluded(applied)
            reconcile(gathering.desk, writer, applied, whole=bool(gathering.plan.sources))
            return bool(writer.registry.goes_on(gathering.plan.kind))

        self.open = await gathering.keeper.write(job)
        self._first, gathering.revisited = False, 0
        gathering.starts = [gathering.names.fold(start.url) for start in self._starts()]

    async def begin(self, *, starts: bool = True, again: bool = False, sources: Sequence[str] = ()) -> None:
        """Begin a run, or go on with one that is open, and put its starting points in.

        Args:
            starts: whether starting points are put in.
            again: visit again what was visited, if this is a new run.
            sources: ... of these sources, whose starting points alone are put in; none = all.

        Raises:
            CatalogError: nothing was kept; no run is begun.
        """
        gathering, first = self._gathering, self._first
        plan, now_s = gathering.plan, gathering.clock.wall()
        points = self._starts() if starts else ()
        await gathering.names.ask([point.url for point in points])
        found = [
            self._discovered(p)
            for p in points
            if not sources or any(same_source(p.source, one) for one in sources)
        ]
        fresh = not first and not self.open

        def job(writer: Any, applied: Any) -> tuple[int, bool, int]:
            run, continued = writer.registry.begin_run(plan.kind, now_s)
            revisited = 0
            if not continued:
                writer.clearing.forget_runs(_RUNS)
            if not first and not continued:
                writer.counts.forget()
            if not continued and (again or plan.kind == "crawl"):
                origins = sorted({d.origin for d in found}) if plan.starts else None
                revisited = _revisit(writer, applied, origins, sources)
            writer.memory.remember(JUDGED, str(gathering.version).encode())
            if first and gathering.changed:
                revisited += writer.registry.rejudge_excluded(applied)
            for discovery in found:
                writer.applier.discover(discovery, None, applied)
            if first:
                reconcile(gathering.desk, writer, applied, whole=bool(plan.sources))
            return run, continued, revisited

        if fresh:  # nothing is lent between two runs, so nobody asks meanwhile
            gathering.keeper.begin_run()
        gathering.run, gathering.continued, gathering.revisited = await gathering.keeper.write(job)
        if not (self.open and gathering.continued):
            self.started_s = self._begun_s(now_s) if gathering.continued else now_s
        self._first, self.open = False, True
        gathering.filter_log.started(gathering.run, now_s)
        self.note_judgements()
        gathering.starts = [gathering.names.fold(start.url) for start in self._starts()]
        begun = "goes on" if gathering.continued else "started"
        gathering.robot_log.event(
            Level.SPAWNING,
            f"Run {gathering.run} {begun}; Starting Points: {len(gathering.starts)} defined",
            now_s,
        )

    async def end(self, *, how: str = "") -> int:
        """Close the run; return the number of the newest change.

        Raises:
            CatalogError: nothing was kept; the run is open.
        """
        gathering, now_s = self._gathering, self._gathering.clock.wall()
        run, pages, warnings = gathering.run, gathering.keeper.counters.pages, gathering.warnings()
        detail = f"{pages} visits{'; ' + how if how else ''}"

        def job(writer: Any, _applied: Any) -> int:
            writer.registry.end_run(run, now_s, detail, warnings)
            return int(writer.applier.sequence)

        sequence: int = await gathering.keeper.write(job)
        self.open = False
        said = f"completed with {len(warnings)} warnings" if warnings else "ended"
        gathering.robot_log.event(Level.SPAWNING, f"Run {run} {said}: {detail}", now_s)
        return sequence

    async def index_all(self, sequence: int) -> None:
        """Wait until the index has applied change *sequence*, or is broken."""
        await asyncio.get_running_loop().run_in_executor(None, self._gathering.follower.flush, sequence)

    def note_judgements(self) -> None:
        """Write what filters said of URLs that were put in."""
        gathering = self._gathering
        noted = gathering.discoverer.engine.judgements
        gathering.filter_log.write(noted.take() if noted is not None else (), gathering.clock.wall())

    def _starts(self) -> Sequence[StartingPoint]:
        return self._gathering.plan.starts or self._gathering.loaded.starting_points

    def _discovered(self, start: StartingPoint) -> Discovery:
        return self._gathering.discoverer.discover(
            self._gathering.names.fold(start.url),
            depth=0,
            max_depth=start.depth,
            source=start.source,
            priority=1,
        )

    def _begun_s(self, now_s: float) -> float:
        reader = self._gathering.reader_once()
        try:
            return next((r.started_s for r in reader.runs() if r.number == self._gathering.run), now_s)
        finally:
            reader.close()


def _revisit(writer: Any, applied: Any, origins: Sequence[str] | None, sources: Sequence[str]) -> int:
    """Have what was visited visited again: of *sources*, else at *origins* (``None`` = all); return how many URLs."""
    if sources:
        return int(writer.clearing.revisit(sources, applied))
    return int(writer.registry.revisit(origins, applied))
