"""A small proxy: requests in absolute form (answers with Content-Length alone), CONNECT, SOCKS4a and SOCKS5; it can want a password, refuse, or break off."""

import asyncio
import base64
import contextlib
import re
from typing import Final, Self
from urllib.parse import urlsplit

__all__ = ["KitProxy"]

_LAST: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class KitProxy:
    """Listens on 127.0.0.1 within the running loop; an asynchronous context manager.

    Whatever name is asked for, it connects to 127.0.0.1 at the port of the request, so that names need not exist.

    Args:
        socks: speaks SOCKS instead of HTTP.
        login: ``user:password`` that it wants, ``""`` = none.
        dies: ``connect``: every connection is closed at once; ``request``: after the first bytes.
        refuses: status that answers each request or CONNECT, 0 = it is carried out.
        port: where it listens, 0 = anywhere.

    Attributes:
        heads: what was asked of it: request heads, or ``SOCKS5 host:port``.
        connections: how many were taken.
        port: where it listens.
    """

    def __init__(
        self, *, socks: bool = False, login: str = "", dies: str = "", refuses: int = 0, port: int = 0
    ) -> None:
        self.heads: list[bytes] = []
        self.connections = 0
        self.port = port
        self._socks, self._login, self._dies, self._refuses = socks, login, dies, refuses
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Listen."""
        self._server = await asyncio.start_server(self._take, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Close everything."""
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            if self._dies != "connect":
                with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                    await (
                        self._speak_socks(reader, writer) if self._socks else self._speak_http(reader, writer)
                    )
        except asyncio.CancelledError:
            pass
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            self._tasks.discard(task)

    # -- HTTP

    async def _speak_http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(_LAST)
            self.heads.append(head)
            if self._dies:
                return
            method, target = head.decode("latin-1").split(" ", 2)[:2]
            if self._login and not self._knows(head):
                writer.write(
                    b'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="kit"\r\nContent-Length: 4\r\n\r\nwho?'
                )
            elif self._refuses:
                writer.write(b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % self._refuses)
            elif method == "CONNECT":
                far = await asyncio.open_connection("127.0.0.1", int(target.rpartition(":")[2]))
                writer.write(b"HTTP/1.1 200 Through\r\nX-Kit: connect\r\n\r\n")
                await _join(reader, writer, *far)
                return
            else:
                await self._forward(method, target, head, writer)
            await writer.drain()

    def _knows(self, head: bytes) -> bool:
        token = base64.b64encode(self._login.encode())
        return b"\r\nProxy-Authorization: Basic " + token in head

    async def _forward(self, method: str, target: str, head: bytes, writer: asyncio.StreamWriter) -> None:
        parts = urlsplit(target)
        reader, far = await asyncio.open_connection("127.0.0.1", parts.port or 80)
        try:
            lines = [line for line in head.split(b"\r\n")[1:-2] if not line.lower().startswith(b"proxy-")]
            path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
            far.write(
                f"{method} {path} HTTP/1.1\r\n".encode()
                + b"\r\n".join([*lines, b"Connection: close"])
                + _LAST
            )
            answer = await reader.readuntil(_LAST)
            length = _LENGTH.search(answer)
            writer.write(answer + await reader.readexactly(int(length[1]) if length else 0))
        finally:
            far.close()
            with contextlib.suppress(OSError):
                await far.wait_closed()

    # -- SOCKS

    async def _speak_socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        version = (await reader.readexactly(1))[0]
        if self._dies:
            return
        port = await (self._four(reader, writer) if version == 4 else self._five(reader, writer))  # noqa: PLR2004
        if port:
            far = await asyncio.open_connection("127.0.0.1", port)
            await _join(reader, writer, *far)

    async def _four(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        await reader.readexactly(1)
        port = int.from_bytes(await reader.readexactly(2), "big")
        await reader.readexactly(4)
        await reader.readuntil(b"\0")
        host = (await reader.readuntil(b"\0"))[:-1]
        self.heads.append(b"SOCKS4 %s:%d" % (host, port))
        writer.write(b"\0\x5a" + bytes(6))
        return port

    async def _five(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        await reader.readexactly((await reader.readexactly(1))[0])
        writer.write(b"\5\2" if self._login else b"\5\0")
        if self._login:
            await reader.readexactly(1)
            user = await reader.readexactly((await reader.readexactly(1))[0])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            good = user + b":" + password == self._login.encode()
            writer.write(b"\1\0" if good else b"\1\1")
            if not good:
                return 0
        kind = (await reader.readexactly(4))[3]
        if kind == 3:  # noqa: PLR2004 - a name
            host = await reader.readexactly((await reader.readexactly(1))[0])
        else:
            host = await reader.readexactly(4 if kind == 1 else 16)
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.heads.append(b"SOCKS5 %s:%d" % (host if kind == 3 else b"address", port))  # noqa: PLR2004
        writer.write(bytes((5, self._refuses and 5, 0, 1)) + bytes(6))
        return 0 if self._refuses else port


async def _join(
    one: asyncio.StreamReader, one_out: asyncio.StreamWriter, other: asyncio.StreamReader, other_out: asyncio.StreamWriter
) -> None:  # fmt: skip
    """Carry bytes both ways until one side ends."""

    async def carry(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65_536):
                sink.write(data)
                await sink.drain()

    ways = [asyncio.create_task(carry(one, other_out)), asyncio.create_task(carry(other, one_out))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        other_out.close()
        with contextlib.suppress(OSError):
            await other_out.wait_closed()
