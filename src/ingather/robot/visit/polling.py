"""A visit to a feed or sitemap: what the host said, and what the document lists, as a report.

No description, no links, no record among the bodies. A small document that a strict parser can read is read here, with
the shared slot naming the URL; everything else in a converter, which may run out of time or memory: then it is no
feed, whatever it was. Nothing here knows what was listed before or decides anything about documents.
"""

from hashlib import md5
from typing import Final

import msgspec

from ingather.errors import ExtractError, IsolationError
from ingather.fetch import target_of
from ingather.fetch.freshness import fresh_s
from ingather.log import get
from ingather.model.intent import POLLS
from ingather.model.lifecycle import Outcome
from ingather.model.polled import Polled, PollKind, encode_polled
from ingather.model.report import Claim, Report
from ingather.model.resource import Failure, Response
from ingather.ports.clock import Clock
from ingather.ports.isolation import Isolation
from ingather.robot.politeness.backoff import retry_after_seconds
from ingather.robot.slot import Slot
from ingather.robot.visit.answering import Answering
from ingather.robot.visit.hopping import Chained
from ingather.robot.visit.judged import Judged
from ingather.robot.visit.listed import ListedRules
from ingather.robot.visit.polled import poll_kind
from ingather.syndication import Listing, ListingLimits, pack_listing, unpack_listing

__all__ = ["Polling"]

_log = get("polling")
_OK: Final = frozenset({200, 203})
_NOT_MODIFIED: Final = 304
_DETAIL_CHARS: Final = 1000
_OUTCOMES: Final = {PollKind.LISTED: Outcome.ENUMERATED, PollKind.UNCHANGED: Outcome.UNCHANGED}
_NO_TIME: Final = {
    "timeout": "reading it took too long",
    "cpu": "reading it took too much processor time",
    "memory": "reading it took too much memory",
    "died": "it brought its reader down",
}


class Polling:
    """Makes reports of polls; one a gatherer.

    Args:
        isolation: has the job ``listing``.
        slot: named while a document is read here; ``None`` in a rehearsal.
    """

    def __init__(
        self, *, answering: Answering, isolation: Isolation, slot: Slot | None, clock: Clock
    ) -> None:
        self._answering = answering
        self._isolation = isolation
        self._slot = slot
        self._clock = clock

    async def report(self, judged: Judged, chain: Chained, rules: ListedRules) -> Report:
        """Turn what came at the end of *chain* into a report with its poll."""
        claim, got = judged.claim, chain.got
        told = Polled(PollKind.FAILED, hops=tuple(chain.hops), url=chain.url, elapsed_s=chain.elapsed_s)
        if chain.stop is not None:
            report = self._answering.ended(
                claim, chain.stop.outcome, status=got.status, detail=chain.stop.detail, denial=chain.stop.denial,
                retry_s=chain.stop.retry_s, address=got.address,
            )  # fmt: skip
            told.kind, told.retry_s = poll_kind(report), chain.stop.retry_s
        elif isinstance(got, Failure):
            report = self._answering.failed(judged, got)
            report.controls = None
            told.retry_s = got.retry_after_s
        else:
            malformed = await self._answered(claim, got, told, rules)
            plain = self._answering.plain(judged, got) if told.kind is PollKind.FAILED else None
            if plain is not None:
                report, told.kind = plain, poll_kind(plain)
            else:
                report = self._listed(claim, got, told)
                if malformed:  # whoever judges it may find that it proves nothing: it is to be read again
                    report.digest = b""
            told.retry_s = self._asked_s(got)
        told.status, told.detail = report.status, report.detail[:_DETAIL_CHARS]
        report.polled = encode_polled(told)
        report.elapsed_s, report.retry_s = chain.elapsed_s, told.retry_s
        if chain.url != judged.url:
            report.final_url, report.last_modified = chain.url, ""
        return report

    async def _answered(self, claim: Claim, got: Response, told: Polled, rules: ListedRules) -> bool:
        """Fill in what an answer without error says; others leave the poll as failed. Return whether the list is malformed."""
        malformed = False
        told.etag, told.last_modified = got.header("etag"), got.header("last-modified")
        told.max_age_s = fresh_s(got.header, now_s=self._clock.wall())
        if got.status == _NOT_MODIFIED and claim.intent in POLLS:
            told.kind = PollKind.UNCHANGED
        elif got.status in _OK:
            told.size = len(got.body)
            told.digest = md5(got.body, usedforsecurity=False).digest()
            if told.digest == claim.digest and claim.intent in POLLS and not told.hops:
                told.kind = PollKind.UNCHANGED
                return False
            listing, told.confined = await self._read(claim, got, rules)
            told.kind = PollKind.NOT_A_FEED if listing.error else PollKind.LISTED
            told.listing, told.items, told.detail = pack_listing(listing), len(listing.items), listing.error
            malformed = listing.malformed
        elif got.status < 300 or got.status == _NOT_MODIFIED:  # noqa: PLR2004 - RFC 9110
            told.kind, told.detail = PollKind.NOT_A_FEED, f"no body: HTTP {got.status}"
        return malformed

    def _listed(self, claim: Claim, got: Response, told: Polled) -> Report:
        outcome = _OUTCOMES.get(told.kind, Outcome.FAILED)
        detail = f"{told.kind}: {told.detail}" if outcome is Outcome.FAILED else ""
        report = self._answering.ended(
            claim, outcome, status=got.status, detail=detail[:_DETAIL_CHARS], address=got.address
        )
        report.size = told.size
        if outcome is not Outcome.FAILED:
            report.etag, report.last_modified, report.digest = told.etag, told.last_modified, told.digest
        return report

    async def _read(self, claim: Claim, got: Response, rules: ListedRules) -> tuple[Listing, bool]:
        """Return what the body lists, and whether a converter read it."""
        content_type = got.header("content-type")
        base = target_of(got.url, got.header("content-location")) or got.url
        sitemap = rules.kind == "sitemap"
        limits = ListingLimits(body_bytes=rules.most_bytes, items=rules.most_items)
        if not claim.suspect:
            from ingather.syndication.choosing import list_harmless  # the readers of all formats

            if self._slot is not None:
                self._slot.begin(claim.id, self._clock.monotonic())
            try:
                found = list_harmless(
                    got.body, url=base, content_type=content_type or None, sitemap=sitemap, limits=limits
                )
            finally:
                if self._slot is not None:
                    self._slot.end()
            if found is not None:
                return found, False
        options = {
            "url": base, "content_type": content_type, "kind": rules.kind, "bytes": str(limits.body_bytes),
            "items": str(limits.items),
        }  # fmt: skip
        try:
            return unpack_listing(await self._isolation.run("listing", got.body, options)), True
        except (ExtractError, IsolationError) as error:
            _log.warning("a feed could not be read", url=got.url, reason=error.reason, error=str(error))
            return Listing(
                "", error=_NO_TIME.get(error.reason, f"it could not be read ({error.reason})")
            ), True
        except msgspec.DecodeError as error:
            _log.warning("a feed's reader gave no list", url=got.url, error=str(error))
            return Listing("", error=_NO_TIME["died"]), True

    def _asked_s(self, got: Response) -> float | None:
        return retry_after_seconds(
            got.header("retry-after"), now_s=self._clock.wall(), date=got.header("date")
        )
