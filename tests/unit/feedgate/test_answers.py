"""What the gate says besides Success: addresses, methods, limits, trouble, and slow clients."""

import gzip
import time
import tracemalloc
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from ingather.feeds.authority import Sender
from ingather.feeds.desk import FeedFields, FeedTicket, GroupsFullError, Spooled
from ingather.testing.feedgate import MemoryDesk, RunningGate
from ingather.testing.feedwire import FEED, chunked, exchange, multipart, post, read_reply, shapes
from ingather.testing.running import wait_until
from ingather.web.feedgate import BodyLimits, GateLimits

Make = Callable[..., RunningGate]
DISK = b"Feed not accepted due to insufficient disk space"


def test_gsa_T10_a_feed_beyond_the_limit(make_gate: Make) -> None:
    gate = make_gate(body=BodyLimits(feed_bytes=1 << 20))
    xml = FEED + b" " * (1_100_000 - len(FEED))
    for shape, request in shapes(xml).items():
        if shape.startswith("h"):
            continue
        assert gate.talk(*request).status == 413, shape
    head, _ = shapes(FEED)["c"]
    huge = head.replace(b"Content-Length: ", b"Content-Length: 9999")
    assert gate.talk(huge, end=True).status == 413
    assert gate.left() == []
    assert gate.talk(*shapes(FEED + b" " * ((1 << 20) - len(FEED)))["a"]).body == b"Success"


def test_gsa_T11_a_blank_behind_the_version(gate: RunningGate) -> None:
    gate.talk(*shapes(FEED)["a"])
    reply = gate.talk(b"GET /getbacklogcount HTTP/1.0 \r\n\r\n")
    assert (reply.status, reply.body) == (200, b"2")


@pytest.mark.parametrize(
    ("path", "start"),
    [
        (b"/getdtd", b"<?xml"),
        (b"/gsafeed.dtd", b"<?xml"),
        (b"/sw_version.txt", b"7.4.0-1"),
        (b"/getbacklogcount", b"0"),
        (b"http://gsa:19900/getbacklogcount?x=1", b"0"),
    ],
)
def test_addresses_to_read(gate: RunningGate, path: bytes, start: bytes) -> None:
    reply = gate.talk(b"GET " + path + b" HTTP/1.1\r\nHost: gsa\r\n\r\n")
    assert reply.status == 200
    assert reply.body.startswith(start)
    assert b"\n" not in reply.body or b"<!ELEMENT acl " in reply.body
    assert gate.talk(b"HEAD " + path + b" HTTP/1.1\r\n\r\n").body == b""
    assert gate.talk(b"POST " + path + b" HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc").status == 405


def test_methods_and_the_form(gate: RunningGate) -> None:
    for method in (b"GET", b"HEAD", b"PUT", b"DELETE"):
        for path in (b"/xmlfeed", b"/xmlgroups"):
            reply = gate.talk(method + b" " + path + b" HTTP/1.1\r\nContent-Length: 2\r\n\r\nxx")
            assert (reply.status, reply.headers["allow"]) == (405, "POST")
    page = gate.talk(b"GET /xmlfeed HTTP/1.1\r\nAccept: text/html,*/*\r\n\r\n")
    assert page.status == 405
    assert b"<form" in page.body
    assert b'name="data"' in page.body
    assert gate.talk(b"GET /favicon.ico HTTP/1.1\r\n\r\n").status == 404


@pytest.mark.parametrize(
    "raw",
    [
        b"hello\r\n\r\n",
        b"GET /getbacklogcount\r\n\r\n",
        b"GET /getbacklogcount HTTP/2.0\r\n\r\n",
        b"POST /xmlfeed HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"POST /xmlfeed HTTP/1.1\r\nContent-Length: +3\r\n\r\nabc",
        b"POST /xmlfeed HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"POST /xmlfeed HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        b"POST /xmlfeed HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n",
        b"POST /xmlfeed HTTP/1.1\r\n\r\n",
        b"POST /xmlfeed HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        b"POST /xmlfeed HTTP/1.1\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx",
        b"POST /xmlfeed HTTP/1.1\r\nContent-Encoding: gzip, gzip\r\nContent-Length: 1\r\n\r\nx",
        b"POST /xmlfeed HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n\x1f\x8b\x08\x00x",
        b"GET / HTTP/1.1\r\nX : y\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"y" * 20_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_request_gets_a_reason(gate: RunningGate, raw: bytes) -> None:
    reply = gate.talk(raw, end=True)
    assert 400 <= reply.status < 500
    assert reply.body.startswith(b"Error - ")


def test_folded_fields_and_bare_line_feeds(gate: RunningGate) -> None:
    head, body = shapes(FEED)["a"]
    head = head.replace(b"multipart/form-data;", b"multipart/form-data;\r\n  ").replace(b"\r\n", b"\n")
    assert gate.talk(b"\r\n\r\n" + head, body).body == b"Success"


@pytest.mark.parametrize(
    "parts",
    [
        [(b"datasource", b"", b"", b"s"), (b"feedtype", b"", b"", b"full")],
        [(b"datasource", b"", b"", b"s"), (b"feedtype", b"", b"", b"full"), (b"data", b"", b"", b"")],
        [(b"data", b"", b"", FEED), (b"data", b"", b"", FEED)],
        [(b"data", b"", b"", FEED), (b"datasource", b"", b"", b"a"), (b"datasource", b"", b"", b"b")],
        [(b"data", b"", b"", FEED), (b"datasource", b"", b"", b"a" * 5000)],
        [(b"data", b"", b"", b"<gsafeed/>")],
        [(b"x%d" % n, b"", b"", b"") for n in range(200)],
    ],
)
def test_forms_that_cannot_be_right(
    gate: RunningGate, parts: list[tuple[bytes, bytes, bytes, bytes]]
) -> None:
    reply = gate.talk(*post(multipart(b"<<", *parts), b"multipart/form-data; boundary=<<"))
    assert reply.status == 400
    assert reply.body.startswith(b"Error - ")
    assert gate.left() == []


def test_a_body_that_unpacks_to_too_much(gate: RunningGate) -> None:
    bomb = gzip.compress(multipart(b"<<", (b"data", b"", b"", b" " * 20_000_000)))
    assert (
        gate.talk(*post(bomb, b"multipart/form-data; boundary=<<", b"Content-Encoding: gzip")).status == 413
    )
    assert gate.left() == []


def test_several_gzip_members_and_bare_deflate(gate: RunningGate) -> None:
    body = shapes(FEED)["a"][1]
    kind = b"multipart/form-data; boundary=<<"
    members = gzip.compress(body[:300]) + gzip.compress(body[300:])
    assert gate.talk(*post(members, kind, b"Content-Encoding: x-gzip")).body == b"Success"
    bare = zlib.compress(body)[2:-4]
    assert gate.talk(*post(bare, kind, b"Content-Encoding: deflate")).body == b"Success"
    assert gate.desk.last.body == FEED


def test_a_full_disk_is_said_in_the_appliance_s_words(make_gate: Make) -> None:
    gate = make_gate()
    gate.room[0] = False
    reply = gate.talk(*shapes(FEED)["a"])
    assert reply.status == 507
    assert reply.body.startswith(DISK)
    gate.room[0] = True
    assert gate.talk(*shapes(FEED)["a"]).body == b"Success"


def test_a_row_that_cannot_be_written_is_no_success(make_gate: Make) -> None:
    gate = make_gate(desk=MemoryDesk(fails=True))
    reply = gate.talk(*shapes(FEED)["a"])
    assert (reply.status, reply.body) == (500, b"Internal Error")
    assert gate.left() == []


def test_a_folder_that_cannot_be_written_is_no_success(gate: RunningGate) -> None:
    (gate.folder / "spool").rename(gate.folder / "away")
    reply = gate.talk(*shapes(FEED)["a"])
    assert (reply.status, reply.body) == (500, b"Internal Error")
    (gate.folder / "away").rename(gate.folder / "spool")
    assert gate.talk(*shapes(FEED)["a"]).body == b"Success"


def test_a_head_that_drips_is_given_up(make_gate: Make) -> None:
    gate = make_gate(limits=GateLimits(head_s=0.3))
    with gate.connect() as sock:
        sock.sendall(b"POST /xmlfeed")
        assert read_reply(sock).status == 408


def test_a_body_that_drips_is_given_up(make_gate: Make) -> None:
    gate = make_gate(limits=GateLimits(rate_window_s=0.3))
    head, body = shapes(FEED)["a"]
    with gate.connect() as sock:
        sock.sendall(head + body[:-20])
        assert read_reply(sock).status == 408
    assert gate.left() == []


def test_idle_clients_give_way_to_one_that_works(make_gate: Make) -> None:
    gate = make_gate(limits=GateLimits(trusted=20))
    idle = [gate.connect() for _ in range(20)]
    wait_until(lambda: gate.server.connections == 20)
    time.sleep(1.1)  # none is slow before it is a second old
    for _ in range(5):
        assert gate.talk(*shapes(FEED)["a"]).body == b"Success"
    assert 15 <= gate.server.connections <= 20
    for sock in idle:
        sock.close()


def test_strangers_have_shares_of_their_own(make_gate: Make) -> None:
    gate = make_gate(limits=GateLimits(total=3, per_address=2))
    assert len({gate.talk(*shapes(FEED)["a"]).body for _ in range(5)}) == 1


def test_connections_are_closed_when_the_gate_stops(make_gate: Make) -> None:
    gate = make_gate()
    with gate.connect() as sock:
        sock.sendall(b"POST /xmlfeed HTTP/1.1\r\n")
        wait_until(lambda: gate.server.connections)
        gate.server.stop()
        assert sock.recv(100)[:12] == b"HTTP/1.1 408"


def test_any_bytes_are_answered_and_nothing_grows(gate: RunningGate) -> None:
    seeds = [head + body for head, body in shapes(FEED).values()]
    dice = Random(7)  # noqa: S311 - the same bytes each time
    before = open_files()
    for number in range(400):
        raw = bytearray(dice.choice(seeds))
        for _ in range(dice.choice((1, 1, 3, 20))):
            at = dice.randrange(len(raw))
            change = dice.randrange(4)
            if change == 0:
                raw[at] = dice.randrange(256)
            elif change == 1:
                del raw[at : at + dice.randrange(60)]
            elif change == 2:
                raw[at:at] = dice.randbytes(dice.randrange(40))
            else:
                raw[at:at] = raw[: dice.randrange(200)]
            raw = raw or bytearray(b"x")
        with gate.connect() as sock:
            try:
                reply = exchange(sock, [bytes(raw)], end=True)
            except ConnectionError:
                continue  # no complete head: nobody to answer
            assert reply.status < 500, (number, bytes(raw))
    wait_until(lambda: not gate.server.connections)
    assert gate.left() == []
    assert open_files() <= before + 2


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_gsa_T48_many_small_feeds_are_all_acknowledged(gate: RunningGate) -> None:
    def push(number: int) -> bytes:
        return gate.talk(*shapes(FEED.replace(b"a.example", b"n%d.example" % number))["a"]).body

    with ThreadPoolExecutor(64) as clients:
        assert set(clients.map(push, range(10_000))) == {b"Success"}
    assert len({feed.body for feed in gate.desk.accepted}) == 10_000
    assert gate.left() == []
    assert gate.talk(b"GET /getbacklogcount HTTP/1.0\r\n\r\n").body == b"20000"


def test_chunks_of_one_byte(gate: RunningGate) -> None:
    body = shapes(FEED)["a"][1]
    request = post(
        chunked(body, 1), b"multipart/form-data; boundary=<<", b"Transfer-Encoding: chunked", length=False
    )
    assert gate.talk(*request).body == b"Success"
    assert gate.desk.last.body == FEED


def test_a_connection_holds_256_kib_of_a_body_and_16_of_a_head_at_most(gate: RunningGate) -> None:
    """Counted are Python's own allocations, of thirty connections that stopped in the middle."""
    head, body = shapes(FEED)["a"]
    assert gate.talk(head, body).body == b"Success"  # what the first push loads is nobody's
    part = body[:-60] + b" " * (1 << 20)  # in the middle of the data
    begin = b"POST /xmlfeed HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=<<\r\nContent-Length: 99000000\r\n\r\n"

    def held(*sent: bytes) -> float:
        spool = gate.folder / "spool"
        before_files = len(list(spool.iterdir()))
        tracemalloc.start()
        try:
            socks = [gate.connect() for _ in range(30)]
            for sock in socks:
                for piece in sent:
                    sock.sendall(piece)
            wait_until(lambda: gate.server.connections == 30)
            if len(sent) > 1:
                wait_until(lambda: len(list(spool.iterdir())) == before_files + 30)
                wait_until(
                    lambda: all(
                        path.stat().st_size > (1 << 20) - (1 << 17)
                        for path in spool.iterdir()
                        if path.name in gate.left()
                    )
                )
            found = tracemalloc.get_traced_memory()[0] / 30
        finally:
            tracemalloc.stop()
        for sock in socks:
            sock.close()
        wait_until(lambda: gate.server.connections == 0 and gate.left() == [])
        return found

    assert held(b"POST /xmlfeed HTTP/1.1\r\nX: " + b"y" * 9_000) <= 16 << 10
    assert held(begin, part) <= 256 << 10


def test_chunks_that_cannot_be_read_are_said_at_once(gate: RunningGate) -> None:
    head = b"POST /xmlfeed?datasource=a&feedtype=full HTTP/1.1\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n"
    for rest in (b"ZZ\r\n", b"2\r\nabc\r\n", b"1" * 5_000):
        reply = gate.talk(head, rest)  # and the client waits: nothing more can be expected of it
        assert (reply.status, reply.body[:5]) == (400, b"Error"), rest[:10]
    assert gate.left() == []


def test_a_head_is_refused_at_16_kib(gate: RunningGate) -> None:
    assert gate.talk(b"POST /xmlfeed HTTP/1.1\r\nX: " + b"y" * 30_000).status == 431


def test_groups_without_room_get_the_appliance_s_words_before_success(make_gate: Make) -> None:
    class Full(MemoryDesk):
        async def accept(self, spooled: Spooled, fields: FeedFields, sender: Sender) -> FeedTicket:
            raise GroupsFullError("error: group db at capacity.")

    xml = b"<xmlgroups><membership><principal scope='GROUP'>g</principal></membership></xmlgroups>"
    request = post(xml, b"text/xml", path=b"/xmlgroups?groupsource=ad&feedtype=incremental")
    for always_200, status in ((False, 507), (True, 200)):
        gate = make_gate(desk=Full(), always_200=always_200)
        reply = gate.talk(*request)
        assert (reply.status, reply.body) == (status, b"error: group db at capacity.")
