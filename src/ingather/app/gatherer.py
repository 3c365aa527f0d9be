"""A gatherer process: limits set, parts built from the blueprint, connected to the keeper."""

import asyncio
import ctypes
import os
import resource
import signal
import sys
from hashlib import blake2s
from pathlib import Path
from random import Random

import uvloop

from ingather.app import sourcerules, wiring
from ingather.app.blueprint import Blueprint
from ingather.app.clock import SystemClock
from ingather.app.confined.pool import ConverterPool
from ingather.app.confined.scratch import emptied
from ingather.app.credentials import CredentialFile
from ingather.app.fetching import ByProtocol
from ingather.app.home import Home
from ingather.app.memory import calm_collector
from ingather.app.plugging import converter_environment, plug_ins
from ingather.app.priority import stand_back
from ingather.app.reaching.ftp_proxies import over_proxies
from ingather.app.reaching.logins import LoginBook
from ingather.app.reaching.protocols import protocol_fetchers, web_fetcher
from ingather.app.reaching.proxies import proxies_of
from ingather.app.reaching.ways import Between
from ingather.app.rendering.setup import Scripts
from ingather.app.sourcescopes import SourceScopes, crawled_sources
from ingather.catalog.bodies import SegmentWriter
from ingather.conf import load_bodies
from ingather.conf.sites.sitebook import SiteBook
from ingather.conf.sources.source import SourceConf
from ingather.errors import CatalogError, DiskFullError
from ingather.extract.allocator import tune_allocator
from ingather.extract.html import walk_in_use
from ingather.fetch.dns import SystemResolver
from ingather.fetch.http import HttpFetcher
from ingather.filters import Engine
from ingather.log import configure, get
from ingather.model.counted import Count
from ingather.model.report import Claim
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.model.source_name import source_key
from ingather.model.url import Canonicaliser
from ingather.ports.fetcher import Fetcher
from ingather.ports.renderer import NotAsked
from ingather.robot.frontier.seen import Seen
from ingather.robot.gatherer import Gatherer
from ingather.robot.politeness.hostbook import HostBook
from ingather.robot.slot import Slot
from ingather.robot.supervising import DISK_FULL_EXIT
from ingather.robot.visit.discovering import Discoverer
from ingather.robot.visit.hostnames import HostNames
from ingather.robot.visit.pipeline import Pipeline
from ingather.robot.visit.polling import Polling
from ingather.robot.visit.reading import Reading
from ingather.robot.visit.renaming import Renaming
from ingather.robot.visit.softnotfound import SoftNotFound

__all__ = ["die_with", "main"]

_PR_SET_PDEATHSIG = 1


def main(number: int, blueprint: Blueprint) -> None:
    """Run gatherer *number* until the keeper stops it; the target of the keeper's spawn."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the keeper alone decides
    die_with(os.getppid())
    stand_back(blueprint.settings.count("gather.niceness"))
    memory = blueprint.settings.size("gather.gatherer-memory")
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    configure(level=blueprint.settings.text("log.level"), pretty=sys.stderr.isatty())
    tune_allocator()
    get("gatherer").debug("reads pages", walk=walk_in_use())
    try:
        uvloop.run(_run(number, blueprint))
    except DiskFullError as error:
        get("gatherer").error("no space", error=str(error))
        sys.exit(DISK_FULL_EXIT)
    except CatalogError as error:
        get("gatherer").error("bodies cannot be written", error=str(error))
        sys.exit(1)


def die_with(parent: int) -> None:
    """End when the keeper ends, even by ``kill -9``."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        os._exit(0)


def _scratch(home: Path, tmpdir: str, number: int) -> Path:
    """Return the folder of this gatherer's converters, ours alone."""
    if not tmpdir:
        return emptied(home / "run" / f"converters-{number}")
    mark = blake2s(os.fsencode(home), digest_size=4).hexdigest()  # homes may share that folder
    return emptied(Path(tmpdir) / f"ingather-{mark}-converters-{number}")


async def _beat(slot: Slot, clock: SystemClock) -> None:
    """Show the keeper that this process's loop goes round."""
    while True:
        slot.beat(clock.monotonic())
        await asyncio.sleep(1.0)


async def _run(number: int, blueprint: Blueprint) -> None:
    settings, home = blueprint.settings, Path(blueprint.home)
    own = plug_ins(Home(home), settings)
    loaded = wiring.overridden(
        load_bodies(blueprint.files, vocabulary=own.vocabulary).with_sites(blueprint.sites),
        blueprint.overrides,
    )
    robot = loaded.robot
    clock = SystemClock()
    canonicaliser = Canonicaliser(settings.words("urls.drop-parameters"))
    resolver = SystemResolver(clock)
    agent = wiring.agent_token(robot)
    book = LoginBook(home, settings, blueprint.sources, clock, sites=loaded.rules.sites, robot=robot)
    router = proxies_of(
        settings,
        robot,
        blueprint.sources,
        home=home,
        clock=clock,
        resolver=resolver,
        own_ports=blueprint.own_ports,
    )
    fetcher = HttpFetcher(
        wiring.fetch_limits(settings, robot), user_agent=wiring.user_agent(robot), email=str(robot.email), resolver=resolver,
        own_ports=blueprint.own_ports, max_connections=wiring.gatherer_limits(settings, robot).max_connections, clock=clock,
        authorization=CredentialFile(home, clock.monotonic).header,
        logins=book.find, routing=router,
    )  # fmt: skip
    made = protocol_fetchers(
        loaded, settings, blueprint.sources, home=home, clock=clock, resolver=resolver, passwords=book.password, guards=book.guard, own_ports=blueprint.own_ports
    ) | {name: make(clock=clock, resolver=resolver) for name, make in own.fetchers.items()}  # fmt: skip
    asked: Fetcher = ByProtocol(web_fetcher(fetcher, blueprint.sources), over_proxies(made, fetcher, router))
    pool = ConverterPool(
        count=settings.count("gather.converters"),
        limits=wiring.converter_limits(settings, robot),
        clock=clock,
        folder=_scratch(home, str(robot.tmpdir), number),
        environment=converter_environment(own),
    )
    summarizers = wiring.summarizers(
        pool, settings, robot, folder=Path(robot.tmpdir) if robot.tmpdir else None
    )
    segment = SegmentWriter(
        home / "bodies", f"gatherer-{number}", max_bytes=settings.size("gather.segment-size"),
        keep_bodies=settings.text("gather.keep-bodies") == "all",
    )  # fmt: skip
    slot = Slot(home / "run" / f"gatherer-{number}.slot")
    discoverer = Discoverer(
        Engine(loaded, counted_elsewhere=True, logs=True),
        version=blueprint.version,
        seed=blueprint.seed,
        limits=wiring.url_limits(settings),
    )
    crawled = crawled_sources(loaded)
    scope_of = SourceScopes(Home(home).feeds, settings, blueprint.sources, crawled).of

    def patient(source: str) -> SourceConf:
        conf = blueprint.sources.get(source)
        if conf is None or (
            conf.delay_s is None and not conf.syndicates and source_key(source) not in crawled
        ):
            return blueprint.sources["web"]  # what feeds push has the delay of what is crawled
        return conf

    def heeds(claim: Claim) -> bool:
        conf = blueprint.sources.get(claim.source)
        return claim.pushed if conf is None else conf.heeds(pushed=claim.pushed)

    def opens(source: str) -> bool:
        declared = blueprint.sources.get(source)
        return declared is not None and declared.reach.public

    rules, sites = sourcerules.rules_of(blueprint.sources), SiteBook(loaded.rules.sites)
    hosts = HostBook(
        agent=agent,
        policy=lambda host, source, own: wiring.host_policy(settings, robot, patient(source), own=own, site=sites.of_host(host)),
        obey=bool(robot.enable_robots_txt),
        limits=wiring.robots_limits(settings),
        clock=clock,
        own=lambda host, port: any(source.is_own(host, port) for source in blueprint.sources.values()),
    )  # fmt: skip

    async def errand(request: Request, scope: Scope) -> Response | Failure | NotAsked:
        return await gatherer.errand(request, scope)

    scripts = Scripts(
        settings, blueprint.sources, clock=clock, agent=wiring.user_agent(robot), home=home, scopes=scope_of, errand=errand,
        reading=Reading(isolation=pool, slot=slot, clock=clock, agent=agent, canonicaliser=canonicaliser),
    )  # fmt: skip

    async def counts(asked: list[Count]) -> dict[str, bool]:
        return await gatherer.counts(asked)

    names = HostNames(
        blueprint.aliases, smart=bool(robot.smart_host_heuristics), resolver=resolver, clock=clock,
        tell=lambda *folded: gatherer.folded(*folded),  # noqa: PLW0108 - it is made below
    )  # fmt: skip

    pipeline = Pipeline(
        renaming=Renaming(names, discoverer, rules=rules.get),
        engine=discoverer.engine, discoverer=discoverer, reading=Reading(isolation=pool, slot=slot, clock=clock, agent=agent, canonicaliser=canonicaliser, summarizer=summarizers, extractors=frozenset(own.extractors)),
        segment=segment, clock=clock, seen=Seen(), limits=wiring.pipeline_limits(settings), rendering=scripts.step,
        soft=SoftNotFound(errand, scope_of, clock, Random()) if settings.text("traps.soft-404") == "auto" else None,  # noqa: S311 - names
        heeds=heeds, counts=counts, opens=opens, rules=rules.get,
    )  # fmt: skip
    gatherer = Gatherer(
        slot=number, pid=os.getpid(), pipeline=pipeline, fetcher=asked, rules=rules.get, sitemaps=sourcerules.sitemap_rules(settings),
        polling=Polling(answering=pipeline.answering, isolation=pool, slot=slot, clock=clock), resolver=resolver, segment=segment, hosts=hosts,
        scopes=scope_of, clock=clock, dice=Random(), limits=wiring.gatherer_limits(settings, robot),  # noqa: S311 - jitter
        headers=(("Referer", str(robot.referer)),) if robot.referer else (), ways=Between(router, book),
    )  # fmt: skip
    reader, writer = await asyncio.open_unix_connection(blueprint.socket, limit=1 << 20)
    calm_collector()
    beating = asyncio.create_task(_beat(slot, clock))
    try:
        await gatherer.run(reader, writer)
    finally:
        beating.cancel()
        writer.close()
        discoverer.engine.shut_down()
        await scripts.close()
        await pool.close()
        await asked.close()
        segment.close()
        slot.close()
