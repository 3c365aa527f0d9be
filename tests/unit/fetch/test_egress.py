"""The egress gate: schemes, hosts, ports, and every address that a name leads to."""

# ruff: noqa: S104, RUF001 - addresses that nobody binds to, digits that are not ASCII

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from ingather.fetch.egress import EgressGate, Refusal
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope

if TYPE_CHECKING:
    from tests.unit.fetch.conftest import Lab, Names

Reply = Callable[..., bytes]

PUBLIC = "93.184.216.34"
PRIVATE = Scope(addresses=("10.0.0.0/8",))


def admit(gate: EgressGate, scope: Scope, scheme: str, host: str, port: int = 80) -> object:
    return asyncio.run(gate.admit(scheme, host, port, scope))


def refused(answer: object, *words: str, kind: FailureKind = FailureKind.EGRESS) -> None:
    assert isinstance(answer, Refusal)
    assert answer.kind is kind
    assert all(word in answer.detail for word in words), answer.detail


def test_public_addresses_are_admitted_in_the_order_of_the_answer(names: "type[Names]") -> None:
    gate = EgressGate(names({"x.example": [PUBLIC, "2606:2800:220:1:0248:1893:25c8:1946"]}))
    assert admit(gate, Scope(), "http", "x.example") == (PUBLIC, "2606:2800:220:1:248:1893:25c8:1946")


def test_one_refused_address_refuses_the_host(names: "type[Names]") -> None:
    gate = EgressGate(names({"x.example": [PUBLIC, "10.1.1.1"]}))
    refused(admit(gate, Scope(), "http", "x.example"), "x.example", "10.1.1.1", "private")
    assert admit(gate, PRIVATE, "http", "x.example") == (PUBLIC, "10.1.1.1")


def test_what_a_source_does_not_allow(names: "type[Names]") -> None:
    gate = EgressGate(names({"a.example": [PUBLIC], "www.a.example": [PUBLIC], "xa.example": [PUBLIC]}))
    scope = Scope(source="s", hosts=("A.example.", ".www.a.example"), ports=frozenset({80}))
    assert admit(gate, scope, "http", "a.example") == (PUBLIC,)
    refused(admit(gate, scope, "http", "a.example."), kind=FailureKind.DNS)  # allowed, but not in the table
    assert admit(gate, scope, "http", "www.a.example") == (PUBLIC,)
    refused(admit(gate, scope, "http", "xa.example"), "source s", "xa.example")
    refused(admit(gate, scope, "http", "b.a.example"), "b.a.example")
    refused(admit(gate, scope, "http", "a.example", 81), "port 81")
    refused(admit(gate, scope, "http", "a.example", 0), "port 0")
    refused(admit(gate, scope, "ftp", "a.example", 21), "ftp")
    refused(admit(gate, scope, "file", "", 0), "file")


def test_names_that_lead_nowhere(names: "type[Names]") -> None:
    gate = EgressGate(names({"dead.example": OSError("no answer")}))
    refused(admit(gate, Scope(), "http", "none.example"), "none.example", kind=FailureKind.DNS)
    refused(admit(gate, Scope(), "http", "dead.example"), "no answer", kind=FailureKind.DNS)


def test_what_a_resolver_gives_must_be_an_address(names: "type[Names]") -> None:
    gate = EgressGate(names({"x.example": ["127.1"], "y.example": ["fe80::1%eth0"]}))
    everything = Scope(addresses=("0.0.0.0/0", "::/0"))
    refused(admit(gate, everything, "http", "x.example"), "not an address")
    refused(admit(gate, everything, "http", "y.example"), "not an address")


@pytest.mark.parametrize("listener", ["127.0.0.1", "0.0.0.0", "::", "localhost"])
def test_own_listeners_are_refused_whatever_is_named(names: "type[Names]", listener: str) -> None:
    gate = EgressGate(names({"x.example": ["127.0.0.1"]}), {(listener, 8080)})
    scope = Scope(addresses=("127.0.0.0/8", "::/0"))
    refused(admit(gate, scope, "http", "127.0.0.1", 8080), "listener of Ingather")
    refused(admit(gate, scope, "http", "x.example", 8080), "listener of Ingather")
    refused(admit(gate, scope, "http", "[::ffff:127.0.0.1]", 8080), "listener of Ingather")
    assert admit(gate, scope, "http", "127.0.0.1", 8081) == ("127.0.0.1",)


def test_a_listener_that_opens_later_counts(names: "type[Names]") -> None:
    own: set[tuple[str, int]] = set()
    gate = EgressGate(names(), own)
    scope = Scope(addresses=("127.0.0.1",))
    assert admit(gate, scope, "http", "127.0.0.1", 8080) == ("127.0.0.1",)
    own.add(("127.0.0.1", 8080))
    refused(admit(gate, scope, "http", "127.0.0.1", 8080), "listener of Ingather")


def test_a_public_address_on_a_listeners_port_is_not_ours(names: "type[Names]") -> None:
    gate = EgressGate(names({"x.example": [PUBLIC]}), {("0.0.0.0", 80), ("::", 80)})
    assert admit(gate, Scope(), "http", "x.example") == (PUBLIC,)


ODD = (
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "１２７.０.０.１",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "0",
    "0.0.0.0",
    "[::]",
)


@pytest.mark.parametrize("host", ODD)
def test_no_spelling_of_loopback_slips_through(lab: "type[Lab]", reply: Reply, host: str) -> None:
    async def main() -> None:
        async with lab({"/": reply(b"secret")}) as server:
            answer = await server.get(server.url("/", host), Scope())
            assert isinstance(answer, Failure), answer
            assert answer.kind is FailureKind.EGRESS
            assert server.connections == 0

    asyncio.run(main())


def test_a_name_that_leads_to_loopback_is_refused_before_any_socket(
    lab: "type[Lab]", names: "type[Names]", reply: Reply
) -> None:
    async def main() -> None:
        book = names({"rebind.example": [PUBLIC, "127.0.0.1"]})
        async with lab({"/": reply(b"secret")}, names=book) as server:
            answer = await server.get(server.url("/", "rebind.example"), Scope())
            assert isinstance(answer, Failure)
            assert answer.kind is FailureKind.EGRESS
            assert server.connections == 0

    asyncio.run(main())


def test_the_own_port_is_refused_by_the_fetcher(lab: "type[Lab]", reply: Reply) -> None:
    async def main() -> None:
        async with lab({"/": reply(b"admin")}) as server:
            assert isinstance(await server.get("/"), Response)
            server.own_ports.add(("127.0.0.1", server.port))
            answer = await server.get("/")
            assert isinstance(answer, Failure)
            assert answer.kind is FailureKind.EGRESS
            assert len(server.heads) == 1

    asyncio.run(main())


def test_a_kept_connection_is_not_for_a_source_that_may_not_go_there(
    lab: "type[Lab]", names: "type[Names]", reply: Reply
) -> None:
    """The name led to loopback for one source; for the other it leads elsewhere now."""

    async def main() -> None:
        book = names({"x.example": ["127.0.0.1"]})
        async with lab({"/": reply(b"secret")}, names=book) as server:
            assert isinstance(await server.get(server.url("/", "x.example")), Response)
            book.table["x.example"] = ["192.0.2.1"]
            other = Scope(source="other", addresses=("192.0.2.0/24",))
            answer = await server.get(server.url("/", "x.example"), other)
            assert isinstance(answer, Failure)
            assert answer.kind is FailureKind.EGRESS
            assert len(server.heads) == 1

    asyncio.run(main())


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "file:///etc/passwd", "gopher://127.0.0.1/", "data:,x"])
def test_other_schemes_are_not_fetched(lab: "type[Lab]", url: str) -> None:
    async def main() -> None:
        async with lab({}) as server:
            answer = (
                await server.get(url) if "://" in url else await server.fetcher.fetch(Request(url), Scope())
            )
        assert isinstance(answer, Failure)
        assert answer.kind in {FailureKind.EGRESS, FailureKind.PROTOCOL}

    asyncio.run(main())


def test_a_scope_that_allows_ftp_does_not_make_this_fetcher_speak_it(lab: "type[Lab]") -> None:
    async def main() -> None:
        async with lab({}) as server:
            scope = Scope(schemes=frozenset({"ftp", "http"}), addresses=("127.0.0.1",))
            answer = await server.get(f"ftp://127.0.0.1:{server.port}/x", scope)
            assert isinstance(answer, Failure)
            assert server.connections == 0

    asyncio.run(main())


def test_an_ipv6_literal_is_connected_to(lab: "type[Lab]", reply: Reply, loopback: Scope) -> None:
    async def answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply(b"six"))
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def main() -> None:
        try:
            listener = await asyncio.start_server(answers, "::1", 0)
        except OSError:
            pytest.skip("this machine has no IPv6 loopback")
        port = listener.sockets[0].getsockname()[1]
        async with listener, lab({}) as server:
            answer = await server.get(f"http://[::1]:{port}/", loopback)
            assert isinstance(answer, Response)
            assert (answer.body, answer.address) == (b"six", "::1")

    asyncio.run(main())
