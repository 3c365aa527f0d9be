"""A gatherer with two sources of one host, one of them by a proxy or a PAC file that fails."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ingather.app.reaching.ledger import FileLedger, forget
from ingather.errors import ProxyError
from ingather.fetch.logins import Guard
from ingather.fetch.proxies.address import read_answer
from ingather.fetch.proxies.bypass import Bypass
from ingather.fetch.proxies.hop import Target
from ingather.fetch.proxies.pac import NoPacFileError, PacAnswer
from ingather.fetch.proxies.routing import Router
from ingather.fetch.proxies.rules import Rule, Rules
from ingather.model.lifecycle import Outcome
from ingather.model.proxies import Ways as Words
from ingather.model.proxies import read_ways
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.robot.politeness.waygate import Directly
from ingather.robot.wire import AskStart, HandBack, Refused, Rested, Ways
from ingather.testing.clock import FakeClock
from ingather.testing.hand import Hand, RawServer, answer
from ingather.testing.proxy import KitProxy

PAGE = answer("<title>x</title>walrus", 200, ("Content-Type", "text/html"))
PATIENCE_S = 60.0


def dead_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def by(*words: str, no_proxy: tuple[str, ...] = ()) -> Router:
    """Source ``far`` goes by *words*, every other one directly."""
    rule = Rule("source.far.proxy, ingather.toml:3", read_ways(words), Bypass(no_proxy))
    return Router(Rules({"far": rule}), no_pac, FakeClock(), set_aside_s=60.0)


def no_pac(_location: str, _typed: bool) -> Any:  # noqa: FBT001 - a callback
    raise AssertionError("no PAC file here")


def by_pac(says: Callable[[Target], str]) -> Router:
    class Script:
        async def ask(self, target: Target) -> PacAnswer:
            text = says(target)
            return PacAnswer(text, read_answer(text))

        async def close(self) -> None:
            """Nothing runs."""

    rule = Rule("source.far.proxy, ingather.toml:3", Words(pac="http://wpad.example/proxy.pac"))
    return Router(Rules({"far": rule}), lambda _location, _typed: Script(), FakeClock(), set_aside_s=60.0)  # type: ignore[arg-type, return-value]


async def both(hand: Hand, server: RawServer, count: int = 4) -> tuple[list[Any], list[Any]]:
    """Lend *count* URLs of each source, far's first; return near's reports, and far's as far as there are any."""
    for n in range(count):
        server.said[f"/far{n}"] = server.said[f"/near{n}"] = PAGE
    far = [hand.begin(f"{server.origin}/far{n}", source="far") for n in range(count)]
    near = [hand.begin(f"{server.origin}/near{n}", source="near") for n in range(count)]
    reports = await asyncio.wait_for(asyncio.gather(*near), PATIENCE_S)

    def out() -> int:
        back = sum(len(said.claims) for said in hand.messages if isinstance(said, Rested))
        return count - back - sum(one.done() for one in far)

    async with asyncio.timeout(PATIENCE_S):
        while out():  # noqa: ASYNC110 - the wire says no event of it
            await asyncio.sleep(0.01)
    return reports, [one.result() for one in far if one.done()]


def told(hand: Hand) -> list[Any]:
    """Return what the gatherer told the keeper of ways."""
    return [state for said in hand.messages if isinstance(said, Ways) for state in said.states]


def host_learnt_nothing(hand: Hand) -> bool:
    return not [said for said in hand.messages if isinstance(said, HandBack | Refused)]


def test_a_dead_proxy_of_one_source_costs_another_source_of_the_host_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        port = dead_port()
        async with (
            RawServer() as server,
            Hand(made(tmp_path), routing=by(f"http://127.0.0.1:{port}")) as hand,
        ):
            near, far = await both(hand, server)
            assert {Outcome(report.outcome) for report in near} == {Outcome.INDEXED}
            assert [Outcome(report.outcome) for report in far] == [Outcome.FAILED]
            assert far[0].detail.startswith(f"proxy: robots.txt: proxy: proxy http://127.0.0.1:{port}")
            assert far[0].retry_s is not None
            assert [path for _, path, _ in server.asked].count("/robots.txt") == 1
            assert {(one.source, one.way, one.failures) for one in told(hand)} == {
                ("far", f"proxy http://127.0.0.1:{port}", 1)
            }
            back = [said for said in hand.messages if isinstance(said, Rested)]
            assert sum(len(said.claims) for said in back) == 3
            assert {(said.source, said.way) for said in back} == {("far", f"proxy http://127.0.0.1:{port}")}
            assert host_learnt_nothing(hand)

    asyncio.run(main())


def test_with_robots_txt_known_the_proxys_failure_is_the_sources_alone(tmp_path: Path) -> None:
    async def main() -> None:
        port = dead_port()
        async with (
            RawServer() as server,
            Hand(made(tmp_path), routing=by(f"http://127.0.0.1:{port}")) as hand,
        ):
            server.said["/first"] = PAGE
            await hand.visit(f"{server.origin}/first", source="near")
            near, far = await both(hand, server)
            assert {Outcome(report.outcome) for report in near} == {Outcome.INDEXED}
            assert far
            assert all(report.detail.startswith("proxy: proxy http") for report in far)
            assert host_learnt_nothing(hand)

    asyncio.run(main())


def test_hosts_without_the_proxy_go_on(tmp_path: Path) -> None:
    async def main() -> None:
        routing = by(f"http://127.0.0.1:{dead_port()}", no_proxy=("127.0.0.2",))
        async with RawServer() as server, Hand(made(tmp_path), routing=routing) as hand:
            await both(hand, server, 1)
            server.said["/other"] = PAGE
            report = await hand.visit(f"{server.other}/other", source="far")
            assert Outcome(report.outcome) is Outcome.INDEXED

    asyncio.run(main())


def test_a_proxy_that_wants_a_login_or_refuses_a_host_is_the_sources_trouble(tmp_path: Path) -> None:
    async def main(status: int, way: str) -> None:
        folder = made(tmp_path / str(status))
        async with (
            KitProxy(refuses=status) as proxy,
            RawServer() as server,
            Hand(folder, routing=by(f"http://127.0.0.1:{proxy.port}")) as hand,
        ):
            port = server.origin.rpartition(":")[2]
            near, far = await both(hand, server)
            assert {Outcome(report.outcome) for report in near} == {Outcome.INDEXED}
            assert Outcome(far[0].outcome) is Outcome.FAILED
            assert told(hand)[0].way == way.format(proxy=proxy.port, port=port)
            assert host_learnt_nothing(hand)

    asyncio.run(main(407, "proxy http://127.0.0.1:{proxy} to 127.0.0.1:{port}"))


def test_a_502_of_which_nobody_says_whose_it_is_counts_as_the_hosts(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            KitProxy(refuses=502) as proxy,
            RawServer() as server,
            Hand(made(tmp_path), routing=by(f"http://127.0.0.1:{proxy.port}")) as hand,
        ):
            server.said["/first"] = PAGE
            await hand.visit(f"{server.origin}/first", source="near")
            report = await hand.visit(f"{server.origin}/far", source="far")
            assert Outcome(report.outcome) is Outcome.SERVER_ERROR
            assert not [one for one in told(hand) if one.failures]

    asyncio.run(main())


def test_a_503_that_the_proxy_signs_is_not_the_hosts(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            signing(b"X-Squid-Error: ERR_CONNECT_FAIL 111") as port,
            RawServer() as server,
            Hand(made(tmp_path), routing=by(f"http://127.0.0.1:{port}")) as hand,
        ):
            server.said["/first"] = PAGE
            await hand.visit(f"{server.origin}/first", source="near")
            near, far = await both(hand, server)
            assert {Outcome(report.outcome) for report in near} == {Outcome.INDEXED}
            assert Outcome(far[0].outcome) is Outcome.BACK_OFF
            assert {one.source for one in told(hand)} == {"far"}
            assert host_learnt_nothing(hand)

    asyncio.run(main())


def test_a_pac_file_that_cannot_be_had_or_breaks_holds_up_its_source_alone(tmp_path: Path) -> None:
    async def main(error: ProxyError, way: str) -> None:
        def says(_target: Target) -> str:
            raise error

        folder = made(tmp_path / type(error).__name__)
        async with RawServer() as server, Hand(folder, routing=by_pac(says)) as hand:
            port = server.origin.rpartition(":")[2]
            server.said["/first"] = PAGE
            await hand.visit(f"{server.origin}/first", source="near")
            near, far = await both(hand, server)
            assert {Outcome(report.outcome) for report in near} == {Outcome.INDEXED}
            assert far
            assert far[0].detail.startswith("proxy: source.far.proxy, ingather.toml:3: PAC file")
            assert {one.way for one in told(hand)} == {way.format(port=port)}
            assert host_learnt_nothing(hand)

    pac = "PAC file http://wpad.example/proxy.pac"
    asyncio.run(main(NoPacFileError(f"{pac}: it cannot be had"), pac))
    asyncio.run(main(ProxyError(f"{pac}: ReferenceError"), pac + " for 127.0.0.1:{port}"))


def test_a_pac_file_that_hangs_holds_no_turn_of_the_host(tmp_path: Path) -> None:
    async def main() -> None:
        hangs = asyncio.Event()

        class Script:
            async def ask(self, _target: Target) -> PacAnswer:
                await hangs.wait()
                return PacAnswer("DIRECT", (None,))

            async def close(self) -> None:
                """Nothing runs."""

        rule = Rule("source.far.proxy, ingather.toml:3", Words(pac="http://wpad.example/proxy.pac"))
        routing = Router(
            Rules({"far": rule}), lambda _location, _typed: Script(), FakeClock(), set_aside_s=60.0  # type: ignore[arg-type, return-value]
        )  # fmt: skip
        async with RawServer() as server, Hand(made(tmp_path), routing=routing) as hand:
            for path in ("/first", "/far", *(f"/near{n}" for n in range(20))):
                server.said[path] = PAGE
            await hand.visit(f"{server.origin}/first", source="near")
            far = [hand.begin(f"{server.origin}/far", source="far") for _ in range(20)]
            for n in range(20):
                report = await hand.visit(f"{server.origin}/near{n}", source="near")
                assert Outcome(report.outcome) is Outcome.INDEXED
            assert not any(one.done() for one in far)
            hangs.set()
            reports = await asyncio.wait_for(asyncio.gather(*far), PATIENCE_S)
            assert {Outcome(report.outcome) for report in reports} == {Outcome.INDEXED}

    asyncio.run(main())


def test_a_login_that_waits_or_is_being_tried_takes_no_turn_of_the_host(tmp_path: Path) -> None:
    class Held(Directly):
        def held(self, url: str, source: str) -> Failure | None:
            return Failure(url, FailureKind.AUTH, "it waits", retry_after_s=30.0) if source == "far" else None

        def busy(self, url: str, source: str) -> bool:
            return source == "busy"

    async def main() -> None:
        async with RawServer() as server, Hand(made(tmp_path), ways=Held()) as hand:
            server.said["/near"] = PAGE
            await hand.visit(f"{server.origin}/near", source="near")
            begun = len([said for said in hand.messages if isinstance(said, AskStart)])
            for _ in range(5):
                report = await hand.visit(f"{server.origin}/far", source="far")
                assert (Outcome(report.outcome), report.detail) == (Outcome.FAILED, "auth: it waits")
            hand.begin(f"{server.origin}/busy", source="busy")
            await hand.visit(f"{server.origin}/near", source="near")
            assert len([said for said in hand.messages if isinstance(said, AskStart)]) == begun + 1
            assert [said.source for said in hand.messages if isinstance(said, Rested)] == ["busy"]
            assert server.paths() == ["/near", "/near"]

    asyncio.run(main())


def test_a_guard_says_beforehand_what_it_would_say(tmp_path: Path) -> None:
    class Refused401:
        async def ask(self, request: Request, scope: Scope, send: object) -> Response:
            return Response(request.url, 401)

    async def send(request: Request, _scope: Scope, _dress: object) -> Response:
        return Response(request.url, 404)

    async def main() -> None:
        clock = FakeClock()
        ledger = FileLedger(tmp_path, "staff", "1", 2, wall=clock.wall, monotonic=clock.monotonic)
        guard, scope = Guard("staff", Refused401(), ledger), Scope("far")
        url = "http://host.example/a"
        assert guard.held(url) is None
        for refused in (1, 2):
            assert isinstance(await guard.ask(Request(url), scope, send), Failure)
            clock.advance(3)
            held = guard.held(url)
            assert held is not None
            assert (held.kind, held.retry_after_s is None) == (FailureKind.AUTH, refused == 2)
            assert guard.held("http://host.example/robots.txt") is None
            clock.advance(60)
        assert not guard.busy
        forget(tmp_path, "staff")
        clock.advance(3)
        assert guard.held(url) is None

    asyncio.run(main())


def made(folder: Path) -> Path:
    (folder / "bodies").mkdir(parents=True)
    return folder


class signing:  # noqa: N801 - a context
    """A proxy whose every answer is a 503 with a line of its own."""

    def __init__(self, line: bytes) -> None:
        self._line = line

    async def __aenter__(self) -> int:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aexit__(self, *_error: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 503 No\r\nConnection: close\r\nContent-Length: 0\r\n" + self._line + b"\r\n\r\n"
        )
        await writer.drain()
        writer.close()
        await writer.wait_closed()
