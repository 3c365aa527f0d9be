"""Guessing passwords is slow: by address, by name, and by both together."""

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from ingather.connections import network_of
from ingather.web.failures import WebError

__all__ = ["LoginLimits", "Throttle"]

_KEPT = 4_096


@dataclass(frozen=True, slots=True)
class LoginLimits:
    """How often a login may fail: so often at once, then once in so many seconds.

    Attributes:
        pair: the same name from the same address.
        address: any name from one address.
        name: one name from anywhere. Large, because strangers could lock somebody out with it; still too few
            to guess by.
    """

    pair: tuple[int, float] = (5, 30.0)
    address: tuple[int, float] = (20, 6.0)
    name: tuple[int, float] = (100, 12.0)


class Throttle:
    """Counts logins. An attempt is counted before its password is looked at, so that many at once gain nothing."""

    def __init__(self, limits: LoginLimits, *, monotonic: Callable[[], float]) -> None:
        self._limits = limits
        self._monotonic = monotonic
        self._left: OrderedDict[tuple[str, ...], tuple[float, float]] = OrderedDict()

    def attempt(self, name: str, address: str) -> None:
        """Count an attempt.

        Raises:
            WebError: 429, there were too many failures; the same for names that are nobody's.
        """
        now_s = self._monotonic()
        wait_s = 0.0
        states = []
        for key, (burst, refill_s) in self._keys(name, address):
            left, at_s = self._left.get(key, (float(burst), now_s))
            left = min(float(burst), left + (now_s - at_s) / refill_s)
            states.append((key, left))
            wait_s = max(wait_s, (1 - left) * refill_s)
        if wait_s > 0:
            seconds = math.ceil(wait_s)
            raise WebError(
                429,
                "too-many-failures",
                "Too many logins failed.",
                hint=f"Wait {seconds} seconds.",
                headers={"Retry-After": str(seconds)},
            )
        for key, left in states:
            self._put(key, left - 1, now_s)

    def succeeded(self, name: str, address: str) -> None:
        """Take an attempt back: it was the right password, or it was never looked at."""
        for key, (burst, _) in self._keys(name, address):
            if (known := self._left.get(key)) is not None:
                self._put(key, min(float(burst), known[0] + 1), known[1])

    def _keys(self, name: str, address: str) -> list[tuple[tuple[str, ...], tuple[int, float]]]:
        place, limits = network_of(address), self._limits
        return [
            (("pair", name, place), limits.pair),
            (("address", place), limits.address),
            (("name", name), limits.name),
        ]

    def _put(self, key: tuple[str, ...], left: float, at_s: float) -> None:
        self._left[key] = (left, at_s)
        self._left.move_to_end(key)
        while len(self._left) > _KEPT:
            self._left.popitem(last=False)
