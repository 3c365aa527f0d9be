"""Settings become limits: the one place that knows which setting feeds which room."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from ingather import __version__
from ingather.app.confined.pool import LISTING_LIMITS, ConverterLimits, JobLimits
from ingather.app.confined.summarizing import ProgramLimits, Summarizers
from ingather.catalog.frontier.sqlite_budget import BudgetLimits
from ingather.conf import Loaded, RobotConf, Site
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.fetch.limits import Limits, RobotsLimits
from ingather.model.source_name import BySource
from ingather.ports.isolation import Isolation
from ingather.robot.frontier.recheck import RecheckLimits
from ingather.robot.frontier.sampling import SamplingLimits
from ingather.robot.gathererlimits import GathererLimits
from ingather.robot.indexing.pace import FollowLimits
from ingather.robot.keeperlimits import KeeperLimits
from ingather.robot.politeness.addresses import AddressLimits
from ingather.robot.politeness.backoff import BackOffLimits
from ingather.robot.politeness.hosts import HostPolicy
from ingather.robot.visit.discovering import UrlLimits
from ingather.robot.visit.pipelinelimits import PipelineLimits

__all__ = [
    "address_limits",
    "agent_token",
    "back_off_limits",
    "bound",
    "budget_limits",
    "converter_limits",
    "fetch_limits",
    "follow_limits",
    "gatherer_limits",
    "host_policy",
    "host_visits",
    "keeper_limits",
    "overridden",
    "own_recheck_limits",
    "pipeline_limits",
    "program_limits",
    "recheck_limits",
    "robots_limits",
    "source_budgets",
    "summarizers",
    "url_limits",
    "user_agent",
]


_SLACK_S = 0.02
_NO_LIMIT = 100
"""Connections to a host where robot.conf sets no limit: the most that max-connections can be."""
"""A grant takes effect a moment after it is given: messages travel."""
_RATE_ALONE = 20.0
"""Documents a second from which a run for itself commits at its full pace."""
_PACE_ALONE_S = 14.5
"""What it gathered is found within 15 s all the same; eight commits are merged into one segment, so few are cheap."""


def overridden(loaded: Loaded, overrides: Mapping[str, object]) -> Loaded:
    """Return the configuration with robot.conf values that flags of the run set."""
    if not overrides:
        return loaded
    return replace(loaded, robot=replace(loaded.robot, values={**loaded.robot.values, **overrides}))


def bound(loaded: Loaded, settings: Settings, sources: Mapping[str, SourceConf]) -> Loaded:
    """Return the configuration with what ``ingather.toml`` says of pushed content and its Follow patterns."""
    own = BySource(
        (name, conf.follow_patterns) for name, conf in sources.items() if conf.follow_patterns is not None
    )
    gates = loaded.gates.binding_content(settings.flag("feeds.follow-patterns"), own)
    return replace(loaded, gates=gates)


def user_agent(robot: RobotConf) -> str:
    """Return the honest name that hosts see: product, version, contact."""
    name = str(robot.user_agent) or f"Ingather/{__version__}"
    email = str(robot.email)
    return f"{name} (+mailto:{email})" if email and email != "user@domain" and "mailto:" not in name else name


def agent_token(robot: RobotConf) -> str:
    """Return the product token that robots.txt and page-level robots rules are read for."""
    return user_agent(robot).split("/", 1)[0].split(" ", 1)[0].lower()


def fetch_limits(settings: Settings, robot: RobotConf) -> Limits:
    """Limits of one request."""
    return Limits(
        connect_s=float(robot.connect_timeout),
        tls_s=settings.seconds("limits.tls-timeout"),
        first_byte_s=settings.seconds("limits.first-byte-timeout"),
        total_s=settings.seconds("limits.total-timeout"),
        min_rate_bytes_s=settings.size("limits.min-rate"),
        rate_window_s=settings.seconds("limits.min-rate-window"),
        max_wire_bytes=int(robot.max_filesize_kb) * 1024,
        max_decoded_bytes=settings.size("limits.decoded-size"),
        max_ratio=int(settings.number("limits.ratio")),
        ratio_after_bytes=settings.size("limits.ratio-after"),
        max_head_bytes=settings.size("limits.head-size"),
        max_head_fields=settings.count("limits.head-fields"),
        max_redirects=settings.count("limits.redirects"),
        max_retry_after_s=settings.seconds("politeness.retry-after-max"),
    )


def robots_limits(settings: Settings) -> RobotsLimits:
    """What is asked of a robots.txt."""
    return RobotsLimits(
        max_bytes=settings.size("politeness.robots-size"), ttl_s=settings.seconds("politeness.robots-cache")
    )


def recheck_limits(settings: Settings) -> RecheckLimits:
    """Bounds of recrawling."""
    return RecheckLimits(
        min_s=settings.seconds("politeness.recheck-min"),
        max_s=settings.seconds("politeness.recheck-max"),
        first_s=settings.seconds("politeness.recheck-first"),
    )


def own_recheck_limits(settings: Settings, sources: Mapping[str, SourceConf]) -> Mapping[str, RecheckLimits]:
    """Bounds of recrawling of the sources that set theirs; what does not fit them gives way."""
    common = recheck_limits(settings)
    found: BySource[RecheckLimits] = BySource()
    for name, source in sources.items():
        own = source.revisits
        if own.recheck_min is own.recheck_max is own.recheck_first is None:
            continue
        least = common.min_s if own.recheck_min is None else own.recheck_min
        most = common.max_s if own.recheck_max is None else own.recheck_max
        least, most = (least, max(least, most)) if own.recheck_max is None else (min(least, most), most)
        first = common.first_s if own.recheck_first is None else own.recheck_first
        found[name] = RecheckLimits(min_s=least, max_s=most, first_s=min(max(first, least), most))
    return found


def back_off_limits(settings: Settings) -> BackOffLimits:
    """Patience with failures."""
    return BackOffLimits(
        base_s=settings.seconds("politeness.back-off"),
        cap_s=settings.seconds("politeness.back-off-max"),
        max_attempts=settings.count("politeness.attempts"),
        retry_after_cap_s=settings.seconds("politeness.retry-after-max"),
    )


def address_limits(settings: Settings) -> AddressLimits:
    """What one address bears."""
    starts = settings.number("politeness.address-starts")
    connections = settings.count("politeness.address-connections")
    if starts >= 1:
        return AddressLimits(
            max_connections=connections, starts=int(starts), per_s=int(starts) / starts, slack_s=_SLACK_S
        )
    return AddressLimits(max_connections=connections, starts=1, per_s=1.0 / starts, slack_s=_SLACK_S)


def host_policy(
    settings: Settings, robot: RobotConf, source: SourceConf, *, own: bool, site: Site | None = None
) -> HostPolicy:
    """What a host bears: its site says it first, then its source, then robot.conf; own hosts have no delay unless their site has one."""
    delay_s = 0.0 if own else source.delay_s if source.delay_s is not None else float(robot.server_delay)
    connections = 0 if own else int(robot.site_max_connections) or _NO_LIMIT
    if site is not None:
        delay_s = delay_s if site.delay_s is None else site.delay_s
        connections = connections if site.connections is None else site.connections
    return HostPolicy(
        delay_s=delay_s,
        max_connections=connections,
        crawl_delay_cap_s=settings.seconds("politeness.crawl-delay-max"),
        own=own,
    )


def host_visits(settings: Settings, sources: Mapping[str, SourceConf]) -> Callable[[str], int] | None:
    """Return how often a host of a source may be visited in a day (0 = any number); ``None`` = no source has a budget."""
    common = settings.count("politeness.host-visits")
    own = ((name, source.revisits.host_visits) for name, source in sources.items())
    limits = BySource((name, common if value is None else value) for name, value in own)
    if not common and not any(limits.values()):
        return None
    return lambda source: limits.get(source, common)


def budget_limits(settings: Settings) -> BudgetLimits:
    """URL budgets."""
    return BudgetLimits(
        per_host=settings.count("limits.host-urls"),
        per_host_excluded=settings.count("limits.host-excluded"),
        per_prefix=settings.count("limits.prefix-urls"),
        per_path=settings.count("limits.path-queries"),
        redirects_a_day=settings.count("limits.redirects-a-day"),
    )


def _own(source: SourceConf, written: int | None, common: int) -> int:
    """A source's budget: as it is written; what feeds list is bounded by their items, not by traps among links."""
    if written is not None:
        return written
    return 0 if source.syndicates else common


def source_budgets(settings: Settings, sources: Mapping[str, SourceConf]) -> Mapping[str, BudgetLimits]:
    """URL budgets of the sources that set their own."""
    common = budget_limits(settings)
    found: BySource[BudgetLimits] = BySource()
    for name, source in sources.items():
        own = replace(
            common,
            per_host=_own(source, source.host_urls, common.per_host),
            per_prefix=_own(source, source.prefix_urls, common.per_prefix),
            per_path=_own(source, source.path_queries, common.per_path),
        )
        if own != common:
            found[name] = own
    return found


def url_limits(settings: Settings) -> UrlLimits:
    """What a URL may look like."""
    return UrlLimits(
        chars=settings.count("limits.url-length"),
        segments=settings.count("limits.url-segments"),
        repeats=settings.count("limits.url-repeats"),
    )


def gatherer_limits(settings: Settings, robot: RobotConf) -> GathererLimits:
    """One gatherer's share of what may be in hand."""
    share = max(settings.count("gather.gatherers"), 1)
    connections = int(robot.max_connections)
    if "engine-concurrent" in robot.places:  # who does not state it wants as many workers as connections
        connections = min(connections, int(robot.engine_concurrent))
    return GathererLimits(
        max_connections=max(connections // share, 1),
        working=max(int(robot.max_working) // share, 16),
        unkept_pages=max(settings.count("gather.in-flight-pages") // share, 16),
        unkept_bytes=max(settings.size("gather.in-flight-bytes") // share, 1 << 20),
        flush_pages=settings.count("gather.batch-pages"),
        flush_s=settings.seconds("gather.batch-wait"),
    )


def keeper_limits(settings: Settings, sources: Mapping[str, SourceConf] | None = None) -> KeeperLimits:
    """Pace of the keeper's commits, and which of due URLs it takes."""
    own = own_recheck_limits(settings, sources or {})
    return KeeperLimits(
        sampling=SamplingLimits(
            after=settings.count("politeness.quiet-after"), sample=settings.count("politeness.quiet-sample")
        ),
        recheck_max_s=settings.seconds("politeness.recheck-max"),
        recheck_max_of=BySource((name, limits.max_s) for name, limits in own.items()),
        commit_s=settings.seconds("catalog.outcome-wait"),
        commit_rows=settings.count("catalog.outcome-rows"),
        client_s=settings.seconds("catalog.client-wait"),
    )


def follow_limits(settings: Settings, robot: RobotConf | None = None, *, alone: bool = False) -> FollowLimits:
    """When the index commits; without *robot* it follows at once.

    *alone*: one run for itself, which nobody searches while it lasts. It is at full speed from few documents a
    second on, so that a slow machine does not spend a quarter of the index's time on merging small segments.
    """
    common, pace_s = FollowLimits(), settings.seconds("index.commit-interval")
    return FollowLimits(
        quiet_docs=settings.count("index.quiet-documents"),
        quiet_s=settings.seconds("index.quiet-interval"),
        busy_docs=settings.count("index.commit-documents"),
        busy_s=max(pace_s, _PACE_ALONE_S) if alone else pace_s,
        busy_rate=_RATE_ALONE if alone else common.busy_rate,
        calm_s=_PACE_ALONE_S if alone else common.calm_s,
        queue_docs=settings.count("index.max-lag"),
        collect_s=60.0 * int(robot.index_after_ngenerated) if robot else 0.0,
        report_bytes=int(robot.max_memory_per_url) if robot else common.report_bytes,
    )


def converter_limits(settings: Settings, robot: RobotConf) -> ConverterLimits:
    """What one document may cost its converter."""
    return ConverterLimits(
        jobs={
            "convert": JobLimits(4 * settings.seconds("limits.parser-cpu"), float(robot.convert_timeout)),
            "page": JobLimits(settings.seconds("limits.parser-cpu"), settings.seconds("limits.parser-wall")),
            "listing": LISTING_LIMITS,
        },
        memory_bytes=settings.size("limits.parser-memory"),
        recycle_jobs=settings.count("gather.converter-documents"),
        recycle_s=settings.seconds("gather.converter-age"),
    )


def summarizers(
    isolation: Isolation, settings: Settings, robot: RobotConf, *, folder: Path | None = None
) -> Summarizers:
    """Return who runs Harvest programs; what is built in runs in *isolation*."""
    return Summarizers(
        isolation=isolation,
        bindir=str(robot.bindir or ""),
        limits=program_limits(settings, robot),
        folder=folder,
        count=settings.count("gather.converters"),
    )


def program_limits(settings: Settings, robot: RobotConf) -> ProgramLimits:
    """What one run of a summarizer may cost."""
    return ProgramLimits(
        wall_s=float(robot.convert_timeout), memory_bytes=settings.size("limits.parser-memory")
    )


def pipeline_limits(settings: Settings) -> PipelineLimits:
    """What one visit may bring."""
    return PipelineLimits(
        redirects=settings.count("limits.redirects"), links=settings.count("limits.page-links")
    )
