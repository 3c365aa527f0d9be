"""What a gatherer asks its keeper while visits wait for the answer: leave to connect, and how many may pass.

A limit of an address or of a whole run holds for all gatherers together, so the one keeper gives leave and counts.
"""

import asyncio
from collections.abc import Callable, Iterable

from ingather.model.counted import Count
from ingather.model.urlparts import key as key_of
from ingather.robot.wire import AskCounts, AskStart, Ended

__all__ = ["Asking"]


class Asking:
    """Questions under way, by token; owned by one event loop.

    Args:
        send: gives the keeper a message, without waiting.
        seed: of the catalog's hashes, in which names are counted.
        released: a connection ended that the keeper is to hear of soon.
    """

    def __init__(self, send: Callable[[object], None], *, seed: int, released: Callable[[], None]) -> None:
        self._send, self._seed, self._released = send, seed, released
        self._starts: dict[int, asyncio.Future[float]] = {}
        self._counts: dict[int, asyncio.Future[list[bool]]] = {}
        self._tokens = 0
        self._ended: list[str] = []

    async def leave(self, address: str, host_key: str = "") -> None:
        """Wait until the keeper lets a connection to *address* start."""
        self._tokens += 1
        token = self._tokens
        future = self._starts[token] = asyncio.get_running_loop().create_future()
        self.send_ended()
        self._send(AskStart(token, address, host_key))
        wait_s = await future
        if wait_s > 0:
            await asyncio.sleep(wait_s)

    def granted(self, grants: Iterable[tuple[int, float]]) -> None:
        """Take in (token, seconds to wait first) of connections that may start."""
        for token, wait_s in grants:
            future = self._starts.pop(token, None)
            if future is not None and not future.done():
                future.set_result(wait_s)

    def release(self, address: str) -> None:
        """Note that a connection to *address* ended; ``""`` = there was none to be asked for."""
        if address:
            self._ended.append(address)
            self._released()

    @property
    def ended(self) -> bool:
        """Whether connections ended of which the keeper does not know."""
        return bool(self._ended)

    def send_ended(self) -> None:
        """Tell the keeper which connections ended."""
        if self._ended:
            self._send(Ended(self._ended))
            self._ended = []

    async def counts(self, asked: list[Count]) -> dict[str, bool]:
        """Ask the keeper, who counts for the whole run, whether one more may pass; the answers by role."""
        self._tokens += 1
        token = self._tokens
        future = self._counts[token] = asyncio.get_running_loop().create_future()
        seed = self._seed
        self._send(AskCounts(token, [(count.what, key_of(count.name, seed), count.limit) for count in asked]))
        return dict(zip((count.role for count in asked), await future, strict=True))

    def counted(self, token: int, answers: list[bool]) -> None:
        """Take in the answers to one question of :meth:`counts`."""
        future = self._counts.pop(token, None)
        if future is not None and not future.done():
            future.set_result(answers)
