"""A synthetic web over real HTTP on loopback, which remembers every request it got.

HTTP/1.1 with keep-alive, ETag and Last-Modified, GET and HEAD; about 10,000 pages a
second of one core. Sites are told apart by address (127.0.0.1, 127.0.0.2, ...), by port, or
by name (``site1.localhost``, for resolvers that know it). Runs in a thread of its own
(:class:`SyntheticServer`) or as a process (``python -m ingather.testing.web``, driven by
:class:`ingather.testing.process.ServerProcess`).

Beside the sites' own paths a process answers ``/-/requests`` (what was asked so far, one JSON
array a line) and ``/-/generation?N`` (let the web change); these are not remembered.
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from typing import Literal, Self

import uvloop

from ingather.testing.connection import Connection, Seen
from ingather.testing.oracle import HostRules, PolitenessOracle, Violation
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

__all__ = ["Naming", "Seen", "SyntheticServer", "judge_requests", "main"]

Naming = Literal["address", "port", "name"]
Override = Answer | Callable[[int], Answer | None]

_ATTEMPTS = 20
_STOP_S = 60.0
"""Longest wait for the thread: an answer that a test computes may be waiting for something."""


class SyntheticServer:
    """Serves *web* in a thread; use as a context manager, or :meth:`start` and :meth:`stop`.

    Attributes:
        web: the web at its real addresses.
        origins: ``http://host:port`` of each site.
        requests: everything that was asked, in order of arrival; read it at any time.
        latency_s: each answer comes this much later; may be changed at any time.
        live: open connections.
    """

    def __init__(
        self, web: SyntheticWeb, *, naming: Naming = "address", port: int = 0, latency_s: float = 0.0
    ) -> None:
        self.latency_s = latency_s
        self.requests: list[Seen] = []
        self._overrides: dict[str, Override] = {}
        self._asked: dict[str, int] = {}
        self._sockets, hosts = _listen(len(web.origins), naming, port)
        self.hosts = {host: site for site, host in enumerate(hosts)}
        self.origins = tuple(f"http://{host}" for host in hosts)
        self.web = web.at(self.origins)
        self._numbers = count(1)
        self.live: set[Connection] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop: asyncio.Event | None = None
        self._failed: Exception | None = None

    def start(self) -> Self:
        """Begin to answer; returns when it does.

        Raises:
            OSError: it cannot listen.
        """
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="synthetic-web", daemon=True)
        self._thread.start()
        ready.wait()
        if self._failed is not None:
            self.stop()
            raise self._failed
        return self

    def stop(self) -> None:
        """Close everything and wait for the thread.

        Raises:
            TimeoutError: an answer holds the thread.
        """
        thread, self._thread = self._thread, None
        if thread is not None:
            if self._loop is not None:
                with suppress(RuntimeError):  # it has ended by itself
                    self._loop.call_soon_threadsafe(self.close)
            thread.join(_STOP_S)
            if thread.is_alive():
                msg = "the synthetic web does not end: one of its answers waits for something"
                raise TimeoutError(msg)
        for sock in self._sockets:
            sock.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def override(self, url: str, answer: Override | None) -> None:
        """Answer *url* (origin and path) otherwise from now on.

        *answer* may be a function of how often the URL was asked before (0 first); when it
        returns ``None``, the web answers. ``None`` takes an override back.
        """
        key = url.partition("://")[2]
        if answer is None:
            self._overrides.pop(key, None)
        else:
            self._asked[key] = 0
            self._overrides[key] = answer

    def paths(self, site: int | None = None) -> list[str]:
        """Return what was asked, in order: URLs, or paths of one *site*."""
        if site is None:
            return [f"http://{seen.host}{seen.path}" for seen in list(self.requests)]
        return [seen.path for seen in list(self.requests) if self.hosts.get(seen.host) == site]

    def answer(self, host: str, path: str) -> Answer:
        """Return what is answered to a GET, overrides included; unknown hosts give 421."""
        key = host + path
        override = self._overrides.get(key)
        if override is not None:
            asked = self._asked[key]
            self._asked[key] = asked + 1
            got = override if isinstance(override, Answer) else override(asked)
            if got is not None:
                return got
        site = self.hosts.get(host)
        if path.startswith("/-/"):
            return self._control(path)
        return (
            Answer(421, (("Content-Type", "text/plain"),), b"")
            if site is None
            else self.web.answer(site, path)
        )

    def _control(self, path: str) -> Answer:
        command, _, argument = path[3:].partition("?")
        if command == "generation" and argument.isdigit():
            self.web.generation = int(argument)
            return Answer(200, (("Content-Type", "text/plain"),), argument.encode())
        if command == "requests":
            lines = "".join(f"{json.dumps(seen)}\n" for seen in list(self.requests))
            return Answer(200, (("Content-Type", "application/x-ndjson"),), lines.encode())
        return Answer(404)

    def _run(self, ready: threading.Event) -> None:
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(self.serve(ready.set))
        except Exception as error:  # noqa: BLE001 - whoever starts the server is told
            self._failed = error
        finally:
            ready.set()

    def close(self) -> None:
        """End :meth:`serve`; to be called in its loop."""
        if self._stop is not None:
            self._stop.set()

    async def serve(self, ready: Callable[[], None]) -> None:
        """Answer until :meth:`close`; *ready* is called when connections are accepted."""
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        servers = [
            await self._loop.create_server(
                lambda: Connection(self, next(self._numbers)), sock=sock, backlog=512
            )
            for sock in self._sockets
        ]
        ready()
        await self._stop.wait()
        for server in servers:
            server.close()
        for connection in list(self.live):
            connection.abort()
        for server in servers:
            await server.wait_closed()


def judge_requests(
    requests: Iterable[Seen],
    rules: dict[str, HostRules] | None = None,
    *,
    default: HostRules | None = None,
    tolerance_s: float = 0.05,
    by_address: bool = True,
) -> list[Violation]:
    """Let the oracle judge what a server saw; hosts by the name in the Host header, addresses likewise.

    *tolerance_s* forgives what lies between the decision to start and the server's clock.
    """
    oracle = PolitenessOracle(rules, default=default, tolerance_s=tolerance_s)
    events = [
        event
        for seen in requests
        for event in (
            (seen.at_s, 1, seen.host),
            (seen.ended_s, 0 if seen.ended_s > seen.at_s else 2, seen.host),
        )
    ]
    for at_s, kind, host in sorted(events):
        address = host.partition(":")[0] if by_address else host
        if kind == 1:
            oracle.started(at_s, host, address)
        else:
            oracle.ended(at_s, host, address)
    return oracle.violations


def _listen(sites: int, naming: Naming, port: int) -> tuple[list[socket.socket], list[str]]:
    """Open the listening sockets; return them and the sites' host keys (``127.0.0.2:8080``)."""
    for attempt in range(_ATTEMPTS):
        sockets: list[socket.socket] = []
        try:
            if naming == "port":
                sockets += (_bound("127.0.0.1", port + n if port else 0) for n in range(sites))
                return sockets, [f"127.0.0.1:{s.getsockname()[1]}" for s in sockets]
            sockets.append(_bound("127.0.0.1", port))
            number = sockets[0].getsockname()[1]
            if naming == "name":
                return sockets, [f"site{n}.localhost:{number}" for n in range(sites)]
            names = [f"127.0.{n >> 8}.{n & 255}" for n in range(1, sites + 1)]
            sockets += (_bound(name, number) for name in names[1:])
        except OSError:
            # The port that the first address got may be taken at another: try the next.
            for sock in sockets:
                sock.close()
            if port or attempt == _ATTEMPTS - 1:
                raise
        else:
            return sockets, [f"{name}:{number}" for name in names]
    raise AssertionError


def _bound(address: str, port: int) -> socket.socket:
    sock = socket.socket()
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((address, port))
        # With SO_REUSEADDR two that do not listen yet may have the same port.
        sock.listen(512)
    except OSError:
        sock.close()
        raise
    return sock


def main(arguments: list[str] | None = None) -> int:
    """Serve a web until terminated; print the sites' origins, one a line."""
    parser = argparse.ArgumentParser(prog="python -m ingather.testing.web", description="a synthetic web")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--naming", choices=("address", "port", "name"), default="address")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--generation", type=int, default=0)
    parser.add_argument("--with-parent", action="store_true", help="end when the starting process does")
    shape = WebShape()
    for name in WebShape.__slots__:
        default = getattr(shape, name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    options = parser.parse_args(arguments)
    chosen = WebShape(**{name: getattr(options, name) for name in WebShape.__slots__})
    web = SyntheticWeb(options.seed, chosen)
    web.generation = options.generation
    try:
        server = SyntheticServer(web, naming=options.naming, port=options.port, latency_s=options.latency)
    except OSError as error:
        print(f"cannot listen: {error}", file=sys.stderr)  # noqa: T201 - a program
        return 1
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(server, with_parent=options.with_parent))
    return 0


async def _serve(server: SyntheticServer, *, with_parent: bool) -> None:
    loop, parent = asyncio.get_running_loop(), os.getppid()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.close)

    def watch() -> None:
        if os.getppid() != parent:
            server.close()
        else:
            loop.call_later(0.5, watch)

    if with_parent:
        watch()
    await server.serve(lambda: print(*server.origins, sep="\n", flush=True))  # noqa: T201 - a program
