"""The canary: a page of our own that is changed, crawled, indexed and found again every few minutes.

It lives on a listener of its own on loopback, the one listener of ours that may be fetched from: by the source ``canary`` alone, and
of that listener its exact URL and robots.txt alone. The way is the robot's: pool, filters, fetch, catalog, index, search. When a new word of the page
is not found in time, something on that way stands still.
"""

import asyncio
import contextlib
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

from ingather.app.robot.commands import RobotCommands
from ingather.app.runplan import RunPlan
from ingather.catalog.sqlite_changes import Applied
from ingather.conf import Site
from ingather.conf.settings.kinds import split_address
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.connections import Connection, GateLimits, Guard
from ingather.errors import IngatherError, PortInUseError, UsageError
from ingather.fetch.addresses import parse_address
from ingather.log import get
from ingather.ports.clock import Clock

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["SOURCE", "Canary", "canary_of", "tidy_canary"]

SOURCE: Final = "canary"
_PATH: Final = "/canary"
_CONNECTIONS: Final = 16
_LOOK_S: Final = 0.5
_FIRST_S: Final = 1.0
_ASK_S: Final = 10.0
_MEMORY: Final = "canary"
_GONE: Final = "the canary is not there any more"
_RESTING: Final = frozenset({"off", "paused"})
_log = get("canary")


@dataclass(frozen=True, slots=True)
class _Wire:
    """What ends a connection; the thread that reads from it wakes."""

    socket: Any

    def cancel(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


class _Server(ThreadingHTTPServer):
    """One thread a connection, of a bounded number: the slowest gives way."""

    daemon_threads = True
    canary: "Canary"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._guard = Guard(GateLimits(total=_CONNECTIONS, per_address=_CONNECTIONS))
        self._asking: dict[Any, Connection] = {}
        self._lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        asking = Connection(
            str(client_address[0]), trusted=False, began_s=time.monotonic(), task=_Wire(request)
        )
        with self._lock:
            if admitted := self._guard.admit(asking):
                self._asking[request] = asking
        if admitted:
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            if asking := self._asking.pop(request, None):
                self._guard.leave(asking)
        super().shutdown_request(request)


class _Page(BaseHTTPRequestHandler):
    """The page, and nothing else; no robots.txt, so that everything is allowed."""

    server_version = "Ingather-canary"
    timeout = 30.0  # type: ignore[mutable-override]

    def do_GET(self) -> None:
        found = self.path == _PATH and isinstance(self.server, _Server)
        body = self.server.canary.page() if found else b""  # type: ignore[attr-defined]
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the one above
        """The access log of the robot has it."""


class Canary:
    """The page with its listener, bound from the begin on, and the rounds.

    Args:
        host, port: where the page is; on loopback.
        every_s: time between two rounds.
        patience_s: time in which the page has to be found.
        clock: monotonic and wall.

    Attributes:
        trouble: what is wrong, ``""`` = nothing.
        lag_s: how long the last round that ended well took, ``None`` = none did yet.
        found_s: when it ended (wall).
        rounds, failures: rounds that ended so far, and how many of them badly.

    Raises:
        PortInUseError: the address is taken.
    """

    def __init__(self, host: str, port: int, *, every_s: float, patience_s: float, clock: Clock) -> None:
        self.address = host, port
        self._every_s, self._patience_s, self._clock = every_s, patience_s, clock
        self._word = _word()
        self.trouble = ""
        self.lag_s: float | None = None
        self.found_s: float | None = None
        self.rounds = self.failures = 0
        try:
            self._server = _Server(self.address, _Page)
        except OSError as error:
            raise PortInUseError(
                f"the canary cannot have {host}:{port}: {error.strerror}", hint="stop who has it, or set canary.listen to another one"
            ) from error  # fmt: skip
        self._server.canary = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, name="canary", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """The page's address."""
        host, port = self.address
        return f"http://{host}:{port}{_PATH}"

    def close(self) -> None:
        """Give the address back."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def page(self) -> bytes:
        """Return the page as it is now."""
        return (
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Canary of Ingather</title></head>'
            f"<body><p>{self._word}</p></body></html>"
        ).encode()

    def added_to(self, plan: RunPlan) -> RunPlan:
        """Return *plan* with the canary's source and site; its listener is ours, too: no other source reaches it."""
        host, port = self.address
        source = SourceConf(
            SOURCE, hosts=(host,), ports=frozenset({port}), addresses=(host,), own_hosts=(f"{host}:{port}",), schemes=frozenset({"http"}),
            own_page=self.url,
        )  # fmt: skip
        site = Site(
            SOURCE, host, depth=0, source=SOURCE, protocols=frozenset({"http"}), ports=frozenset({port}), use=(),
        )  # fmt: skip
        return replace(
            plan,
            sites=(*plan.sites, site),
            sources={**plan.sources, SOURCE: source},
            own_ports=(*plan.own_ports, self.address),
        )

    async def rounds_of(self, gathering: "Gathering", found: Callable[[str], bool]) -> None:
        """Go round after round until cancelled; *found* searches for a word, in another thread, and tells whether our page came."""
        await asyncio.sleep(_FIRST_S)
        while True:
            try:
                await self._round(gathering, found)
            except IngatherError as error:
                self._failed(f"the canary could not be tried: {error.text}")
            await asyncio.sleep(self._every_s)

    async def _round(self, gathering: "Gathering", found: Callable[[str], bool]) -> None:
        if self._rests(gathering):
            return
        self._word = _word()
        began_s = self._clock.monotonic()
        robot, asked_s = RobotCommands(gathering), float("-inf")
        loop = asyncio.get_running_loop()
        while (now_s := self._clock.monotonic()) - began_s < self._patience_s:
            if (
                now_s - asked_s >= _ASK_S
            ):  # again: a visit that was under way when it was asked for had the word before
                await robot.add(self.url)
                asked_s = now_s
            if await loop.run_in_executor(None, found, self._word):
                self.rounds += 1
                self.lag_s, self.found_s = self._clock.monotonic() - began_s, self._clock.wall()
                if self.trouble:
                    _log.info("the canary is found again", lag_s=round(self.lag_s, 1))
                self.trouble = ""
                return
            if self._rests(gathering):
                return
            await asyncio.sleep(_LOOK_S)
        self._failed(f"the canary was not found again within {self._patience_s:.0f} seconds")

    def _rests(self, gathering: "Gathering") -> bool:
        """Whether nobody can expect it to be found: an operator lets the robot rest. The disk and the rest have reasons of their own."""
        rests = str(gathering.conductor.state) in _RESTING
        if rests:
            self.trouble = ""
        return rests

    def _failed(self, trouble: str) -> None:
        self.rounds, self.failures = self.rounds + 1, self.failures + 1
        if not self.trouble:
            _log.error("canary", trouble=trouble, hint=f"ingather explain {self.url}")
        self.trouble = trouble

    def form(self) -> dict[str, Any]:
        """Return it as the status document has it."""
        lag_s = None if self.lag_s is None else round(self.lag_s, 3)
        return {
            "url": self.url, "ok": not self.trouble, "trouble": self.trouble, "lag": lag_s, "found": self.found_s, "rounds": self.rounds,
            "failures": self.failures,
        }  # fmt: skip


def canary_of(settings: Settings, sources: Mapping[str, SourceConf], clock: Clock) -> Canary | None:
    """Return the canary that the settings want, listening; ``None`` = they want none.

    Raises:
        UsageError: its address is not on loopback, or its source's name is taken.
        PortInUseError: its address is taken.
    """
    text = settings.text("canary.listen").strip()
    if not text:
        return None
    try:
        host, port = split_address(text)
    except ValueError:
        host, port = "", 0
    address = parse_address(host)
    if address is None or not address.is_loopback or address.version != 4 or not 0 < port < 1 << 16:  # noqa: PLR2004 - IPv4
        raise UsageError(
            f"canary.listen: {text!r} is no IPv4 address on loopback with a port", hint='write it like "127.0.0.2:7072"'
        )  # fmt: skip
    if SOURCE in sources:
        raise UsageError(
            f"the source {SOURCE} is the canary's",
            hint="call yours otherwise, or set canary.listen to nothing",
        )
    return Canary(
        str(address),
        port,
        every_s=settings.seconds("canary.every"),
        patience_s=settings.seconds("canary.patience"),
        clock=clock,
    )


async def tidy_canary(gathering: "Gathering", canary: Canary | None) -> None:
    """Let the page of a canary that was taken away, or is elsewhere now, leave search; remember where the page is."""
    url = "" if canary is None else canary.url

    def job(writer: Any, applied: Applied) -> bool:
        before = bytes(writer.memory.recall(_MEMORY)).decode()
        if before == url:
            return False
        writer.memory.remember(_MEMORY, url.encode())
        gone: bool = bool(before) and writer.deletions.let_go(
            before, SOURCE, _GONE, gathering.clock.wall(), applied
        )
        return gone

    if await gathering.keeper.write(job):
        _log.info("the page of the canary that was taken away leaves search")


def _word() -> str:
    """Return a word that no document has: letters and digits, so that no analysis takes it apart."""
    return f"canary{secrets.token_hex(10)}"
