"""SMB servers that lie, break off or say nothing: each costs one request, and no more than the limits."""

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from tests.unit.shares.conftest import Clock, Here, failure, run, scope
from tests.unit.shares.test_smb import Fetch

from ingather.fetch.limits import Limits
from ingather.fetch.shares.account import Account
from ingather.fetch.shares.smb import MISSING, SmbFetcher
from ingather.model.resource import FailureKind, Request

line = pytest.importorskip(
    "ingather.fetch.shares.smb_line", reason="smbprotocol is not there (pip install 'ingather[smb]')"
)
SMB = scope("smb")
ANN = Account("ann", "right one")


@contextmanager
def server(say: Callable[[socket.socket], None]) -> Iterator[int]:
    """Listen, and let *say* speak with each who comes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                with peer:
                    peer.settimeout(20)
                    try:
                        say(peer)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield int(listener.getsockname()[1])
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(30)


def fetcher(total_s: float = 60.0) -> SmbFetcher:
    return SmbFetcher(
        Limits(total_s=total_s), resolver=Here(), clock=Clock(), account=lambda _url, _source: ANN
    )


def until_gone(peer: socket.socket) -> None:
    while peer.recv(4096):
        pass


@pytest.mark.parametrize(
    "said",
    [
        b"", b"\x00", b"\xff\xff\xff\xff", b"\x00\xff\xff\xff", b"\x00\x00\x00\x00", b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x00\x00\x00\x04\xffSMB", b"\x00\x00\x00\x40\xfeSMB" + b"\xff" * 60, b"\x00\x00\x00\x40\xfdSMB" + b"\x00" * 60,
    ],
)  # fmt: skip
def test_what_is_no_answer_is_a_connection_that_ended(said: bytes) -> None:
    def say(peer: socket.socket) -> None:
        peer.recv(4096)
        peer.sendall(said)

    async def ask(fetch: Fetch) -> None:
        got = failure(await fetch(Request(f"smb://localhost:{port}/docs/a.txt"), SMB))
        assert got.kind is FailureKind.CLOSED
        assert "right one" not in got.detail

    with server(say) as port:
        run(fetcher, ask)


def test_one_that_says_nothing_ends_with_the_limit() -> None:
    async def ask(fetch: Fetch) -> None:
        got = failure(await fetch(Request(f"smb://localhost:{port}/docs/a.txt"), SMB))
        assert got.kind is FailureKind.TOTAL_TIMEOUT

    with server(until_gone) as port:
        run(lambda: fetcher(total_s=0.3), ask)


def test_nobody_there_is_a_failure_to_connect() -> None:
    with server(until_gone) as port:
        pass

    async def ask(fetch: Fetch) -> None:
        got = failure(await fetch(Request(f"smb://localhost:{port}/docs/a.txt"), SMB))
        assert got.kind is FailureKind.CONNECT

    run(fetcher, ask)


def entry(
    name: str, following: int = 0, attributes: int = 0x20, tag: int = 0, length: int | None = None
) -> bytes:
    raw = name.encode("utf-16-le", "surrogatepass")
    size = len(raw) if length is None else length
    return struct.pack("<IIQQQQQQIII", following, 0, 0, 0, 0, 0, 0, 0, attributes, size, tag) + raw


def test_entries_of_a_folder() -> None:
    read = line._read_entries
    first = entry("a.txt", 80).ljust(80, b"\0")
    assert [(one.name, one.folder) for one in read(first + entry("sub", attributes=0x10))] == [
        ("a.txt", False),
        ("sub", True),
    ]
    assert [one.name for one in read(entry("hidden", attributes=0x22))] == []
    assert [one.name for one in read(entry("link", attributes=0x420, tag=0xA000000C))] == []
    assert [one.name for one in read(entry("stub", attributes=0x420, tag=0x80000013))] == ["stub"]
    assert [one.name for one in read(entry("odd\ud800"))] == []
    assert [one.name for one in read(entry("short", length=1 << 31))] == ["short"]
    for broken in (b"", b"x" * 10, entry("a", 4), entry("a", 1 << 31)):
        with pytest.raises(line.SmbClosedError):
            list(read(broken))


def test_without_the_package_the_answer_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingather.fetch.shares.smb.has_smb", lambda: False)

    async def ask(fetch: Fetch) -> None:
        assert failure(await fetch(Request("smb://localhost/docs/a.txt"), SMB)).detail == MISSING

    run(fetcher, ask)


def test_a_peer_that_was_not_checked_gets_nothing() -> None:
    async def ask() -> None:
        asked = fetcher()
        try:
            with socket.create_connection(("127.0.0.1", port)) as sock:
                refused = asked._peer_refusal(sock, ("192.0.2.1",), port, SMB)
                assert refused == "127.0.0.1 is not an address that was checked"
                assert asked._peer_refusal(sock, ("127.0.0.1",), port, SMB) == ""
                closed = scope("smb", address_ports=frozenset({445}))
                assert "does not allow port" in asked._peer_refusal(sock, ("127.0.0.1",), port, closed)
        finally:
            await asked.close()

    with server(until_gone) as port:
        asyncio.run(ask())


@pytest.mark.parametrize(("signing", "encrypted"), [(True, False), (False, True)])
def test_an_answer_that_is_neither_signed_nor_encrypted_is_refused(signing: bool, encrypted: bool) -> None:  # noqa: FBT001 - parameters
    ours, theirs = socket.socketpair()
    with ours, theirs:
        connection = line._Connection(line._Wire(ours), "server.example", 445, signed=True)
        connection.session_table[7] = SimpleNamespace(signing_required=signing, encrypt_data=encrypted)
        header = line.SMB2HeaderResponse()
        header["command"] = line.Commands.SMB2_SESSION_SETUP + 1
        with pytest.raises(line.SMBException, match="without a signature"):
            connection.verify_signature(header, 7)
        connection.verify_signature(header, 8)  # nobody is logged in there
        header["command"] = line.Commands.SMB2_SESSION_SETUP
        connection.verify_signature(header, 7)
