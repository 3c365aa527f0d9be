"""What an answer to robots.txt means, and a visit to it over loopback."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ingather.fetch.limits import RobotsLimits
from ingather.fetch.robots_gate import RobotsKind, RobotsState, judge_robots
from ingather.fetch.robots_visit import robots_url, visit_robots
from ingather.model.resource import Failure, FailureKind, Response
from ingather.model.scope import Scope

if TYPE_CHECKING:
    from tests.unit.fetch.conftest import HandClock, Lab, Names

Reply = Callable[..., bytes]

NOW_S = 1_000_000.0
DAY_S = 86_400.0
HOUR_S = 3600.0
URL = "http://h.example/robots.txt"
RULES = b"User-agent: *\nDisallow: /a\n"


def answer(status: int = 200, body: bytes = RULES, **headers: str) -> Response:
    fields = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Response(URL, status, fields, body)


def judged(
    result: Response | Failure, previous: RobotsState | None = None, now_s: float = NOW_S
) -> RobotsState:
    return judge_robots(result, now_s=now_s, previous=previous)


@pytest.mark.parametrize("status", [200, 203, 206])
def test_rfc9309_2_3_1_1_success_gives_rules(status: int) -> None:
    state = judged(answer(status, ETag='"x"', Last_Modified="then"))
    assert state.kind is RobotsKind.RULES
    assert not state.allows("Ingather", "http://h.example/a")
    assert state.allows("Ingather", "http://h.example/b")
    assert state.decide("Ingather", "http://h.example/a").line == 2
    assert (state.etag, state.last_modified, state.status) == ('"x"', "then", status)


@pytest.mark.parametrize("extra", [0, 1])
def test_what_was_cut_is_said(extra: int) -> None:
    body = RULES.ljust(RobotsLimits().max_bytes + extra, b"\n")

    assert ("cut: only the first 2097152 bytes" in judged(answer(body=body)).detail) == bool(extra)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 407, 410, 418, 451])
def test_rfc9309_2_3_1_3_unavailable_means_no_rules(status: int) -> None:
    state = judged(answer(status, b"Disallow: /"))
    assert state.kind is RobotsKind.NONE
    assert state.allows("Ingather", "http://h.example/a")
    assert str(status) in state.decide("Ingather", "http://h.example/a").reason


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599, 100, 304, 302, 600])
def test_rfc9309_2_3_1_4_unreachable_means_nothing_may_be_fetched(status: int) -> None:
    state = judged(answer(status, b"User-agent: *\nAllow: /\n"))
    assert state.kind is RobotsKind.UNREACHABLE
    assert not state.allows("Ingather", "http://h.example/")
    verdict = state.decide("Ingather", "http://h.example/")
    assert not verdict.allowed
    assert str(status) in verdict.reason


ENDLESS = {FailureKind.REDIRECTS, FailureKind.REDIRECT_LOOP, FailureKind.REDIRECT_TARGET}


@pytest.mark.parametrize("kind", FailureKind)
def test_a_failure_closes_the_host_unless_only_redirects_failed(kind: FailureKind) -> None:
    """RFC 9309 2.3.1.2: more than five redirects may be taken for an absent file."""
    state = judged(Failure(URL, kind, "why"))
    assert state.kind is (RobotsKind.NONE if kind in ENDLESS else RobotsKind.UNREACHABLE)
    assert "why" in state.detail


def test_rfc9309_2_4_an_answer_is_used_for_a_day_at_most() -> None:
    state = judged(answer())
    assert state.is_fresh(NOW_S)
    assert state.is_fresh(NOW_S + DAY_S - 1)
    assert not state.is_fresh(NOW_S + DAY_S)
    assert judged(answer(404)).expires_s == NOW_S + DAY_S


@pytest.mark.parametrize(
    ("control", "age_s"),
    [
        ("max-age=7200", 7200.0),
        ("public, Max-Age = 7200", 7200.0),
        ("max-age=31536000", DAY_S),
        ("max-age=1", 600.0),
        ("no-store", 600.0),
        ("no-cache, max-age=99999", 600.0),
        ("s-maxage=5", DAY_S),
        ("max-age=x", DAY_S),
        ("max-age=99999999999999999999", DAY_S),
    ],
)
def test_cache_control_may_shorten_it_within_bounds(control: str, age_s: float) -> None:
    assert judged(answer(Cache_Control=control)).expires_s == NOW_S + age_s


def test_a_clock_that_went_back_makes_it_stale() -> None:
    assert not judged(answer()).is_fresh(NOW_S - 1)


def test_not_modified_renews_what_is_known() -> None:
    first = judged(answer(ETag='"x"'))
    later_s = NOW_S + DAY_S
    state = judged(answer(304, b""), first, later_s)
    assert state.kind is RobotsKind.RULES
    assert state.rules is first.rules
    assert (state.fetched_s, state.expires_s, state.etag) == (later_s, later_s + DAY_S, '"x"')


def test_old_rules_do_not_keep_an_unreachable_host_open() -> None:
    state = judged(answer(500), judged(answer()), NOW_S + DAY_S)
    assert not state.allows("Ingather", "http://h.example/b")


def test_pauses_between_tries_double_up_to_four_hours() -> None:
    state: RobotsState | None = None
    now_s = NOW_S
    pauses = []
    for _ in range(8):
        state = judged(answer(500), state, now_s)
        pauses.append(state.expires_s - now_s)
        now_s = state.expires_s
    assert pauses == [300.0, 600.0, 1200.0, 2400.0, 4800.0, 9600.0, 4 * HOUR_S, 4 * HOUR_S]
    assert state is not None
    assert (state.failures, state.since_s) == (8, NOW_S)


def test_retry_after_is_obeyed() -> None:
    assert judged(answer(503, Retry_After="7200")).expires_s == NOW_S + 7200
    assert judged(answer(429, Retry_After="1")).expires_s == NOW_S + 300
    assert judged(Failure(URL, FailureKind.TOO_LARGE, retry_after_s=9000.0)).expires_s == NOW_S + 9000


def test_after_30_days_it_is_reported_and_still_closed() -> None:
    state = judged(answer(500))
    late_s = NOW_S + 30 * DAY_S
    assert not state.is_reported(late_s - 1)
    state = judged(answer(500), state, late_s)
    assert state.is_reported(late_s)
    assert state.is_reported(NOW_S + 61, limits=RobotsLimits(report_s=60.0))
    assert not state.allows("Ingather", "http://h.example/")
    answers = judged(answer(), state, late_s)
    assert (answers.failures, answers.since_s) == (0, None)
    assert not answers.is_reported(late_s)


def test_a_page_in_its_place_is_told() -> None:
    state = judged(answer(200, b" <!DOCTYPE html><title>Sign in</title>"))
    assert state.kind is RobotsKind.RULES
    assert "a page instead of rules" in state.detail
    assert state.allows("Ingather", "http://h.example/a")
    assert "a page" in judged(answer(200, b"x", Content_Type="text/html; charset=x")).detail
    assert "no group" in judged(answer(200, b"")).detail


def test_robots_url_is_of_the_same_scheme_host_and_port() -> None:
    assert robots_url("https://a:b@H.Example:8443/x?y#z") == "https://h.example:8443/robots.txt"
    assert robots_url("http://h.example:80") == "http://h.example/robots.txt"
    for bad in ("", "x", "mailto:a@b", "http://\udcff/"):
        with pytest.raises(ValueError, match="URL"):
            robots_url(bad)


# -- visits over loopback -------------------------------------------------------------------


def visit(
    server: "Lab",
    clock: "HandClock",
    scope: Scope,
    previous: RobotsState | None = None,
    host: str = "127.0.0.1",
) -> "asyncio.Task[RobotsState]":
    return asyncio.ensure_future(
        visit_robots(server.fetcher, server.url("/deep/page?x", host), scope, clock=clock, previous=previous)
    )


def test_five_redirects_are_followed_also_to_other_hosts(
    lab: "type[Lab]", names: "type[Names]", reply: Reply, hand_clock: "HandClock", loopback: Scope
) -> None:
    async def main() -> None:
        book = names({"a.example": ["127.0.0.1"], "b.example": ["127.0.0.1"]})
        async with lab({}, names=book) as server:
            places = ["/robots.txt", *[f"/{n}" for n in range(1, 6)]]
            for n, place in enumerate(places[:-1]):
                host = "b.example" if n % 2 == 0 else "a.example"
                server.routes[place] = reply(
                    b"",
                    f"Location: {server.url(places[n + 1], host)}",
                    status=f"{(301, 302, 303, 307, 308)[n]} Moved",
                )
            server.routes["/5"] = reply(RULES, 'ETag: "final"')
            scope = replace(loopback, hosts=("a.example",), ports=frozenset({server.port}))
            state = await visit(server, hand_clock, scope, host="a.example")
            assert state.kind is RobotsKind.RULES
            assert not state.allows("Ingather", "http://a.example/a")
            assert state.etag == "", "it belongs to another address"
            assert len(server.heads) == 6
            server.routes["/5"] = reply(b"", f"Location: {server.url('/6')}", status="302 Found")
            server.routes["/6"] = reply(RULES)
            assert (await visit(server, hand_clock, scope, host="a.example")).kind is RobotsKind.NONE

    asyncio.run(main())


def test_a_redirect_does_not_lead_where_the_source_may_not_go(
    lab: "type[Lab]", reply: Reply, hand_clock: "HandClock"
) -> None:
    async def main() -> None:
        async with lab({}) as server:
            server.routes["/robots.txt"] = reply(b"", "Location: http://[::1]/x", status="302 Found")
            state = await visit(server, hand_clock, Scope(addresses=("127.0.0.1",)))
        assert state.kind is RobotsKind.UNREACHABLE
        assert "refused-address" in state.detail

    asyncio.run(main())


def test_a_loop_is_named(lab: "type[Lab]", reply: Reply, hand_clock: "HandClock", loopback: Scope) -> None:
    async def main() -> None:
        async with lab({}) as server:
            server.routes["/robots.txt"] = reply(b"", "Location: /b", status="302 Found")
            server.routes["/b"] = reply(b"", "Location: /robots.txt", status="302 Found")
            state = await visit(server, hand_clock, loopback)
        assert state.kind is RobotsKind.NONE
        assert "redirect-loop" in state.detail
        assert "/b -> " in state.detail

    asyncio.run(main())


def test_a_file_beyond_the_limit_is_read_up_to_it(
    lab: "type[Lab]", reply: Reply, hand_clock: "HandClock", loopback: Scope
) -> None:
    async def main() -> None:
        body = RULES + b"# " + b"x" * 3_000_000 + b"\nDisallow: /b\n"
        async with lab({"/robots.txt": reply(body)}) as server:
            state = await visit(server, hand_clock, loopback)
        assert state.kind is RobotsKind.RULES
        assert not state.allows("Ingather", "http://h.example/a")
        assert state.allows("Ingather", "http://h.example/b")
        assert "only the first" in state.detail

    asyncio.run(main())


def test_known_rules_are_revalidated(
    lab: "type[Lab]", reply: Reply, hand_clock: "HandClock", loopback: Scope
) -> None:
    async def main() -> None:
        async with lab({"/robots.txt": reply(RULES, 'ETag: "r1"')}) as server:
            first = await visit(server, hand_clock, loopback)
            server.routes["/robots.txt"] = reply(b"", status="304 Not Modified")
            hand_clock.now_s += DAY_S
            second = await visit(server, hand_clock, loopback, first)
            assert second.rules is first.rules
            assert second.fetched_s == hand_clock.now_s
            assert b'If-None-Match: "r1"' in server.heads[1]
            server.routes["/robots.txt"] = reply(b"", status="503 Busy")
            closed = await visit(server, hand_clock, loopback, second)
            assert closed.kind is RobotsKind.UNREACHABLE
            await visit(server, hand_clock, loopback, closed)
            assert b"If-None-Match" not in server.heads[3], "no rules are kept that a 304 could renew"

    asyncio.run(main())


def test_each_request_of_a_visit_is_admitted_first(
    lab: "type[Lab]", reply: Reply, hand_clock: "HandClock", loopback: Scope
) -> None:
    asked: list[str] = []

    async def admit(url: str) -> bool:
        asked.append(url.rsplit("/", 1)[1])
        return len(asked) < 3

    async def main() -> None:
        async with lab({}) as server:
            for here, there in (("/robots.txt", "/b"), ("/b", "/c")):
                server.routes[here] = reply(b"", f"Location: {there}", status="302 Found")
            state = await visit_robots(
                server.fetcher, server.url("/"), loopback, clock=hand_clock, admit=admit
            )
            assert len(server.heads) == 2
        assert asked == ["robots.txt", "b", "c"]
        assert state.kind is RobotsKind.UNREACHABLE

    asyncio.run(main())
