"""A misbehaving server on loopback: every resource is named for its fault.

``http://127.0.0.1:PORT/gzip-bomb``, ``/slow-drip``, ``/endless-redirect`` ...; ``/`` links to
all of them, so a crawler can be let loose on the lot; ``/ok`` is an ordinary page. Other
origins of the same server serve one variant of robots.txt each
(:meth:`FaultServer.robots_origin`) and ordinary pages for the rest.

What a fault is, is told by the function that commits it (:mod:`ingather.testing.misbehaviour`,
:mod:`ingather.testing.robotsfaults`). ``python -m ingather.testing.faults`` serves them until it is ended.
"""

import argparse
import asyncio
import threading
from contextlib import suppress
from itertools import count
from typing import NamedTuple, Self

from ingather.testing import hostile
from ingather.testing.exchange import Exchange, page
from ingather.testing.misbehaviour import FAULTS
from ingather.testing.robotsfaults import ROBOTS_FAULTS

__all__ = ["FAULTS", "ROBOTS_FAULTS", "Asked", "FaultServer"]

_STOP_S = 30.0
"""Longest wait for one step of a stop: a stop may fail, it must not hang."""
_COUNTED = frozenset({"query-trap", "session-trap"})
"""Traps that look new at each request, whatever its URL."""


class Asked(NamedTuple):
    """One request: path with query, Host header, how often this path was asked before."""

    path: str
    host: str
    times: int


class FaultServer:
    """The server; runs in a thread of its own. Use as a context manager.

    Attributes:
        origin: ``http://127.0.0.1:PORT``; its robots.txt allows everything.
        requests: what was asked, in order.
        pause_s: pause of the slow faults between two bytes.
    """

    def __init__(self, *, port: int = 0, pause_s: float = 0.1) -> None:
        self.pause_s = pause_s
        self.requests: list[Asked] = []
        self._times: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._variants: dict[int, str] = {}
        self._origins: dict[str, str] = {}
        self._servers: list[asyncio.Server] = []
        self._port = port
        self._numbers = count()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="faults", daemon=True)
        self.origin = ""

    def start(self) -> Self:
        """Begin to misbehave."""
        self._thread.start()
        try:
            self.origin = self.robots_origin("404", port=self._port)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Close everything and wait for the thread; the loop ends also when a connection does not."""
        try:
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(_STOP_S)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_STOP_S)
            self._loop.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def url(self, fault: str) -> str:
        """Return the URL of a fault; *fault* may have an argument (``status/418``).

        Raises:
            KeyError: there is no such fault.
        """
        FAULTS[fault.partition("/")[0]]
        return f"{self.origin}/{fault}"

    def robots_origin(self, variant: str, *, port: int = 0) -> str:
        """Return an origin whose robots.txt is *variant* (of ``ROBOTS_FAULTS`` or ``hostile.ROBOTS``).

        Raises:
            KeyError: there is no such variant.
        """
        if variant not in ROBOTS_FAULTS and variant not in hostile.ROBOTS:
            raise KeyError(variant)
        if variant not in self._origins:
            opened = asyncio.run_coroutine_threadsafe(self._open(variant, port), self._loop)
            self._origins[variant] = f"http://127.0.0.1:{opened.result(_STOP_S)}"
        return self._origins[variant]

    def asked(self, path: str) -> int:
        """Return how often *path* was asked on all origins."""
        return sum(1 for asked in list(self.requests) if asked.path == path)

    async def _open(self, variant: str, port: int) -> int:
        server = await asyncio.start_server(self._connected, "127.0.0.1", port, limit=1 << 20)
        self._servers.append(server)
        number: int = server.sockets[0].getsockname()[1]
        self._variants[number] = variant
        return number

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # aborted transports close their sockets in the loop's next turn

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            watch = asyncio.ensure_future(reader.read())
            work = asyncio.ensure_future(self._commit(writer, head.decode("latin-1")))
            try:
                # A fault that says nothing would not notice that the client has gone.
                await asyncio.wait((watch, work), return_when=asyncio.FIRST_COMPLETED)
            finally:
                for part in (watch, work):
                    part.cancel()
                await asyncio.gather(watch, work, return_exceptions=True)
        except asyncio.CancelledError:
            # The server stops: a client that does not read would hold a closing transport for ever.
            writer.transport.abort()
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()
            try:
                await writer.wait_closed()
            except asyncio.CancelledError:  # as above, of a client that left its answer unread
                writer.transport.abort()
            except OSError:
                pass
            self._tasks.discard(task)

    async def _commit(self, writer: asyncio.StreamWriter, head: str) -> None:
        lines = head.split("\r\n")
        method, _, tail = lines[0].partition(" ")
        path = tail.rpartition(" ")[0]
        host = next((line[5:].strip() for line in lines if line[:5].lower() == "host:"), "")
        times = self._times.get(host + path, 0)
        self._times[host + path] = times + 1
        self.requests.append(Asked(path, host, times))
        bare = path.partition("?")[0]
        name, _, argument = bare[1:].partition("/")
        if name in _COUNTED:
            times = next(self._numbers)
        x = Exchange(writer, path, argument, host, times, self.pause_s, method)
        if name in {"robots.txt", "robots-hop"}:
            await self._robots(x, self._variants[writer.get_extra_info("sockname")[1]])
        elif name in FAULTS:
            await FAULTS[name](x)
        elif not name:
            await x.reply(page("faults", *(f"/{fault}" for fault in FAULTS)))
        elif name in {"forbidden", "private", "open"}:
            await x.reply(page(bare, "/", "/forbidden/page", "/open/page"))
        else:
            await x.reply(page("missing"), 404)

    async def _robots(self, x: Exchange, variant: str) -> None:
        fault = ROBOTS_FAULTS.get(variant)
        await (x.reply(hostile.ROBOTS[variant], kind="text/plain") if fault is None else fault(x))


def main(arguments: list[str] | None = None) -> int:
    """Serve all faults until interrupted; print the origin."""
    parser = argparse.ArgumentParser(prog="python -m ingather.testing.faults", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--pause", type=float, default=0.1, help="seconds between two bytes of slow faults")
    options = parser.parse_args(arguments)
    with FaultServer(port=options.port, pause_s=options.pause) as server:
        print(server.origin, flush=True)  # noqa: T201 - a program
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
