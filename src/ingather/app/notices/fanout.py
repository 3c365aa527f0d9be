"""One notice to every channel: taken by all or by none, settled when all are done with it."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from threading import Lock

from ingather.app.notices.outbox import Outbox
from ingather.app.notices.webhook import Notice

__all__ = ["Fanout"]


class Fanout:
    """Offers to several outboxes as if they were one.

    Args:
        outboxes: the channels.
        kinds: patterns (``*``, ``hold*``) of what is told; the rest counts as settled at once.
    """

    def __init__(self, outboxes: Sequence[Outbox], kinds: Sequence[str] = ("*",)) -> None:
        self._outboxes, self._kinds = outboxes, tuple(kinds)
        self._lock = Lock()

    def offer(self, notice: Notice, settled: Callable[[], None] = lambda: None) -> bool:
        """Take *notice* if every channel has room; *settled* is called when all delivered it or gave it up."""
        if not any(fnmatchcase(notice.kind, pattern) for pattern in self._kinds):
            settled()
            return True
        if any(outbox.full for outbox in self._outboxes):
            return False
        left = len(self._outboxes)

        def one_settled() -> None:
            nonlocal left
            with self._lock:
                left -= 1
                last = left == 0
            if last:
                settled()

        for outbox in self._outboxes:
            outbox.offer(notice, one_settled)
        return True
