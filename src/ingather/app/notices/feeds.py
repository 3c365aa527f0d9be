"""Feeds that ended with errors, as notices: found in the catalog, so that none is lost with the process."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from ingather.app.notices.alarms import Post
from ingather.app.notices.webhook import Notice

__all__ = ["FeedNotices"]

_KINDS: Final = {"completed with errors": "feed.errors", "failed in error": "feed.failed"}
_KEYS: Final = (
    "id", "name", "datasource", "feedtype", "groupsource", "state", "applied", "rejected", "deleted", "held", "detail", "sender", "session",
)  # fmt: skip
_LOOKED_AT: Final = 500
_MEMORY: Final = "feed-notices"


class FeedNotices:
    """Offers each feed that ended with errors, from the first look on; what was settled is remembered.

    Args:
        feeds: the forms of feeds whose number is above one, ascending, at most so many.
        newest: the highest number of a feed.
        recall, remember: what is kept in the catalog.
    """

    def __init__(
        self,
        feeds: Callable[[int, int], Sequence[Mapping[str, Any]]],
        newest: Callable[[], int],
        recall: Callable[[str], bytes],
        remember: Callable[[str, bytes], None],
    ) -> None:
        self._feeds, self._newest, self._recall, self._remember = feeds, newest, recall, remember
        self._low: int | None = None
        self._done: set[int] = set()
        self._out: set[int] = set()

    def __call__(self, outbox: Post) -> None:
        """Look for feeds that ended, and offer those with errors."""
        if self._low is None:
            self._begin()
        assert self._low is not None  # noqa: S101 - it began
        before = self._low, len(self._done)
        numbers = []
        for feed in self._feeds(self._low, _LOOKED_AT):
            number = int(feed["id"])
            numbers.append(number)
            if number in self._done or number in self._out or feed["ended"] is None:
                continue
            kind = _KINDS.get(str(feed["state"]))
            if kind is None:
                self._done.add(number)
                continue
            about = {key: feed[key] for key in _KEYS if key in feed}
            notice = Notice(f"{feed['name']}-{kind}", kind, _time(feed["ended"]), about)
            if not outbox.offer(notice, lambda number=number: self._settled(number)):  # type: ignore[misc]
                break
            self._out.add(number)
        self._advance(numbers)
        if (self._low, len(self._done)) != before:
            self._keep()

    def _begin(self) -> None:
        kept = self._recall(_MEMORY)
        if kept:
            self._low, done = json.loads(kept)
            self._done = set(done)
        else:  # what ended before anybody listened is no news
            self._low = self._newest()
            self._keep()

    def _settled(self, number: int) -> None:
        self._out.discard(number)
        self._done.add(number)
        self._keep()

    def _advance(self, numbers: Sequence[int]) -> None:
        """Leave behind what is settled: every feed up to the first that is not."""
        for number in numbers:
            if number not in self._done:
                break
            self._low = number
            self._done.discard(number)

    def _keep(self) -> None:
        self._remember(_MEMORY, json.dumps([self._low, sorted(self._done)]).encode())


def _time(at_s: Any) -> str:
    return datetime.fromtimestamp(float(at_s), UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
