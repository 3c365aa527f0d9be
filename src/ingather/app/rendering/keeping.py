"""Scripts and styles that were fetched a moment ago: a site's bundle is not fetched for each of its pages."""

import re
from collections import OrderedDict
from datetime import UTC
from email.utils import parsedate_to_datetime

from ingather.model.resource import Response
from ingather.ports.clock import Clock

__all__ = ["Kept", "fresh_for_s"]

_UNSAID_S = 600.0
"""How long an answer is good that says nothing of it: a page and its neighbours, no more."""
_MOST_S = 86_400.0
_OVERHEAD = 512
_AGE = re.compile(r"(?:^|[\s,])(?:s-maxage|max-age)\s*=\s*\"?(\d{1,10})")
_NEVER = re.compile(r"(?:^|[\s,])(?:no-store|no-cache|private)(?:$|[\s,=])")


def fresh_for_s(got: Response, now_s: float) -> float:
    """Return for how many seconds *got* may be used again (RFC 9111, sections 3 and 4.2); 0 = not at all."""
    said = got.header("cache-control").lower()
    if got.status != 200 or got.cut or _NEVER.search(said):  # noqa: PLR2004 - RFC 9110
        return 0.0
    vary = {word.strip() for word in got.header("vary").lower().split(",")}
    if vary - {"", "accept-encoding", "origin", "user-agent"}:
        return 0.0
    age = _AGE.search(said)
    if age is not None:
        return min(float(age[1]), _MOST_S)
    expires = got.header("expires")
    if not expires:
        return _UNSAID_S
    try:
        until = parsedate_to_datetime(expires)
    except ValueError:
        return 0.0
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return min(max(until.timestamp() - now_s, 0.0), _MOST_S)


class Kept:
    """Answers by source, URL and the origin that asked, bounded in bytes; the one that was used longest ago goes first."""

    def __init__(self, most_bytes: int, clock: Clock) -> None:
        self._most, self._clock = most_bytes, clock
        self._kept: OrderedDict[tuple[str, str, str], tuple[float, Response]] = OrderedDict()
        self.bytes = 0

    def get(self, source: str, url: str, origin: str) -> Response | None:
        """Return an answer that is still fresh."""
        name = (source, url, origin)
        found = self._kept.get(name)
        if found is None:
            return None
        if found[0] <= self._clock.wall():
            self._drop(name)
            return None
        self._kept.move_to_end(name)
        return found[1]

    def put(self, source: str, url: str, origin: str, got: Response) -> None:
        """Keep an answer for as long as it says."""
        now_s = self._clock.wall()
        span_s = fresh_for_s(got, now_s)
        size = _size(got)
        if span_s <= 0 or size > self._most:
            return
        name = (source, url, origin)
        self._drop(name)
        self._kept[name] = (now_s + span_s, got)
        self.bytes += size
        while self.bytes > self._most:
            self._drop(next(iter(self._kept)))

    def _drop(self, name: tuple[str, str, str]) -> None:
        found = self._kept.pop(name, None)
        if found is not None:
            self.bytes -= _size(found[1])


def _size(got: Response) -> int:
    return len(got.body) + sum(len(name) + len(value) for name, value in got.headers) + _OVERHEAD
