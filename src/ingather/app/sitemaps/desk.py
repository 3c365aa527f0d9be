"""What becomes of a poll of a sitemap, and of the sitemaps that a robots.txt names; each in the transaction that settles it.

A sitemap is a URL of the catalog that is never a document on its account. Its poll is an ordinary claim with an intent, so
politeness, robots.txt and the egress gate hold. What it lists becomes rows of ``sitemap_entry``; rounds judge them.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Final

import msgspec

from ingather.app.sitemaps.limits import SitemapLimits
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.syndication.sqlite_sitemaps import ListedEntry, SitemapRow
from ingather.conf.sources.source import SourceConf
from ingather.errors import UrlError
from ingather.fetch import RobotsKind
from ingather.fetch.robots import parse
from ingather.log import get
from ingather.model.intent import Intent
from ingather.model.lifecycle import State
from ingather.model.polled import Polled, PollKind, decode_polled
from ingather.model.report import HostReport, Settled
from ingather.model.sitemap import EntryState
from ingather.model.source_name import BySource
from ingather.model.url import Canonicaliser
from ingather.model.urlparts import split
from ingather.model.verdict import Exclusion
from ingather.robot.frontier.recheck import RecheckLimits, next_visit
from ingather.robot.settling.hints import Hint, Score, Trust, trust
from ingather.robot.settling.sitemaps import DEEPEST, entries_of, may_list, priority_of
from ingather.robot.settling.writing import Syndicator, Writer
from ingather.robot.visit.discovering import Discoverer
from ingather.robot.visit.polled import untold
from ingather.syndication import Listing, unpack_listing

__all__ = ["SitemapDesk"]

_log = get("sitemaps")
_CLOCK: Final = RecheckLimits(min_s=3_600.0, max_s=7 * 86_400.0, first_s=86_400.0)
"""A sitemap is asked for at least every week, at most every hour."""
_FAILED_S: Final = 6 * 3_600.0
_SAMPLE: Final = 10
"""Dates that moved, at a host whose dates are unproved: so many of a poll are looked at."""
_REMEMBERED: Final = 20_000
_DETAIL: Final = 500
_DEPTH: Final = 1


class SitemapDesk:
    """One for a home that gathers; in the writer's thread.

    Args:
        sources: by name; those of kind ``site`` may have sitemaps.
        discoverer: judges URLs by the configuration in force; of this thread alone.
        beside: settles every other visit that somebody asked for.
    """

    def __init__(
        self,
        sources: Mapping[str, SourceConf],
        discoverer: Callable[[], Discoverer],
        beside: Syndicator | None = None,
        limits: SitemapLimits | None = None,
    ) -> None:
        self._sources = BySource((name, conf) for name, conf in sources.items() if conf.kind == "site")
        self._discoverer = discoverer
        self._beside = beside
        self._limits = limits or SitemapLimits()
        self._heard: dict[int, tuple[str, ...]] = {}
        self._sampled: dict[tuple[int, int], int] = {}

    # -- visits -------------------------------------------------------------------------------

    def settle(self, writer: Writer, item: Settled, applied: Applied) -> Settled | None:
        """Settle a poll of a sitemap; leave everything else to who is beside."""
        if (item.report.intent or item.row.intent) == Intent.SITEMAP:
            return self._polled(writer, item, applied)
        return self._beside.settle(writer, item, applied) if self._beside is not None else None

    def close(self, writer: Writer, applied: Applied, *, clock_trusted: bool) -> None:
        """All visits of the batch are settled."""
        if self._beside is not None:
            self._beside.close(writer, applied, clock_trusted=clock_trusted)

    def forget(self) -> None:
        """Forget what a failed transaction noted."""
        self._heard.clear()
        self._sampled.clear()
        if self._beside is not None:
            self._beside.forget()

    def _polled(self, writer: Writer, item: Settled, applied: Applied) -> Settled:
        report, row, now_s = item.report, item.row, writer.applier.now_s
        polled = decode_polled(report.polled or untold(report))
        plain = msgspec.structs.replace(
            report,
            found=[],
            links=b"",
            described=False,
            redirect=None,
            stored=None,
            denial=None,
            expires_s=None,
        )
        due_s = now_s + (row.wait_s or _CLOCK.first_s) if row.version is not None else None
        settled = msgspec.structs.replace(
            item,
            report=plain,
            state=int(State.DONE),
            due_s=due_s,
            wait_s=row.wait_s,
            put=False,
            propose="",
            keep_description=True,
        )
        document = writer.sitemaps.document(row.id)
        writer.applier.settle(settled, applied)
        if document is not None:
            writer.sitemaps.stands(document, due_s)
        if row.version is None and polled.kind in {PollKind.LISTED, PollKind.UNCHANGED}:
            writer.syndication.validators(
                row.id, plain.etag, plain.last_modified, plain.digest or row.digest or None
            )
        sitemap = writer.sitemaps.at(row.id)
        if sitemap is not None and sitemap.named:
            self._read(writer, sitemap, polled, applied)
        return settled

    def _read(self, writer: Writer, row: SitemapRow, polled: Polled, applied: Applied) -> None:
        """Take in what a poll brought, and plan the next one."""
        now_s = writer.applier.now_s
        row.asked_s, row.polled_s = None, now_s
        changed: bool | None = None
        if polled.kind is PollKind.UNCHANGED:
            changed, row.good_s, row.error = False, now_s, ""
        elif polled.kind is PollKind.LISTED:
            changed = True
            row.good_s, row.error, row.turn = now_s, "", row.turn + 1
            self._list(writer, row, unpack_listing(polled.listing), applied)
        else:
            row.error = f"{polled.kind}: {polled.detail}"[:_DETAIL]
        plan = next_visit(now_s, interval_s=row.wait_s, changed=changed, limits=_CLOCK)
        row.wait_s, row.due_s = plan.interval_s, plan.due_s
        if changed is None:
            row.due_s = now_s + max(polled.retry_s or 0.0, _FAILED_S)
        elif polled.max_age_s is not None and not changed:
            row.due_s = max(row.due_s, min(now_s + polled.max_age_s, now_s + _CLOCK.max_s))
        writer.sitemaps.put(row)

    def _list(self, writer: Writer, row: SitemapRow, listing: Listing, applied: Applied) -> None:
        sitemaps = writer.sitemaps
        row.kind = "index" if listing.kind == "sitemap-index" else "urls"
        if row.kind == "index":
            row.listed = self._index(writer, row, listing, applied)
            sitemaps.put_entries(row.id, row.turn, ())
            return
        sitemaps.disown(row.id, ())
        room = max(self._limits.urls - sitemaps.listed_at(row.url, row.id), 0)
        found = list(islice(entries_of(listing), room + 1))
        if len(found) > room:
            del found[room:]
            row.error = f"more than {self._limits.urls} URLs in the sitemaps of this host (limits.sitemap-urls): the rest is left out"
        row.listed = len(found)
        sitemaps.put_entries(row.id, row.turn, found)

    def _index(self, writer: Writer, row: SitemapRow, listing: Listing, applied: Applied) -> int:
        """Take in the sitemaps that an index names; return how many."""
        sitemaps = writer.sitemaps
        if row.depth >= DEEPEST:
            row.error = f"an index below {DEEPEST} others: left alone"
            sitemaps.disown(row.id, ())
            return 0
        here, vouched = sitemaps.url(row), sitemaps.vouchers(row)
        configured = sitemaps.is_configured(row)
        room = self._limits.files - sitemaps.count_at(row.url)
        kept: list[int] = []
        for entry in entries_of(listing):
            if entry.url == here or not may_list(entry.url, here, vouched=vouched, configured=configured):
                continue
            known = writer.syndication.known([entry.url]).get(entry.url)
            fresh = known is None or sitemaps.at(known) is None
            if fresh and room <= 0:
                row.error = f"more than {self._limits.files} sitemaps at this host (limits.sitemap-files): the rest is left out"
                break
            number = sitemaps.name(
                entry.url, row.source, applied, parent=row.id, depth=row.depth + 1, due_s=writer.applier.now_s
            )
            if number is not None and number != row.id:
                room -= fresh
                kept.append(number)
        sitemaps.disown(row.id, kept)
        return len(kept)

    # -- who names them -----------------------------------------------------------------------

    def hosts(self, writer: Writer, reports: Sequence[HostReport], applied: Applied) -> None:
        """Hear what the robots.txt of hosts names."""
        for report in reports:
            if report.robots_kind not in {RobotsKind.RULES, RobotsKind.NONE}:
                continue  # a robots.txt that cannot be had takes nothing back
            body = report.robots_body if report.robots_kind == RobotsKind.RULES else b""
            named = parse(body).sitemaps if b"sitemap" in body.lower() else ()
            if self._heard.get(report.id, ()) == named and (named or report.id in self._heard):
                continue
            if len(self._heard) >= _REMEMBERED:
                self._heard.clear()
            self._heard[report.id] = named
            self._named(writer, report.id, named, applied)

    def _named(self, writer: Writer, host: int, named: Sequence[str], applied: Applied) -> None:
        origin, _ = writer.frontier.names([host])[host]
        numbers: list[int] = []
        source = self._source_of(f"{origin}/") if named else ""
        if source:
            number = writer.applier.names.source(source)
            for text in named[: self._limits.files]:
                try:
                    url = Canonicaliser(()).canonical(text, f"{origin}/robots.txt")
                except UrlError:
                    continue
                if split(url).scheme in {"http", "https"}:
                    found = writer.sitemaps.name(url, number, applied, due_s=writer.applier.now_s)
                    numbers += [] if found is None else [found]
        writer.sitemaps.end_unnamed(writer.sitemaps.vouched(origin, numbers))

    def _source_of(self, url: str) -> str:
        """Return the source of a host's pages, if they are gathered and it wants sitemaps; else ``""``."""
        found = self._discoverer().discover(url, depth=0, max_depth=None, source="web")
        if found.denial is not None and found.denial.category in _ELSEWHERE:
            return ""
        conf = self._sources.get(found.source)
        return found.source if conf is not None and conf.revisits.use_sitemaps else ""

    def declare(self, writer: Writer, applied: Applied) -> None:
        """Take in which sitemaps the settings name, and which sources want none any more."""
        sitemaps, wanted, now_s = writer.sitemaps, set(), writer.applier.now_s
        for name, conf in self._sources.items():
            source = writer.applier.names.source(name, conf.kind, conf.access)
            for url in conf.revisits.sitemaps:
                number = sitemaps.name(url, source, applied, configured=True, due_s=now_s)
                if number is not None:
                    wanted.add(number)
        for row in sitemaps.all():
            if row.id in wanted:
                continue
            gone = self._unwanted(writer, row)
            if row.configured or gone:
                row.configured = 0
                sitemaps.put(row)
                if gone:
                    sitemaps.unvouch(row.id)
                sitemaps.end_unnamed([row.id])

    def _unwanted(self, writer: Writer, row: SitemapRow) -> bool:
        conf = self._sources.get(writer.applier.names.source_name(row.source))
        return conf is None or not (conf.revisits.use_sitemaps or conf.revisits.sitemaps)

    # -- entries ------------------------------------------------------------------------------

    def take(self, writer: Writer, applied: Applied, limit: int) -> int:
        """Judge entries of sitemaps like links of a page one step away from a starting point; return how many."""
        found = writer.sitemaps.unjudged(limit)
        known: dict[int, tuple[SitemapRow, str, frozenset[str], bool]] = {}
        for listed in found:
            if listed.sitemap not in known:
                row = writer.sitemaps.get(listed.sitemap)
                if row is None:
                    writer.sitemaps.judged(listed, EntryState.FOREIGN, None)
                    continue
                known[listed.sitemap] = (
                    row, writer.sitemaps.url(row), writer.sitemaps.vouchers(row), writer.sitemaps.is_configured(row),
                )  # fmt: skip
            row, here, vouched, configured = known[listed.sitemap]
            if may_list(listed.entry.url, here, vouched=vouched, configured=configured):
                self._take(writer, row, listed, applied)
            else:
                writer.sitemaps.judged(listed, EntryState.FOREIGN, None)
        return len(found)

    def _take(self, writer: Writer, row: SitemapRow, listed: ListedEntry, applied: Applied) -> None:
        entry = listed.entry
        found = self._discoverer().discover(
            entry.url, depth=_DEPTH, max_depth=None, source=writer.applier.names.source_name(row.source),
            priority=priority_of(entry),
        )  # fmt: skip
        pushed = writer.applier.pushed
        if pushed.some:
            found = next(pushed.meant(found))
        url_id = writer.applier.discover(found, row.url, applied)
        writer.sitemaps.judged(listed, EntryState.REFUSED if url_id is None else EntryState.TAKEN, url_id)
        if url_id is not None and entry.lastmod_s is not None:
            self._announced(writer, row, url_id, entry.lastmod_s, applied)

    def _announced(
        self, writer: Writer, row: SitemapRow, url_id: int, lastmod_s: float, applied: Applied
    ) -> None:
        """A page is said to have changed since its last visit: visit it, if its host is believed, or to find out."""
        before = writer.sitemaps.visited_before(url_id)
        if before is None or lastmod_s <= before[1]:
            return
        scores = writer.applier.freshness.scores(before[0])
        belief = trust(Score(*scores.get(int(Hint.LASTMOD), (0.0, 0.0))))
        if belief is Trust.DISPROVED:
            return
        if belief is Trust.UNPROVED:
            turn = (row.id, row.turn)
            if self._sampled.get(turn, 0) >= _SAMPLE:
                return
            if len(self._sampled) >= _REMEMBERED:
                self._sampled.clear()
            self._sampled[turn] = self._sampled.get(turn, 0) + 1
        writer.sitemaps.wake(url_id, applied)


_ELSEWHERE: Final = frozenset({Exclusion.SITE_NOT_ALLOWED, Exclusion.PROTOCOL_NOT_ALLOWED})
