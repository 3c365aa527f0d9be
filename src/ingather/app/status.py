"""The status document: what Ingather does now, one shape for the page, the API and the tests."""

import os
import platform
from typing import Any

from ingather import __version__
from ingather.app.confined.sandbox import Sandbox
from ingather.app.keeper import Gathering
from ingather.app.keeperparts import closed_hosts
from ingather.app.nothing import NothingWatch
from ingather.app.syndication.metering import status_of
from ingather.catalog.sqlite_memory import sqlite_version

__all__ = ["status_form"]


def status_form(gathering: Gathering, sandbox: Sandbox) -> dict[str, Any]:
    """Return the figures of the moment; called from any thread."""
    keeper = gathering.keeper
    now = gathering.clock.monotonic()
    counters = keeper.counters
    reader = gathering.reader_once()
    try:
        stats = reader.stats()
        holds = reader.held_count()
        runs = [run.form() for run in reader.runs()]
        closed = closed_hosts(reader, gathering.clock.wall())
        disabled = reader.disabled_sources()
        nothing = NothingWatch(gathering).found()
        leaving = gathering.leaving.form(reader)
    finally:
        reader.close()
    return {
        "state": "failed"
        if keeper.failed
        else "off"
        if keeper.off
        else "paused"
        if keeper.paused
        else "disk full"
        if keeper.disk_full
        else "running",
        "robot": str(gathering.conductor.state),
        "version": __version__,
        "pid": os.getpid(),
        "run": gathering.run,
        "pool": keeper.frontier.waiting,
        "in_flight": keeper.frontier.out,
        "documents": sum(stats.sources.values()),
        "leaving": leaving,
        "nothing_gathered": None if nothing is None else str(nothing),
        "urls": dict(stats.states),
        "visits": counters.pages,
        "outcomes": dict(counters.outcomes),
        "excluded": dict(counters.reasons),
        "limits_hit": dict(counters.limits),
        "rates": {"pages_s": round(keeper.rate(), 1)},
        "hosts": stats.hosts,
        "busiest": [{"host": host, "waiting": count} for host, count in keeper.frontier.busiest(10)],
        "slow_hosts": keeper.slow_hosts(gathering.settings.seconds("politeness.crawl-delay-max")),
        "left_alone": {host: round(seconds, 1) for host, seconds in keeper.frontier.backing_off(now).items()},
        "ways": keeper.ways(),
        "robots_unreachable": closed,
        "disabled_sources": disabled,
        "sequence": {"catalog": stats.sequence, "index": gathering.follower.applied},
        "backlog": max(stats.sequence - gathering.follower.applied, 0),
        "index": gathering.follower.broken or "ok",
        "overlay": gathering.overlays.form(),
        "web_feeds": status_of(gathering.database),
        "warnings": gathering.warnings(),
        "runs": runs,
        "holds": holds,
        "quarantined": stats.states.get("quarantined", 0),
        "clock_trusted": keeper.clock_trusted,
        "disk_full": keeper.disk_full,
        "gatherers": {"connected": keeper.gatherers, "pids": keeper.pids, "deaths": counters.deaths},
        "bytes": {"catalog": stats.catalog_bytes, "bodies": stats.body_bytes},
        "sandbox": sandbox.form(),
        "configuration": gathering.version,
        "versions": {"python": platform.python_version(), "sqlite": sqlite_version()},
    }
