"""The DevTools protocol over a socket: JSON texts that end with a zero byte, answers by number, events by session."""

import asyncio
import itertools
import json
import socket
from collections.abc import Callable
from typing import Any

import msgspec

__all__ = ["BrowserGoneError", "DevTools", "DevToolsError"]

_MOST = 256 << 20
"""Longest message; a document in JSON is longer than it is by itself."""

Heard = Callable[[str, dict[str, Any], str], None]
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class DevToolsError(Exception):
    """The browser refused a command: its target is gone, or it does not know it."""


class BrowserGoneError(DevToolsError):
    """The browser hung up."""


class DevTools:
    """One connection to one browser; belongs to an event loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._heard: dict[str, Heard] = {}
        self.gone = asyncio.Event()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def over(cls, channel: socket.socket) -> "DevTools":
        """Speak over *channel*, which becomes ours."""
        return cls(*await asyncio.open_connection(sock=channel, limit=_MOST))

    def hear(self, session: str, heard: Heard | None) -> None:
        """Have *heard* called with (method, parameters, session) of each event of *session*; ``None`` = nobody any more."""
        if heard is None:
            self._heard.pop(session, None)
        else:
            self._heard[session] = heard

    def say(self, method: str, session: str = "", **parameters: Any) -> asyncio.Future[dict[str, Any]]:
        """Send a command; the future gets its result or a :class:`DevToolsError`."""
        number = next(self._numbers)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(_seen)
        if self.gone.is_set():
            answer.set_exception(BrowserGoneError(method))
            return answer
        self._asked[number] = answer
        order: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session:
            order["sessionId"] = session
        self._writer.write(_encode(order) + b"\0")
        return answer

    async def close(self) -> None:
        """Hang up: the browser ends."""
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)
        self._end()
        self._writer.close()

    async def _listen(self) -> None:
        try:
            while True:
                self._take(_read((await self._reader.readuntil(b"\0"))[:-1]))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError, RecursionError):
            self._end()

    def _take(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        if number is None:
            session = message.get("sessionId", "")
            heard = self._heard.get(session)
            if heard is not None:
                heard(str(message.get("method")), message.get("params", {}), session)
            return
        answer = self._asked.pop(number, None)
        if answer is None or answer.done():
            return
        error = message.get("error")
        if error is not None:
            answer.set_exception(DevToolsError(str(error.get("message", error))))
        else:
            answer.set_result(message.get("result", {}))

    def _end(self) -> None:
        self.gone.set()
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(BrowserGoneError("the browser hung up"))
        self._asked.clear()


def _read(line: bytes) -> dict[str, Any]:
    """Read a message. Scripts cut texts within a character: half of one comes as a lone surrogate, which is no Unicode and becomes ``?``."""
    try:
        return _decode(line)
    except msgspec.DecodeError:
        found = _whole(json.loads(line))
        if not isinstance(found, dict):
            raise
        return found


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(one) for key, one in value.items()}
    return value


def _seen(answer: asyncio.Future[dict[str, Any]]) -> None:
    """Look at the outcome, so that nobody warns of one that nobody waited for."""
    if not answer.cancelled():
        answer.exception()
