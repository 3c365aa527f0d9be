"""The two listeners: one thread, one event loop, one task a connection, one request each."""

import asyncio
import contextlib
import errno
import socket
import ssl
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import uvloop

from ingather.connections import Connection, GateLimits, Guard, Phase
from ingather.feeds.authority import Sender
from ingather.feeds.senders import FeedTokens, RefusedSenders
from ingather.feeds.trust import TrustList, parse_peer
from ingather.log import get
from ingather.web.auth.guard import TOKEN_PREFIX
from ingather.web.feedgate.answers import CONTINUE, Answer, refused
from ingather.web.feedgate.body import Body, TornError
from ingather.web.feedgate.calling import require_own_caller
from ingather.web.feedgate.endpoints import static_answer
from ingather.web.feedgate.head import HEAD_BYTES, RequestHead, head_length, parse_head
from ingather.web.feedgate.intake import Intake, Taking, answer_for
from ingather.web.feedgate.refusal import UNAUTHORIZED_TEXT, RefusedError
from ingather.web.feedgate.sender import Proxies, shown_tokens
from ingather.web.feedgate.transfer import framing_of
from ingather.web.feedgate.wire import PlainWire, TlsWire, Wire
from ingather.web.ownhosts import OwnHosts

__all__ = ["Admission", "FeedGate", "Listening"]

_log = get("feeds")
_READ_HEAD: Final = 4096
_LINGER_S: Final = 2.0
_LINGER_BYTES: Final = 1 << 20
_SAVE_TICKS: Final = 3
_STOP_S: Final = 10.0
_NO_DESCRIPTOR: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


@dataclass(frozen=True, slots=True)
class Listening:
    """A bound, listening socket, and how it speaks TLS (``None`` = it does not)."""

    sock: socket.socket
    tls: ssl.SSLContext | None = None


@dataclass(frozen=True, slots=True)
class Admission:
    """Who may push.

    Attributes:
        trust: by address.
        tokens: by token.
        refused: where the others are listed.
        proxies: whose forwarding headers count.
        wall: epoch seconds.
    """

    trust: TrustList
    tokens: FeedTokens
    refused: RefusedSenders
    wall: Callable[[], float]
    feeder: Callable[[str], bool] = lambda _token: False
    proxies: Proxies = field(default_factory=Proxies)


class FeedGate:
    """Serves the feed ports from :meth:`start` to :meth:`stop`; the sockets stay the caller's.

    *own*: the names by which it may be called.
    """

    def __init__(  # noqa: PLR0913 - its parts
        self,
        listening: Sequence[Listening],
        intake: Intake,
        admission: Admission,
        limits: GateLimits | None = None,
        *,
        own: OwnHosts | None = None,
        always_200: bool = False,
    ) -> None:
        self._listening = listening
        self._own = own or OwnHosts()
        self._intake = intake
        self._admission = admission
        self._guard = Guard(limits or GateLimits())
        self._always_200 = always_200
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feed-gate", daemon=True)

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._guard)

    def start(self) -> None:
        """Begin to accept."""
        self._thread.start()
        self._started.wait()

    def stop(self) -> None:
        """Accept no more, let what is being stored end, close the rest."""
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_STOP_S + 5)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        loop = self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        for listening in self._listening:
            listening.sock.setblocking(False)  # noqa: FBT003
            loop.add_reader(listening.sock, self._accept, listening)
        ticking = asyncio.create_task(self._ticks())
        self._started.set()
        try:
            await self._stop.wait()
        finally:
            for listening in self._listening:
                loop.remove_reader(listening.sock)
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)
            await self._end()

    async def _end(self) -> None:
        open_ = self._guard.connections()
        for connection in open_:
            if connection.phase is not Phase.WORK:
                connection.give_up("the server stops")
        tasks = [connection.task for connection in open_ if connection.task is not None]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_STOP_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        self._save()

    async def _ticks(self) -> None:
        loop, count = asyncio.get_running_loop(), 0
        limits = self._guard.limits
        pause = max(0.05, min(1.0, limits.head_s / 4, limits.rate_window_s / 4))
        while True:
            await asyncio.sleep(pause)
            self._guard.tick(loop.time())
            count += 1
            if count % _SAVE_TICKS == 0:
                await self._intake.threaded(self._save)

    def _save(self) -> None:
        try:
            self._admission.refused.save()
        except OSError as error:
            _log.warning("the list of refused senders cannot be written", error=str(error))

    # -- connections ------------------------------------------------------------------------------

    def _accept(self, listening: Listening) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(64):
            try:
                sock, peer = listening.sock.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno in _NO_DESCRIPTOR:
                    self._guard.evict_slowest(loop.time())
                    return
                continue  # the client is gone again
            sock.setblocking(False)  # noqa: FBT003
            address = str(peer[0])
            connection = Connection(address, self._admission.trust.trusts(parse_peer(address)), loop.time())
            if not self._guard.admit(connection):
                sock.close()
                continue
            connection.task = loop.create_task(self._connection(connection, sock, listening.tls))

    async def _connection(
        self, connection: Connection, sock: socket.socket, tls: ssl.SSLContext | None
    ) -> None:
        try:
            wire: Wire = PlainWire(sock) if tls is None else TlsWire(sock, tls)
            await wire.open()
            await self._exchange(connection, wire)
        except asyncio.CancelledError:
            if connection.given_up and connection.phase is not Phase.ANSWER and tls is None:
                self._intake.counts.answered(408)
                answer = refused(RefusedError(408, f"Error - {connection.given_up}"))
                with contextlib.suppress(OSError):
                    sock.send(answer.wire(always_200=self._always_200))
        except (OSError, TornError):
            pass  # the client is gone; what it had sent was discarded where it was held
        except Exception as error:  # noqa: BLE001 - one connection must not end the others
            # The trace as text: what prints it must not add the values of local variables.
            _log.error("a connection failed", trace="".join(traceback.format_exception(error)))
        finally:
            self._guard.leave(connection)
            sock.close()

    async def _exchange(self, connection: Connection, wire: Wire) -> None:
        loop = asyncio.get_running_loop()
        head: RequestHead | None = None
        body: Body | None = None
        try:
            raw = await self._head(connection, wire)
            if raw is None:
                return
            size = head_length(raw)
            head = parse_head(bytes(raw[:size]))
            body = Body(wire, connection, framing_of(head), bytes(raw[size:]))
            del raw
            answer = await self._respond(connection, wire, head, body)
        except RefusedError as error:
            answer = refused(error)
        except TornError:
            answer = refused(RefusedError(400, "Error - the body ends before its time"))
        if head is None or head.method == "POST":
            self._intake.counts.answered(answer.status)
        connection.enter(Phase.ANSWER, loop.time())
        await wire.send(
            answer.wire(always_200=self._always_200, without_body=head is not None and head.method == "HEAD")
        )
        await wire.finish()
        if body is None or not body.done:
            await self._linger(wire)

    async def _head(self, connection: Connection, wire: Wire) -> bytearray | None:
        raw = bytearray()
        while not head_length(raw):
            if len(raw) >= HEAD_BYTES:
                raise RefusedError(431, "Error - the head of the request is too large")
            piece = await wire.receive(_READ_HEAD)
            if not piece:
                return None
            connection.got(len(piece))
            raw += piece
            if raw.startswith((b"\r", b"\n")):
                raw = bytearray(raw.lstrip(b"\r\n"))
            del piece  # not to be held while the next is waited for
        return raw

    async def _linger(self, wire: Wire) -> None:
        """Read on for a moment: a socket closed over unread bytes takes the answer away from the client."""
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_LINGER_S):
                left = _LINGER_BYTES
                while left > 0 and (piece := await wire.receive(_READ_HEAD)):
                    left -= len(piece)

    # -- requests ---------------------------------------------------------------------------------

    async def _respond(self, connection: Connection, wire: Wire, head: RequestHead, body: Body) -> Answer:
        taking: Taking | None = None
        try:
            require_own_caller(head, self._own, secure=wire.secure)
            sender = await self._admitted(connection, head)
            answer = static_answer(head, self._intake.backlog)
            if answer is None:
                taking = self._intake.begin(head)
                await self._take(connection, wire, head, body, taking)
                connection.enter(Phase.WORK, asyncio.get_running_loop().time())
                return await taking.finish(sender)
        except TornError:
            raise
        except Exception as error:  # noqa: BLE001 - each has its answer
            answer = answer_for(error)
        finally:
            if taking is not None:
                await taking.discard()
        if not body.done and not body.broken and (body.begun or not head.expects):
            with contextlib.suppress(RefusedError, TornError):
                await body.drain(self._guard.limits)
        return answer

    async def _take(
        self, connection: Connection, wire: Wire, head: RequestHead, body: Body, taking: Taking
    ) -> None:
        loop = asyncio.get_running_loop()
        if head.expects and not body.begun and not body.done:
            await wire.send(CONTINUE)
        async for piece in body.pieces():
            connection.enter(Phase.WORK, loop.time())
            await taking.feed(piece)
            connection.enter(Phase.BODY, loop.time())

    async def _admitted(self, connection: Connection, head: RequestHead) -> Sender:
        """Return who sends, and what he may say.

        Raises:
            RefusedError: nobody who may push anything.
        """
        admission = self._admission
        address = admission.proxies.sender(parse_peer(connection.address), head.fields)
        shown = "unknown" if address is None else str(address)
        if admission.trust.trusts(address):
            return Sender(shown)
        for token in shown_tokens(head.fields):
            grant = admission.tokens.grant_of(token)
            if grant is not None:
                return Sender(shown, grant)
        for token in shown_tokens(head.fields):
            if token.startswith(TOKEN_PREFIX) and await self._intake.threaded(admission.feeder, token):
                return Sender(shown)
        if admission.refused.note(shown, admission.wall()):
            _log.warning("a sender is not trusted", sender=shown, hint=f"ingather feed accept-from {shown}")
        raise RefusedError(403, UNAUTHORIZED_TEXT)
