"""Parts of a keeper that come out of the catalog as the last process left it, and what it says of sources and feeds."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from ingather.app import wiring
from ingather.app.home import Home
from ingather.app.runplan import RunPlan
from ingather.app.runsites import remembered_sites
from ingather.app.syndication.records import feed_facts
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.catalog.syndication.sqlite_syndication_reader import SyndicationReader
from ingather.conf import Site
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.fetch.limits import RobotsLimits
from ingather.ports.clock import Clock
from ingather.robot.keeper import ADDRESS_STATES, WAY_STATES
from ingather.robot.politeness.addresses import AddressBook, AddressState
from ingather.robot.politeness.visitbudget import VisitBudget, day_of
from ingather.robot.politeness.ways import WayState
from ingather.syndication.facts import FeedState

__all__ = [
    "address_book",
    "closed_hosts",
    "disabled_notes",
    "failed_feeds",
    "kept_sites",
    "visit_budget",
    "way_states",
]


def kept_sites(home: Home, plan: RunPlan) -> tuple[Site, ...]:
    """Return the sites that earlier crawls added: their pages stay judged by them, but begin nothing."""
    fresh = {site.name for site in plan.sites}
    return tuple(replace(site, starts=()) for site in remembered_sites(home) if site.name not in fresh)


def address_book(writer: CatalogWriter, clock: Clock, settings: Settings) -> AddressBook:
    """Return who may ask which address, with the clocks that the last keeper left."""
    book = AddressBook(clock.monotonic(), wiring.address_limits(settings))
    packed = writer.memory.recall(ADDRESS_STATES)
    if packed:
        states = msgspec.msgpack.decode(packed, type=list[AddressState])
        book.restore(states, clock.monotonic(), clock.wall())
    return book


def visit_budget(
    writer: CatalogWriter, clock: Clock, settings: Settings, sources: Mapping[str, SourceConf]
) -> VisitBudget | None:
    """Return what counts the visits of hosts, with today's; ``None`` if nobody bounds them."""
    limit = wiring.host_visits(settings, sources)
    if limit is None:
        return None
    writer.applier.freshness.counts_days = True
    today = writer.transaction(lambda w: w.applier.freshness.visits_of(day_of(clock.wall())))
    return VisitBudget(limit, clock.wall, today)


def disabled_notes(database: Path, home: Home) -> list[str]:
    """Return a sentence for each source that is disabled."""
    reader = SqliteReader(database, home.bodies)
    try:
        return [
            f"the source {name} is disabled: nothing was fetched for it (ingather source enable {name})"
            for name in reader.disabled_sources()
        ]
    finally:
        reader.close()


def failed_feeds(database: Path) -> list[tuple[str, str]]:
    """Return (URL, why) of feeds whose last poll told nothing."""
    reader = SyndicationReader(database)
    try:
        return [
            (record.url, facts.error)
            for record in reader.feeds()
            if record.row.state == FeedState.FAILING and (facts := feed_facts(record.row)).error
        ]
    finally:
        reader.close()


def way_states(writer: CatalogWriter) -> list[WayState]:
    """Return what is known of the ways of sources from before the start."""
    packed = writer.memory.recall(WAY_STATES)
    return msgspec.msgpack.decode(packed, type=list[WayState]) if packed else []


def closed_hosts(reader: SqliteReader, now_s: float) -> list[dict[str, Any]]:
    """Return the hosts whose robots.txt has not been had for 30 days, longest first: nothing is fetched from them."""
    return [
        {"host": origin, "days": int((now_s - since_s) // 86_400), "why": why}
        for origin, since_s, why in reader.robots_unreachable(now_s - RobotsLimits().report_s)
    ]
