"""A request's body as it arrives: piece after piece, or read to its end and forgotten."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from ingather.connections import Connection, GateLimits, Phase
from ingather.web.feedgate.refusal import RefusedError
from ingather.web.feedgate.transfer import Framing
from ingather.web.feedgate.wire import Wire

__all__ = ["Body", "TornError"]

_PIECE: Final = 120 * 1024


class TornError(Exception):
    """The connection ended before the body did."""


class Body:
    """The body behind a head.

    Args:
        wire: where it comes from.
        connection: whose bytes are counted.
        framing: where it ends.
        rest: what came with the head.
    """

    def __init__(self, wire: Wire, connection: Connection, framing: Framing, rest: bytes) -> None:
        self._wire = wire
        self._connection = connection
        self._framing = framing
        self._rest = rest
        self.begun = bool(rest)
        self.broken = False
        """Whether its chunks cannot be read: it has no end to wait for."""

    @property
    def done(self) -> bool:
        """Whether all of it has come."""
        return self._framing.done

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body.

        Raises:
            TornError: it has no end.
            RefusedError: its chunks cannot be read.
            OSError: the connection broke.
        """
        self._connection.enter(Phase.BODY, asyncio.get_running_loop().time())
        while not self._framing.done:
            raw = await self._next()
            try:
                piece = self._framing.feed(raw)
            except RefusedError:
                self.broken = True
                raise
            if piece:
                yield piece

    async def drain(self, limits: GateLimits) -> None:
        """Read the rest and forget it, within bounds.

        Raises:
            TornError, RefusedError, OSError: see :meth:`pieces`.
        """
        loop = asyncio.get_running_loop()
        end_s, read = loop.time() + limits.drain_s, 0
        async for piece in self.pieces():
            read += len(piece)
            if read > limits.drain_bytes or loop.time() > end_s:
                return

    async def _next(self) -> bytes:
        raw, self._rest = self._rest, b""
        if not raw:
            raw = await self._wire.receive(_PIECE)
            if not raw:
                raise TornError
            self._connection.got(len(raw))
            self.begun = True
        return raw
