"""A listener on a real socket: what hangs, drips or is no HTTP holds nothing up."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import pytest
import uvicorn

from ingather.testing.running import wait_until
from ingather.web import AdminParts, ConnectionLimits, admin_app, listener_config

ASK = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
Serve = Callable[..., "Listener"]


class Listener:
    """A served application and its address."""

    def __init__(self, app: Any, limits: ConnectionLimits) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = self.socket.getsockname()
        self.server = uvicorn.Server(listener_config(app, limits=limits))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})
        self.thread.start()

    @contextmanager
    def connected(self, data: bytes = b"") -> Iterator[socket.socket]:
        with socket.create_connection(self.address, timeout=20) as connection:
            connection.sendall(data)
            yield connection

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.socket.close()


@pytest.fixture
def serve(admin_parts: AdminParts) -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(**limits: Any) -> Listener:
            made = Listener(admin_app(replace(admin_parts, metrics=None)), ConnectionLimits(**limits))
            stack.callback(made.stop)
            return made

        yield start


def rest(connection: socket.socket) -> bytes:
    """Everything until the other side ends; nothing if it broke off."""
    got = b""
    try:
        while piece := connection.recv(65_536):
            got += piece
    except ConnectionError:
        return got
    return got


def answer(connection: socket.socket) -> bytes:
    """One answer of a connection that stays open."""
    got = b""
    while not got.endswith(b'{"status":"ok"}'):
        piece = connection.recv(65_536)
        if not piece:
            return got
        got += piece
    return got


def test_a_listener_answers_and_keeps_the_connection(serve: Serve) -> None:
    with serve().connected(ASK) as connection:
        first = answer(connection)
        assert first.startswith(b"HTTP/1.1 200")
        assert b"\r\nserver:" not in first.lower()
        connection.sendall(ASK)
        assert answer(connection).startswith(b"HTTP/1.1 200")


def test_forwarding_headers_are_not_believed(serve: Serve) -> None:
    listener = serve()
    ask = b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.%d\r\nAuthorization: Bearer no\r\nConnection: close\r\n\r\n"
    codes = []
    for number in range(11):
        with listener.connected(ask % number) as connection:
            codes.append(rest(connection).split()[1])
    assert codes[-1] == b"429"


@pytest.mark.parametrize("start", [b"", b"GET /health HT", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: "])
def test_a_head_that_does_not_end_is_cut_off(serve: Serve, start: bytes) -> None:
    with serve(head_s=0.05).connected(start) as connection:
        assert rest(connection) == b""


def test_a_second_head_that_does_not_end_is_cut_off(serve: Serve) -> None:
    with serve(head_s=1.0).connected(ASK) as connection:  # time for the first
        assert answer(connection).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /hea")
        assert rest(connection) == b""


def test_what_is_no_http_is_refused_in_our_shape(serve: Serve) -> None:
    with serve().connected(b"NONSENSE\r\n\r\n") as connection:
        head, _, body = rest(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert b"content-security-policy" in head
    assert json.loads(body)["error"]["code"] == "bad-request"


def test_endless_heads_are_refused(serve: Serve) -> None:
    with serve().connected() as connection:
        try:
            connection.sendall(b"GET / HTTP/1.1\r\nX: " + b"y" * 1_000_000)
        except ConnectionError:
            return
        assert rest(connection).startswith((b"HTTP/1.1 4", b""))


def test_one_address_cannot_take_all_connections(serve: Serve) -> None:
    listener = serve(per_address=2)
    with listener.connected(ASK) as one, listener.connected(ASK) as two:
        assert answer(one)
        assert answer(two)
        with listener.connected(ASK) as three:
            assert rest(three) == b""
        one.shutdown(socket.SHUT_WR)
        assert rest(one) == b""
        with listener.connected(ASK) as four:
            assert answer(four).startswith(b"HTTP/1.1 200")


def idle(listener: Listener, address: str, stack: ExitStack) -> socket.socket:
    connection = socket.create_connection(listener.address, timeout=20, source_address=(address, 0))
    stack.callback(connection.close)
    return connection


def test_idle_connections_of_many_addresses_close_nobody_out(serve: Serve) -> None:
    listener = serve(total=32, per_address=4)
    with ExitStack() as stack:
        for _ in range(4):
            for host in range(2, 10):
                idle(listener, f"127.0.0.{host}", stack)
        for _ in range(8):
            asking = idle(listener, "127.0.0.1", stack)
            asking.sendall(ASK)
            assert answer(asking).startswith(b"HTTP/1.1 200")
            asking.close()


def large_answer(size: int, *headers: tuple[bytes, bytes]) -> Any:
    """An application whose answers are *size* bytes long."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for stage in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{stage}.complete"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"x" * size})

    return app


@pytest.mark.parametrize("ending", [b"", b"Connection: close\r\n"])
def test_a_client_that_never_reads_is_cut_off(ending: bytes) -> None:
    listener = Listener(large_answer(32 << 20), ConnectionLimits(unread_s=0.05, idle_s=1))
    try:
        guard = listener.server.config.http.guard  # type: ignore[union-attr]
        with listener.connected(b"GET / HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % ending):
            wait_until(lambda: len(guard) == 1)
            wait_until(lambda: len(guard) == 0)
    finally:
        listener.stop()


def test_websocket_upgrades_are_not_followed(serve: Serve) -> None:
    ask = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n\r\n"
    with serve().connected(ask) as connection:
        assert rest(connection).startswith(b"HTTP/1.1 200")
