"""Every fault does what its name says: seen with a plain socket."""

import gzip
import socket
import zlib
from collections.abc import Iterator

import pytest
import zstandard

import brotli
from ingather.testing import hostile
from ingather.testing.faults import FAULTS, ROBOTS_FAULTS, FaultServer

ENDLESS = {"slow-head", "slow-drip", "stall", "no-answer", "infinite", "infinite-chunked", "endless-head"}
LARGE = {"large", "gzip-bomb", "deflate-bomb", "many-links", "giant-title", "huge-head", "reset"}


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer(pause_s=0.01) as running:
        yield running


def raw(url: str, *, at_least: int | None = None) -> bytes:
    """Return everything that comes, or the first *at_least* bytes."""
    address, _, path = url.removeprefix("http://").partition("/")
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as sock:
        sock.sendall(f"GET /{path} HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
        data = b""
        while at_least is None or len(data) < at_least:
            try:
                piece = sock.recv(1 << 16)
            except ConnectionResetError:
                break
            if not piece:
                break
            data += piece
        return data


def body(url: str) -> bytes:
    return raw(url).partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize("fault", sorted(set(FAULTS) - ENDLESS - LARGE))
def test_every_fault_answers_and_ends(server: FaultServer, fault: str) -> None:
    data = raw(server.url(fault))
    assert (data == b"") == (fault == "drop")
    assert FAULTS[fault].__doc__


@pytest.mark.parametrize("fault", sorted(ENDLESS - {"no-answer"}))
def test_endless_faults_go_on(server: FaultServer, fault: str) -> None:
    assert len(raw(server.url(fault), at_least=30)) >= 30


def test_who_is_not_answered_waits(server: FaultServer) -> None:
    address = server.origin.removeprefix("http://")
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port)), timeout=0.2) as sock:
        sock.sendall(b"GET /no-answer HTTP/1.1\r\nHost: x\r\n\r\n")
        with pytest.raises(TimeoutError):
            sock.recv(1)


def test_bodies_are_as_wrong_as_they_say(server: FaultServer) -> None:
    assert len(body(server.url("partial"))) == 1000
    assert len(body(server.url("wrong-length"))) > 10
    assert b"no size" in body(server.url("broken-chunked"))
    assert len(raw(server.url("huge-head"))) > 1 << 20
    assert raw(server.url("many-headers")).count(b"\r\n") > 10_000
    assert len(body(server.url("large/3"))) == 3 << 20
    assert len(body(server.url("giant-title"))) > 5 << 20


def test_coded_bodies(server: FaultServer) -> None:
    assert b"/ok" in gzip.decompress(body(server.url("gzip")))
    assert b"double" in gzip.decompress(gzip.decompress(body(server.url("double-gzip"))))
    assert b"/ok" in zlib.decompress(body(server.url("zlib-deflate")))
    with pytest.raises(gzip.BadGzipFile):
        gzip.decompress(body(server.url("bad-gzip")))
    with pytest.raises(EOFError):
        gzip.decompress(body(server.url("cut-gzip")))


def test_bombs_are_small_and_grow_to_what_they_say() -> None:
    assert len(hostile.gzip_bomb()) < 2 << 20
    assert len(gzip.decompress(hostile.gzip_bomb(16))) == 16 << 20
    assert len(brotli.decompress(hostile.brotli_bomb(16))) == 16 << 20
    decoded = zstandard.ZstdDecompressor().decompressobj().decompress(hostile.zstd_bomb(16))
    assert len(decoded) == 16 << 20


def test_redirects_lead_on(server: FaultServer) -> None:
    assert b"Location: /redirect/2\r\n" in raw(server.url("redirect/3"))
    assert b"Location: /ok\r\n" in raw(server.url("redirect/1"))
    assert b"Location: /endless-redirect/8\r\n" in raw(server.url("endless-redirect/7"))
    assert b"169.254.169.254" in raw(server.url("redirect-metadata"))


def test_refusals_say_when_to_come_back(server: FaultServer) -> None:
    assert b"Retry-After: 30\r\n" in raw(server.url("429-seconds/30"))
    assert b"Retry-After: 2\r\n" in raw(server.url("429-seconds"))
    assert b" GMT\r\n" in raw(server.url("429-date"))
    with FaultServer() as fresh:
        assert raw(fresh.url("429-once")).startswith(b"HTTP/1.1 429")
        assert raw(fresh.url("429-once")).startswith(b"HTTP/1.1 200")
        assert fresh.asked("/429-once") == 2


def test_traps_are_endless(server: FaultServer) -> None:
    assert b"/calendar/8" in body(server.url("calendar/7"))
    assert body(server.url("query-trap")) != body(server.url("query-trap"))
    assert b"a/b/" in body(f"{server.origin}/path-trap/a/b/")


@pytest.mark.parametrize("variant", sorted(set(ROBOTS_FAULTS) - {"timeout", "slow-drip", "infinite", "drop"}))
def test_every_robots_fault_answers(server: FaultServer, variant: str) -> None:
    data = raw(f"{server.robots_origin(variant)}/robots.txt")
    assert data.startswith(b"HTTP/1.1 ")
    if variant.isdigit():
        assert data.startswith(f"HTTP/1.1 {variant} ".encode())


@pytest.mark.parametrize("variant", sorted(hostile.ROBOTS))
def test_every_robots_text_is_served_as_it_is(server: FaultServer, variant: str) -> None:
    assert body(f"{server.robots_origin(variant)}/robots.txt") == hostile.ROBOTS[variant]


@pytest.mark.parametrize(("variant", "hops"), [("redirects-5", 5), ("redirects-9", 9)])
def test_robots_hops_end_in_rules(server: FaultServer, variant: str, hops: int) -> None:
    origin = server.robots_origin(variant)
    for hop in range(1, hops + 1):
        assert f"Location: /robots-hop/{hop}\r\n".encode() in raw(
            f"{origin}/robots.txt" if hop == 1 else f"{origin}/robots-hop/{hop - 1}"
        )
    assert body(f"{origin}/robots-hop/{hops}") == hostile.ROBOTS["plain"]


def test_the_index_names_every_fault(server: FaultServer) -> None:
    page = body(server.origin + "/").decode()
    assert all(f"'/{fault}'" in page for fault in FAULTS)


def test_unknown_names_are_refused(server: FaultServer) -> None:
    with pytest.raises(KeyError):
        server.url("politeness")
    with pytest.raises(KeyError):
        server.robots_origin("politeness")
    assert raw(f"{server.origin}/politeness").startswith(b"HTTP/1.1 404")


def test_a_server_stops_in_the_middle_of_its_worst() -> None:
    with FaultServer() as worst:
        host, _, port = worst.origin.removeprefix("http://").partition(":")
        sockets = [socket.create_connection((host, int(port)), timeout=20) for _ in range(3)]
        for sock, fault in zip(sockets, ("no-answer", "slow-drip", "infinite"), strict=True):
            sock.sendall(f"GET /{fault} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert sockets[2].recv(10)
    for sock in sockets:
        sock.close()
