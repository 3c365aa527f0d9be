"""What a run adds to the configuration of its home, and what the catalog notes when it begins."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ingather.app.declaring import declare_sources
from ingather.app.reaching.openings import tell_openings
from ingather.app.runsites import RUN_SITES, pack_sites, unpack_sites
from ingather.app.versions import packed
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf import Loaded, Site, StartingPoint
from ingather.conf.sources.source import SourceConf
from ingather.robot.logs.robotlog import RobotLog
from ingather.robot.settling.tally import Tally

__all__ = ["JUDGED", "RunPlan", "log_robots_off", "note_beginning", "note_robots_off", "tally_of"]

JUDGED: Final = "judged-under"
"""Name under which the catalog remembers the version that excluded URLs were last judged by."""


@dataclass(frozen=True)
class RunPlan:
    """What a run adds to the home's configuration.

    Attributes:
        kind: ``crawl`` (one run to an empty pool) or ``serve`` (on and on).
        sites: sites for this run; starts: their starting points.
        sources: of ``ingather.toml`` with what the run adds.
        overrides: robot.conf values set by flags.
        max_pages: visits after which the run ends, 0 = none.
        own_ports: our listeners.
    """

    kind: str = "crawl"
    sites: tuple[Site, ...] = ()
    starts: tuple[StartingPoint, ...] = ()
    sources: Mapping[str, SourceConf] = field(default_factory=dict)
    overrides: Mapping[str, object] = field(default_factory=dict)
    max_pages: int = 0
    own_ports: tuple[tuple[str, int], ...] = ()


def note_beginning(writer: CatalogWriter, loaded: Loaded, plan: RunPlan, now_s: float) -> tuple[int, bool]:
    """Note under which configuration we begin; return it, and whether URLs were judged by another one before."""
    versions = writer.registry.versions
    judged = writer.memory.recall(JUDGED)
    before = int(judged) if judged else versions.in_force()
    version = versions.publish(
        loaded.digest, packed(loaded.bodies), now_s, note="as config/ was at the start"
    )
    writer.applier.now_s = now_s
    tell_openings(plan.sources)
    if before != version:
        note_robots_off(writer, loaded, version)
    if plan.sites:
        fresh = {site.name for site in plan.sites}
        known = [s for s in unpack_sites(writer.memory.recall(RUN_SITES)) if s.name not in fresh]
        writer.memory.remember(RUN_SITES, pack_sites([*known, *plan.sites]))
    declare_sources(writer, loaded, plan.sources)
    return version, bool(before) and before != version


def tally_of(writer: CatalogWriter, plan: RunPlan) -> Tally:
    """Return what filter-by-max let pass in the run that goes on; a run that begins has let nothing pass."""
    if writer.registry.goes_on(plan.kind):
        return Tally(writer.counts.all())
    writer.counts.forget()
    return Tally()


def note_robots_off(writer: CatalogWriter, loaded: Loaded, version: int) -> None:
    """Whoever has robots.txt disobeyed leaves a trace of it."""
    if not loaded.robot.enable_robots_txt:
        where = loaded.robot.origin("enable-robots-txt")
        writer.applier.log.event(
            "robots-off", f"configuration {version}", f"robots.txt is not obeyed ({where})"
        )


def log_robots_off(log: RobotLog, loaded: Loaded, now_s: float) -> None:
    """Say in robot.log that robots.txt is not obeyed."""
    if not loaded.robot.enable_robots_txt:
        log.serious(f"robots.txt is not obeyed ({loaded.robot.origin('enable-robots-txt')})", now_s)
