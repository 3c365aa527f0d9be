"""One URL's journey inside a gatherer, from claim to report.

::

    claim | judge (MetaData filters) | robots | fetch | classify (status)
          | render (where a source's pages are made by scripts) | read (charset, HTML; suspect or heavy: in a converter) | Data filters
          | Enumerate -> discoveries (``outlinks``) | Generate -> description | store (WARC) | report

Judging and classifying are plain steps; waiting (politeness, network) is the gatherer's
business, except that reading awaits conversions. A failure of one step is a report with its
outcome, never an exception that ends a run.
"""

from collections.abc import Awaitable, Callable, Mapping
from hashlib import md5

import msgspec

from ingather.catalog.bodies import SegmentWriter
from ingather.catalog.digests import digests_of
from ingather.catalog.packing import pack_attributes
from ingather.extract.simhash import fingerprint, signed
from ingather.fetch.freshness import fresh_s
from ingather.filters import Convert, Engine, TraceStep
from ingather.model.candidate import Candidate, Pushed
from ingather.model.counted import Count
from ingather.model.description import Attributes
from ingather.model.intent import FEEDS
from ingather.model.judgement import Judgement
from ingather.model.lifecycle import Outcome
from ingather.model.page import Page
from ingather.model.phase import Phase
from ingather.model.report import Claim, Denial, Report
from ingather.model.resource import Failure, Response
from ingather.model.url import whole_urls
from ingather.model.urlparts import key
from ingather.model.verdict import Exclusion, Verdict
from ingather.ports.clock import Clock
from ingather.robot.frontier.seen import Seen
from ingather.robot.visit.answering import Answering
from ingather.robot.visit.discovering import Discoverer, denial_of
from ingather.robot.visit.judged import Judged
from ingather.robot.visit.listed import RulesOf, is_soft_404
from ingather.robot.visit.outlinks import OutLinks
from ingather.robot.visit.pipelinelimits import PipelineLimits
from ingather.robot.visit.reading import Reading, Unreadable
from ingather.robot.visit.renaming import Renaming, ask_of_redirect
from ingather.robot.visit.rendering import OUR_FAILURES, Rendering
from ingather.robot.visit.softnotfound import SoftNotFound
from ingather.syndication.datapage import data_controls, data_page, is_document_data
from ingather.syndication.esdocument import EsDocument, read_esdocument

__all__ = ["Judged", "Pipeline", "PipelineLimits"]

_OK = frozenset({200, 203})
_STRIKES = frozenset(f"conversion-failed:{reason}" for reason in ("died", "timeout", "memory", "cpu"))
_ANCHOR = "x-gsa-external-anchor"
_NO_QUOTING = frozenset({"noarchive", "nosnippet"})
_ANSWERED = frozenset({
    Outcome.INDEXED, Outcome.UNCHANGED, Outcome.ENUMERATED, Outcome.NOINDEX, Outcome.CONVERSION_FAILED,
})  # fmt: skip
_encode = msgspec.msgpack.Encoder().encode
_LISTING = Verdict(allowed=False, reason="listing", category=Exclusion.FILTER_RULES, phase=Phase.DATA)
"""Of a folder's contents: its entries are followed, it is no document."""


async def _nobody_counts(asked: list[Count]) -> dict[str, bool]:
    """Let everything pass."""
    return dict.fromkeys((count.role for count in asked), True)


class Pipeline:
    """The steps of a visit with their parts; one a gatherer, used by one event loop.

    Without *segment* and *seen* it is a rehearsal: the same steps and the same reports, but nothing is
    stored or counted, and links are listed instead of followed (simulate, replay).
    """

    def __init__(  # noqa: PLR0913 - the parts that app wires
        self,
        *,
        engine: Engine,
        discoverer: Discoverer,
        reading: Reading,
        segment: SegmentWriter | None,
        clock: Clock,
        seen: Seen | None,
        limits: PipelineLimits | None = None,
        heeds: Callable[[Claim], bool] = lambda claim: claim.pushed,
        opens: Callable[[str], bool] = lambda _: False,
        counts: Callable[[list[Count]], Awaitable[dict[str, bool]]] | None = None,
        rules: RulesOf = lambda _: None,
        rendering: Rendering | None = None,
        renaming: Renaming | None = None,
        soft: SoftNotFound | None = None,
    ) -> None:
        """Put the parts together.

        *heeds* see :meth:`heeds`, *counts* answers, by role,
        what filter-by-max must know of the whole run; it goes with an engine that does not count itself. *rules*: of the
        sources that feeds control. *rendering*: for sources whose pages are made by scripts.
        *renaming*: hosts that have two names. *soft*: knows pages that only say "not found".
        """
        self._soft = soft
        self._renaming = renaming if renaming is not None and renaming.active else None
        self._rendering = rendering
        self._counts = counts or _nobody_counts
        self._heeds = heeds
        self._opens = opens
        self._rules = rules
        self._engine = engine
        self._discoverer = discoverer
        self.version = discoverer.version
        self.seed = discoverer.seed
        self._reading = reading
        self._segment = segment
        self._clock = clock
        self._seen = seen
        self._limits = limits or PipelineLimits()
        self._outlinks = OutLinks(
            discoverer=discoverer, seen=seen, heeds=self._heeds, rules=rules, renaming=self._renaming,
            most=self._limits.links, anchor_chars=self._limits.anchor_chars,
        )  # fmt: skip
        self.answering = Answering(
            discoverer=discoverer, clock=clock, redirects=self._limits.redirects, heeds=self._heeds, opens=opens,
            canonical=reading.canonical, target=None if self._renaming is None else self._renaming.target,
        )  # fmt: skip

    def opens(self, source: str) -> bool:
        """Whether everybody may see what was fetched for *source* with credentials."""
        return self._opens(source)

    def heeds(self, claim: Claim) -> bool:
        """Whether the host of *claim* may say of its documents what crawl-time headers can say."""
        return self._heeds(claim)

    @property
    def stop_asked(self) -> str:
        """The line of a filter that asked to end the run in order, ``""`` if none did."""
        return self._engine.stop_asked

    def judged(self) -> list[Judgement]:
        """Return what the filters said since the last time, as filter.log wants it."""
        noted = self._engine.judgements
        return noted.take() if noted is not None else []

    # -- before the network ---------------------------------------------------------------------

    def judge(
        self,
        claim: Claim,
        origin: str,
        *,
        trace: list[TraceStep] | None = None,
        answers: Mapping[str, bool] | None = None,
    ) -> Judged:
        """Run the MetaData filters; when both deny the journey ends here.

        Args:
            claim: the URL.
            origin: scheme, host and port of its host.
            trace: takes every step of both filters, in a rehearsal.
            answers: its turn has come, so it counts: what is known about how many may pass, by role.
        """
        url = origin + claim.path
        rules = self._rules(claim.source)
        candidate = Candidate(
            url=url, depth=claim.depth, max_depth=claim.max_depth, source=claim.source, hops=claim.hops,
            pushed=Pushed.LISTED if rules is not None else Pushed.URL if claim.pushed else Pushed.NO,
        )  # fmt: skip
        evaluation = self._engine.evaluation(candidate, answers=answers)
        if claim.intent in FEEDS:  # no document: filters have no say, robots.txt and the egress gate do
            return Judged(claim, url, evaluation)
        if (
            self._renaming is not None
            and (other := self._renaming.ended(claim, url, self.answering.ended)) is not None
        ):
            return Judged(claim, url, evaluation, other)
        if self._segment is None:
            self._engine.rehearse(evaluation, trace)
        if self._engine.metadata(evaluation):
            return Judged(claim, url, evaluation)
        denial = denial_of(evaluation, self.version)
        return Judged(
            claim,
            url,
            evaluation,
            self.answering.ended(claim, Outcome.EXCLUDED, detail=denial.reason, denial=denial),
        )

    @property
    def ended(self) -> Callable[..., Report]:
        """Makes the report of a visit that brought nothing to keep (:meth:`Answering.ended`)."""
        return self.answering.ended

    def shape(self, url: str) -> Denial | None:
        """Return why the shape of a URL alone refuses it."""
        return self._discoverer.shape(url)

    def denial(self, url: str, claim: Claim) -> Denial | None:
        """Return why nobody would be asked for *url*, to which *claim* is redirected."""
        return self._discoverer.discover(
            url, depth=claim.depth, max_depth=claim.max_depth, source=claim.source, hops=claim.hops + 1, pushed=Pushed.URL
        ).denial  # fmt: skip

    async def admitted(self, claim: Claim, origin: str) -> Judged:
        """Judge a URL whose turn has come: as :meth:`judge`, with what only the whole run knows."""
        answers: dict[str, bool] = {}
        if self._renaming is not None:
            await self._renaming.ask((origin + claim.path,))
        while True:
            judged = self.judge(claim, origin, answers=answers)
            if not judged.evaluation.asked:
                return judged
            asked = judged.evaluation.asked
            judged.evaluation.end()
            answers |= await self._counts(asked)

    # -- after the network ----------------------------------------------------------------------

    async def process(self, judged: Judged, got: Response | Failure) -> Report:
        """Turn what the host said into a report; *judged* can be asked for its verdicts afterwards, and for nothing else."""
        try:
            return await self._processed(judged, got)
        finally:
            if self._segment is not None:  # who rehearses looks at the filters' steps afterwards
                judged.evaluation.end()

    async def _processed(self, judged: Judged, got: Response | Failure) -> Report:
        if isinstance(got, Failure):
            report = self.answering.failed(judged, got)
        else:
            if self._renaming is not None:
                await ask_of_redirect(self._renaming, judged.url, got)
            plain = self.answering.plain(judged, got)
            remarks: tuple[str, ...] = ()
            if plain is None and self._rendering is not None and self._rendering.wants(judged.claim.source):
                made = await self._rendering.rendered(judged, got)
                got, remarks = made.got, made.flags
            report = plain or await self._document(judged, got, remarks)
            self.answering.control(report, judged, got)
            self._promised(report, got)
            if not OUR_FAILURES.isdisjoint(remarks):  # a 304 would keep what was read without its scripts
                report.etag = report.last_modified = ""
        if judged.final_url:
            report.final_url = judged.final_url
            report.etag = report.last_modified = (
                ""  # another URL's: of no use to the one that is asked next time
            )
            report.soft_404 = is_soft_404(judged.url, judged.final_url) if report.status in _OK else ""
        return report

    @staticmethod
    def _promised(report: Report, got: Response) -> None:
        """Note until when the answer promises to stay as it is."""
        if report.outcome in _ANSWERED:
            fresh = fresh_s(got.header, now_s=report.at_s)
            report.expires_s = None if fresh is None else report.at_s + fresh

    async def _document(self, judged: Judged, got: Response, remarks: tuple[str, ...] = ()) -> Report:
        claim, engine, evaluation = judged.claim, self._engine, judged.evaluation
        digest = md5(got.body, usedforsecurity=False).digest()
        data = self._document_data(claim, got)
        dirty = data is not None and data.dirty
        if digest == claim.digest and claim.version == self.version and not dirty:
            return self.answering.unchanged(claim, got)
        evaluation.md5 = digest.hex()
        try:
            page = await self._page(judged, got, data)
            engine.respond(evaluation, got, lambda: page)
            page = await self._data(judged, got, page)
        except Unreadable as error:  # not even a page: what the response itself says is described
            page = Page(url=judged.place, base=judged.place, media_type=error.media_type, flags=[error.flag])
            engine.respond(evaluation, got, lambda: page)
            page = await self._data(judged, got, page)
        if self._renaming is not None:
            await self._renaming.ask([link.url for link in page.links])
        if got.listing and evaluation.generation.allowed:
            evaluation.generating.verdict = _LISTING
        if engine.programs and evaluation.generation.allowed:
            await self._summarize(judged, got, page)
        page.flags += remarks
        mark = fingerprint(page.text) if evaluation.generation.allowed else 0
        if (
            self._soft is not None
            and not (claim.intent or judged.final_url or got.listing)
            and evaluation.generation.allowed
        ):
            why = await self._soft.verdict(judged.url, claim.source, page, mark)
            if why:
                return self.answering.ended(
                    claim,
                    Outcome.SOFT_404,
                    status=got.status,
                    detail=why,
                    elapsed_s=got.elapsed_s,
                    address=got.address,
                )
        report = self._described(judged, got, page, digest, mark)
        if data is not None and report.described and not data.error:
            report.controls = data_controls(data)
        return report

    def _document_data(self, claim: Claim, got: Response) -> EsDocument | None:
        """Return the document that *got* gives field by field in place of a page; ``None`` = it is no such thing here."""
        rules = self._rules(claim.source)
        if rules is None or rules.kind != "sitemap" or not is_document_data(got.body):
            return None
        return read_esdocument(got.body, content_type=got.header("content-type") or None)

    async def _page(self, judged: Judged, got: Response, data: EsDocument | None) -> Page:
        if data is None:
            return await self._reading.page(judged.claim, judged.place, got)
        if data.error:
            raise Unreadable("esdocument", media_type="text/xml")
        return data_page(data, judged.place)

    async def _summarize(self, judged: Judged, got: Response, page: Page) -> None:
        """Run the programs that Generate lines want to hear; one that fails leaves the description as it is."""
        found = {}
        for program in self._engine.programs:
            try:
                found[program] = await self._reading.summarize(program, got)
            except Unreadable as error:
                page.flags.append(f"summary-failed:{error.reason}")
        self._engine.summarized(judged.evaluation, found)

    async def _data(self, judged: Judged, got: Response, page: Page) -> Page:
        """Run the Data filters; they may ask for conversions on the way."""
        engine, evaluation = self._engine, judged.evaluation
        while (wanted := engine.data(evaluation)) is not None:
            if isinstance(wanted, Count):
                evaluation.answers = {**(evaluation.answers or {}), **await self._counts([wanted])}
                continue
            try:
                page = await self._convert(judged, got, wanted)
            except Unreadable as error:
                page.flags.append(error.flag)
                evaluation.conversion_failed(error.reason)
            else:
                evaluation.converted(page)
                if evaluation.conversion is None:
                    page.flags.append("conversion-failed:empty")
        return page

    async def _convert(self, judged: Judged, got: Response, wanted: Convert) -> Page:
        return await self._reading.convert(judged.claim, judged.place, got, wanted.media_type)

    def _described(self, judged: Judged, got: Response, page: Page, digest: bytes, mark: int) -> Report:
        """Follow links, describe, store: everything that is plain once the page is read."""
        claim, engine, evaluation = judged.claim, self._engine, judged.evaluation
        now_s = self._clock.wall()
        report = Report(
            id=claim.id, outcome=int(Outcome.EXCLUDED), status=got.status, at_s=now_s, version=self.version,
            etag=got.header("etag"), last_modified=got.header("last-modified"), digest=digest, size=len(got.body),
            elapsed_s=got.elapsed_s, address=got.address, flags=tuple(page.flags), media_type=page.media_type,
            intent=claim.intent,
        )  # fmt: skip
        if evaluation.enumeration.allowed:
            self._outlinks.take(report, judged, got, page, engine.enumerate(evaluation))
            report.outcome = int(Outcome.ENUMERATED)
            report.dedupe_links = bool(evaluation.dedupe_enumeration)
        allowed = evaluation.generation.allowed
        attributes = engine.generate(evaluation, now_s=now_s, ip=got.address) if allowed else {}
        verdict = evaluation.generation  # asked again: a Generate directive may deny as well
        if verdict.allowed:
            self._describe(report, page, attributes, dedupe=bool(evaluation.dedupe))
            self._compare(report, judged, page, mark)
            report.database = evaluation.database
            report.digests = digests_of(
                (report.text, report.headings, report.marked), attributes,
                (report.title, report.language, report.media_type, report.date_s, report.flags, report.dedupe),
                (report.links, report.anchors), again=bool(claim.digest),
            )  # fmt: skip
            if self._segment is not None:
                report.stored = self._segment.append(
                    judged.url,
                    got.status,
                    got.headers,
                    got.body,
                    report.text,
                    at_s=now_s,
                    digest=digest,
                    http_version=got.http_version,
                )
        else:
            report.denial = self._said(verdict)
            report.detail = verdict.reason
            if verdict.category is Exclusion.ROBOTS:
                report.outcome = int(Outcome.NOINDEX)
        return report

    def _describe(self, report: Report, page: Page, attributes: Attributes, *, dedupe: bool) -> None:
        """Fill in what is kept of a page that passed the generation filter."""
        text = page.text[: self._limits.text_chars]
        failed = any(flag.startswith("conversion-failed") for flag in page.flags)
        report.outcome = int(Outcome.CONVERSION_FAILED if failed else Outcome.INDEXED)
        report.described, report.dedupe = True, dedupe
        report.title, report.text, report.marked = page.title, text, page.marked[: self._limits.marked_chars]
        report.headings = "\n".join([heading.text for heading in page.headings])
        report.strike = any(flag in _STRIKES for flag in page.flags)
        report.language, report.date_s = page.language, self._reading.epoch(page.date)
        report.language_source = page.language_source
        report.date_source = "" if page.date is None else page.date.source
        report.attributes = pack_attributes(attributes, text)
        report.flags = (*page.flags, *sorted(page.robots & _NO_QUOTING))

    def _said(self, verdict: Verdict) -> Denial:
        return Denial(
            str(verdict.category or Exclusion.FILTER_RULES), verdict.where, verdict.reason, self.version
        )

    def _compare(self, report: Report, judged: Judged, page: Page, mark: int) -> None:
        """Fill in what a description is compared with others by: its text's fingerprint *mark*, its canonical address."""
        whole = len(report.text) == len(page.text)
        report.near = signed(mark if whole else fingerprint(report.text))
        if (
            page.canonical
            and page.canonical not in (judged.url, judged.place)
            and judged.url not in whole_urls(page.cut.get(page.canonical, ()))
        ):
            report.canonical, report.canonical_key = page.canonical, key(page.canonical, self.seed)
