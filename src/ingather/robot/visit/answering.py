"""What the host said, status by status: every answer that brings no body to read becomes a report here.

Pure but for the clock. A failure of one step is a report with its outcome, never an exception that ends a run.
"""

from collections.abc import Callable

from ingather.errors import UrlError
from ingather.feeds.headers import has_controls, read_controls, skips_content
from ingather.fetch import read_retry_after, target_of
from ingather.model.controls import Controls
from ingather.model.intent import DOCUMENTS, FEEDS
from ingather.model.lifecycle import Outcome
from ingather.model.report import Claim, Denial, Report
from ingather.model.resource import Failure, FailureKind, Response
from ingather.model.url import whole_url
from ingather.model.urlparts import key, split
from ingather.ports.clock import Clock
from ingather.robot.visit.discovering import Discoverer
from ingather.robot.visit.judged import Judged
from ingather.robot.visit.polled import untold

__all__ = ["Answering"]

_OK = frozenset({200, 203})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NOT_FOUND = frozenset({404, 410})
_REFUSALS = frozenset({401, 403})
_BACK_OFF = frozenset({429, 503})


class Answering:
    """Makes reports of answers without a body.

    Args:
        discoverer: judges the targets of redirects.
        redirects: how many in a row are followed.
        heeds: whether the host of a claim may say of its documents what crawl-time headers can say.
        opens: whether everybody may see what was fetched for a source with credentials.
        canonical: makes the key of a redirect's target, as of links.
        target: the key of a redirect's target, of (claim, URL, target); ``None`` = its own.
    """

    def __init__(  # noqa: PLR0913 - the parts that the pipeline has
        self,
        *,
        discoverer: Discoverer,
        clock: Clock,
        redirects: int,
        heeds: Callable[[Claim], bool],
        opens: Callable[[str], bool],
        canonical: Callable[[str], str],
        target: Callable[[Claim, str, str], str] | None = None,
    ) -> None:
        self._canonical = canonical
        self._discoverer = discoverer
        self._clock = clock
        self._redirects = redirects
        self._heeds = heeds
        self._opens = opens
        self._target = target

    def ended(  # noqa: PLR0913 - what is known of a visit
        self,
        claim: Claim,
        outcome: Outcome,
        *,
        status: int = 0,
        detail: str = "",
        denial: Denial | None = None,
        retry_s: float | None = None,
        elapsed_s: float = 0.0,
        address: str = "",
    ) -> Report:
        """Return the report of a visit that brought nothing to keep."""
        report = Report(
            id=claim.id, outcome=int(outcome), status=status, at_s=self._clock.wall(), version=self._discoverer.version,
            detail=detail, denial=denial, retry_s=retry_s, elapsed_s=elapsed_s, address=address, intent=claim.intent,
        )  # fmt: skip
        if claim.intent in FEEDS:
            report.polled = untold(report)
        return report

    def failed(self, judged: Judged, got: Failure) -> Report:
        """Return the report of a visit that brought no answer, or one whose body could not be taken."""
        claim = judged.claim
        report = self.ended(
            claim, Outcome.FAILED, detail=f"{got.kind}: {got.detail}" if got.detail else str(got.kind),
            retry_s=got.retry_after_s, elapsed_s=got.elapsed_s, address=got.address,
        )  # fmt: skip
        if got.kind is FailureKind.HEAD_TOO_LARGE:  # its rights may have stood there
            heeded = self._heeds(claim)
            report.controls = Controls(withheld=f"{got.kind}: {got.detail}", heeded=heeded)
        elif got.status in _OK:  # what the head says of who may see it counts all the same
            report.controls = self._controls(judged, got.headers)
        return report

    def control(self, report: Report, judged: Judged, got: Response) -> None:
        """Put into *report* what the head says of who may see the document."""
        source = judged.claim.source
        if has_controls(got.by_name()):
            report.controls = self._controls(judged, got.headers)
        elif got.status in _REFUSALS and self._heeds(judged.claim):
            report.controls = Controls(heeded=True)
        if got.authorized and self._opens(source):
            report.controls = report.controls or Controls()
            report.controls.opened = True
        elif got.authorized:
            # Whom a password let in says nothing of who else may come: without an ACL nobody.
            report.controls = report.controls or Controls()
            report.controls.secured = True

    def _controls(self, judged: Judged, headers: tuple[tuple[str, str], ...]) -> Controls | None:
        controls = read_controls(judged.url, headers)
        if controls is not None:
            # What comes with a file is of our own making; what a host says counts when its source heeds it.
            controls.heeded = self._heeds(judged.claim) or judged.url.startswith("file:")
        return controls

    def plain(self, judged: Judged, got: Response) -> Report | None:  # noqa: PLR0911 - one a status class
        """Return the report of an answer without a document; ``None`` = there is a body to read."""
        claim, status = judged.claim, got.status
        asked = claim.intent in DOCUMENTS
        if status in _OK:
            return self._empty(claim, got) if asked and not got.body else None
        if status == 304 and asked and not (claim.etag or claim.last_modified):  # noqa: PLR2004 - RFC 9110
            return self._empty(claim, got)  # nothing was asked that it could be the answer to
        if status == 304 or (status == 204 and skips_content(got.headers, status)):  # noqa: PLR2004 - RFC 9110
            return self.unchanged(claim, got)
        if status in _REDIRECTS:
            return self._redirect(judged, got)
        if status in _NOT_FOUND:
            return self._answer(claim, Outcome.NOT_FOUND, got)
        if status in _BACK_OFF:
            wait = read_retry_after(got.header("retry-after"), now_s=self._clock.wall())
            report = self._answer(claim, Outcome.BACK_OFF, got)
            report.retry_s = wait.seconds if wait else None
            return report
        if status >= 500:  # noqa: PLR2004 - RFC 9110
            return self._answer(claim, Outcome.SERVER_ERROR, got)
        if status >= 400:  # noqa: PLR2004 - RFC 9110
            return self._answer(claim, Outcome.REFUSED, got)
        return self._empty(claim, got) if asked else None

    def unchanged(self, claim: Claim, got: Response) -> Report:
        """Return the report of a document that is as it was."""
        report = self.ended(
            claim, Outcome.UNCHANGED, status=got.status, elapsed_s=got.elapsed_s, address=got.address
        )
        report.etag, report.last_modified = got.header("etag"), got.header("last-modified")
        return report

    def _answer(self, claim: Claim, outcome: Outcome, got: Response) -> Report:
        return self.ended(
            claim, outcome, status=got.status, detail=f"HTTP {got.status}", elapsed_s=got.elapsed_s, address=got.address
        )  # fmt: skip

    def _empty(self, claim: Claim, got: Response) -> Report:
        """A listed document whose host says that all is well and gives nothing: an error, what is kept stands."""
        report = self._answer(claim, Outcome.FAILED, got)
        report.detail = f"no body: HTTP {got.status}"
        return report

    def _redirect(self, judged: Judged, got: Response) -> Report:
        claim = judged.claim
        target = target_of(judged.url, got.header("location"))
        try:
            whole = whole_url(target) if target else ""
            target = self._canonical(target) if target else ""
        except UrlError:
            whole = target = ""
        if not target:
            return self._sent_nowhere(
                judged, got, FailureKind.REDIRECT_TARGET, f"Location {got.header('location')!r}"
            )
        if target.startswith("file:") and not judged.url.startswith("file:"):
            return self._sent_nowhere(
                judged, got, FailureKind.REDIRECT_TARGET, f"{target} is no page of a host"
            )
        if judged.url in {target, whole}:
            return self._sent_nowhere(judged, got, FailureKind.REDIRECT_LOOP, f"{target} redirects to itself")
        if claim.hops >= self._redirects:
            return self._sent_nowhere(
                judged, got, FailureKind.REDIRECTS, f"more than {self._redirects} in a row, next {target}"
            )
        shortened = whole != target
        if self._target is not None:
            target = self._target(claim, judged.url, target)
        report = self.ended(
            claim, Outcome.REDIRECTED, status=got.status, detail=target, elapsed_s=got.elapsed_s, address=got.address
        )  # fmt: skip
        report.redirect = self._discoverer.discover(
            target, depth=claim.depth, max_depth=claim.max_depth, source=claim.source, hops=claim.hops + 1,
            pushed=judged.evaluation.candidate.pushed,
        )  # fmt: skip
        if shortened:
            report.redirect.wholes = [(key(whole, self._discoverer.seed), split(whole).path)]
        return report

    def _sent_nowhere(self, judged: Judged, got: Response, kind: FailureKind, detail: str) -> Report:
        return self.ended(
            judged.claim, Outcome.FAILED, status=got.status, detail=f"{kind}: {detail}", elapsed_s=got.elapsed_s,
            address=got.address,
        )  # fmt: skip
