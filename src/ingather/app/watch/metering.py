"""What watching adds for Prometheus: readiness by reason, room on the disk, held deletions."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ingather.app.disk import Headroom
from ingather.app.notices import Outbox
from ingather.app.watch.canary import Canary
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.errors import IngatherError
from ingather.web.parts import Readiness

__all__ = ["REASONS", "CanaryMetrics", "NoticeMetrics", "WatchMetrics"]

REASONS = ("stopping", "keeper", "index", "disk", "clock", "gatherers", "lag", "damage", "canary")
"""Every reason for not being ready, so that each has a series from the start."""


class WatchMetrics(Collector):
    """Collects them at the moment of asking.

    Args:
        registry: where to.
        ready: the admin listener's readiness.
        room: what is free on the home's disk.
        database: the catalog's file, to count holds in.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        ready: Callable[[], Readiness],
        room: Callable[[], Headroom],
        database: Path,
    ) -> None:
        self._ready, self._room, self._database = ready, room, database
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield the figures of the moment."""
        found = self._ready()
        given = {name for name, _ in found.reasons}
        yield GaugeMetricFamily(
            "ingather_ready", "1 while /ready of the admin listener is 200.", int(found.ready)
        )
        reasons = GaugeMetricFamily(
            "ingather_not_ready_reason", "1 while this is a reason for not being ready.", labels=["reason"]
        )
        for name in REASONS:
            reasons.add_metric([name], int(name in given))
        yield reasons
        with suppress(IngatherError):
            room = self._room()
            yield GaugeMetricFamily(
                "ingather_disk_free_bytes", "Free bytes of the home's file system.", room.free_bytes
            )
            yield GaugeMetricFamily(
                "ingather_disk_reserve_bytes",
                "Free bytes below which no new work begins.",
                room.reserve_bytes,
            )
        with suppress(IngatherError):
            reader = SqliteReader(self._database, self._database)
            try:
                yield GaugeMetricFamily(
                    "ingather_holds_open", "Deletions that wait for a person.", reader.held_count()
                )
            finally:
                reader.close()


class NoticeMetrics(Collector):
    """Collects what became of notices, by channel."""

    def __init__(self, registry: CollectorRegistry, outboxes: Mapping[str, Outbox]) -> None:
        self._outboxes = outboxes
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield the figures of the moment."""
        sent = CounterMetricFamily(
            "ingather_notices_delivered", "Notices that were taken.", labels=["channel"]
        )
        lost = CounterMetricFamily(
            "ingather_notices_given_up", "Notices that were given up.", labels=["channel"]
        )
        waiting = GaugeMetricFamily("ingather_notices_waiting", "Notices that wait.", labels=["channel"])
        for name, outbox in self._outboxes.items():
            sent.add_metric([name], outbox.delivered)
            lost.add_metric([name], outbox.given_up)
            waiting.add_metric([name], outbox.waiting)
        yield from (sent, lost, waiting)


class CanaryMetrics(Collector):
    """Collects how the canary fares; no samples without one, and none of a lag before the first round that ended well."""

    def __init__(self, registry: CollectorRegistry, canary: Canary | None) -> None:
        self._canary = canary
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield the figures of the moment."""
        canary = self._canary
        well = GaugeMetricFamily("ingather_canary_ok", "1 while the canary is found in time.", labels=[])
        lag = GaugeMetricFamily(
            "ingather_canary_lag_seconds", "From the change to the find, last round.", labels=[]
        )
        found = GaugeMetricFamily(
            "ingather_canary_found_timestamp_seconds", "When the canary was found last.", labels=[]
        )
        rounds = CounterMetricFamily("ingather_canary_rounds", "Rounds that ended.", labels=["result"])
        if canary is not None:
            well.add_metric([], int(not canary.trouble))
            rounds.add_metric(["found"], canary.rounds - canary.failures)
            rounds.add_metric(["failed"], canary.failures)
            if canary.lag_s is not None and canary.found_s is not None:
                lag.add_metric([], canary.lag_s)
                found.add_metric([], canary.found_s)
        yield from (well, lag, found, rounds)
