"""A loopback server that does exactly as it is told, and a fetcher aimed at it."""

import asyncio
import shutil
import ssl
import subprocess
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Self

import pytest
import uvloop

from ingather.fetch.http import HttpFetcher
from ingather.fetch.limits import Limits
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope

Answer = bytes | Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

LOOPBACK = Scope(source="here", addresses=("127.0.0.0/8", "::1/128"))
PATIENT = Limits()


class HostClock:
    """The machine's own clocks."""

    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()


class HandClock:
    """A clock that moves when it is told to."""

    def __init__(self, wall_s: float = 1_000_000.0) -> None:
        self.now_s = wall_s

    def monotonic(self) -> float:
        return self.now_s

    def wall(self) -> float:
        return self.now_s


class Names:
    """A resolver with a table; counts its questions. A value that is an error is raised."""

    def __init__(self, table: dict[str, Sequence[str] | OSError] | None = None) -> None:
        self.table = table or {}
        self.asked: list[str] = []

    async def resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answer = self.table.get(host, ())
        if isinstance(answer, OSError):
            raise answer
        return answer


class Lab:
    """Serve *routes* on 127.0.0.1 and fetch from there.

    A route is bytes, sent as they are, or a coroutine that is given reader and writer; the
    connection is kept after bytes that do not say ``Connection: close``, and closed after a
    coroutine. *raw* is given each connection before anything is read. ``heads`` are the request heads as they came, ``connections`` how many were made.
    """

    def __init__(  # noqa: PLR0913 - a bench with many screws
        self,
        routes: dict[str, Answer] | None = None,
        *,
        limits: Limits = PATIENT,
        names: Names | None = None,
        own_ports: set[tuple[str, int]] | None = None,
        tls: ssl.SSLContext | None = None,
        raw: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]] | None = None,
        ca_file: str | None = None,
        email: str = "operator@example.org",
        max_connections: int = 64,
    ) -> None:
        self.routes = routes or {}
        self.heads: list[bytes] = []
        self.connections = 0
        self.closed = 0
        self.port = 0
        self.names = names or Names()
        self._tls = tls
        self._raw = raw
        self._tasks: set[asyncio.Task[None]] = set()
        self.own_ports = own_ports if own_ports is not None else set()
        self.fetcher = HttpFetcher(
            limits,
            user_agent="Ingather/0.1 (+https://ingather.example/robot)",
            email=email,
            resolver=self.names,
            own_ports=self.own_ports,
            max_connections=max_connections,
            clock=HostClock(),
            ca_file=ca_file,
        )

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.fetcher.close()
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    async def get(self, path: str, scope: Scope = LOOPBACK, **parts: Any) -> Response | Failure:
        url = path if "://" in path else self.url(path)
        return await self.fetcher.fetch(Request(url, **parts), scope)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            if self._raw is not None:
                await self._raw(reader, writer)
            while self._raw is None and await self._serve(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.closed += 1
            writer.transport.abort()
            self._tasks.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        answer = self.routes.get(head.split(b" ", 2)[1].decode(), reply(status="404 Not Found"))
        if not isinstance(answer, bytes):
            await answer(reader, writer)
            return False
        writer.write(answer)
        await writer.drain()
        if b"connection: close" in answer.lower():
            writer.close()
            await writer.wait_closed()
            return False
        return True


def reply(body: bytes = b"", *fields: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """Make the bytes of a response with ``Content-Length``."""
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Length: {len(body) if length is None else length}",
        *fields,
        "",
        "",
    ]
    return "\r\n".join(lines).encode("latin-1") + body


@pytest.fixture
def lab() -> type[Lab]:
    return Lab


@pytest.fixture(name="reply")
def reply_fixture() -> Callable[..., bytes]:
    return reply


@pytest.fixture
def names() -> type[Names]:
    return Names


@pytest.fixture
def hand_clock() -> HandClock:
    return HandClock()


@pytest.fixture
def loopback() -> Scope:
    return LOOPBACK


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Callable[[Coroutine[Any, Any, None]], None]:
    """Run a coroutine on each of the loops that the product may use."""
    factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop

    def runs(main: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(main)

    return runs


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate for localhost and 127.0.0.1, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("the openssl command is not there to make a certificate (apt-get install openssl)")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-keyout", str(key), "-out", str(cert), "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    return cert, key


@pytest.fixture
def server_tls(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context
