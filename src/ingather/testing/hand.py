"""A gatherer in this process, and its keeper's end of the wire in the hand of whoever tests.

Everything is real but the keeper: fetcher, politeness, robots.txt, filters, converters. :class:`RawServer` answers it byte for byte on
loopback. Both belong to one event loop.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self

from ingather.app.clock import SystemClock
from ingather.app.confined.pool import ConverterLimits, ConverterPool
from ingather.app.reaching.ways import Between
from ingather.catalog.bodies import SegmentWriter
from ingather.conf import load_bodies
from ingather.fetch import RobotsLimits, SystemResolver
from ingather.fetch.http import HttpFetcher
from ingather.fetch.limits import Limits
from ingather.fetch.proxies.routing import Router
from ingather.filters import Engine
from ingather.model.intent import Intent
from ingather.model.polled import Polled, decode_polled
from ingather.model.report import Claim, HostGrant, Report
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.model.url import Canonicaliser
from ingather.model.urlparts import host_key, split
from ingather.ports.renderer import NotAsked, Renderer
from ingather.robot.frontier.seen import Seen
from ingather.robot.gatherer import Gatherer
from ingather.robot.gathererlimits import GathererLimits
from ingather.robot.politeness.hostbook import HostBook
from ingather.robot.politeness.hosts import HostPolicy
from ingather.robot.politeness.waygate import WayFinder
from ingather.robot.visit.discovering import Discoverer
from ingather.robot.visit.listed import ListedRules
from ingather.robot.visit.pipeline import Pipeline
from ingather.robot.visit.polling import Polling
from ingather.robot.visit.reading import Reading
from ingather.robot.visit.rendering import Rendering
from ingather.robot.visit.softnotfound import SoftNotFound
from ingather.robot.wire import (
    AskCounts,
    AskStart,
    Counted,
    HandBack,
    Kept,
    Refused,
    Reports,
    Rested,
    Starts,
    Stop,
    Ways,
    Work,
    decode_to_keeper,
    frame,
    read_frame,
)

__all__ = ["Hand", "RawServer", "answer"]

_PATIENCE_S = 120.0
_FILTERS = (
    '<Filter name="enumeration-default">\n{lines}Enumerate fn=enumerate-urls max=1024 type=text/html\n</Filter>\n'
    '<Filter name="generation-default">\n{lines}</Filter>\n'
)


def answer(
    body: bytes | str = b"", status: int = 200, *headers: tuple[str, str], length: int | None = -1
) -> bytes:
    """Return a response as it travels; *length*: what it says of its body, -1 = the truth, ``None`` = nothing."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} Some", "Connection: close", *(f"{name}: {value}" for name, value in headers)]
    if length is not None:
        lines.append(f"Content-Length: {len(data) if length < 0 else length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + data


def _scope(source: str) -> Scope:
    return Scope(source, addresses=("127.0.0.0/8",))


Said = bytes | Callable[[Mapping[str, str], asyncio.StreamWriter], Awaitable[bytes]]
"""Bytes to send, or what makes them of the request's headers (lower case), perhaps writing by itself before."""


class RawServer:
    """Says what it was told, on two loopback addresses; anything else is 404. Use as an asynchronous context manager.

    Attributes:
        said: path -> what is sent; the connection closes behind it.
        asked: (host, path, headers by lower-case name) of every request, in order, robots.txt included.
        origin, other: of the two addresses.
    """

    def __init__(self) -> None:
        self.said: dict[str, Said] = {}
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.origin = self.other = ""
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        for address in ("127.0.0.1", "127.0.0.2"):
            port = int(self.origin.rpartition(":")[2]) if self.origin else 0
            listener = socket.create_server((address, port))
            self._servers.append(await asyncio.start_server(self._serve, sock=listener))
            url = f"http://{address}:{listener.getsockname()[1]}"
            self.origin, self.other = self.origin or url, url
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for server in self._servers:
            server.close()
            await server.wait_closed()

    def paths(self) -> list[str]:
        """Return the paths that were asked for, robots.txt left out."""
        return [path for _, path, _ in self.asked if path != "/robots.txt"]

    def clear(self) -> None:
        """Forget answers and requests."""
        self.said.clear()
        self.asked.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        self.asked.append((headers.get("host", ""), path, headers))
        said = self.said.get(path, answer("nothing here", 404))
        writer.write(said if isinstance(said, bytes) else await said(headers, writer))
        await writer.drain()


class Hand:
    """A gatherer; use as an asynchronous context manager.

    Attributes:
        rules: of the sources; may be changed between visits.
        messages: what the gatherer said beside reports (starts, refusals, claims handed back).
    """

    def __init__(  # noqa: PLR0913 - circumstances, each with its default
        self,
        folder: Path,
        *,
        rules: Mapping[str, ListedRules] | None = None,
        lines: str = "",
        limits: Limits | None = None,
        converters: ConverterLimits | None = None,
        delay_s: float = 0.01,
        gathering: GathererLimits | None = None,
        renderer: Renderer | None = None,
        javascript: str = "auto",
        soft_404: bool = False,
        routing: Router | None = None,
        ways: WayFinder | None = None,
    ) -> None:
        self.rules: dict[str, ListedRules] = dict(rules or {})
        self.messages: list[object] = []
        loaded = load_bodies(
            {
                "filter.conf": _FILTERS.format(lines=lines).encode(),
                "robot.conf": b"",
                "mime.types": b"text/html html\n",
            }
        )
        assert loaded.ok, [str(finding) for finding in loaded.diagnostics]
        clock = self.clock = SystemClock()
        resolver = SystemResolver(clock)
        self._fetcher = HttpFetcher(
            limits or Limits(), user_agent="Hand/1", email="", resolver=resolver, clock=clock, routing=routing
        )
        self._pool = ConverterPool(count=1, clock=clock, limits=converters, folder=folder / "converters")
        self._segment = SegmentWriter(folder / "bodies", "hand", max_bytes=64 << 20)
        self._engine = Engine(loaded, counted_elsewhere=True)
        reading = Reading(
            isolation=self._pool, slot=None, clock=clock, agent="hand", canonicaliser=Canonicaliser(())
        )
        rendering = None
        if renderer is not None:
            rendering = Rendering(
                renderer, reading=reading, modes=lambda _: javascript, scopes=_scope, errand=self._errand
            )
        self.pipeline = Pipeline(
            engine=self._engine, discoverer=Discoverer(self._engine, version=1, seed=1), segment=self._segment,
            reading=reading, clock=clock, seen=Seen(), rules=self.rules.get, rendering=rendering,
            soft=SoftNotFound(self._errand, _scope, clock, Random(1)) if soft_404 else None,  # noqa: S311 - names
        )  # fmt: skip
        hosts = HostBook(
            agent="hand", policy=lambda _host, _source, _own: HostPolicy(delay_s=delay_s), obey=True, limits=RobotsLimits(),
            clock=clock, own=lambda _host, _port: False,
        )  # fmt: skip
        self._gatherer = Gatherer(
            slot=0, pid=0, pipeline=self.pipeline, fetcher=self._fetcher, resolver=resolver, segment=self._segment,
            polling=Polling(answering=self.pipeline.answering, isolation=self._pool, slot=None, clock=clock), hosts=hosts,
            scopes=_scope, clock=clock, dice=Random(1),  # noqa: S311 - jitter
            ways=ways or Between(routing, None), rules=self.rules.get, limits=gathering or GathererLimits(flush_s=0.0),
        )  # fmt: skip
        self._reports: dict[int, asyncio.Future[Report]] = {}
        self._hosts: dict[str, int] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._writer: asyncio.StreamWriter | None = None

    async def _errand(self, request: Request, scope: Scope) -> Response | Failure | NotAsked:
        return await self._gatherer.errand(request, scope)

    async def __aenter__(self) -> Self:
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=theirs)
        own_reader, self._writer = await asyncio.open_connection(sock=ours)
        self._theirs = writer
        self._tasks = [
            asyncio.create_task(self._gatherer.run(reader, writer)),
            asyncio.create_task(self._keep(own_reader)),
        ]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        running, keeping = self._tasks
        self._send(Stop())
        try:
            await asyncio.wait_for(running, _PATIENCE_S)
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            for writer in (self._theirs, self._writer):
                if writer is not None:
                    writer.close()
                    with suppress(ConnectionError):
                        await writer.wait_closed()
            await self._pool.close()
            await self._fetcher.close()
            self._engine.shut_down()
            self._segment.close()

    async def visit(  # noqa: PLR0913 - what a claim has
        self,
        url: str,
        intent: Intent = Intent.NONE,
        *,
        source: str = "news",
        etag: str = "",
        last_modified: str = "",
        digest: bytes = b"",
        version: int = 1,
        suspect: bool = False,
    ) -> Report:
        """Have canonical *url* visited; the report as the keeper gets it."""
        return await asyncio.wait_for(
            self.begin(url, intent, source=source, etag=etag, last_modified=last_modified, digest=digest, version=version, suspect=suspect),
            _PATIENCE_S,
        )  # fmt: skip

    def begin(  # noqa: PLR0913 - what a claim has
        self,
        url: str,
        intent: Intent = Intent.NONE,
        *,
        source: str = "news",
        etag: str = "",
        last_modified: str = "",
        digest: bytes = b"",
        version: int = 1,
        suspect: bool = False,
    ) -> asyncio.Future[Report]:
        """Lend *url* and return what will be its report."""
        parts = split(url)
        grants = []
        if parts.origin not in self._hosts:
            self._hosts[parts.origin] = len(self._hosts) + 1
            number = self._hosts[parts.origin]
            grants.append(HostGrant(number, parts.origin, host_key(parts.origin), own=False, visited=False))
        number = len(self._reports) + 1
        future = self._reports[number] = asyncio.get_running_loop().create_future()
        claim = Claim(
            number, self._hosts[parts.origin], parts.path, 0, None, source, 0, etag, last_modified, digest, version,
            suspect=suspect, intent=int(intent),
        )  # fmt: skip
        self._send(Work([claim], grants))
        return future

    async def poll(self, url: str, intent: Intent = Intent.FEED, **claim: object) -> Polled:
        """Have a feed polled; what its report says of it."""
        report = await self.visit(url, intent, **claim)  # type: ignore[arg-type]
        assert report.polled
        return decode_polled(report.polled)

    def _send(self, message: object) -> None:
        assert self._writer is not None
        self._writer.write(frame(message))

    async def _keep(self, reader: asyncio.StreamReader) -> None:
        """Be a keeper that lets everything start."""
        while (body := await read_frame(reader)) is not None:
            match decode_to_keeper(body):
                case AskStart(token=token) as asked:
                    self.messages.append(asked)
                    self._send(Starts([(token, 0.0)]))
                case AskCounts(token=token, counts=counts):
                    self._send(Counted(token, [True for _ in counts]))
                case Reports(reports=reports):
                    self._send(Kept(len(reports)))
                    for report in reports:
                        if not self._reports[report.id].done():
                            self._reports[report.id].set_result(report)
                case Refused() | HandBack() | Rested() | Ways() as said:
                    self.messages.append(said)
                case _:
                    pass
