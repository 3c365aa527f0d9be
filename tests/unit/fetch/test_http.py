"""One request, one value: what comes back, what is sent, and what the environment may not change."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope

if TYPE_CHECKING:
    from tests.unit.fetch.conftest import Answer, Lab, Names

Run = Callable[[Coroutine[Any, Any, None]], None]
Reply = Callable[..., bytes]

PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy")


def test_a_response_comes_back_whole(lab: "type[Lab]", reply: Reply, run: Run) -> None:
    page = reply(b"<p>page", "X-Odd:  two  words ", "Set-Cookie: a=1", "set-cookie: b=2", 'ETag: W/"\xe9"')

    async def main() -> None:
        async with lab({"/a?b=%C3%A9": page}) as server:
            answer = await server.get("/a?b=%C3%A9")
        assert isinstance(answer, Response)
        assert (answer.status, answer.body, answer.wire_bytes) == (200, b"<p>page", 7)
        assert (answer.address, answer.http_version, answer.cut) == ("127.0.0.1", "1.1", False)
        assert answer.url == server.url("/a?b=%C3%A9")
        assert answer.headers == (
            ("Content-Length", "7"),
            ("X-Odd", "two  words"),
            ("Set-Cookie", "a=1"),
            ("set-cookie", "b=2"),
            ("ETag", 'W/"\xe9"'),
        )
        assert answer.header("set-cookie") == "a=1, b=2"
        assert answer.elapsed_s >= 0

    run(main())


def test_connections_are_kept_and_used_again(lab: "type[Lab]", reply: Reply, run: Run) -> None:
    async def main() -> None:
        async with lab({"/": reply(b"x" * 30_000)}) as server:
            for _ in range(5):
                answer = await server.get("/")
                assert isinstance(answer, Response)
                assert len(answer.body) == 30_000
            assert server.connections == 1
            answers = await asyncio.gather(*[server.get("/") for _ in range(8)])
        assert all(isinstance(answer, Response) for answer in answers)

    run(main())


def test_a_kept_connection_that_the_server_gave_up_is_replaced(
    lab: "type[Lab]", reply: Reply, run: Run
) -> None:
    page = reply(b"x" * 30_000)
    gone = asyncio.Semaphore(0)

    async def once(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(page)  # says nothing of closing, and closes
        writer.close()
        await writer.wait_closed()
        gone.release()

    async def main() -> None:
        async with lab({"/": once}) as server:
            for _ in range(5):
                answer = await server.get("/")
                assert isinstance(answer, Response)
                await gone.acquire()
            assert server.connections == 5

    run(main())


def test_sockets_that_close_and_open_again_mislead_nobody(lab: "type[Lab]", reply: Reply, run: Run) -> None:
    routes: dict[str, Answer] = {"/keep": reply(b"k"), "/close": reply(b"c", "Connection: close")}

    async def main() -> None:
        async with lab(routes, max_connections=3) as one, lab(routes, max_connections=2) as two:
            for place in range(12):
                paths = ["/close", "/keep", "/keep" if place % 3 else "/close"]
                answers = await asyncio.gather(*[server.get(path) for path in paths for server in (one, two)])
                assert [answer.body for answer in answers if isinstance(answer, Response)] == [
                    path[1:2].encode() for path in paths for _ in range(2)
                ]
                if place == 6:  # the numbers that one leaves are taken by two
                    await one.fetcher.close()
                    one.fetcher = two.fetcher

    run(main())


def test_no_more_requests_fly_than_connections_are_allowed(lab: "type[Lab]", reply: Reply, run: Run) -> None:
    async def main() -> None:
        async with lab({"/": reply(b"x")}, max_connections=2) as server:
            await asyncio.gather(*[server.get("/") for _ in range(12)])
            assert server.connections <= 2
            assert len(server.heads) == 12

    run(main())


def test_the_gatherer_says_who_it_is(lab: "type[Lab]", reply: Reply) -> None:
    async def main() -> None:
        async with lab({"/": reply()}) as server:
            await server.get("/")
        head = server.heads[0]
        assert b"User-Agent: Ingather/0.1 (+https://ingather.example/robot)\r\n" in head
        assert b"From: operator@example.org\r\n" in head
        assert b"Accept-Encoding: gzip, deflate, br, zstd\r\n" in head
        assert b"cookie" not in head.lower()

    asyncio.run(main())


@pytest.mark.parametrize("email", ["", "user@domain", "a@b\r\nX: y"], ids=["none", "placeholder", "broken"])
def test_an_address_that_is_nobodys_is_not_sent(lab: "type[Lab]", reply: Reply, email: str) -> None:
    async def main() -> None:
        async with lab({"/": reply()}, email=email) as server:
            await server.get("/")
        assert b"From:" not in server.heads[0]

    asyncio.run(main())


def test_validators_go_back_byte_for_byte(lab: "type[Lab]", reply: Reply) -> None:
    first = reply(b"x", 'ETag:  W/"caf\xe9 \\ \' , x"', "Last-Modified: sat, 21 nov 2026 bad date")
    again = reply(b"", status="304 Not Modified")

    async def main() -> None:
        async with lab({"/": first}) as server:
            answer = await server.get("/")
            assert isinstance(answer, Response)
            server.routes["/"] = again
            etag, modified = answer.header("etag"), answer.header("last-modified")
            second = await server.get("/", etag=etag, last_modified=modified)
            assert isinstance(second, Response)
            assert (second.status, second.body) == (304, b"")
            server.routes["/"] = first
            await server.get("/")
        assert b'If-None-Match: W/"caf\xe9 \\ \' , x"\r\n' in server.heads[1]
        assert b"If-Modified-Since: sat, 21 nov 2026 bad date\r\n" in server.heads[1]
        assert b"If-" not in server.heads[2]

    asyncio.run(main())


def test_a_header_of_the_request_is_sent_once_and_only_with_it(lab: "type[Lab]", reply: Reply) -> None:
    async def main() -> None:
        async with lab({"/": reply()}) as server:
            await server.get("/", headers=(("Accept-Language", "de"),))
            await server.get("/")
            broken = await server.get("/", headers=(("X", "a\r\nY: b"),))
        assert b"Accept-Language: de\r\n" in server.heads[0]
        assert b"Accept-Language" not in server.heads[1]
        assert isinstance(broken, Failure)
        assert len(server.heads) == 2

    asyncio.run(main())


def test_head_asks_for_no_body(lab: "type[Lab]", reply: Reply) -> None:
    async def main() -> None:
        async with lab({"/": reply(length=999)}) as server:
            head = await server.get("/", method="HEAD")
            server.routes["/"] = reply(b"x")
            get = await server.get("/")
            put = await server.get("/", method="PUT")
        assert isinstance(head, Response)
        assert head.header("content-length") == "999"
        assert server.heads[0].startswith(b"HEAD / ")
        assert isinstance(get, Response)
        assert get.body == b"x"
        assert isinstance(put, Failure)

    asyncio.run(main())


def test_redirects_are_responses(lab: "type[Lab]", reply: Reply) -> None:
    async def main() -> None:
        async with lab({"/": reply(b"", "Location: /b", status="302 Found")}) as server:
            answer = await server.get("/")
        assert isinstance(answer, Response)
        assert (answer.status, answer.header("location")) == (302, "/b")
        assert len(server.heads) == 1

    asyncio.run(main())


def test_interim_responses_and_trailers_are_not_the_head(lab: "type[Lab]") -> None:
    answer = (
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Etag\r\n\r\n"
        b"3\r\nabc\r\n0\r\nETag: late\r\n\r\n"
    )

    async def main() -> None:
        async with lab({"/": answer}) as server:
            got = await server.get("/")
        assert isinstance(got, Response)
        assert (got.status, got.body, got.header("etag"), got.header("link")) == (200, b"abc", "", "")

    asyncio.run(main())


def test_no_proxy_variable_is_obeyed(
    lab: "type[Lab]", reply: Reply, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in PROXIES:
        for spelling in (name, name.upper()):
            monkeypatch.setenv(spelling, "http://127.0.0.1:1/")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("CURL_HOME", str(tmp_path))
    (tmp_path / ".curlrc").write_text("proxy = http://127.0.0.1:1\n")

    async def main() -> None:
        async with lab({"/": reply(b"direct")}) as server:
            answer = await server.get("/")
        assert isinstance(answer, Response)
        assert answer.body == b"direct"

    asyncio.run(main())


def test_netrc_is_not_read(
    lab: "type[Lab]", reply: Reply, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\ndefault login me password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))

    async def main() -> None:
        async with lab({"/": reply()}) as server:
            await server.get("/")
            await server.get("/", headers=(("X", "y"),))
        assert all(b"authorization" not in head.lower() for head in server.heads)

    asyncio.run(main())


def test_credentials_in_a_url_are_not_sent(lab: "type[Lab]", reply: Reply) -> None:
    async def main() -> None:
        async with lab({"/": reply()}) as server:
            answer = await server.get(f"http://me:secret@127.0.0.1:{server.port}/")
        assert isinstance(answer, Response)
        assert b"authorization" not in server.heads[0].lower()

    asyncio.run(main())


def test_cookies_are_not_kept(lab: "type[Lab]", reply: Reply) -> None:
    async def main() -> None:
        async with lab({"/": reply(b"", "Set-Cookie: a=1; Path=/")}) as server:
            await server.get("/")
            await server.get("/")
        assert b"cookie" not in server.heads[1].lower()

    asyncio.run(main())


def test_a_url_goes_out_as_it_stands(lab: "type[Lab]") -> None:
    async def main() -> None:
        async with lab({}) as server:
            await server.get("/a//b;c=1/%7E?x=%2F&y=[1]|2")
            await server.get(server.url("/é ü?q=ä#part"))
        assert server.heads[0].startswith(b"GET /a//b;c=1/%7E?x=%2F&y=[1]|2 HTTP/1.1\r\n")
        assert server.heads[1].startswith(b"GET /%C3%A9%20%C3%BC?q=%C3%A4 HTTP/1.1\r\n")

    asyncio.run(main())


@pytest.mark.parametrize("url", ["", "nonsense", "http://", "/relative", "http://a b/", "http://\udcff/"])
def test_what_is_no_url_is_a_failure(lab: "type[Lab]", loopback: Scope, url: str) -> None:
    async def main() -> None:
        async with lab({}) as server:
            answer = await server.fetcher.fetch(Request(url), loopback)
        assert isinstance(answer, Failure)
        assert answer.kind is FailureKind.PROTOCOL

    asyncio.run(main())


def test_a_cancelled_fetch_closes_its_connection_and_no_other(
    lab: "type[Lab]", reply: Reply, run: Run
) -> None:
    asked, gone = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        asked.set()
        assert await reader.read() == b""
        gone.set()

    async def main() -> None:
        async with lab({"/silent": silent, "/": reply(b"x")}) as server:
            await server.get("/")
            waiting = asyncio.create_task(server.get("/silent"))
            await asked.wait()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await gone.wait()
            answer = await server.get("/")
            assert isinstance(answer, Response)

    run(main())


def test_closing_ends_what_is_in_flight(lab: "type[Lab]", run: Run) -> None:
    asked = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()

    async def main() -> None:
        async with lab({"/": silent}) as server:
            waiting = asyncio.create_task(server.get("/"))
            await asked.wait()
            await server.fetcher.close()
            answer = await waiting
            assert isinstance(answer, Failure)
            assert answer.kind is FailureKind.CANCELLED
            await server.fetcher.close()

    run(main())


def test_the_name_is_resolved_once_and_sent_along(
    lab: "type[Lab]", names: "type[Names]", reply: Reply
) -> None:
    async def main() -> None:
        book = names({"intranet.example": ["127.0.0.1"]})
        async with lab({"/": reply(b"x")}, names=book) as server:
            answer = await server.get(server.url("/", "intranet.example"))
            assert isinstance(answer, Response)
            assert answer.address == "127.0.0.1"
        assert book.asked == ["intranet.example"]
        assert f"Host: intranet.example:{server.port}\r\n".encode() in server.heads[0]

    asyncio.run(main())


def test_the_next_address_is_tried_when_one_does_not_answer(
    lab: "type[Lab]", names: "type[Names]", reply: Reply
) -> None:
    async def main() -> None:
        book = names({"two.example": ["127.0.0.9", "127.0.0.1"]})
        async with lab({"/": reply(b"x")}, names=book) as server:
            answer = await server.get(server.url("/", "two.example"))
            assert isinstance(answer, Response)
            assert answer.address == "127.0.0.1"

    asyncio.run(main())
