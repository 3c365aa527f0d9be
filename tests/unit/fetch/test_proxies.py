"""Requests through proxies: every kind, passwords, fail-over, what the gate says of proxy and target."""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ingather.errors import ProxyError
from ingather.fetch import RobotsKind
from ingather.fetch.http import HttpFetcher
from ingather.fetch.limits import Limits
from ingather.fetch.proxies.bypass import Bypass
from ingather.fetch.proxies.hop import Target
from ingather.fetch.proxies.pac import Pac
from ingather.fetch.proxies.routing import Router
from ingather.fetch.proxies.rules import Rule, Rules
from ingather.fetch.robots_visit import visit_robots
from ingather.model.proxies import Proxy, Ways, read_ways
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.testing.clock import FakeClock
from ingather.testing.proxy import KitProxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.unit.fetch.conftest import Lab, Names

Reply = Callable[..., bytes]
ANY = Scope(source="far")
"""A source without private addresses: behind a proxy its hosts may have any."""


def no_pac(_location: str, _typed: bool) -> Pac:  # noqa: FBT001 - a callback
    raise AssertionError("no PAC file here")


def router(
    *words: str, login: tuple[str, str] | None = None, clock: FakeClock | None = None, **more: Any
) -> Router:
    bypass = Bypass(more.pop("no_proxy", ()))
    rule = Rule("proxy.url, ingather.toml:3", read_ways(words), bypass, lambda _scheme, _proxy: login)
    return Router(Rules({}, rule), no_pac, clock or FakeClock(), set_aside_s=60.0, **more)


@asynccontextmanager
async def fetching(
    names: "Names", routing: Router | None, *, ca_file: Path | None = None, own_ports: Any = (), **more: Any
) -> "AsyncIterator[HttpFetcher]":
    fetcher = HttpFetcher(
        Limits(connect_s=5.0), user_agent="x/1", email="", resolver=names, own_ports=own_ports, clock=FakeClock(), routing=routing,
        ca_file=str(ca_file) if ca_file else None, **more,
    )  # fmt: skip
    try:
        yield fetcher
    finally:
        await fetcher.close()


async def body(fetcher: HttpFetcher, url: str, scope: Scope = ANY) -> bytes:
    answer = await fetcher.fetch(Request(url), scope)
    assert isinstance(answer, Response), answer
    assert answer.status == 200
    assert answer.address == ""
    return answer.body


async def failure(fetcher: HttpFetcher, url: str, scope: Scope = ANY) -> Failure:
    answer = await fetcher.fetch(Request(url), scope)
    assert isinstance(answer, Failure), answer
    return answer


@pytest.mark.parametrize("kind", ["http", "socks5", "socks4"])
def test_http_through_a_proxy_that_resolves_names(
    lab: "type[Lab]", reply: Reply, names: "type[Names]", kind: str
) -> None:
    async def main() -> None:
        async with lab({"/a?b": reply(b"hello")}) as host, KitProxy(socks=kind != "http") as proxy:
            none = names()
            async with fetching(none, router(f"{kind}://127.0.0.1:{proxy.port}")) as fetcher:
                url = f"http://far.example:{host.port}/a?b"
                assert await body(fetcher, url) == b"hello"
                assert await body(fetcher, url) == b"hello"
                assert none.asked == []  # the target's name is the business of the proxy alone
            asked = proxy.heads[0]
        if kind == "http":
            assert asked.startswith(f"GET {url} HTTP/1.1\r\nHost: far.example:{host.port}\r\n".encode())
        else:
            assert asked == f"SOCKS{kind[-1]} far.example:{host.port}".encode()

    asyncio.run(main())


def test_https_goes_through_connect_and_neither_side_sees_the_others_headers(
    lab: "type[Lab]",
    reply: Reply,
    names: "type[Names]",
    server_tls: ssl.SSLContext,
    certificate: tuple[Path, Path],
) -> None:
    async def main() -> None:
        async with (
            lab({"/": reply(b"safe", "X-Host: yes")}, tls=server_tls) as host,
            KitProxy(login="us:pw") as proxy,
        ):
            routing = router(f"http://127.0.0.1:{proxy.port}", login=("us", "pw"))
            async with fetching(
                names(),
                routing,
                ca_file=certificate[0],
                authorization=lambda _url, _source: b"Authorization: Basic SECRET",
            ) as fetcher:
                answer = await fetcher.fetch(
                    Request(f"https://localhost:{host.port}/", headers=(("X-Own", "1"),)), ANY
                )
                assert isinstance(answer, Response), answer
                assert (answer.body, answer.authorized) == (b"safe", True)
                assert answer.header("x-host") == "yes"
                assert answer.header("x-kit") == ""  # the head that answered CONNECT is not the answer's
                assert all(head.startswith(b"CONNECT localhost:") for head in proxy.heads)
                assert not any(b"SECRET" in head or b"X-Own" in head for head in proxy.heads)
                assert b"Basic SECRET" in host.heads[0]
                assert b"roxy-" not in host.heads[0]

    asyncio.run(main())


def test_a_password_for_the_proxy(lab: "type[Lab]", reply: Reply, names: "type[Names]") -> None:
    async def main() -> None:
        async with lab({"/": reply(b"in")}) as host, KitProxy(login="us:p:w") as proxy:
            url = f"http://far.example:{host.port}/"
            async with fetching(
                names(), router(f"http://127.0.0.1:{proxy.port}", login=("us", "p:w"))
            ) as fetcher:
                assert await body(fetcher, url) == b"in"  # the challenge within is not taken for the answer
                assert b"roxy-" not in host.heads[0]
            for login, word in ((None, "wants"), (("us", "no"), "refuses")):
                async with fetching(
                    names(), router(f"http://127.0.0.1:{proxy.port}", login=login)
                ) as fetcher:
                    for scheme in ("http", "https"):
                        got = await failure(fetcher, f"{scheme}://far.example:{host.port}/")
                        assert got.kind is FailureKind.PROXY_LOGIN
                        assert (
                            f"proxy http://127.0.0.1:{proxy.port} (proxy.url, ingather.toml:3): it {word}"
                            in got.detail
                        )
                        assert "p:w" not in got.detail
            assert len(host.heads) == 1

    asyncio.run(main())


def test_a_login_that_a_proxy_refused_waits(lab: "type[Lab]", reply: Reply, names: "type[Names]") -> None:
    async def main() -> None:
        async with lab({"/": reply(b"in")}) as host, KitProxy(login="us:pw") as proxy:
            clock, login = FakeClock(), ["no"]
            made = router(f"http://127.0.0.1:{proxy.port}", clock=clock)
            assert made.rules.usual is not None
            rule = replace(made.rules.usual, login=lambda _scheme, _proxy: ("us", login[0]))
            routing = Router(Rules({}, rule), no_pac, clock, set_aside_s=60.0)
            url = f"http://far.example:{host.port}/"
            async with fetching(names(), routing) as fetcher:
                assert (await failure(fetcher, url)).kind is FailureKind.PROXY_LOGIN
                seen = len(proxy.heads)
                held = await failure(fetcher, url)
                assert (held.kind, held.retry_after_s) == (FailureKind.PROXY_LOGIN, 30.0)
                assert "1 times in a row" in held.detail
                assert (await failure(fetcher, url, Scope(source="other"))).kind is FailureKind.PROXY_LOGIN
                assert len(proxy.heads) > seen  # another source has its own count
                seen = len(proxy.heads)
                clock.advance(31.0)
                assert (await failure(fetcher, url)).retry_after_s is None
                assert len(proxy.heads) > seen
                assert (await failure(fetcher, url)).retry_after_s == 60.0
                login[0] = "pw"
                assert await body(fetcher, url) == b"in"
            assert len(host.heads) == 1

    asyncio.run(main())


def test_a_password_for_a_socks_proxy(lab: "type[Lab]", reply: Reply, names: "type[Names]") -> None:
    async def main() -> None:
        async with lab({"/": reply(b"in")}) as host, KitProxy(socks=True, login="us:pw") as proxy:
            url = f"http://far.example:{host.port}/"
            async with fetching(
                names(), router(f"socks5://127.0.0.1:{proxy.port}", login=("us", "pw"))
            ) as fetcher:
                assert await body(fetcher, url) == b"in"
            async with fetching(
                names(), router(f"socks5://127.0.0.1:{proxy.port}", login=("us", "no"))
            ) as fetcher:
                assert (await failure(fetcher, url)).kind is FailureKind.PROXY_LOGIN

    asyncio.run(main())


def test_proxies_by_scheme_hosts_without_and_a_source_of_its_own(
    lab: "type[Lab]", reply: Reply, names: "type[Names]", loopback: Scope
) -> None:
    async def main() -> None:
        async with lab({"/": reply(b"x")}) as host, KitProxy() as proxy, KitProxy() as other:
            table = names({"near.example": ("127.0.0.1",), "here.example": ("127.0.0.1",)})
            routing = router(f"http=http://127.0.0.1:{proxy.port}", no_proxy=["near.example"])
            own = Rule("source.own.proxy", Ways({"": Proxy("http", "127.0.0.1", other.port)}))
            plain = Rule("source.plain.proxy", Ways({"": None}))
            routing.rules = Rules({"own": own, "plain": plain}, routing.rules.usual)
            async with fetching(table, routing) as fetcher:
                assert await body(fetcher, f"http://far.example:{host.port}/") == b"x"
                near = await fetcher.fetch(Request(f"http://near.example:{host.port}/"), loopback)
                assert isinstance(near, Response)
                assert near.address == "127.0.0.1"
                assert len(proxy.heads) == 1
                assert await body(fetcher, f"http://far.example:{host.port}/", Scope("own")) == b"x"
                plainly = Scope("plain", addresses=("127.0.0.0/8",))
                direct = await fetcher.fetch(Request(f"http://here.example:{host.port}/"), plainly)
                assert isinstance(direct, Response)
                assert (len(proxy.heads), len(other.heads)) == (1, 1)
                # https has no proxy in this rule: it goes directly, through the gate.
                got = await failure(fetcher, f"https://here.example:{host.port}/")
                assert got.kind is FailureKind.EGRESS

    asyncio.run(main())


def test_a_kept_connection_of_a_proxy_carries_nothing_that_goes_directly(
    lab: "type[Lab]", reply: Reply, names: "type[Names]", loopback: Scope
) -> None:
    async def main() -> None:
        async with lab({"/": reply(b"x")}) as host, KitProxy() as proxy:
            routing = router(f"http://127.0.0.1:{proxy.port}")
            routing.rules = Rules({"here": Rule("source.here.proxy", Ways({"": None}))}, routing.rules.usual)
            table = names({"far.example": ("127.0.0.1",)})
            async with fetching(table, routing, max_connections=1) as fetcher:
                url = f"http://far.example:{host.port}/"
                for _ in range(2):
                    assert await body(fetcher, url) == b"x"
                    direct = await fetcher.fetch(Request(url), loopback)
                    assert isinstance(direct, Response)
                assert len(proxy.heads) == 2
                assert host.heads[1].startswith(b"GET / ")
                # Not even to the proxy itself, over the connection that is open to it.
                got = await failure(fetcher, f"http://127.0.0.1:{proxy.port}/", Scope("here"))
                assert got.kind is FailureKind.EGRESS

    asyncio.run(main())


@pytest.mark.parametrize("dies", ["connect", "request"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_next_one_is_taken_and_the_broken_one_set_aside(  # noqa: PLR0913, PLR0917 - fixtures
    lab: "type[Lab]", reply: Reply, names: "type[Names]", server_tls: ssl.SSLContext, certificate: tuple[Path, Path], dies: str, scheme: str
) -> None:  # fmt: skip
    async def main() -> None:
        tls = server_tls if scheme == "https" else None
        async with lab({"/": reply(b"x")}, tls=tls) as host, KitProxy(dies=dies) as bad, KitProxy() as good:
            clock = FakeClock()
            routing = listed(clock, f"PROXY 127.0.0.1:{bad.port}; PROXY 127.0.0.1:{good.port}")
            url = f"{scheme}://localhost:{host.port}/"
            async with fetching(names(), routing, ca_file=certificate[0]) as fetcher:
                scope = Scope("far", addresses=("127.0.0.0/8",))
                assert await body(fetcher, url, scope) == b"x"
                tried = bad.connections
                assert tried
                assert await body(fetcher, url, scope) == b"x"
                assert bad.connections == tried
                clock.advance(61)
                assert await body(fetcher, url, scope) == b"x"
                assert bad.connections > tried

    asyncio.run(main())


def listed(clock: FakeClock, text: str, **more: Any) -> Router:
    """A router whose PAC file always answers *text*."""

    class Fixed:
        async def ask(self, _target: Target) -> Any:
            from ingather.fetch.proxies.address import read_answer
            from ingather.fetch.proxies.pac import PacAnswer

            return PacAnswer(text, read_answer(text))

        async def close(self) -> None:
            """Nothing runs."""

    rule = Rule("source.far.proxy, ingather.toml:9", Ways(pac="http://wpad.example/proxy.pac"))
    return Router(Rules({}, rule), lambda _location, _typed: Fixed(), clock, set_aside_s=60.0, **more)  # type: ignore[arg-type, return-value]


def test_without_any_that_works_all_are_named_and_nothing_goes_directly(
    lab: "type[Lab]", reply: Reply, names: "type[Names]"
) -> None:
    async def main() -> None:
        async with (
            lab({"/": reply(b"x")}) as host,
            KitProxy(dies="connect") as one,
            KitProxy(dies="connect") as two,
        ):
            url = f"http://127.0.0.1:{host.port}/"
            scope = Scope("far", addresses=("127.0.0.0/8",))
            routing = listed(FakeClock(), f"PROXY 127.0.0.1:{one.port}; SOCKS5 127.0.0.1:{two.port}")
            async with fetching(names(), routing) as fetcher:
                got = await failure(fetcher, url, scope)
                assert got.kind in {FailureKind.PROXY, FailureKind.CLOSED}
                assert f"127.0.0.1:{two.port}" in got.detail
                assert not host.heads
            routing = listed(FakeClock(), f"PROXY 127.0.0.1:{one.port}; DIRECT")
            async with fetching(names(), routing) as fetcher:
                answer = await fetcher.fetch(Request(url), scope)
                assert isinstance(answer, Response)
                assert answer.body == b"x"

    asyncio.run(main())


def test_a_proxy_that_refuses_is_named_and_no_other_is_asked(lab: "type[Lab]", names: "type[Names]") -> None:
    async def main() -> None:
        async with lab() as host, KitProxy(refuses=403) as proxy, KitProxy() as other:
            scope = Scope("far", addresses=("127.0.0.0/8",))
            routing = listed(FakeClock(), f"PROXY 127.0.0.1:{proxy.port}; PROXY 127.0.0.1:{other.port}")
            async with fetching(names(), routing) as fetcher:
                got = await failure(fetcher, f"https://far.example:{host.port}/", scope)
                assert got.kind is FailureKind.PROXY
                assert f"proxy http://127.0.0.1:{proxy.port}" in got.detail
                assert "403" in got.detail
                assert not other.connections

    asyncio.run(main())


@pytest.mark.parametrize(
    ("url", "scope", "why"),
    [
        ("http://127.0.0.1:{port}/", ANY, "loopback address"),
        ("http://169.254.169.254/latest", Scope("far", addresses=("0.0.0.0/0",)), "metadata"),
        ("http://[::ffff:10.0.0.1]/", ANY, "private"),
        ("http://far.example:{port}/", Scope("far", ports=frozenset({80})), "does not allow port"),
        ("http://far.example/", Scope("far", hosts=("near.example",)), "does not allow host"),
        ("https://far.example/", Scope("far", schemes=frozenset({"http"})), "does not allow https"),
        ("http://127.0.0.2:9/", Scope("far", addresses=("127.0.0.0/8",)), "listener of Ingather"),
    ],
)
def test_the_gate_checks_scheme_host_port_and_literal_address_of_the_target(names: "type[Names]", url: str, scope: Scope, why: str) -> None:  # fmt: skip
    async def main() -> None:
        async with KitProxy() as proxy:
            routing = router(f"http://127.0.0.1:{proxy.port}")
            async with fetching(names(), routing, own_ports={("127.0.0.2", 9)}) as fetcher:
                got = await failure(fetcher, url.format(port=proxy.port), scope)
                assert got.kind is FailureKind.EGRESS
                assert why in got.detail
                assert not proxy.connections

    asyncio.run(main())


def test_a_redirect_of_robots_txt_opens_nothing_behind_a_proxy(
    lab: "type[Lab]", reply: Reply, names: "type[Names]"
) -> None:
    """Directly the addresses are checked wherever it leads; a proxy could reach an inner host that no source names."""

    async def main() -> None:
        away = reply(b"", "Location: http://inner.example/robots.txt", status="302 Found")
        async with lab({"/robots.txt": away}) as host, KitProxy() as proxy:
            scope = Scope("far", hosts=("far.example",))
            async with fetching(names(), router(f"http://127.0.0.1:{proxy.port}")) as fetcher:
                state = await visit_robots(
                    fetcher, f"http://far.example:{host.port}/", scope, clock=FakeClock()
                )
                assert state.kind is RobotsKind.UNREACHABLE
                assert "does not allow host inner.example" in state.detail
                assert not any(b"inner.example" in head for head in proxy.heads)
                assert len(host.heads) == 1

    asyncio.run(main())


def test_the_gate_checks_the_proxy(names: "type[Names]") -> None:
    async def main() -> None:
        async with KitProxy() as proxy:
            table = names({"p.example": ("10.0.0.1", "169.254.169.254"), "q.example": OSError("no answer")})
            for words, own, why in (
                (
                    f"http://127.0.0.1:{proxy.port}",
                    {("127.0.0.1", proxy.port)},
                    "a listener of Ingather itself",
                ),
                ("http://p.example:3128", set(), "cloud metadata"),
                ("http://q.example:3128", set(), "no answer"),
                ("http://none.example:3128", set(), "does not exist"),
            ):
                async with fetching(table, router(words), own_ports=own) as fetcher:
                    got = await failure(fetcher, "http://far.example/")
                    assert got.kind is FailureKind.PROXY
                    assert why in got.detail
            assert not proxy.connections

    asyncio.run(main())


@pytest.mark.parametrize(
    ("allowed", "addresses", "goes"),
    [
        ((), (), False),
        ((), ("127.0.0.0/8",), True),
        (("127.0.0.1",), (), True),
        (("p.example",), (), True),
        ((".example",), (), True),
        (("127.0.0.0/8",), (), True),
        (("q.example",), (), False),
        (("q.example",), ("127.0.0.1",), True),
    ],
)
def test_a_pac_file_names_what_it_may_name(  # noqa: PLR0913 - fixtures
    lab: "type[Lab]", reply: Reply, names: "type[Names]", allowed: tuple[str, ...], addresses: tuple[str, ...], *, goes: bool
) -> None:  # fmt: skip
    async def main() -> None:
        async with lab({"/": reply(b"x")}) as host, KitProxy() as proxy:
            host_name = "127.0.0.1" if allowed == ("127.0.0.1",) else "p.example"
            routing = listed(FakeClock(), f"PROXY {host_name}:{proxy.port}", allowed=allowed)
            async with fetching(names({"p.example": ("127.0.0.1",)}), routing) as fetcher:
                url, scope = f"http://far.example:{host.port}/", Scope("far", addresses=addresses)
                if goes:
                    assert await body(fetcher, url, scope) == b"x"
                else:
                    got = await failure(fetcher, url, scope)
                    assert got.kind is FailureKind.PROXY
                    assert "proxy.allowed does not name" in got.detail

    asyncio.run(main())


def test_a_public_proxy_has_to_be_allowed_where_anything_is(names: "type[Names]") -> None:
    async def main() -> None:
        routing = listed(FakeClock(), "PROXY p.example:1", allowed=("q.example",))
        async with fetching(names({"p.example": ("93.184.216.34",)}), routing) as fetcher:
            got = await failure(fetcher, "http://far.example/")
            assert got.kind is FailureKind.PROXY
            assert "93.184.216.34 is an address that proxy.allowed does not name" in got.detail

    asyncio.run(main())


def test_a_pac_file_that_fails_lets_nothing_go_directly_unless_that_is_set(
    lab: "type[Lab]", reply: Reply, names: "type[Names]", loopback: Scope
) -> None:
    class Broken:
        async def ask(self, _target: Target) -> Any:
            raise ProxyError("PAC file /x.pac: it takes too long")

        async def close(self) -> None:
            """Nothing runs."""

    async def main() -> None:
        async with lab({"/": reply(b"x")}) as host:
            broken = Rule("source.here.proxy, ingather.toml:9", Ways(pac="/x.pac"))
            for fall_back in (False, True):
                routing = Router(
                    Rules({"here": broken}), lambda _l, _t: Broken(), FakeClock(), set_aside_s=1.0, direct_on_failure=fall_back  # type: ignore[arg-type, return-value]
                )  # fmt: skip
                async with fetching(names(), routing) as fetcher:
                    answer = await fetcher.fetch(Request(host.url("/")), loopback)
                    other = await fetcher.fetch(
                        Request(host.url("/")), Scope("other", addresses=("127.0.0.0/8",))
                    )
                    assert isinstance(other, Response)  # it hurts its own sources alone
                    if fall_back:
                        assert isinstance(answer, Response)
                    else:
                        assert isinstance(answer, Failure)
                        assert answer.kind is FailureKind.PROXY
                        assert (
                            answer.detail
                            == "source.here.proxy, ingather.toml:9: PAC file /x.pac: it takes too long"
                        )

    asyncio.run(main())


def test_logins_are_asked_for_each_proxy() -> None:
    asked: list[tuple[str, Proxy]] = []

    def login(scheme: str, proxy: Proxy) -> tuple[str, str]:
        asked.append((scheme, proxy))
        return "me", "hidden-password"

    rule = Rule("x", Ways({"": Proxy("http", "p", 1)}), login=login)
    routing = Router(Rules({}, rule), no_pac, FakeClock(), set_aside_s=1.0)
    choice = asyncio.run(routing.choose(Target("https://a/", "https", "a", 443), ANY))
    hop = routing.hop(Proxy("http", "p", 1), rule, choice, "https", ANY)
    assert hop.login == ("me", "hidden-password")
    assert "hidden" not in repr(hop) + str(hop)
    assert asked == [("https", Proxy("http", "p", 1))]
