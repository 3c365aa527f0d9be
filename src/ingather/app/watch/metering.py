"""What watching adds for Prometheus: readiness by reason, room on the disk, held deletions."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ingather.app.disk import Headroom
from ingather.app.notices import Outbox
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.errors import IngatherError
from ingather.web.parts import Readiness

__all__ = ["REASONS", "NoticeMetrics", "WatchMetrics"]

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
