"""A loopback host that asks a handler, one state for each connection, and a fetcher with logins aimed at it."""

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest
import uvloop

from ingather.fetch.http import Asking, HttpFetcher
from ingather.fetch.limits import Limits
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.testing.papers import make_papers

LOOPBACK = Scope(source="here", addresses=("127.0.0.0/8", "::1/128"))


class HostClock:
    """The machine's own clocks, moved on by ``ahead_s``."""

    ahead_s = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead_s

    def wall(self) -> float:
        return time.time() + self.ahead_s


@dataclass
class Asked:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int
    state: dict[str, Any] = field(repr=False, default_factory=dict)
    """Of its connection."""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


Told = tuple[int, list[tuple[str, str]], bytes]
Handler = Callable[[Asked], Told | Awaitable[Told]]


class Host:
    """Answers by *handler*; ``asked`` is everything that came."""

    def __init__(self, handler: Handler, tls: ssl.SSLContext | None = None) -> None:
        self.handler, self._tls = handler, tls
        self.asked: list[Asked] = []
        self.connections = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]
        self.origin = f"{'https' if self._tls else 'http'}://localhost:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        number, state = self.connections, {"tls": writer.get_extra_info("ssl_object")}
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, target, _ = head[0].split(" ", 2)
                headers = {}
                for line in head[1:]:
                    name, colon, value = line.partition(":")
                    if colon:
                        headers[name.lower()] = value.strip()
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                asked = Asked(method, target, headers, body, number, state)
                self.asked.append(asked)
                told = self.handler(asked)
                status, fields, content = told if isinstance(told, tuple) else await told
                lines = [
                    f"HTTP/1.1 {status} X",
                    f"Content-Length: {len(content)}",
                    *(f"{k}: {v}" for k, v in fields),
                ]
                writer.write(
                    "\r\n".join([*lines, "", ""]).encode("latin-1") + (b"" if method == "HEAD" else content)
                )
                await writer.drain()
                if state.get("close"):
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            self._tasks.discard(task)


class Names:
    """Every name is this machine."""

    async def resolve(self, host: str) -> tuple[str, ...]:
        return ("127.0.0.1",)


class Aimed:
    """A fetcher whose logins a function picks, or with one for everything; use as an async context manager."""

    def __init__(
        self,
        pick: Callable[[str, str], Asking | None] | Asking,
        ca_file: Path | None = None,
        max_connections: int = 64,
    ) -> None:
        def found(url: str, source: str) -> Asking | None:
            return pick(url, source) if callable(pick) else pick

        self.fetcher = HttpFetcher(
            Limits(), user_agent="t/1", email="", resolver=Names(), clock=HostClock(), logins=found,
            ca_file=None if ca_file is None else str(ca_file), max_connections=max_connections,
        )  # fmt: skip

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.fetcher.close()

    async def get(self, url: str, source: str = "here") -> Response | Failure:
        scope = LOOPBACK if source == "here" else Scope(source=source, addresses=("127.0.0.0/8",))
        return await self.fetcher.fetch(Request(url), scope)


@dataclass
class Paper:
    """A ledger that is a list."""

    lines: list[str] = field(default_factory=list)

    def begin(self, *, eager: bool = False) -> bool:
        self.lines.append("begin")
        return True

    def ended(self, *, refused: bool, text: str = "") -> None:
        self.lines.append("refused" if refused else "ended")

    def succeeded(self) -> None:
        self.lines.append("succeeded")

    def closed(self, *, eager: bool = True) -> None:
        return None

    def tried(self) -> bool:
        return False

    def doubted(self) -> bool:
        return False


@pytest.fixture
def host() -> type[Host]:
    return Host


@pytest.fixture
def aimed() -> type[Aimed]:
    return Aimed


@pytest.fixture
def clock() -> HostClock:
    return HostClock()


@pytest.fixture
def paper() -> type[Paper]:
    return Paper


@pytest.fixture
def run() -> Callable[[Coroutine[Any, Any, None]], None]:
    def runs(main: Coroutine[Any, Any, None]) -> None:
        async def limited() -> None:
            async with asyncio.timeout(120):
                await main

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(limited())

    return runs


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a CA (ca.pem), a server for localhost, and clients anna and bert (NAME.pem, NAME.key, bert's key closed)."""
    folder = tmp_path_factory.mktemp("papers")
    if not make_papers(folder):
        pytest.skip("the openssl command is not there to make certificates (apt-get install openssl)")
    return folder
