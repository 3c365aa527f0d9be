"""Web feeds for Prometheus and the status document: read off the catalog at the moment of asking."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ingather.app.syndication.viewing import instant
from ingather.catalog.syndication.sqlite_syndication_reader import SyndicationReader
from ingather.errors import CatalogError
from ingather.syndication.facts import DocState, FeedState

__all__ = ["WebFeedMetrics", "status_of", "web_feed_figures"]


def web_feed_figures(database: Path) -> dict[str, dict[str, Any]]:
    """Return for each source its ``feeds`` by state (``paused`` is one), ``documents`` by state, ``held`` deletions, ``last_good`` and ``next_poll`` (wall seconds or ``None``).

    Raises:
        CatalogError: it cannot be read.
    """
    reader = SyndicationReader(database)
    try:
        found: dict[str, dict[str, Any]] = {
            record.name: {
                "feeds": {},
                "documents": {DocState(state).name.lower(): count for state, count in sorted(record.states.items())},
                "held": sum(documents for _, documents, _, _ in reader.holds(record.name)),
                "last_good": None,
                "next_poll": None,
            }
            for record in reader.sources()
        }  # fmt: skip
        for source, state, paused, count, good_s, due_s in reader.feed_counts():
            one = found.get(source)
            if one is None:
                continue
            one["feeds"]["paused" if paused else FeedState(state).name.lower()] = count
            one["last_good"] = max(filter(None, (one["last_good"], good_s)), default=None)
            if not paused:
                one["next_poll"] = min(filter(None, (one["next_poll"], due_s)), default=None)
    finally:
        reader.close()
    return found


def status_of(database: Path) -> dict[str, dict[str, Any]]:
    """Return the figures with times as text, for the status document."""
    return {
        name: {**one, "last_good": instant(one["last_good"]), "next_poll": instant(one["next_poll"])}
        for name, one in web_feed_figures(database).items()
    }


class WebFeedMetrics(Collector):
    """Collects the feeds and the documents of each source by state."""

    def __init__(self, registry: CollectorRegistry, database: Path) -> None:
        self._database = database
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield the figures of the moment; none while the catalog cannot be read."""
        figures: dict[str, dict[str, Any]] = {}
        with suppress(CatalogError):
            figures = web_feed_figures(self._database)
        feeds = GaugeMetricFamily("ingather_rss_feeds", "Web feeds.", labels=["source", "state"])
        documents = GaugeMetricFamily(
            "ingather_rss_documents", "Listed documents.", labels=["source", "state"]
        )
        held = GaugeMetricFamily("ingather_rss_held", "Deletions that are held.", labels=["source"])
        good = GaugeMetricFamily(
            "ingather_rss_last_good_timestamp_seconds",
            "Last poll that told what is listed.",
            labels=["source"],
        )
        for name, one in figures.items():
            for state, count in one["feeds"].items():
                feeds.add_metric([name, state], count)
            for state, count in one["documents"].items():
                documents.add_metric([name, state], count)
            held.add_metric([name], one["held"])
            if one["last_good"] is not None:
                good.add_metric([name], one["last_good"])
        yield from (feeds, documents, held, good)
