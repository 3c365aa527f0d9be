"""``ingather crawl``: one run over given URLs (or the configured starting points), with progress and a summary."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingather.app.clock import SystemClock
from ingather.app.home import Home
from ingather.app.homeparts import load_checked
from ingather.app.keeper import Gathering
from ingather.app.keeperparts import closed_hosts
from ingather.app.nothing import failure_of
from ingather.app.notices.oneshot import tell_of_run
from ingather.app.reaching.starting import CRAWLED, opened_for
from ingather.app.runhosts import Resolved, resolve
from ingather.app.runplan import RunPlan
from ingather.catalog.deletion.sqlite_tombstones import TombstoneReader
from ingather.conf import Site, Start, StartingPoint
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf, is_source_name
from ingather.errors import UnitError, UrlError, UsageError
from ingather.model.source_name import BySource
from ingather.model.url import canonical
from ingather.model.urlparts import split

__all__ = ["CrawlSummary", "Progress", "Wanted", "crawl", "plan_crawl"]

_NO_SPACE_S = 10.0
"""Without space for so long a run ends; another one goes on where it stood."""
_PATIENCE_S = 90.0
"""A host that backs off for longer than this ends the run without it."""


@dataclass(frozen=True)
class Wanted:
    """What the command line asked for; ``None`` = the home's configuration decides."""

    urls: Sequence[str] = ()
    depth: int | None = None
    max_pages: int = 0
    delay_s: float | None = None
    own_hosts: Sequence[str] = ()
    source: str = "web"


@dataclass(frozen=True)
class Progress:
    """Figures of the moment."""

    elapsed_s: float
    visited: int
    queue: int
    out: int
    outcomes: Mapping[str, int]
    hosts: Sequence[tuple[str, int]]
    backing_off: Mapping[str, float]
    lag: int
    pages_s: float


@dataclass
class CrawlSummary:
    """How a run ended; the JSON form of ``crawl --json`` has these names."""

    run: int = 0
    continued: bool = False
    interrupted: bool = False
    elapsed_s: float = 0.0
    visited: int = 0
    found: int = 0
    bytes: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    indexed: int = 0
    documents: int = 0
    excluded: dict[str, int] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    waiting: int = 0
    left_alone: dict[str, float] = field(default_factory=dict)
    ways: list[dict[str, float | str | int]] = field(default_factory=list)
    slow_hosts: list[dict[str, float | str | int]] = field(default_factory=list)
    robots_unreachable: list[dict[str, Any]] = field(default_factory=list)
    holds: int = 0
    gatherer_deaths: int = 0
    index: str = "ok"
    failed_starts: list[dict[str, str]] = field(default_factory=list)
    why_nothing: str = ""
    stopped: str = ""
    warnings: list[str] = field(default_factory=list)
    state: str = ""

    @property
    def status(self) -> int:
        """Exit status: 0 done, 1 a starting point failed, nothing was indexed, or the run could not go on."""
        return 1 if self.failed_starts or self.why_nothing or self.stopped or self.index != "ok" else 0

    def ended(self) -> str:
        """Return how it ended; warnings do not make it fail."""
        if self.interrupted:
            return "interrupted"
        if self.stopped:
            return "stopped"
        if self.status:
            return "failed"
        return "completed with warnings" if self.warnings else "completed"


def plan_crawl(
    home: Home, sources: Mapping[str, SourceConf], wanted: Wanted
) -> tuple[RunPlan, list[Resolved]]:
    """Turn what was asked for into a run: a site for each given host, its addresses opened.

    Raises:
        UsageError: a URL cannot be gathered, or there is nothing to begin with.
        ConfigurationError: the home's configuration has errors.
    """
    loaded = load_checked(home)
    source = _source(sources, wanted)
    overrides: dict[str, object] = {}
    if wanted.delay_s is not None:
        overrides["server-delay"] = wanted.delay_s
    if wanted.depth is not None:
        overrides["depth"] = wanted.depth
    if not wanted.urls:
        if not (loaded.starting_points or any(conf.polls for conf in sources.values())):
            raise UsageError(
                "no starting point (Starting Points: 0 defined)",
                hint="name a URL, put a <Site> with a Start line into config/filterrules.conf, or follow a feed: ingather rss add",
            )
        plan = RunPlan(
            sources=BySource(sources).with_({source.name: source}),
            overrides=overrides,
            max_pages=wanted.max_pages,
        )
        return plan, []
    depth = loaded.robot.depth if wanted.depth is None else wanted.depth
    by_host: dict[tuple[str, int], list[str]] = {}
    for text in wanted.urls:
        try:
            url = canonical(text if "://" in text else f"https://{text}")
        except UrlError as error:
            raise UsageError(f"{text!r} is not a URL that can be gathered: {error.text}") from error
        parts = split(url)
        if parts.scheme not in CRAWLED:
            raise UsageError(f"{text!r}: only {', '.join(CRAWLED)} can be crawled")
        by_host.setdefault((parts.host, parts.port), []).append(url)
    resolved = [resolve(host, port) for host, port in by_host if host]
    private = tuple(address for item in resolved for address in item.private)
    source = _reaching(source, tuple(host for host, _ in by_host if host), private, wanted)
    source, roots = opened_for(source, [url for urls in by_host.values() for url in urls])
    resolved += [Resolved("", (), (), told=f"files below {root}: opened for this run") for root in roots]
    ports_of: dict[str, set[int]] = {}
    starts_of: dict[str, list[str]] = {}
    for (host, port), urls in by_host.items():
        ports_of.setdefault(host, {80, 443}).add(port)
        starts_of.setdefault(host, []).extend(urls)
    sites = tuple(
        Site(name=f"run:{host or 'file'}", host=host, depth=depth, source=source.name, starts=tuple(Start(url, depth) for url in urls),
             protocols=frozenset({"http", "https", *(split(url).scheme for url in urls)}), ports=frozenset(ports_of[host]))
        for host, urls in starts_of.items()
    )  # fmt: skip
    starts = tuple(
        StartingPoint(url, depth, f"run:{host or 'file'}", source.name, "command line")
        for host, urls in starts_of.items()
        for url in urls
    )
    plan = RunPlan(
        sites=sites,
        starts=starts,
        sources=BySource(sources).with_({source.name: source}),
        overrides=overrides,
        max_pages=wanted.max_pages,
    )
    return plan, resolved


def _source(sources: Mapping[str, SourceConf], wanted: Wanted) -> SourceConf:
    if not is_source_name(wanted.source):
        raise UsageError(f"--source: {wanted.source!r} is no name for a source; write a-z, 0-9, - and _")
    return sources.get(wanted.source) or SourceConf(name=wanted.source)


def _reaching(
    source: SourceConf, hosts: tuple[str, ...], addresses: tuple[str, ...], wanted: Wanted
) -> SourceConf:
    try:
        return source.reaching(hosts=hosts, addresses=addresses, own_hosts=tuple(wanted.own_hosts))
    except UnitError as error:
        raise UsageError(f"--own-host: {error}") from error


async def crawl(
    home: Home, settings: Settings, plan: RunPlan, *, tell: Callable[[Progress], None], stop: asyncio.Event
) -> CrawlSummary:
    """Run to an empty pool (or *stop*); the index is up to date when this returns."""
    summary = CrawlSummary()
    begun = time.monotonic()
    async with Gathering(home, settings, plan) as gathering:
        keeper = gathering.keeper
        summary.run, summary.continued = gathering.run, gathering.continued
        told, last, rate = begun, 0, 0.0
        room = _Room()
        while not stop.is_set():
            if keeper.failed is not None:
                raise keeper.failed
            if keeper.idle(patience_s=_PATIENCE_S):
                await gathering.rounds.step()  # feeds that were polled may have work for us
                while await gathering.sitemaps.step():
                    pass  # and so may sitemaps
                if keeper.idle(patience_s=_PATIENCE_S):
                    break
            await keeper.changed(0.5)
            now = time.monotonic()
            if room.exhausted(keeper.disk_full, keeper.counters.pages, now):
                summary.stopped = "the disk is full"
                break
            if now - told >= 0.5:  # noqa: PLR2004 - twice a second is enough to see it move
                rate = (keeper.counters.pages - last) / (now - told)
                told, last = now, keeper.counters.pages
                tell(_progress(gathering, now - begun, rate))
        summary.interrupted = stop.is_set()
        if not (summary.interrupted or summary.stopped):
            await gathering.conductor.finish()
        _sum_up(gathering, summary)
        if gathering.follower.broken:
            summary.index = gathering.follower.broken
        summary.warnings = gathering.warnings()
    summary.state = summary.ended()
    summary.elapsed_s = round(time.monotonic() - begun, 3)
    await asyncio.to_thread(tell_of_run, home, settings, SystemClock(), summary.run, summary.holds)
    return summary


class _Room:
    """How long there was no space and no visit either."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._pages = -1

    def exhausted(self, full: bool, pages: int, now: float) -> bool:  # noqa: FBT001 - a fact of the moment
        """Whether a run that ends should end now and leave the rest to another one."""
        if pages != self._pages:
            self._since, self._pages = None, pages
        if full and self._since is None:
            self._since = now
        return self._since is not None and now - self._since > _NO_SPACE_S


def _progress(gathering: Gathering, elapsed_s: float, rate: float) -> Progress:
    keeper = gathering.keeper
    now = gathering.clock.monotonic()
    return Progress(
        elapsed_s=elapsed_s, visited=keeper.counters.pages, queue=keeper.frontier.waiting, out=keeper.frontier.out,
        outcomes=keeper.counters.outcomes, hosts=keeper.frontier.busiest(5), backing_off=keeper.frontier.backing_off(now),
        lag=keeper.index.lag, pages_s=rate,
    )  # fmt: skip


def _sum_up(gathering: Gathering, summary: CrawlSummary) -> None:
    keeper, reader = gathering.keeper, gathering.reader()
    counters = keeper.counters
    summary.visited, summary.found, summary.bytes = counters.pages, counters.found, counters.bytes
    summary.outcomes = dict(sorted(counters.outcomes.items()))
    summary.excluded = dict(sorted(counters.reasons.items()))
    summary.limits = dict(sorted(counters.limits.items()))
    summary.waiting = keeper.frontier.waiting
    summary.left_alone = {
        host: round(seconds, 1)
        for host, seconds in keeper.frontier.backing_off(gathering.clock.monotonic()).items()
    }
    summary.ways = keeper.ways()
    summary.slow_hosts = keeper.slow_hosts(gathering.settings.seconds("politeness.crawl-delay-max"))
    summary.gatherer_deaths = counters.deaths
    summary.robots_unreachable = closed_hosts(reader, gathering.clock.wall())
    tombstones = TombstoneReader(gathering.database)
    summary.holds = tombstones.open_holds()
    tombstones.close()
    stats = reader.stats()
    summary.documents = sum(stats.sources.values())
    summary.indexed = sum(
        counters.outcomes.get(name, 0) for name in ("indexed", "unchanged", "conversion_failed", "duplicate")
    )
    for url in gathering.starts:
        record = reader.find(url)
        reason = failure_of(record)
        if reason:
            summary.failed_starts.append({"url": url, "why": reason})
    for url, why in gathering.failed_feeds():
        summary.failed_starts.append({"url": url, "why": why})
    if not summary.documents and not (summary.interrupted or summary.stopped):
        reasons = [f"{item['url']}: {item['why']}" for item in summary.failed_starts]
        summary.why_nothing = (
            reasons[0] if reasons else "no page passed the generation filter (see: ingather explain URL)"
        )
