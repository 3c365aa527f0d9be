"""The only thing in the browser's network: a proxy that lets nobody through.

What a page may have is answered through the DevTools protocol, so nothing of good will ever comes here. What comes tried to go
round that (a WebSocket, a service worker, a connection made in advance), and is counted and refused.
"""

import asyncio
import contextlib
import socket

__all__ = ["ClosedDoor"]

_REFUSAL = b"HTTP/1.1 403 Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_HEAD, _PATIENCE_S, _SHOWN = 16 << 10, 5.0, 20


class ClosedDoor:
    """Answers everything with 403 and remembers the first of what was asked; belongs to an event loop."""

    def __init__(self) -> None:
        self.refused = 0
        self.wanted: list[str] = []
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def listen(self, listening: socket.socket) -> None:
        """Stand behind *listening*, which becomes ours."""
        self._server = await asyncio.start_server(self._answer, sock=listening, limit=_HEAD)

    async def close(self) -> None:
        """Go away."""
        if self._server is not None:
            self._server.close()
            for writer in self._open:
                writer.transport.abort()
            await self._server.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            with contextlib.suppress(
                OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError
            ):
                async with asyncio.timeout(_PATIENCE_S):
                    line = (await reader.readuntil(b"\n")).decode("latin-1").strip()
                    self.refused += 1
                    if len(self.wanted) < _SHOWN:
                        self.wanted.append(line[:200])
                    await reader.readuntil(b"\r\n\r\n")
                    writer.write(_REFUSAL)
                    await writer.drain()
        finally:
            self._open.discard(writer)
            writer.close()
