"""What the keeper counts, for Prometheus: read at the moment of asking, never pushed."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ingather.app.keeper import Gathering

__all__ = ["KeeperMetrics"]


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
        yield GaugeMetricFamily(
            "ingather_disk_full", "1 while the disk reserve refuses new work.", int(keeper.disk_full)
        )
        yield GaugeMetricFamily(
            "ingather_index_broken", "1 while the index does not follow.", int(bool(follower.broken))
        )
