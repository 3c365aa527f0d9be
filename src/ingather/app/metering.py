"""What the keeper counts, for Prometheus: read at the moment of asking, never pushed."""

import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ingather.app.feeds.thread import Feeding
from ingather.app.keeper import Gathering
from ingather.robot.running import RobotState
from ingather.web.feedgate import FeedGate, Intake

__all__ = ["FeedMetrics", "KeeperMetrics"]


class KeeperMetrics(Collector):
    """Collects the keeper's counters into a registry."""

    def __init__(self, registry: CollectorRegistry, gathering: Gathering) -> None:
        self._gathering = gathering
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield the figures of the moment."""
        keeper, follower = self._gathering.keeper, self._gathering.follower
        counters = keeper.counters
        visits = CounterMetricFamily("ingather_visits", "Visits by outcome.", labels=["outcome"])
        for name, count in list(counters.outcomes.items()):
            visits.add_metric([name], count)
        yield visits
        limits = CounterMetricFamily("ingather_limits_hit", "URLs that a limit refused.", labels=["limit"])
        for name, count in list(counters.limits.items()):
            limits.add_metric([name], count)
        yield limits
        yield CounterMetricFamily("ingather_body_bytes", "Bytes of fetched bodies.", counters.bytes)
        yield CounterMetricFamily(
            "ingather_gatherer_deaths", "Gatherers that died or were killed.", counters.deaths
        )
        yield CounterMetricFamily("ingather_commits", "Transactions of the catalog.", counters.commits)
        yield GaugeMetricFamily("ingather_frontier_waiting", "URLs that wait.", keeper.frontier.waiting)
        yield GaugeMetricFamily("ingather_in_flight", "URLs in gatherers' hands.", keeper.frontier.out)
        yield GaugeMetricFamily(
            "ingather_index_lag", "Changes that the index has not taken up.", follower.lag
        )
        yield GaugeMetricFamily("ingather_index_sequence", "Last change in the index.", follower.applied)
        yield GaugeMetricFamily("ingather_gatherers", "Gatherers at work.", keeper.gatherers)
        conductor = self._gathering.conductor
        state = GaugeMetricFamily("ingather_robot_state", "1 for what the robot does now.", labels=["state"])
        now = conductor.state
        for one in RobotState:
            state.add_metric([one], int(one is now))
        yield state
        next_runs = GaugeMetricFamily(
            "ingather_robot_next_run_timestamp_seconds",
            "When a run of a source with a schedule begins by itself.",
            labels=["source"],
        )
        for row in conductor.timetable.form(time.time()):
            next_runs.add_metric([row["source"]], row["at"])
        yield next_runs
        yield GaugeMetricFamily(
            "ingather_disk_full", "1 while the disk reserve refuses new work.", int(keeper.disk_full)
        )
        yield GaugeMetricFamily(
            "ingather_index_broken", "1 while the index does not follow.", int(bool(follower.broken))
        )


class FeedMetrics(Collector):
    """Collects what came to the feed gate and what waits behind it."""

    def __init__(self, registry: CollectorRegistry, gate: FeedGate, intake: Intake, desk: Feeding) -> None:
        self._gate, self._intake, self._desk = gate, intake, desk
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield the figures of the moment."""
        desk = self._desk
        taken, turned_away, size = self._intake.counts.read()
        accepted = CounterMetricFamily("ingather_feeds_accepted", "Feeds acknowledged.", labels=["kind"])
        for kind, count in taken.items():
            accepted.add_metric([kind], count)
        yield accepted
        refused = CounterMetricFamily("ingather_feeds_refused", "Pushes refused.", labels=["reason"])
        for reason, count in turned_away.items():
            refused.add_metric([reason], count)
        yield refused
        yield CounterMetricFamily("ingather_feed_bytes", "Bytes of acknowledged feeds.", size)
        yield GaugeMetricFamily(
            "ingather_feed_connections", "Connections to the feed ports.", self._gate.connections
        )
        yield GaugeMetricFamily("ingather_feed_backlog_records", "Records that wait.", desk.backlog())
        yield GaugeMetricFamily("ingather_feeds_open", "Feeds that are not at their end.", desk.open_feeds())
        yield GaugeMetricFamily(
            "ingather_feed_oldest_waiting_seconds",
            "How long the feed received first has waited.",
            desk.oldest_s(),
        )
        successes = GaugeMetricFamily(
            "ingather_feed_last_success_timestamp_seconds",
            "When a feed of a data source was last applied without an error.",
            labels=["datasource"],
        )
        for name, at_s in desk.last_successes().items():
            successes.add_metric([name], at_s)
        yield successes
        yield GaugeMetricFamily(
            "ingather_feed_thread_failed",
            "1 once the feed thread ended for a fault.",
            int(desk.failed is not None),
        )
