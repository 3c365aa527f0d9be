"""Watching a served home: whether it is ready, and why not.

``readiness`` judges the figures of the moment, ``conditions`` finds what is worth an alarm, ``canary`` goes the whole way of a page, ``hostcertificates`` sees when those of crawled hosts end, ``metering`` gives all that to Prometheus.
"""

from ingather.app.watch.canary import Canary, canary_of, tidy_canary
from ingather.app.watch.conditions import alarms_of
from ingather.app.watch.hostcertificates import watch_certificates
from ingather.app.watch.metering import CanaryMetrics, NoticeMetrics, WatchMetrics
from ingather.app.watch.readiness import Facts, facts_of, readiness

__all__ = [
    "Canary",
    "CanaryMetrics",
    "Facts",
    "NoticeMetrics",
    "WatchMetrics",
    "alarms_of",
    "canary_of",
    "facts_of",
    "readiness",
    "tidy_canary",
    "watch_certificates",
]
