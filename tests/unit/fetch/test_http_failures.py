"""Servers that lie, dawdle, flood or hang up: each ends in one typed failure, in bounded cost."""

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

import brotli
from ingather.fetch.limits import Limits
from ingather.model.resource import Failure, FailureKind, Response

if TYPE_CHECKING:
    from tests.unit.fetch.conftest import Lab

Reply = Callable[..., bytes]

HASTY = Limits(
    connect_s=0.2, tls_s=0.2, first_byte_s=0.2, total_s=3.0, min_rate_bytes_s=1000, rate_window_s=0.2
)
SMALL = Limits(max_wire_bytes=5000, max_decoded_bytes=20_000, ratio_after_bytes=10_000)


async def _until_closed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, piece: bytes) -> None:
    """Send *piece* for ever, as fast as it is taken, until the other side hangs up."""
    while not reader.at_eof():
        writer.write(piece)
        await writer.drain()


async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read()


async def drip_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    await _drip(reader, writer)


async def drip_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    await _drip(reader, writer)


async def _drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    gone = asyncio.ensure_future(reader.read())
    while not gone.done():
        writer.write(b"x")
        await writer.drain()
        await asyncio.wait([gone], timeout=0.02)


async def endless_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    await _until_closed(reader, writer, b"X-Header: " + b"x" * 1000 + b"\r\n")


async def endless_field(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX-Header: ")
    await _until_closed(reader, writer, b"x" * 1000)


async def endless_hints(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await _until_closed(reader, writer, b"HTTP/1.1 103 Early Hints\r\nLink: </" + b"x" * 900 + b">\r\n\r\n")


async def endless_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    await _until_closed(reader, writer, b"x" * 1000)


async def endless_chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    await _until_closed(reader, writer, b"3e8\r\n" + b"x" * 1000 + b"\r\n")


def sends(data: bytes) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], object]:
    """Send *data*, then hang up."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        writer.write_eof()
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    return answer


CASES = {
    "silence": (silent, FailureKind.FIRST_BYTE_TIMEOUT, HASTY),
    "body drips": (drip_body, FailureKind.TOO_SLOW, HASTY),
    "head drips": (drip_head, FailureKind.TOO_SLOW, HASTY),
    "endless head": (endless_head, FailureKind.HEAD_TOO_LARGE, Limits()),
    "endless field": (endless_field, FailureKind.HEAD_TOO_LARGE, Limits()),
    "endless hints": (endless_hints, FailureKind.HEAD_TOO_LARGE, Limits()),
    "endless body": (endless_body, FailureKind.TOO_LARGE, SMALL),
    "endless chunks": (endless_chunks, FailureKind.TOO_LARGE, SMALL),
    "nothing": (sends(b""), FailureKind.CLOSED, Limits()),
    "half a head": (sends(b"HTTP/1.1 200 OK\r\nX: y"), FailureKind.CLOSED, Limits()),
    "half a body": (sends(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"), FailureKind.CLOSED, Limits()),
    "half a chunk": (
        sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nx"),
        FailureKind.CLOSED,
        Limits(),
    ),
    "no chunk": (
        sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n0\r\n\r\n"),
        FailureKind.PROTOCOL,
        Limits(),
    ),
    "no HTTP": (sends(b"SSH-2.0-OpenSSH_9.2p1\r\n"), FailureKind.PROTOCOL, Limits()),
    "no HTTP but a page": (sends(b"<html>" + b"x" * 100), FailureKind.PROTOCOL, Limits()),
    "no status": (sends(b"HTTP/1.1 abc OK\r\n\r\n"), FailureKind.PROTOCOL, Limits()),
    "two lengths": (
        sends(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: x\r\n\r\nabc"),
        FailureKind.PROTOCOL,
        Limits(),
    ),
    "transfer coding not asked for": (
        sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        FailureKind.ENCODING,
        Limits(),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_misbehaving_server_ends_in_its_failure(lab: "type[Lab]", reply: Reply, name: str) -> None:
    route, kind, limits = CASES[name]

    async def main() -> None:
        async with lab({"/": route, "/well": reply(b"x")}, limits=limits) as server:  # type: ignore[dict-item]
            answer = await server.get("/")
            assert isinstance(answer, Failure), answer
            assert answer.kind is kind, answer
            assert answer.detail
            assert answer.address == "127.0.0.1"
            well = await server.get("/well")
            assert isinstance(well, Response)
            assert well.body == b"x"

    asyncio.run(main())


def test_a_response_that_never_ends_is_ended_by_the_total_limit(lab: "type[Lab]") -> None:
    limits = Limits(total_s=0.3, min_rate_bytes_s=0)

    async def main() -> None:
        async with lab({"/": drip_body}, limits=limits) as server:
            answer = await server.get("/")
        assert isinstance(answer, Failure)
        assert answer.kind is FailureKind.TOTAL_TIMEOUT

    asyncio.run(main())


def test_a_slow_server_holds_up_nobody_else(lab: "type[Lab]", reply: Reply) -> None:
    async def main() -> None:
        async with lab({"/slow": silent, "/": reply(b"x")}, limits=HASTY) as server:
            slow = [asyncio.ensure_future(server.get("/slow")) for _ in range(8)]
            for _ in range(20):
                assert isinstance(await server.get("/"), Response)
            assert all(isinstance(answer, Failure) for answer in await asyncio.gather(*slow))

    asyncio.run(main())


@pytest.mark.parametrize(
    ("fields", "size"), [(129, 10), (100, 700)], ids=["too many fields", "too many bytes"]
)
def test_a_head_beyond_its_limits_is_refused(lab: "type[Lab]", reply: Reply, fields: int, size: int) -> None:
    async def main() -> None:
        head = [f"X-{n}: {'y' * size}" for n in range(fields - 1)]
        async with lab({"/": reply(b"x", *head), "/most": reply(b"x", *head[:60])}) as server:
            answer = await server.get("/")
            assert isinstance(answer, Failure)
            assert answer.kind is FailureKind.HEAD_TOO_LARGE
            assert isinstance(await server.get("/most"), Response)

    asyncio.run(main())


def test_128_fields_are_not_too_many(lab: "type[Lab]", reply: Reply) -> None:
    async def main() -> None:
        async with lab({"/": reply(b"x", *[f"X-{n}: y" for n in range(127)])}) as server:
            answer = await server.get("/")
            assert isinstance(answer, Response)
            assert len(answer.headers) == 128

    asyncio.run(main())


def test_nobody_listens(lab: "type[Lab]") -> None:
    async def main() -> None:
        async with lab({}) as server:
            with socket.socket() as unused:
                unused.bind(("127.0.0.1", 0))
                answer = await server.get(f"http://127.0.0.1:{unused.getsockname()[1]}/")
        assert isinstance(answer, Failure)
        assert answer.kind is FailureKind.CONNECT

    asyncio.run(main())


def test_a_host_that_does_not_take_the_connection(lab: "type[Lab]") -> None:
    """A full backlog on Linux leaves the next SYN without an answer."""

    async def main() -> None:
        async with lab({}, limits=HASTY) as server, _deaf() as port:
            answer = await server.get(f"http://127.0.0.1:{port}/")
        assert isinstance(answer, Failure)
        assert answer.kind is FailureKind.CONNECT_TIMEOUT

    asyncio.run(main())


@asynccontextmanager
async def _deaf() -> AsyncIterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        callers = []
        for _ in range(4):
            caller = socket.socket()
            caller.setblocking(False)  # noqa: FBT003 - socket's own signature
            caller.connect_ex(listener.getsockname())
            callers.append(caller)
        try:
            yield listener.getsockname()[1]
        finally:
            for caller in callers:
                caller.close()


def test_more_bytes_than_announced_are_not_taken(lab: "type[Lab]", reply: Reply) -> None:
    async def main() -> None:
        async with lab({"/": reply(b"abcdef", length=3)}) as server:
            for _ in range(2):
                answer = await server.get("/")
                assert isinstance(answer, Response)
                assert answer.body == b"abc"
            assert server.connections == 2

    asyncio.run(main())


def test_a_body_beyond_the_wire_limit_is_refused_and_one_at_the_limit_is_not(
    lab: "type[Lab]", reply: Reply
) -> None:
    async def main() -> None:
        async with lab({"/": reply(b"x" * 5000), "/more": reply(b"x" * 5001)}, limits=SMALL) as server:
            assert isinstance(await server.get("/"), Response)
            more = await server.get("/more")
            assert isinstance(more, Failure)
            assert more.kind is FailureKind.TOO_LARGE
            assert isinstance(await server.get("/more", max_wire_bytes=6000), Response)
            assert isinstance(await server.get("/more"), Failure)

    asyncio.run(main())


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_body_may_be_cut_at_the_limit_instead(lab: "type[Lab]", reply: Reply, *, packed: bool) -> None:
    text = b"".join(b"line %d\n" % n for n in range(3000))
    page = reply(gzip.compress(text), "Content-Encoding: gzip") if packed else reply(text)

    async def main() -> None:
        async with lab({"/": page, "/short": reply(b"x" * 100)}) as server:
            wire = 3000 if packed else 100
            answer = await server.get("/", max_wire_bytes=wire, cut=True)
            assert isinstance(answer, Response)
            assert answer.cut
            assert answer.body
            assert text.startswith(answer.body)
            whole = await server.get("/short", max_wire_bytes=100, cut=True)
            assert isinstance(whole, Response)
            assert (len(whole.body), whole.cut) == (100, False)
            decoded = await server.get("/", max_decoded_bytes=500, cut=True)
            assert isinstance(decoded, Response)
            if packed:
                assert (decoded.body, decoded.cut) == (text[:500], True)
            assert isinstance(await server.get("/"), Response)

    asyncio.run(main())


def _coded(body: bytes, coding: str) -> bytes:
    return (
        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Encoding: %s\r\n\r\n"
        % (len(body), coding.encode())
    ) + body


ZEROS = bytes(1 << 22)
CODED = {
    "gzip bomb": (_coded(gzip.compress(ZEROS), "gzip"), FailureKind.RATIO),
    "brotli bomb": (_coded(brotli.compress(ZEROS), "br"), FailureKind.RATIO),
    "too large": (_coded(gzip.compress(b"".join(b"%d" % n for n in range(90_000))), "gzip"), None),
    "stacked": (_coded(gzip.compress(gzip.compress(b"x")), "gzip, gzip"), FailureKind.ENCODING),
    "unknown": (_coded(b"x", "compress"), FailureKind.ENCODING),
    "broken": (_coded(b"no gzip", "gzip"), FailureKind.ENCODING),
    "cut short": (_coded(gzip.compress(b"x" * 999)[:-9], "gzip"), FailureKind.ENCODING),
}


@pytest.mark.parametrize("name", CODED)
def test_a_hostile_encoding_is_a_failure(lab: "type[Lab]", name: str) -> None:
    page, kind = CODED[name]
    limits = Limits(max_decoded_bytes=300_000) if kind is None else Limits()

    async def main() -> None:
        async with lab({"/": page}, limits=limits) as server:
            answer = await server.get("/")
        assert isinstance(answer, Failure)
        assert answer.kind is (kind or FailureKind.DECODED_TOO_LARGE)

    asyncio.run(main())


def test_one_layer_is_decoded_and_no_more(lab: "type[Lab]") -> None:
    inner = gzip.compress(b"inner")

    async def main() -> None:
        async with lab({"/": _coded(gzip.compress(inner), "gzip"), "/x": _coded(b"", "br")}) as server:
            answer = await server.get("/")
            assert isinstance(answer, Response)
            assert answer.body == inner
            assert answer.wire_bytes == len(gzip.compress(inner))
            empty = await server.get("/x")
            assert isinstance(empty, Response)
            assert empty.body == b""

    asyncio.run(main())


def test_a_large_encoded_body_is_decoded_off_the_loop(lab: "type[Lab]") -> None:
    text = b"".join(b"%d " % (n * n) for n in range(60_000))
    packed = gzip.compress(text, 1)
    assert len(packed) > 64 * 1024

    async def main() -> None:
        async with lab({"/": _coded(packed, "gzip")}) as server:
            answer = await server.get("/")
        assert isinstance(answer, Response)
        assert answer.body == text

    asyncio.run(main())
