"""Deletions for Prometheus: read off the catalog at the moment of asking."""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ingather.catalog.deletion.sqlite_accounts import SourceAccount
from ingather.catalog.deletion.sqlite_tombstones import TombstoneReader
from ingather.errors import CatalogError

__all__ = ["DeletionMetrics"]

_FIGURES: Final = (
    ("ingather_source_documents", "Documents.", "documents"),
    ("ingather_deletions_held", "Documents in open holds.", "held"),
    ("ingather_deletions_waiting", "Documents missing that wait for another look.", "waiting"),
    ("ingather_deletions_day", "Documents that the policy deleted within 24 hours.", "deleted_24h"),
)


class DeletionMetrics(Collector):
    """Collects the account of each source.

    Args:
        registry: where it registers.
        database: the catalog's file.
        now: wall clock.
    """

    def __init__(self, registry: CollectorRegistry, database: Path, now: Callable[[], float]) -> None:
        self._database, self._now = database, now
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield the figures of the moment; none while the catalog cannot be read."""
        accounts: list[SourceAccount] = []
        with suppress(CatalogError), closing(TombstoneReader(self._database)) as reader:
            accounts = reader.accounts(self._now())
        for name, about, figure in _FIGURES:
            family = GaugeMetricFamily(name, about, labels=["source"])
            for account in accounts:
                family.add_metric([account.name], getattr(account, figure))
            yield family
