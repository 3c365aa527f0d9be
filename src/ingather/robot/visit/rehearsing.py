"""A visit that leaves nothing behind: the pipeline of a gatherer for simulate and replay.

A crawl judges a URL twice: its shape and the MetaData filters when it is found, the MetaData filters
again when its turn has come. A rehearsal does both at once, then takes whatever the host said, or the
catalog kept, through the very steps of ``ingather.robot.visit.pipeline.Pipeline``.
"""

from collections.abc import Callable

from ingather.filters import Engine, TraceStep
from ingather.model.candidate import Candidate, Pushed
from ingather.model.lifecycle import Outcome
from ingather.model.page import Page
from ingather.model.report import Claim, Report
from ingather.model.resource import Failure, Response
from ingather.model.urlparts import split
from ingather.ports.clock import Clock
from ingather.robot.visit.discovering import Discoverer, UrlLimits
from ingather.robot.visit.listed import ListedRules
from ingather.robot.visit.pipeline import Judged, Pipeline, PipelineLimits
from ingather.robot.visit.reading import Reading, Unreadable
from ingather.robot.visit.rendering import Rendering

__all__ = ["Rehearsal"]


class Rehearsal:
    """Judges and visits without storing or counting anything; belongs to one event loop.

    Args:
        engine: the filters.
        reading: makes pages, documents in converters.
        clock: dates of descriptions.
        version: configuration version that denials name, 0 = not published.
        urls, visits: limits, as a crawl has them.
        rendering: runs the scripts of pages that need it.
        rules: as :class:`ingather.robot.visit.pipeline.Pipeline` has them: of sources whose URLs web feeds name.
    """

    def __init__(  # noqa: PLR0913 - the parts that app wires
        self,
        engine: Engine,
        *,
        reading: Reading,
        clock: Clock,
        version: int = 0,
        urls: UrlLimits | None = None,
        visits: PipelineLimits | None = None,
        rules: Callable[[str], ListedRules | None] = lambda _: None,
        rendering: Rendering | None = None,
    ) -> None:
        self.engine = engine
        self._reading = reading
        self._discoverer = Discoverer(engine, version=version, seed=0, limits=urls)
        self._pipeline = Pipeline(
            engine=engine, discoverer=self._discoverer, reading=reading, segment=None, clock=clock, seen=None, limits=visits,
            rules=rules, rendering=rendering,
        )  # fmt: skip

    def judge(
        self, candidate: Candidate, *, trace: list[TraceStep] | None = None, known: bool = False
    ) -> Judged:
        """Judge a URL before the fetch; ``report`` of the answer is set when nothing would be fetched.

        Args:
            candidate: the URL with its circumstances.
            trace: takes every step of both filters.
            known: it was found before, so its shape is not looked at again.
        """
        parts = split(candidate.url)
        claim = Claim(
            id=0, host=0, path=parts.path, depth=candidate.depth, max_depth=candidate.max_depth,
            source=candidate.source, hops=candidate.hops, pushed=candidate.pushed is Pushed.URL,
        )  # fmt: skip
        judged = self._pipeline.judge(claim, parts.origin, trace=trace)
        denial = None if known else self._discoverer.shape(candidate.url)
        if denial is not None:
            judged.report = self._pipeline.ended(claim, Outcome.EXCLUDED, detail=denial.reason, denial=denial)
        return judged

    async def visit(self, judged: Judged, got: Response | Failure) -> Report:
        """Take what the host said through the rest of the journey."""
        return await self._pipeline.process(judged, got)

    async def data(self, judged: Judged, got: Response, page: Page | None = None) -> bool:
        """Run the Data directives alone, over *page* or else over what is read; the verdicts are in ``judged``.

        Returns:
            Whether they came to their end; ``False`` = a conversion is wanted or the page cannot be read: only
            :meth:`visit`, after a new :meth:`judge`, can tell.
        """
        if page is None:
            try:
                page = await self._reading.page(judged.claim, judged.url, got)
            except Unreadable:
                return False
        read = page
        self.engine.respond(judged.evaluation, got, lambda: read)
        return self.engine.data(judged.evaluation) is None
