"""When a source may try a way again: its proxy, its PAC file, its proxy's way to one host. Pure: time and dice are arguments.

What lies between us and a host (:class:`ingather.model.resource.Way`) belongs to the source that goes that way. When it fails, the
host has said nothing: only what this source asks for by this way rests, with the back-off of hosts. When the rest is over one
visit tries; the first answer that comes ends it.

Every gatherer has a book, and so has the keeper, who passes on what one of them learnt and keeps it across restarts in wall time.
"""

from collections.abc import Iterable, Sequence
from math import inf

import msgspec

from ingather.robot.politeness.backoff import BackOffLimits, waiting_time

__all__ = ["LOOK_S", "WayBook", "WayState"]

_TRY_S = 30.0
"""So long one visit is waited for that tries a way; it may have ended without asking anybody."""
LOOK_S = 5.0
"""So long who waits for it is put off at a time."""
_MOST = 20_000
_FORGET_S = 86_400.0
_WHOLE = BackOffLimits(base_s=5.0, cap_s=900.0)
"""A proxy is asked by a connection of its own, whatever hosts are behind it: no host is spared by a longer wait."""


class WayState(msgspec.Struct, array_like=True, frozen=True):
    """What is known of a way of a source; ``failures`` 0 = it leads where it should again. ``not_before_s`` is wall time.

    ``span_s``: the wait when it was imposed, so that a wall clock that was set back cannot prolong it.
    """

    source: str
    way: str
    failures: int = 0
    not_before_s: float = 0.0
    span_s: float = 0.0
    detail: str = ""


class _Way:
    __slots__ = ("detail", "failures", "not_before", "span_s", "tried_until")

    def __init__(self) -> None:
        self.failures = 0
        self.not_before = self.tried_until = -inf
        self.span_s = 0.0
        self.detail = ""


class WayBook:
    """Ways that failed, by source. Owned by one thread; times are monotonic seconds where nothing else is said."""

    def __init__(self) -> None:
        self._ways: dict[tuple[str, str], _Way] = {}

    def __len__(self) -> int:
        return len(self._ways)

    def failed(  # noqa: PLR0913 - a failure with its circumstances
        self,
        source: str,
        way: str,
        now: float,
        *,
        chance: float,
        asked_s: float | None = None,
        detail: str = "",
        whole: bool = False,
    ) -> float:
        """Let *way* of *source* rest; return for how many seconds.

        Failures of what was under way when the first one came do not count again.
        """
        if len(self._ways) >= _MOST:
            self._shrink(now)
        entry = self._ways.setdefault((source, way), _Way())
        entry.tried_until = -inf
        if now >= entry.not_before:
            entry.failures += 1
        wait = waiting_time(entry.failures, chance=chance, asked_s=asked_s, limits=_WHOLE if whole else None)
        if now + wait.seconds > entry.not_before:
            entry.not_before, entry.span_s, entry.detail = now + wait.seconds, wait.seconds, detail
        return entry.not_before - now

    def answered(self, source: str, names: Iterable[str]) -> list[str]:
        """Note that *names* led where they should; return those that had failed before."""
        return [name for name in names if self._ways.pop((source, name), None) is not None]

    def knows(self, source: str, way: str) -> bool:
        """Whether *way* failed when it was tried last."""
        return (source, way) in self._ways

    def rests(self, source: str, names: Sequence[str], now: float) -> tuple[str, float] | None:
        """Return which of *names* is not gone now, and for how many seconds: it rests, or somebody tries it."""
        if not self._ways:
            return None
        for name in names:
            entry = self._ways.get((source, name))
            if entry is None:
                continue
            if entry.not_before > now:
                return name, entry.not_before - now
            if entry.tried_until > now:
                return name, min(entry.tried_until - now, LOOK_S)
        return None

    def tries(self, source: str, names: Sequence[str], now: float) -> None:
        """Note that somebody goes by *names*: of those that failed nobody else does until it is known how that ends."""
        for name in names if self._ways else ():
            entry = self._ways.get((source, name))
            if entry is not None:
                entry.tried_until = now + _TRY_S

    def state(self, source: str, way: str, now: float, wall_s: float) -> WayState:
        """Return what others must know of a way."""
        entry = self._ways.get((source, way))
        if entry is None:
            return WayState(source, way)
        until = wall_s + entry.not_before - now
        return WayState(source, way, entry.failures, until, entry.span_s, entry.detail)

    def take(self, states: Iterable[WayState], now: float, wall_s: float) -> None:
        """Take over what another book knows."""
        for state in states:
            key = state.source, state.way
            if not state.failures:
                self._ways.pop(key, None)
                continue
            entry = self._ways.setdefault(key, _Way())
            entry.tried_until = -inf
            entry.failures = max(entry.failures, state.failures)
            until = now + min(max(state.not_before_s - wall_s, 0.0), state.span_s)
            if until > entry.not_before:
                entry.not_before, entry.span_s, entry.detail = until, state.span_s, state.detail

    def export(self, now: float, wall_s: float) -> list[WayState]:
        """Return all that is known, but what nobody has gone by for a day; called from any thread."""
        kept = [key for key, entry in list(self._ways.items()) if entry.not_before + _FORGET_S >= now]
        return [self.state(*key, now, wall_s) for key in kept]

    def _shrink(self, now: float) -> None:
        """Forget half: first what may be tried by now."""
        order = sorted(self._ways, key=lambda key: self._ways[key].not_before)
        over = sum(1 for entry in self._ways.values() if entry.not_before <= now)
        for key in order[: max(over, _MOST // 2)]:
            del self._ways[key]
