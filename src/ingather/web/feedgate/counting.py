"""What came to the gate, counted: for the operator's graphs, since the start."""

import threading
from collections import Counter
from typing import Final

from ingather.feeds.desk import FeedKind

__all__ = ["REASONS", "GateCounts"]

REASONS: Final = {
    403: "not-trusted",
    408: "slow",
    411: "no-length",
    413: "too-large",
    415: "coding",
    421: "unknown-host",
    422: "failed",
    431: "head-too-large",
    507: "no-room",
}
"""Status of a refusal -> its name; another 4xx is ``malformed``, another 5xx a ``fault``."""
_FAULT: Final = 500
_REFUSAL: Final = 400


class GateCounts:
    """Feeds taken, pushes refused; any thread may count and read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._accepted: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._bytes = 0

    def accept(self, kind: FeedKind, size: int) -> None:
        """Count a feed of *size* bytes that is durable and has its row."""
        with self._lock:
            self._accepted[str(kind)] += 1
            self._bytes += size

    def answered(self, status: int) -> None:
        """Count an answer to a push, if it is a refusal."""
        if status < _REFUSAL:
            return
        name = REASONS.get(status, "fault" if status >= _FAULT else "malformed")
        with self._lock:
            self._refused[name] += 1

    def read(self) -> tuple[dict[str, int], dict[str, int], int]:
        """Return (accepted by kind, refused by reason, bytes of accepted feeds)."""
        with self._lock:
            return dict(self._accepted), dict(self._refused), self._bytes
