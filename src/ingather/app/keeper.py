"""The keeper process: home locked, configuration published, tails cut, parts put together.

:class:`Gathering` is what ``crawl`` and ``serve`` share: the keeper with everything that it
owns, from open to close. Recovery is the only start path: what a crash left behind is mended
here, every time.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, Self

from ingather.app import children, sourcerules, wiring
from ingather.app.access.policing import place_when_changed, use_policy
from ingather.app.admissions import Admissions, admit_at_start
from ingather.app.alike import compare_pages
from ingather.app.blueprint import Blueprint
from ingather.app.clock import SystemClock
from ingather.app.configuration import Configuration
from ingather.app.disk import Headroom, headroom
from ingather.app.expiring import Lifetimes, Terms, expire
from ingather.app.home import Home
from ingather.app.homelock import HomeLock
from ingather.app.homeparts import database_of, follower_of, load_checked
from ingather.app.hostaliases.keeping import KeeperNames
from ingather.app.keeperparts import (
    address_book,
    disabled_notes,
    failed_feeds,
    kept_sites,
    visit_budget,
    way_states,
)
from ingather.app.overlay.fetching import Listings
from ingather.app.overlay.laying import Overlays
from ingather.app.overlay.watch import OverlayWatch
from ingather.app.pruning import Pruned, prune
from ingather.app.reconfiguring import reconfigure
from ingather.app.rehearsal.leaving import Leaving
from ingather.app.robot.conductor import Conductor
from ingather.app.runplan import RunPlan, log_robots_off, note_beginning, tally_of
from ingather.app.sitemaps.desk import SitemapDesk
from ingather.app.sitemaps.rounds import SitemapRounds
from ingather.app.sourcescopes import SourceScopes, crawled_sources
from ingather.app.syndication.desk import Desk
from ingather.app.syndication.rounds import Rounds
from ingather.app.syndication.sources import fed_sources
from ingather.app.traps.scanning import scan_traps
from ingather.app.upkeep import compact, derive_links
from ingather.app.versions import finish_publishing
from ingather.app.waiting import finish_waiting
from ingather.catalog.bodies import cut_tails
from ingather.catalog.bodies.folder import segments
from ingather.catalog.frontier.sqlite_frontier import FrontierQueries
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.catalog.sqlite_rows import Rows
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf import Loaded
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.filters import Engine
from ingather.log import get
from ingather.model.resource import Failure, Response
from ingather.model.source_name import BySource
from ingather.model.url import Canonicaliser
from ingather.model.urlparts import split
from ingather.robot.frontier.allotment import Allotment
from ingather.robot.frontier.hold import Frontier
from ingather.robot.keeper import Keeper
from ingather.robot.logs.accesslog import AccessLog
from ingather.robot.logs.filterlog import FilterLog
from ingather.robot.logs.robotlog import RobotLog
from ingather.robot.settling.committing import Committer
from ingather.robot.settling.settle import SettleRules
from ingather.robot.supervising import Supervisor
from ingather.robot.timeguard import TimeGuard
from ingather.robot.visit.discovering import Discoverer

__all__ = ["Gathering"]

_log = get("app")


class Gathering:
    """A home that gathers; use as ``async with``."""

    def __init__(
        self, home: Home, settings: Settings, plan: RunPlan, *, tell: Callable[[int], None] | None = None
    ) -> None:
        self.home, self.settings, self.plan = home, settings, plan
        self.clock = SystemClock()
        self._tell = tell or (lambda _: None)
        self._lock: HomeLock | None = None
        self._writer: CatalogWriter | None = None
        self._readers: list[SqliteReader] = []
        self._queries: Any = None
        self._made: Blueprint | None = None
        self._sitemap_judge: Discoverer | None = None
        self.run = self.revisited = 0
        self.continued = False
        self.publishing = asyncio.Lock()
        """Held while a configuration is taken over: one after the other."""
        self.starts: list[str] = []
        self.leaving = Leaving()
        self.busy_segment: Callable[[], int | None] = lambda: None
        """Oldest WARC segment that somebody beside the gatherers still writes to, if there is one."""

    # -- open and close ---------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._lock = self.home.lock(f"ingather {self.plan.kind}")
        try:
            self._open()
            await self.conductor.begin()
            if self.plan.kind == "serve":
                self.rounds.start()
                if self.changed:
                    await self.leaving.begin(self)
            elif not self.plan.starts:
                await self.rounds.force()
            await self._begin_sitemaps()
            self.overlay_watch.start()
            self.listings.start()
            self.admissions.start()
        except BaseException:
            self._release()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.admissions.stop()
        await self.leaving.stop()
        await self.listings.stop()
        await self.overlay_watch.stop()
        await self.rounds.stop()
        await self.sitemaps.stop()
        await self.conductor.stop()
        await self.keeper.stop()
        self._release()

    def _release(self) -> None:
        for reader in self._readers:
            reader.close()
        if self._queries is not None:
            self._queries.close()
        if self._writer is not None:
            self._writer.close()
            if self._lock is not None:
                finish_waiting(self.home, self.settings)
        if self._lock is not None:
            self._lock.release()

    def _open(self) -> None:
        home, settings, plan = self.home, self.settings, self.plan
        home.prepare()
        finish_publishing(home)
        finish_waiting(home, settings)
        self.sites = (*plan.sites, *kept_sites(home, plan))
        self.loaded = wiring.overridden(load_checked(home).with_sites(self.sites), plan.overrides)
        if (
            plan.kind != "serve"
        ):  # who searches and deletes needs no room: serve begins, and the keeper takes no new work
            self.room().require()
        writer = self._writer = CatalogWriter(
            self.database,
            budgets=wiring.budget_limits(settings),
            by_source=wiring.source_budgets(settings, plan.sources),
            cache_bytes=settings.size("catalog.cache"),
        )
        acknowledged = writer.registry.acknowledged()
        mended = cut_tails(home.bodies, acknowledged)
        if any(mended):
            _log.info("tails cut", **mended._asdict())
        self.seed = writer.seed
        now_s = self.clock.wall()
        use_policy(writer, self.loaded.policy)
        self.scopes = SourceScopes(
            home.feeds,
            settings,
            BySource(plan.sources or {"web": SourceConf()}),
            crawled_sources(self.loaded),
        )
        admit_at_start(writer, self.scopes)
        if place_when_changed(
            writer, self.loaded, plan.sources, now_s, rescues=settings.flag("access.policy-rescues-broken")
        ):
            _log.info("documents placed under policy rules", rules=len(self.loaded.policy or ()))
        self.version, self.changed = writer.transaction(lambda w: note_beginning(w, self.loaded, plan, now_s))
        self.tally = writer.transaction(lambda w: tally_of(w, plan))
        self.sources = BySource(plan.sources or {"web": SourceConf()})
        self.names = KeeperNames(self, writer.aliases.all())
        self.discoverer = Discoverer(
            Engine(self.loaded, counted_elsewhere=True, logs=True), version=self.version, seed=self.seed
        )
        self._queries = open_reader(self.database)
        self.conductor = Conductor(self)
        queries = FrontierQueries(Rows(self._queries, self.database))
        clock = self.clock
        guard = TimeGuard(clock.monotonic(), clock.wall(), last_wall_s=writer.memory.last_run_s())
        self.policies = sourcerules.policies_of(settings, self.sources, crawled_sources(self.loaded))
        canonicaliser = Canonicaliser(settings.words("urls.drop-parameters"))
        writer.transaction(
            lambda w: w.feeds.use_shortening(
                canonicaliser.canonical, "\n".join(canonicaliser.drop_parameters)
            )
        )
        self.desk = Desk(fed_sources(self.sources, canonicaliser.canonical, fold=self.names.fold))
        committer = Committer(
            writer,
            rules=SettleRules(
                recheck=wiring.recheck_limits(settings), own=wiring.own_recheck_limits(settings, self.sources), back_off=wiring.back_off_limits(settings), one_shot=plan.kind == "crawl"
            ),
            policies=self.policies, dice=Random(), now_s=clock.wall,  # noqa: S311 - jitter
            clock_trusted=lambda: guard.trusted,
            syndicator=(sitemap_desk := SitemapDesk(self.sources, self._judge, self.desk, sourcerules.sitemap_limits(settings))),
        )  # fmt: skip
        self.overlays = Overlays(home, settings, self.sources, home.settings().classes, clock.wall)
        self.overlays.begin(writer)
        self.follower = follower_of(
            home, settings, clock, robot=self.loaded.robot, lay=self.overlays,
            committed=lambda sequence: self._tell(sequence),  # noqa: PLW0108 - somebody else may be told later
            alone=plan.kind == "crawl", schema=lambda: self.loaded.rd_schema,
        )  # fmt: skip
        self.robot_log = RobotLog(
            home.log, level=int(self.loaded.robot.loglevel), max_bytes=settings.size("log.file-size"),
            keep=settings.count("log.files"),
        )  # fmt: skip
        log_robots_off(self.robot_log, self.loaded, now_s)
        self.filter_log = FilterLog(
            home.log, max_bytes=settings.size("log.file-size"), keep=settings.count("log.files")
        )
        self.keeper = Keeper(
            queries=queries, committer=committer, frontier=Frontier(queries, Allotment()), index=self.follower,
            supervisor=Supervisor(
                children.gatherer, (self.blueprint_of(self.loaded, self.version),), home.run, clock, count=settings.count("gather.gatherers"),
                parse_s=settings.seconds("limits.parser-wall"),
                silent_s=2 * settings.seconds("limits.parser-wall"),
            ),
            addresses=address_book(writer, self.clock, settings),
            access_log=AccessLog(
                home.log / "access.log", max_bytes=settings.size("log.file-size"), keep=settings.count("log.files"), enabled=settings.flag("log.access")
            ),
            robot_log=self.robot_log, clock=clock, guard=guard, socket_path=self.socket, own_host=self._is_own, headroom=lambda: self.room().enough,
            version=self.version, dice=Random(),  # noqa: S311 - jitter
            recheck=plan.kind == "serve", newest_segment=max(segments(home.bodies), default=0), max_pages=plan.max_pages, limits=wiring.keeper_limits(settings, self.sources), budget=visit_budget(writer, self.clock, settings, self.sources), tally=self.tally,
            filter_log=self.filter_log, restraints=self.conductor.restraints,
        )  # fmt: skip
        self.keeper.restore_ways(way_states(writer))

        self.rounds = Rounds(self.desk, self.keeper, clock.wall)
        self.sitemaps = SitemapRounds(sitemap_desk, self.keeper)
        self.overlay_watch = OverlayWatch(
            self.overlays, self.keeper, self.reader_once, settings.seconds("overlay.check-interval")
        )
        self.admissions = Admissions(self.keeper, self.scopes)
        self.listings = Listings(self.overlays, self.overlay_watch, settings, self._fetch_once)

    def _judge(self) -> Discoverer:
        """Return who judges what sitemaps list; of the writer's thread alone."""
        if self._sitemap_judge is None or self._sitemap_judge.version != self.version:
            self._sitemap_judge = Discoverer(
                Engine(self.loaded, counted_elsewhere=True), version=self.version, seed=self.seed,
                limits=wiring.url_limits(self.settings),
            )  # fmt: skip
        return self._sitemap_judge

    async def _begin_sitemaps(self) -> None:
        """Read sitemaps by their clocks; a run of its own reads those of its hosts at once."""
        origins = sorted({split(start.url).origin for start in self.plan.starts}) or None
        await self.sitemaps.begin(force=self.plan.kind == "crawl", origins=origins)
        self.sitemaps.start()

    async def _fetch_once(self, url: str, source: str) -> Response | Failure:
        """Ask for one URL as *source* may, for the operator."""
        from ingather.app.visiting import Visitor  # a fetcher, which most keepers never need

        visitor = Visitor(
            self.settings,
            self.loaded.robot,
            self.sources,
            clock=self.clock,
            scopes=self.scopes.of,
        )
        try:
            return await visitor.fetch(url, source)
        finally:
            await visitor.close()

    def blueprint_of(self, loaded: Loaded, version: int) -> Blueprint:
        """Return what child processes are made from under a configuration."""
        return Blueprint(
            home=str(self.home), socket=str(self.socket), seed=self.seed, version=version, files=dict(loaded.bodies),
            sites=self.sites, settings=self.settings, sources=self.sources, own_ports=self.plan.own_ports,
            overrides=dict(self.plan.overrides), aliases=self.names.aliases,
        )  # fmt: skip

    @property
    def blueprint(self) -> Blueprint:
        """What child processes are made from; the same object as long as the configuration is."""
        if self._made is None or (self._made.version, self._made.aliases) != (
            self.version,
            self.names.aliases,
        ):
            self._made = self.blueprint_of(self.loaded, self.version)
        return self._made

    def room(self) -> Headroom:
        """Return what is free on the home's file system."""
        return headroom(
            self.home.path,
            reserve_bytes=self.settings.size("disk.reserve"),
            reserve_share=self.settings.share("disk.reserve-share"),
        )

    def full_text(self) -> str:
        """Return what a disk that is full up to the reserve means, for people."""
        return (
            f"the disk is full up to the reserve: {self.room()}. Visits and feeds with contents wait; search, deletions, "
            "feeds that only revoke, and configuration go on. Make room, or lower disk.reserve and disk.reserve-share: "
            "what waits goes on by itself"
        )

    @property
    def database(self) -> Path:
        """The catalog's file."""
        return database_of(self.home)

    @property
    def socket(self) -> Path:
        """The keeper's socket; a short name, because such paths may have 107 bytes only."""
        return self.home.run / "k"

    def _is_own(self, origin: str) -> bool:
        parts = split(f"{origin}/")
        return any(source.is_own(parts.host, parts.port) for source in self.sources.values())

    def on_index_commit(self, tell: Callable[[int], None]) -> None:
        """Have *tell* called with the sequence of each commit of the index, by the index's thread."""
        self._tell = tell

    def reader_once(self) -> SqliteReader:
        """Return a reader that the caller closes."""
        return SqliteReader(self.database, self.home.bodies)

    def reader(self) -> SqliteReader:
        """Return a reader of one's own; closed with the gathering."""
        reader = SqliteReader(self.database, self.home.bodies)
        self._readers.append(reader)
        return reader

    # -- while it gathers ---------------------------------------------------------------------------

    async def reconfigure(
        self,
        configuration: Configuration,
        *,
        author: str = "",
        note: str = "",
        kept: Mapping[str, bytes] | None = None,
    ) -> bool:
        """Go on under another configuration that has no errors; ``False`` when it is the one in force.

        What waits and what was excluded is judged anew; pages that were described under another version are
        read again when their turn comes. Settings and sources of ``ingather.toml`` stay as they were at the start.

        Args:
            configuration: the new one.
            author: who wanted it, for the history.
            note: why, for the history.
            kept: the files that the new one replaces; they get a version if they never had one.

        Raises:
            ConfigurationError: it has errors, or names a source that the running process does not know.
            CatalogError: nothing was kept; gathering goes on as before.
        """
        return await reconfigure(self, configuration, author=author, note=note, kept=kept)

    def use_policy(self) -> None:
        """Have the writer go by the policy rules of the configuration in force."""
        if self._writer is not None:
            use_policy(self._writer, self.loaded.policy)

    async def switch_source(self, job: Callable[[Any, Any], bool], *, off: bool) -> bool:
        """Run *job*, which disables or enables a source; return its answer.

        *off*: gatherers finish what they fetch and begin anew, so that nothing is fetched for it from the return on.

        Raises:
            CatalogError: nothing was kept.
        """
        done: bool
        if not off:
            done = await self.keeper.write(job)
            self.keeper.frontier.reload()
            return done

        def adopt(_: Any) -> tuple[tuple[object, ...], int]:
            self.keeper.frontier.reload()
            return (self.blueprint,), self.version

        done = await self.keeper.switch(job, adopt)
        return done

    def warnings(self) -> list[str]:
        """Return what operators should mend, though the run goes on; bounded."""
        said = list(self.overlays.problems.values())
        if self.keeper.disk_full:
            said.insert(0, self.full_text())
        # Who asks for a run and gets none of it is told why; serve lists them in its status.
        if self.plan.kind == "crawl":
            said += disabled_notes(self.database, self.home)
        return [text[:1_000] for text in said[:100]]

    def failed_feeds(self) -> list[tuple[str, str]]:
        """Return (URL, why) of configured feeds whose last poll told nothing."""
        return failed_feeds(self.database) if self.desk.sources else []

    async def prune(self) -> Pruned:
        """Forget what is older than the settings allow; return how much."""
        done = await prune(self.keeper, self.settings, now_s=self.clock.wall())
        if any(done):
            _log.info("pruned", **done._asdict())
        return done

    async def expire(self) -> None:
        """Propose expired descriptions to the deletion policy, unless that was done within a day."""
        if not self.settings.flag("deletion.expire"):
            return
        terms = Terms(self.database, self.home.bodies, Lifetimes(self.settings, self.sources), self.policies)
        done = await expire(self.keeper, terms, now_s=self.clock.wall())
        if any(done):
            _log.info("descriptions expired", **done._asdict())

    async def compact(self) -> int:
        """Give back the dead space of WARC segments; return how many were rewritten."""
        return await compact(
            self.keeper, self.home, self.settings, busy=self.busy_segment(), now=self.clock.wall
        )

    async def link_pass(self) -> None:
        """Derive what pages are to each other from what is kept (links, likeness), and let the index have it."""
        await derive_links(self.keeper, self.home)
        await compare_pages(self.keeper, self.home, self.settings, self.clock.wall)
        if self.plan.kind == "crawl":
            await self.scan_traps()

    async def scan_traps(self) -> None:
        """Look for crawler traps, and tell of those that are new."""
        await scan_traps(self.keeper, self.home, self.clock.wall)
