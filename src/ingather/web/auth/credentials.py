"""The admin token: compared in constant time, guessed slowly, shown nowhere."""

import asyncio
import hashlib
import hmac
import math
from collections import Counter, OrderedDict
from collections.abc import Callable

from ingather.connections import network_of
from ingather.errors import UsageError
from ingather.web.failures import WebError

__all__ = ["Secret", "TokenGate"]

_PEERS = 1_024
_LEAST_CHARS = 16


class Secret:
    """Text that does not print: logs, error pages and debuggers show ``Secret(…)``."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text, for the one place that needs it."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__


class TokenGate:
    """Compares tokens for one listener.

    Every peer may fail *burst* times, then once in *refill_s*. A peer that failed more often waits *pause_s* before each
    look at its token; then the right one is taken all the same: a program with an old token must not lock
    others at its address out. At most *waiting* requests of a peer wait so, more are refused unread: that bounds its guesses, those of
    requests whose sender waits for no answer as well. IPv6 peers count by their /64.
    """

    def __init__(  # noqa: PLR0913 - by keyword
        self,
        token: Secret,
        *,
        monotonic: Callable[[], float],
        burst: int = 10,
        refill_s: float = 6.0,
        pause_s: float = 1.0,
        waiting: int = 32,
    ) -> None:
        if len(token.reveal()) < _LEAST_CHARS:
            msg = f"the admin token has fewer than {_LEAST_CHARS} characters"
            raise UsageError(msg, hint="make a new one with `ingather init`")
        self._digest = _digest(token.reveal())
        self._monotonic = monotonic
        self._burst = float(burst)
        self._refill_s = refill_s
        self._pause_s = pause_s
        self._most_waiting = waiting
        self._waiting: Counter[str] = Counter()
        self._peers: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def check(self, shown: str, peer: str) -> bool:
        """Say whether *shown* is the token.

        Raises:
            WebError: 429, it is not, and this peer failed too often; ``Retry-After`` says when it may fail once more. Or
                too many of its requests wait already.
        """
        key = network_of(peer)
        if self._left(key) < 1:
            await self._pause(key)
        if hmac.compare_digest(_digest(shown), self._digest):
            return True
        left = self._left(key)
        if left < 1:
            raise _too_many(math.ceil((1 - left) * self._refill_s))
        self._peers[key] = (left - 1, self._monotonic())
        self._peers.move_to_end(key)
        while len(self._peers) > _PEERS:
            self._peers.popitem(last=False)
        return False

    async def _pause(self, key: str) -> None:
        if self._waiting[key] >= self._most_waiting:
            raise _too_many(math.ceil(self._pause_s))
        self._waiting[key] += 1
        try:
            await asyncio.sleep(self._pause_s)
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]

    def _left(self, key: str) -> float:
        """Return how often a peer may fail now."""
        now_s = self._monotonic()
        left, at_s = self._peers.get(key, (self._burst, now_s))
        return min(self._burst, left + (now_s - at_s) / self._refill_s)


def _too_many(wait_s: int) -> WebError:
    return WebError(
        429,
        "too-many-failures",
        "Too many wrong tokens from this address.",
        hint=f"Wait {wait_s} seconds, or show the right one.",
        headers={"Retry-After": str(wait_s)},
    )


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
