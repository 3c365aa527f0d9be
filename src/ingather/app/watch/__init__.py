"""Watching a served home: whether it is ready, and why not.

``readiness`` judges the figures of the moment, ``metering`` gives them to Prometheus.
"""

from ingather.app.watch.metering import WatchMetrics
from ingather.app.watch.readiness import Facts, facts_of, readiness

__all__ = ["Facts", "WatchMetrics", "facts_of", "readiness"]
