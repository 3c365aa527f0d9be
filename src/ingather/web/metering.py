"""What the listeners count about themselves, for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Histogram

__all__ = ["HttpMetrics"]

_METHODS = frozenset({"GET", "HEAD", "POST"})
_BOUNDS_S = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.3, 0.6, 1.0, 2.0, 5.0)


class HttpMetrics:
    """Requests by listener, route, method and status, and how long they took.

    Made once for both listeners. Labels come from the route table, never from the request, so
    that nobody can make new series by asking for odd addresses.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "ingather_http_requests",
            "HTTP requests answered.",
            ("listener", "route", "method", "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "ingather_http_request_seconds",
            "Time from the request's head to the last byte of the answer.",
            ("listener", "route"),
            registry=registry,
            buckets=_BOUNDS_S,
        )

    def observe(self, listener: str, route: str, method: str, status: int, elapsed_s: float) -> None:
        """Count one answered request; *route* is the table's path, ``""`` if none fitted."""
        verb = method if method in _METHODS else "other"
        self._requests.labels(listener, route or "unmatched", verb, str(status)).inc()
        self._seconds.labels(listener, route or "unmatched").observe(elapsed_s)
