"""The command port: a line protocol by which other programs control the robot (DEC-34).

UTF-8 lines. ``AUTH token`` first, then one command a line; each gets one line: ``200 text``, or ``4xx text`` (``5xx``
when the robot itself is in trouble) and nothing was changed. ``STATUS`` answers ``200`` and one JSON object. Words
have no case; further words are arguments.

Who does not begin with ``AUTH`` is not served a second line: what a browser was made to send here does nothing.
"""

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingather.connections import Connection, GateLimits, Guard
from ingather.errors import IngatherError, RobotStateError, UrlError, UsageError
from ingather.log import get

__all__ = ["CommandPort", "PortLimits", "Verb"]

_log = get("robot")
_END = b"\n"
_TROUBLE = 500
_CODES: tuple[tuple[type[Exception], int], ...] = (
    (RobotStateError, 409),
    (UsageError, 400),
    (UrlError, 400),
    (IngatherError, 422),
    (Exception, 503),
)
"""What a command that failed is answered; the first fitting line decides."""


@dataclass(frozen=True, slots=True)
class PortLimits:
    """Bounds of the port.

    Attributes:
        line_bytes: longest line.
        connections: at a time, of those who have said who they are, and as many of the others, whose slowest then gives way.
        first_s: time for ``AUTH``.
        idle_s: time between two lines.
        wrong: wrong tokens, of everybody together, after which for ...
        wrong_s: ... so many seconds every token is looked at ...
        pause_s: ... so much later. The right one is taken all the same: nobody can lock others out.
    """

    line_bytes: int = 4096
    connections: int = 16
    first_s: float = 15.0
    idle_s: float = 600.0
    wrong: int = 10
    wrong_s: float = 60.0
    pause_s: float = 1.0


@dataclass(frozen=True, slots=True)
class Verb:
    """A command: how many arguments it takes, what it does with them, one line of help.

    ``act`` returns text, or a mapping that is written as JSON.
    """

    least: int
    most: int
    act: Callable[[Sequence[str]], Awaitable[str | Mapping[str, Any]]]
    usage: str


class CommandPort:
    """Serves on one event loop between :meth:`open` and :meth:`close`.

    Args:
        verbs: commands by their names in upper case.
        knows: whether a token may command.
    """

    def __init__(
        self, verbs: Mapping[str, Verb], knows: Callable[[str], bool], limits: PortLimits | None = None
    ) -> None:
        self._verbs, self._knows = verbs, knows
        self._limits = limits or PortLimits()
        self._servers: list[asyncio.Server] = []
        self._open: set[asyncio.Task[Any]] = set()
        most = self._limits.connections
        self._guard = Guard(GateLimits(total=most, per_address=most, trusted=most))
        self._closed = False
        self._wrong = 0
        self._slow_until = 0.0

    @property
    def address(self) -> tuple[str, int] | None:
        """Host and port where it listens, ``None`` = it does not."""
        if not self._servers or not self._servers[0].sockets:
            return None
        host, port = self._servers[0].sockets[0].getsockname()[:2]
        return str(host), int(port)

    async def open(self, host: str, port: int, tls: ssl.SSLContext | None = None, *, also: str = "") -> None:
        """Listen at *host*, and at *also* (IPv6 beside IPv4) where this machine has such an address.

        Raises:
            OSError: the address cannot be had.
        """
        first = socket.create_server((host, port))
        sockets = [first]
        if also and socket.has_ipv6:
            with contextlib.suppress(OSError):
                beside = (also, int(first.getsockname()[1]))
                sockets.append(socket.create_server(beside, family=socket.AF_INET6))
        try:
            self._servers = [
                await asyncio.start_server(self._connected, sock=one, limit=self._limits.line_bytes, ssl=tls)
                for one in sockets
            ]
        except BaseException:
            for one in sockets:
                one.close()
            raise

    async def close(self) -> None:
        """Listen no more and hang up on everybody; who had us closed by a command gets its answer first."""
        if not self._servers:
            return
        for server in self._servers:
            server.close()
        self._closed = True
        others = [task for task in self._open if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if len(others) == len(self._open):
            for server in self._servers:
                await server.wait_closed()
        self._servers = []

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            return
        self._open.add(task)
        peer = writer.get_extra_info("peername")
        place = Connection(
            str(peer[0]) if peer else "?", trusted=False, began_s=asyncio.get_running_loop().time(), task=task
        )
        try:
            if not self._guard.admit(place):
                await _say(writer, "429 too many connections")
            elif await self._authenticated(reader, writer):
                if self._guard.promote(place):
                    await self._serve(reader, writer)
                else:
                    await _say(writer, "429 too many connections")
        except asyncio.CancelledError:
            if not place.given_up:
                raise
        except (ConnectionError, TimeoutError, ssl.SSLError):
            pass
        finally:
            self._guard.leave(place)
            self._open.discard(task)
            writer.close()

    async def _authenticated(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        line = await self._line(reader, writer, self._limits.first_s)
        if line is None:
            return False
        word, _, token = line.partition(" ")
        loop = asyncio.get_running_loop()
        slow = loop.time() < self._slow_until
        if slow:
            await asyncio.sleep(self._limits.pause_s)  # its place among the connections is taken meanwhile
        if word.upper() != "AUTH":
            await _say(writer, "401 say first: AUTH token")
            return False
        if not self._knows(token.strip()):
            self._wrong += 1
            if self._wrong >= self._limits.wrong:
                self._wrong, self._slow_until = 0, loop.time() + self._limits.wrong_s
                _log.warning("too many wrong tokens at the command port", seconds=self._limits.wrong_s)
            await _say(
                writer, "429 too many wrong tokens, and this is another" if slow else "401 the token is wrong"
            )
            return False
        self._wrong = 0
        await _say(writer, "200 welcome; HELP lists the commands")
        return True

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (line := await self._line(reader, writer, self._limits.idle_s)) is not None:
            if line.strip():
                await _say(writer, await self._answer(line.split()))
            if self._closed:
                return

    async def _line(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, wait_s: float
    ) -> str | None:
        """Return the next line, ``None`` at the end or when there is none that can be read (then it was said why)."""
        try:
            async with asyncio.timeout(wait_s):
                raw = await reader.readuntil(_END)
        except asyncio.IncompleteReadError as error:
            raw = error.partial
        except asyncio.LimitOverrunError:
            await _say(writer, f"413 a line has at most {self._limits.line_bytes} bytes")
            return None
        if not raw:
            return None
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            await _say(writer, "400 lines are UTF-8")
            return None
        return text.rstrip("\r\n")

    async def _answer(self, words: Sequence[str]) -> str:
        name, arguments = words[0].upper(), words[1:]
        if name == "HELP":
            return "200 " + "; ".join(verb.usage for verb in self._verbs.values())
        verb = self._verbs.get(name)
        if verb is None:
            return f"400 there is no command {words[0][:40]!r}; HELP lists them"
        if not verb.least <= len(arguments) <= verb.most:
            return f"400 write: {verb.usage}"
        try:
            said = await verb.act(arguments)
        except (IngatherError, OSError, TimeoutError) as error:
            code = next(code for kind, code in _CODES if isinstance(error, kind))
            if code >= _TROUBLE:
                _log.error("a command of the command port failed", command=name, error=str(error))
            return f"{code} {_one_line(error)}"
        return "200 " + (said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


async def _say(writer: asyncio.StreamWriter, text: str) -> None:
    writer.write(" ".join(text.split("\n")).encode("utf-8", "replace") + _END)
    await writer.drain()
