"""A connection's bytes, bare or under TLS, without buffers that grow: what is not asked for stays in the kernel."""

import asyncio
import contextlib
import socket
import ssl
from typing import Final, Protocol

__all__ = ["PlainWire", "TlsWire", "Wire"]

_CIPHERTEXT: Final = 32 * 1024


class Wire(Protocol):
    """Both ways of a connection; *secure*: under TLS."""

    secure: bool

    async def open(self) -> None:
        """Do what must be done before the first byte.

        Raises:
            OSError: it failed.
        """

    async def receive(self, size: int) -> bytes:
        """Return at most *size* bytes, ``b""`` at the end.

        Raises:
            OSError: the connection broke.
        """

    async def send(self, data: bytes) -> None:
        """Send all of *data*.

        Raises:
            OSError: the connection broke.
        """

    async def finish(self) -> None:
        """Say that no more will be sent; errors do not matter any more."""


class PlainWire:
    """A socket that does not block."""

    secure = False

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._loop = asyncio.get_running_loop()

    async def open(self) -> None:
        """Nothing to do."""

    async def receive(self, size: int) -> bytes:
        """See :class:`Wire`."""
        return await self._loop.sock_recv(self._sock, size)

    async def send(self, data: bytes) -> None:
        """See :class:`Wire`."""
        await self._loop.sock_sendall(self._sock, data)

    async def finish(self) -> None:
        """See :class:`Wire`."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)


class TlsWire:
    """The same under TLS, over two memory buffers of OpenSSL's."""

    secure = True

    def __init__(self, sock: socket.socket, context: ssl.SSLContext) -> None:
        self._plain = PlainWire(sock)
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)

    async def open(self) -> None:
        """Shake hands."""
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._flush()
                if not await self._fill():
                    raise ConnectionResetError from None
            except ssl.SSLError:
                await self._flush()  # the alert
                raise
            else:
                await self._flush()
                return

    async def receive(self, size: int) -> bytes:
        """See :class:`Wire`."""
        while True:
            try:
                return self._tls.read(size)
            except ssl.SSLWantReadError:
                await self._flush()
                if not await self._fill():
                    return b""
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""

    async def send(self, data: bytes) -> None:
        """See :class:`Wire`."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._tls.write(rest) :]
            await self._flush()

    async def finish(self) -> None:
        """See :class:`Wire`."""
        with contextlib.suppress(OSError):
            try:
                self._tls.unwrap()
            except ssl.SSLError:  # it wants the peer's farewell, for which nobody waits
                await self._flush()
            await self._plain.finish()

    async def _fill(self) -> bool:
        data = await self._plain.receive(_CIPHERTEXT)
        if not data:
            self._incoming.write_eof()
            return False
        self._incoming.write(data)
        return True

    async def _flush(self) -> None:
        if self._outgoing.pending:
            await self._plain.send(self._outgoing.read())
