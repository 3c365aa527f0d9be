"""Going on under another configuration, whole or not at all (DEC-16)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ingather.app import wiring
from ingather.app.access.policing import place_by_pieces, use_policy
from ingather.app.configuration import Configuration
from ingather.app.runplan import JUDGED, log_robots_off, note_robots_off
from ingather.app.sourcescopes import crawled_sources
from ingather.app.versions import digest_of, packed
from ingather.conf.report import Report
from ingather.conf.sites.sitechecks import check_sites
from ingather.errors import ConfigurationError
from ingather.filters import Engine
from ingather.log import get
from ingather.robot.logs.robotlog import Level
from ingather.robot.visit.discovering import Discoverer

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["reconfigure"]

_log = get("app")


async def reconfigure(
    gathering: "Gathering",
    configuration: Configuration,
    *,
    author: str = "",
    note: str = "",
    kept: Mapping[str, bytes] | None = None,
) -> bool:
    """Go on under *configuration*; see :meth:`ingather.app.keeper.Gathering.reconfigure`."""
    report = Report()
    settings = gathering.settings
    rules = configuration.require().loaded.rules
    # Sources and credentials of a running process are those of its start.
    known = {conf.name for source in gathering.sources.values() for conf in source.reach.logins}
    check_sites(rules, gathering.sources, report, credentials=known)
    if report.refused:
        raise ConfigurationError(report.sorted(), bodies=configuration.bodies)
    loaded = wiring.overridden(configuration.loaded.with_sites(gathering.sites), gathering.plan.overrides)
    if loaded.digest == gathering.loaded.digest:
        return False
    # What cannot be built is refused before anybody is told to stop.
    engine = Engine(loaded, counted_elsewhere=True)

    def job(writer: Any, applied: Any) -> Discoverer:
        now_s, versions = writer.applier.now_s, writer.registry.versions
        if kept is not None:
            versions.keep(digest_of(kept), packed(kept), now_s)
        version = versions.publish(loaded.digest, packed(loaded.bodies), now_s, author=author, note=note)
        note_robots_off(writer, loaded, version)
        use_policy(writer, loaded.policy)
        limits = wiring.url_limits(settings)
        discoverer = Discoverer(engine, version=version, seed=gathering.seed, limits=limits)
        writer.applier.names.crawled = crawled_sources(loaded)
        writer.memory.remember(JUDGED, str(version).encode())
        writer.registry.rejudge_excluded(applied)
        for start in loaded.starting_points:
            found = discoverer.discover(
                gathering.names.fold(start.url),
                depth=0,
                max_depth=start.depth,
                source=start.source,
                priority=1,
            )
            writer.applier.discover(found, None, applied)
        return discoverer

    before, now = gathering.loaded.rd_schema, loaded.rd_schema
    searched = (before.unindexed, before.scores) == (now.unindexed, now.scores)

    def adopt(discoverer: Discoverer) -> tuple[tuple[object, ...], int]:
        gathering.discoverer, gathering.version, gathering.loaded = discoverer, discoverer.version, loaded
        gathering.starts = [gathering.names.fold(start.url) for start in loaded.starting_points]
        gathering.follower.adopt(
            wiring.follow_limits(settings, loaded.robot, alone=gathering.plan.kind == "crawl")
        )
        gathering.robot_log.level = int(loaded.robot.loglevel)
        now_s = gathering.clock.wall()
        gathering.robot_log.event(Level.SPAWNING, f"Configuration {gathering.version} is in force", now_s)
        log_robots_off(gathering.robot_log, loaded, now_s)
        return (gathering.blueprint_of(loaded, gathering.version),), gathering.version

    try:
        await gathering.keeper.switch(job, adopt)
    finally:
        gathering.use_policy()  # the rules of what is in force, also when nothing was kept
    await place_by_pieces(
        gathering.keeper.write,
        loaded,
        gathering.plan.sources,
        rescues=settings.flag("access.policy-rescues-broken"),
    )
    if not searched:
        _log.warning(
            "rd-schema.conf changed what is searched",
            hint="indexed documents follow: ingather index rebuild",
        )
    _log.info("configuration changed", version=gathering.version, author=author, note=note)
    await gathering.conductor.reconfigured()
    return True
