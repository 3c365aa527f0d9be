"""Visits that somebody asked for (intents): polls of feeds and sitemaps, and visits of what they list.

They differ from ordinary ones in three things: limits are the source's, redirects are followed within the visit, and a
feed's answer is a poll instead of a description.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from ingather.model.intent import FEEDS, POLLS, Intent
from ingather.model.report import Claim, Denial, Report
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.model.urlparts import split
from ingather.model.verdict import Exclusion
from ingather.ports.clock import Clock
from ingather.ports.fetcher import Fetcher
from ingather.robot.visit.hopping import Chained, Hopping
from ingather.robot.visit.judged import Judged
from ingather.robot.visit.listed import ListedRules, RulesOf
from ingather.robot.visit.pipeline import Pipeline
from ingather.robot.visit.polling import Polling

__all__ = ["AskedVisits"]

_DEFAULT = ListedRules()
_SITEMAPS = ListedRules(kind="sitemap")
_FEED_TYPES = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml, application/xml;q=0.9, "
    "text/xml;q=0.9, application/json;q=0.8, */*;q=0.5"
)


class AskedVisits:
    """The asked part of a gatherer; owned by one event loop.

    Args:
        rules: of the sources that feeds control; any other that has an intent all the same gets the defaults.
        sitemaps: of sitemaps of sites, whose sources feeds do not control.
    """

    def __init__(  # noqa: PLR0913 - the parts that the gatherer wires
        self,
        *,
        pipeline: Pipeline,
        polling: Polling,
        hopping: Hopping,
        fetcher: Fetcher,
        rules: RulesOf,
        clock: Clock,
        sitemaps: ListedRules | None = None,
    ) -> None:
        self._pipeline, self._polling, self._hopping, self._fetcher = pipeline, polling, hopping, fetcher
        self._rules = rules
        self._clock = clock
        self._sitemaps = sitemaps or _SITEMAPS

    def rules(self, claim: Claim) -> ListedRules:
        """Return what binds a visit."""
        if claim.intent == Intent.SITEMAP:
            return self._sitemaps
        return self._rules(claim.source) or _DEFAULT

    def obeys_robots(self, claim: Claim) -> bool:
        """Whether robots.txt binds this visit: unless the source says otherwise of its feeds, it does."""
        return claim.intent not in FEEDS or self.rules(claim).obey_robots

    def request(self, judged: Judged, request: Request) -> Request:
        """Return *request*, made for an ordinary visit, with the limits of an asked one.

        Validators are those of the claim: who lends it decides which visits are conditional.
        """
        rules = self.rules(judged.claim)
        if judged.claim.intent not in FEEDS:
            most = rules.document_bytes
            return replace(request, max_wire_bytes=most, max_decoded_bytes=most) if most else request
        headers = (*request.headers, ("Accept", _FEED_TYPES))
        return replace(
            request, max_wire_bytes=rules.most_bytes, max_decoded_bytes=rules.most_bytes, headers=headers, long_head=False
        )  # fmt: skip

    async def fetch(self, judged: Judged, request: Request, scope: Scope) -> Response | Failure:
        """Ask; a feed that does not end in time is given up."""
        if judged.claim.intent not in FEEDS:
            return await self._fetcher.fetch(request, scope)
        most_s = self.rules(judged.claim).most_s
        started_s = self._clock.monotonic()
        try:
            async with asyncio.timeout(most_s):
                return await self._fetcher.fetch(request, scope)
        except TimeoutError:
            spent_s = self._clock.monotonic() - started_s
            detail = f"a feed must end within {most_s:g} s"
            return Failure(request.url, FailureKind.TOTAL_TIMEOUT, detail, elapsed_s=spent_s)

    async def report(
        self, judged: Judged, request: Request, got: Response | Failure, scope: Scope
    ) -> Report | None:
        """Follow redirects, then report; ``None`` = the gatherer ends first, the visit is to be made again."""
        claim = judged.claim
        rules = self.rules(claim)
        feed = claim.intent in FEEDS

        async def fetch(hop: Request, reach: Scope) -> Response | Failure:
            return await self.fetch(judged, hop, reach)

        chain = await self._hopping.follow(
            request, got, scope, most=rules.redirects, judge=self._judge(judged, rules), fetch=fetch,
            obey=rules.obey_robots or not feed, etags=claim.intent in POLLS,
        )  # fmt: skip
        if chain.dropped:
            judged.evaluation.end()
            return None
        if feed:
            judged.evaluation.end()
            return await self._polling.report(judged, chain, rules)
        return await self._document(judged, chain)

    async def _document(self, judged: Judged, chain: Chained) -> Report:
        if chain.url != judged.url:
            judged.final_url = chain.url
        if chain.stop is None:
            return await self._pipeline.process(judged, chain.got)
        judged.evaluation.end()
        report = self._pipeline.ended(
            judged.claim, chain.stop.outcome, status=chain.got.status, detail=chain.stop.detail, denial=chain.stop.denial,
            retry_s=chain.stop.retry_s, elapsed_s=chain.elapsed_s, address=chain.got.address,
        )  # fmt: skip
        report.final_url = chain.hops[-1].url
        return report

    def _judge(self, judged: Judged, rules: ListedRules) -> Callable[[str], Denial | None]:
        """Return what says why a redirect's target may not be asked for."""
        claim, pipeline = judged.claim, self._pipeline

        def judge(target: str) -> Denial | None:
            if claim.intent in FEEDS:
                return pipeline.shape(target)
            if rules.same_host and not _same_host(judged.url, target):
                reason = "on another scheme or host (link-scope)"
                return Denial(str(Exclusion.SITE_NOT_ALLOWED), "", reason, pipeline.version)
            return pipeline.denial(target, claim)

        return judge


def _same_host(url: str, target: str) -> bool:
    here, there = split(url), split(target)
    return (here.scheme, here.host) == (there.scheme, there.host)
