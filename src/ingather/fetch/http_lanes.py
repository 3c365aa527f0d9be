"""Connections that are kept apart: an engine for each lane, so that no connection of one carries a request of another."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from ingather.fetch.http_dress import Lane
from ingather.fetch.http_engine import Engine
from ingather.fetch.http_handle import Handle

__all__ = ["Lanes"]

_MOST: Final = 64
_KEPT: Final = 8


class Lanes:
    """The engines and idle handles of lanes in use; at most 64, the longest unused that rests is closed for a new one.

    Args:
        make: an engine that keeps so many connections.
    """

    def __init__(self, make: Callable[[int], Engine]) -> None:
        self._make = make
        self._lanes: dict[Lane, tuple[Engine, list[Handle]]] = {}

    def of(self, lane: Lane) -> tuple[Engine, list[Handle]]:
        """Return the engine of *lane* and its idle handles."""
        found = self._lanes.pop(lane, None)
        if found is None:
            self._make_room()
            found = (self._make(1 if lane.single else _KEPT), [])
        self._lanes[lane] = found  # the last one used stands last
        return found

    def has(self, lane: Lane) -> bool:
        """Whether *lane* is open still."""
        return lane in self._lanes

    def close(self) -> None:
        """Close all connections."""
        for lane in list(self._lanes):
            self._drop(lane)

    def _make_room(self) -> None:
        resting = [lane for lane, (engine, _) in self._lanes.items() if not engine.in_flight]
        for lane in resting[: max(0, len(self._lanes) - _MOST + 1)]:
            self._drop(lane)

    def _drop(self, lane: Lane) -> None:
        engine, idle = self._lanes.pop(lane)
        with suppress(RuntimeError):
            engine.close()
        for handle in idle:
            handle.close()
