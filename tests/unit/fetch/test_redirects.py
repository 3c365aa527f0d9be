"""Where a Location leads, when a chain ends, and what may go along."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.fetch.redirects import Chain, carried_headers, follow, origin_of, target_of
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope

if TYPE_CHECKING:
    from tests.unit.fetch.conftest import Lab

Reply = Callable[..., bytes]

BASE = "https://h.example/a/b?c"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("x", "https://h.example/a/x"),
        ("/x#part", "https://h.example/x"),
        ("?d", "https://h.example/a/b?d"),
        ("//o.example/", "https://o.example/"),
        (" http://O.example:80/../x ", "http://o.example/x"),
        ("https://me:secret@h.example/x", "https://h.example/x"),
        ("/caf\xc3\xa9", "https://h.example/caf%C3%A9"),
        ("/caf\xe9", "https://h.example/caf%C3%A9"),
        ("#part", "https://h.example/a/b?c"),
        ("", None),
        ("http://", None),
        ("http://a b/", None),
        ("http://\udcff/", None),
    ],
)
def test_rfc9110_10_2_2_location_is_resolved(location: str, target: str | None) -> None:
    assert target_of(BASE, location) == target


@given(st.text(max_size=60))
def test_no_location_fails(location: str) -> None:
    target = target_of(BASE, location)
    assert target is None or origin_of(target) or ":" in target


HEADERS = (("Authorization", "x"), ("Cookie", "y"), ("X-Token", "z"), ("Accept-Language", "de"))


def test_within_an_origin_all_headers_go_along() -> None:
    assert carried_headers(HEADERS, "https://h.example/a", "https://h.example:443/b") == HEADERS


@pytest.mark.parametrize(
    "target",
    ["http://h.example/a", "https://h.example:8443/a", "https://o.example/a", "https://x.h.example/", "x"],
)
def test_across_origins_nothing_secret_goes_along(target: str) -> None:
    assert carried_headers(HEADERS, "https://h.example/a", target) == (("Accept-Language", "de"),)


def test_unknown_origins_are_never_the_same() -> None:
    assert carried_headers(HEADERS, "x", "x") == (("Accept-Language", "de"),)


def moved(location: str, status: int = 302) -> Response:
    return Response("", status, (("Location", location),))


def test_a_chain_stops_after_its_hops() -> None:
    chain = Chain("https://h.example/0", max_hops=5)
    for n in range(1, 6):
        assert chain.step(moved(f"/{n}")) == f"https://h.example/{n}"
    end = chain.step(moved("/6"))
    assert isinstance(end, Failure)
    assert end.kind is FailureKind.REDIRECTS
    assert "/6" in end.detail


def test_loops_are_named() -> None:
    chain = Chain("https://h.example/a")
    chain.step(moved("/b"))
    chain.step(moved("/c"))
    end = chain.step(moved("/b#again"))
    assert isinstance(end, Failure)
    assert end.kind is FailureKind.REDIRECT_LOOP
    assert end.detail == "https://h.example/b -> https://h.example/c -> https://h.example/b"
    itself = Chain("https://h.example/a").step(moved(""))
    assert isinstance(itself, Failure)
    assert itself.kind is FailureKind.REDIRECT_TARGET


def test_following_drops_credentials_at_the_border(lab: "type[Lab]", reply: Reply, loopback: Scope) -> None:
    async def main() -> None:
        async with lab({"/end": reply(b"end")}) as first, lab({"/x": reply(b"other")}) as second:
            first.routes["/"] = reply(b"", "Location: /near", status="302 Found")
            first.routes["/near"] = reply(b"", f"Location: {second.url('/x')}", status="307 Moved")
            request = Request(first.url("/"), etag='"e"', headers=(("Authorization", "Basic x"),))
            followed = await follow(first.fetcher, request, loopback)
            assert isinstance(followed.result, Response)
            assert followed.result.body == b"other"
            assert followed.urls == (first.url("/"), first.url("/near"), second.url("/x"))
            assert b"Authorization: Basic x\r\n" in first.heads[0]
            assert b'If-None-Match: "e"' in first.heads[0]
            assert b"Authorization: Basic x\r\n" in first.heads[1]
            assert b"If-None-Match" not in first.heads[1]
            assert b"authorization" not in second.heads[0].lower()

    asyncio.run(main())


def test_a_redirect_to_another_scheme_is_refused_at_the_gate(
    lab: "type[Lab]", reply: Reply, loopback: Scope
) -> None:
    async def main() -> None:
        async with lab({}) as server:
            for location in (
                "file:///etc/passwd",
                "ftp://127.0.0.1/x",
                "data:text/html,x",
                "gopher://127.0.0.1/",
            ):
                server.routes["/"] = reply(b"", f"Location: {location}", status="302 Found")
                followed = await follow(server.fetcher, Request(server.url("/")), loopback)
                assert isinstance(followed.result, Failure), location

    asyncio.run(main())
