"""One request to the misbehaving server, and the means to answer it wrongly."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus

__all__ = ["Exchange", "Fault", "page"]

_REASONS = {status.value: status.phrase for status in HTTPStatus}


@dataclass(slots=True)
class Exchange:
    """One request and the means to answer it wrongly."""

    writer: asyncio.StreamWriter
    path: str
    argument: str
    host: str
    times: int
    pause_s: float
    method: str = "GET"

    async def send(self, data: bytes) -> None:
        """Write bytes as they are; ends the exchange when the client has gone."""
        self.writer.write(data)
        await self.writer.drain()

    async def head(self, status: int = 200, *headers: tuple[str, str]) -> None:
        """Write a status line and headers."""
        lines = [
            f"HTTP/1.1 {status} {_REASONS.get(status, 'Odd')}",
            *(f"{n}: {v}" for n, v in headers),
            "Connection: close",
        ]
        await self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    async def reply(
        self, body: bytes = b"", status: int = 200, *headers: tuple[str, str], kind: str = "text/html"
    ) -> None:
        """Write a correct response."""
        await self.head(status, ("Content-Type", kind), ("Content-Length", str(len(body))), *headers)
        if self.method != "HEAD":
            await self.send(body)

    async def for_ever(self, data: bytes, pause_s: float = 0.0) -> None:
        """Write *data* again and again until the client goes away."""
        while True:
            await self.send(data)
            await asyncio.sleep(pause_s)

    async def silence(self) -> None:
        """Say nothing until the client goes away or the server stops."""
        await asyncio.Event().wait()


Fault = Callable[[Exchange], Awaitable[None]]
"""Answers one request; its docstring says what is wrong."""


def page(title: str, *links: str) -> bytes:
    """Return a small page with links."""
    items = "".join(f"<li><a href='{link}'>{link}</a></li>" for link in links)
    return f"<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1><ul>{items}</ul></body></html>".encode()
