"""Visits of what feeds list: conditions by intent, redirects within the visit, links, limits, and doubts about a 200."""

import asyncio
from random import Random
from typing import Any

import pytest

from ingather.fetch import RobotsLimits, SystemResolver
from ingather.model.intent import DOCUMENTS, Intent
from ingather.model.lifecycle import Outcome
from ingather.model.report import Report, Row
from ingather.robot.frontier.lending import conditions_of
from ingather.robot.frontier.schedule import Schedule
from ingather.robot.gathererlimits import GathererLimits
from ingather.robot.politeness.asking import Asking
from ingather.robot.politeness.hostbook import HostBook
from ingather.robot.politeness.hosts import HostClock, HostPolicy
from ingather.robot.politeness.turns import Leave, Turns
from ingather.robot.visit.listed import ListedRules, honoured, is_soft_404
from ingather.testing.clock import FakeClock
from ingather.testing.hand import answer

DICE = Random(1)  # noqa: S311 - jitter
HTML = ("Content-Type", "text/html; charset=utf-8")
VALIDATORS = (("ETag", '"a"'), ("Last-Modified", "Tue, 20 Mar 2018 08:33:00 GMT"))


def page(
    *links: str, title: str = "A", status: int = 200, headers: tuple[tuple[str, str], ...] = VALIDATORS
) -> bytes:
    items = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return answer(
        f"<html><head><title>{title}</title></head><body>words {items}</body></html>", status, HTML, *headers
    )


def visit(bench: Any, said: bytes, intent: Intent = Intent.NEW, path: str = "/a", **claim: Any) -> Report:
    bench.server.said[path] = said
    report: Report = bench.run(bench.hand.visit(bench.server.origin + path, intent, **claim))
    assert report.intent == intent
    return report


def moved(target: str, status: int = 301) -> bytes:
    return answer(b"", status, ("Location", target))


# -- conditions ------------------------------------------------------------------------------------


def row(intent: Intent, *, version: int | None = 1, strikes: int = 0) -> Row:
    return Row(
        id=1, host=1, path="/a", depth=0, max_depth=None, source=1, hops=0, etag='"a"', last_modified="then", digest=b"d" * 16,
        version=version, wait_s=None, fails=0, strikes=strikes, missing_s=None, fetched_s=1.0, duplicate=None, intent=int(intent),
    )  # fmt: skip


ALL, DIGEST, NOTHING = ('"a"', "then", b"d" * 16), ("", "", b"d" * 16), ("", "", b"")


@pytest.mark.parametrize(
    ("intent", "described", "undescribed", "struck"),
    [
        (Intent.NONE, ALL, NOTHING, NOTHING),
        (Intent.NEW, NOTHING, NOTHING, NOTHING),
        (Intent.REINDEX, DIGEST, NOTHING, NOTHING),
        (Intent.CHECK, ALL, NOTHING, NOTHING),
        (Intent.REFRESH, ALL, NOTHING, NOTHING),
        (Intent.FEED, ALL, ALL, ALL),
        (Intent.FEED_ANEW, NOTHING, NOTHING, NOTHING),
        (Intent.PAGE, NOTHING, NOTHING, NOTHING),
    ],
)
def test_the_intent_decides_what_a_visit_may_ask_conditionally(
    intent: Intent, described: Any, undescribed: Any, struck: Any
) -> None:
    assert conditions_of(row(intent), 1) == described
    assert conditions_of(row(intent, version=None), 1) == undescribed
    assert conditions_of(row(intent, strikes=1), 1) == struck


@pytest.mark.parametrize("intent", [Intent.CHECK, Intent.REFRESH])
def test_a_check_asks_conditionally_and_304_keeps_the_document(bench: Any, intent: Intent) -> None:
    report = visit(bench, answer(b"", 304, ("ETag", '"b"')), intent, etag='"a"', last_modified="then")
    headers = bench.server.asked[-1][2]
    assert (headers["if-none-match"], headers["if-modified-since"]) == ('"a"', "then")
    assert (Outcome(report.outcome), report.status, report.etag) == (Outcome.UNCHANGED, 304, '"b"')


@pytest.mark.parametrize("intent", [Intent.NEW, Intent.REINDEX])
def test_a_304_to_a_request_without_conditions_is_an_error(bench: Any, intent: Intent) -> None:
    assert Outcome(visit(bench, answer(b"", 304), intent).outcome) is Outcome.FAILED


def test_a_reindexed_document_of_equal_bytes_is_unchanged(bench: Any) -> None:
    digest = visit(bench, page()).digest
    report = visit(bench, page(), Intent.REINDEX, digest=digest)
    assert (Outcome(report.outcome), report.status) == (Outcome.UNCHANGED, 200)
    assert Outcome(visit(bench, page(title="B"), Intent.REINDEX, digest=digest).outcome) is Outcome.INDEXED


@pytest.mark.parametrize("status", [200, 203, 204, 205])
@pytest.mark.parametrize("intent", sorted(DOCUMENTS))
def test_an_answer_without_a_body_is_an_error(bench: Any, intent: Intent, status: int) -> None:
    report = visit(bench, answer(b"", status), intent)
    assert (Outcome(report.outcome), report.status, report.described) == (Outcome.FAILED, status, False)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (404, Outcome.NOT_FOUND),
        (410, Outcome.NOT_FOUND),
        (403, Outcome.REFUSED),
        (451, Outcome.REFUSED),
        (500, Outcome.SERVER_ERROR),
    ],
)
def test_a_status_is_told_as_it_came(bench: Any, status: int, outcome: Outcome) -> None:
    report = visit(bench, answer(b"", status), Intent.CHECK)
    assert (Outcome(report.outcome), report.status) == (outcome, status)


def test_a_document_cut_short_is_a_failure(bench: Any) -> None:
    report = visit(bench, answer("<html>", 200, HTML, length=100), Intent.REINDEX)
    assert (Outcome(report.outcome), report.detail.partition(":")[0]) == (Outcome.FAILED, "closed")


# -- redirects -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("intent", sorted(DOCUMENTS))
def test_rss_case_17_a_redirect_is_followed_within_the_visit(bench: Any, intent: Intent, status: int) -> None:
    bench.server.said["/two"] = page()
    report = visit(bench, moved(f"{bench.server.other}/two", status), intent)
    assert (Outcome(report.outcome), report.status, report.described, report.title) == (
        Outcome.INDEXED,
        200,
        True,
        "A",
    )
    assert (report.final_url, report.redirect) == (f"{bench.server.other}/two", None)
    assert (report.etag, report.last_modified) == ("", "")  # they belong to the other URL


def test_an_ordinary_visit_makes_a_redirect_a_url_of_its_own(bench: Any) -> None:
    report = visit(bench, moved(f"{bench.server.origin}/two"), Intent.NONE, source="elsewhere")
    assert Outcome(report.outcome) is Outcome.REDIRECTED
    assert report.redirect is not None
    assert report.redirect.path == "/two"
    assert (report.final_url, bench.server.paths()) == ("", ["/a"])


def test_what_the_end_of_a_chain_answers_is_the_answer(bench: Any) -> None:
    report = visit(bench, moved("/two"), Intent.CHECK, etag='"a"', last_modified="then")
    assert (Outcome(report.outcome), report.status, report.final_url) == (
        Outcome.NOT_FOUND,
        404,
        bench.server.origin + "/two",
    )
    sent = [
        (path, headers.get("if-none-match"))
        for _, path, headers in bench.server.asked
        if path != "/robots.txt"
    ]
    assert sent == [("/a", '"a"'), ("/two", None)]


def test_rss_case_19_a_redirect_to_the_root_is_kept_and_told(bench: Any) -> None:
    bench.server.said["/"] = page()
    report = visit(bench, moved("/", 302), Intent.CHECK)
    assert (Outcome(report.outcome), report.soft_404) == (
        Outcome.INDEXED,
        "redirects to the root of the site",
    )
    bench.server.said["/b"] = page()
    assert visit(bench, moved("/b", 302), Intent.CHECK).soft_404 == ""


@pytest.mark.parametrize(
    ("url", "final", "why"),
    [
        ("http://n.test/a", "http://n.test/", "redirects to the root of the site"),
        ("http://n.test/a", "http://www.n.test/", "redirects to the root of the site"),
        ("http://n.test/?p=1", "http://n.test/", "redirects to the root of the site"),
        ("http://n.test/", "https://n.test/", ""),
        ("http://n.test/a", "http://n.test/b", ""),
        ("http://n.test/a", "http://n.test/?p=1", ""),
    ],
)
def test_when_a_redirect_is_suspected(url: str, final: str, why: str) -> None:
    assert is_soft_404(url, final) == why


def test_links_of_a_redirected_document_are_relative_to_where_it_is(bench: Any) -> None:
    bench.hand.rules["news"] = ListedRules(discover=True)
    bench.server.said["/deep/two"] = page("three")
    report = visit(bench, moved("/deep/two"))
    assert [found.path for found in report.found] == ["/deep/three"]


@pytest.mark.parametrize("most", [0, 2])
def test_no_more_hops_than_the_source_allows(bench: Any, most: int) -> None:
    bench.hand.rules["news"] = ListedRules(redirects=most)
    for number in range(4):
        bench.server.said[f"/{number}"] = moved(f"/{number + 1}")
    report = visit(bench, moved("/0"))
    assert (Outcome(report.outcome), report.detail.partition(":")[0]) == (
        Outcome.FAILED,
        "too-many-redirects",
    )
    assert len(bench.server.paths()) == most + 1


def test_a_redirect_in_a_circle_is_a_failure(bench: Any) -> None:
    bench.server.said["/b"] = moved("/a")
    report = visit(bench, moved("/b"))
    assert (Outcome(report.outcome), report.detail.partition(":")[0]) == (Outcome.FAILED, "redirect-loop")


def test_the_filters_judge_each_hop(make_bench: Any) -> None:
    bench = make_bench(lines="MetaData fn=filter-by-prefix src=path deny=/no\n")
    bench.server.said["/no"] = page()
    report = visit(bench, moved("/no"), Intent.CHECK)
    assert (Outcome(report.outcome), report.status, bench.server.paths()) == (Outcome.EXCLUDED, 301, ["/a"])
    assert report.denial is not None
    assert report.denial.where.startswith("filter.conf:")
    assert report.final_url == bench.server.origin + "/no"


def test_robots_txt_binds_each_hop(make_bench: Any) -> None:
    bench = make_bench()
    bench.server.said["/robots.txt"] = answer("User-agent: *\nDisallow: /no")
    report = visit(bench, moved("/no"), Intent.CHECK)
    assert (Outcome(report.outcome), bench.server.paths()) == (Outcome.ROBOTS, ["/a"])
    bench.hand.rules["news"] = ListedRules(obey_robots=False)  # that is said of feeds, not of what they list
    assert Outcome(visit(bench, moved("/no"), Intent.CHECK).outcome) is Outcome.ROBOTS


def test_the_gate_judges_each_hop(bench: Any) -> None:
    report = visit(bench, moved("http://169.254.169.254/latest/meta-data"))
    assert (Outcome(report.outcome), report.detail.partition(":")[0]) == (Outcome.FAILED, "refused-address")
    assert not report.described


# -- reach, links, size ----------------------------------------------------------------------------


def test_link_scope_same_host_binds_each_hop(bench: Any) -> None:
    bench.hand.rules["news"] = ListedRules(same_host=True)
    bench.server.said["/two"] = page()
    assert Outcome(visit(bench, moved("/two")).outcome) is Outcome.INDEXED
    bench.server.asked.clear()
    report = visit(bench, moved(f"{bench.server.other}/two"))
    assert (Outcome(report.outcome), bench.server.paths()) == (Outcome.EXCLUDED, ["/a"])
    assert report.denial is not None
    assert "link-scope" in report.denial.reason


def test_rss_case_39_links_are_followed_only_where_the_source_discovers(bench: Any) -> None:
    """Whatever kind of link it is, and then only to the document's own scheme, host and port."""
    links = [f"/{number}" for number in range(50)]
    head = f'<link rel="canonical" href="/canonical"><link rel="next" href="/next"><meta http-equiv="refresh" content="9;url=/refresh">{"".join(links[:0])}'
    body = page(*links, f"{bench.server.other}/there", "https://n.test/x").replace(
        b"</head>", head.encode() + b"</head>"
    )
    body = answer(body.partition(b"\r\n\r\n")[2], 200, HTML)
    off = visit(bench, body)
    assert (Outcome(off.outcome), off.found, off.links) == (Outcome.INDEXED, [], b"")
    bench.hand.rules["news"] = ListedRules(discover=True)
    on = visit(bench, body)
    assert {found.path for found in on.found} >= set(links)
    assert {found.origin for found in on.found} == {bench.server.origin}
    assert all(found.denial is None for found in on.found)


def test_links_keep_the_parameters_that_the_source_honours(bench: Any) -> None:
    bench.hand.rules["news"] = ListedRules(discover=True, honoured_query=frozenset({"id"}))
    report = visit(bench, page("/x?day=1&id=2", "/x?id=2&day=3", "/x?day=4"))
    assert [found.path for found in report.found] == ["/x?id=2", "/x"]


@pytest.mark.parametrize(
    ("kept", "url"),
    [
        (None, "http://n.test/?b=2&id=1&ID=3"),
        (frozenset({"id"}), "http://n.test/?id=1"),
        (frozenset(), "http://n.test/"),
        (frozenset({"ID", "b"}), "http://n.test/?b=2&ID=3"),
    ],
)
def test_honoured_query_parameters(kept: frozenset[str] | None, url: str) -> None:
    assert honoured("http://n.test/?b=2&id=1&ID=3", kept) == url
    assert honoured("http://n.test/a", kept) == "http://n.test/a"


def test_a_document_beyond_its_sources_limit_is_too_large(bench: Any) -> None:
    bench.hand.rules["news"] = ListedRules(document_bytes=100)
    report = visit(bench, answer("x" * 101, 200, HTML))
    assert (Outcome(report.outcome), report.detail.partition(":")[0]) == (Outcome.FAILED, "too-large")
    bench.server.said["/two"] = answer("x" * 101, 200, HTML)
    assert visit(bench, moved("/two")).detail.partition(":")[0] == "too-large"
    assert Outcome(visit(bench, answer("x" * 100, 200, HTML)).outcome) is Outcome.INDEXED


def test_a_visit_that_waits_for_its_hop_ends_with_the_gatherer() -> None:
    """And a turn that comes too late is given back."""

    async def work() -> None:
        clock, resolver = FakeClock(), SystemResolver(FakeClock())
        hosts = HostBook(
            agent="x", policy=lambda _host, _source, _own: HostPolicy(), obey=True, limits=RobotsLimits(), clock=clock,
            own=lambda _host, _port: False,
        )  # fmt: skip
        schedule: Schedule[Any] = Schedule()
        schedule.admit(HostClock("127.0.0.1", HostPolicy(), clock.monotonic(), just_visited=True))
        sent: list[object] = []
        stopping = False
        turns = Turns(
            schedule=schedule, asking=Asking(sent.append, seed=1, released=lambda: None), resolver=resolver, hosts=hosts, clock=clock,
            dice=DICE, send=sent.append, pump=lambda: None, stopping=lambda: stopping, waits=lambda _key, _seconds: None, hold_s=20.0,
        )  # fmt: skip
        waiting = [asyncio.create_task(turns.leave("http://127.0.0.1/b")) for _ in range(2)]
        while turns.waiting < 2:  # noqa: ASYNC110 - two steps of the loop
            await asyncio.sleep(0)
        stopping = True
        turns.drop()
        assert await asyncio.gather(*waiting) == [None, None]
        assert turns.waiting == 0
        clock.advance(60.0)
        while not isinstance(got := schedule.next(clock.monotonic()), float):
            turns.has_turn(*got)  # nobody waits any more
        assert schedule.counts().in_flight == 0

    asyncio.run(work())


def _starts(*, policy: HostPolicy, requests: int) -> list[float]:
    """When that many further requests of a visit at a host of ours get leave, seconds from the first's start."""

    async def work() -> list[float]:
        clock, resolver, sent = FakeClock(), SystemResolver(FakeClock()), list[object]()
        hosts = HostBook(
            agent="x",
            policy=lambda _host, _source, _own: policy,
            obey=True,
            limits=RobotsLimits(),
            clock=clock,
            own=lambda host, _port: host == "own.test",
        )
        schedule: Schedule[Any] = Schedule()
        began = clock.monotonic()
        schedule.admit(HostClock("own.test", policy, began, just_visited=True))
        turns = Turns(
            schedule=schedule,
            asking=Asking(sent.append, seed=1, released=lambda: None),
            resolver=resolver,
            hosts=hosts,
            clock=clock,
            dice=DICE,
            send=sent.append,
            pump=lambda: None,
            stopping=lambda: False,
            waits=lambda _key, _seconds: None,
            hold_s=20.0,
        )
        found = []
        for _ in range(requests):
            asking = asyncio.create_task(turns.leave("http://own.test/script.js"))
            await asyncio.sleep(0)
            while turns.waiting:
                got = schedule.next(clock.monotonic())
                if isinstance(got, float):
                    clock.advance(got)
                else:
                    turns.has_turn(*got)
                await asyncio.sleep(0)
            leave = await asking
            assert isinstance(leave, Leave)
            found.append(round(clock.monotonic() - began, 2))
            turns.done(leave)
        assert not sent, "the keeper is not asked about a host of ours"
        return found

    return asyncio.run(work())


def test_a_delay_that_an_operator_set_holds_within_a_visit_at_a_host_of_ours() -> None:
    assert _starts(policy=HostPolicy(delay_s=2.0, own=True), requests=3) == [2.0, 4.0, 6.0]


def test_a_host_of_ours_without_a_delay_is_asked_at_once() -> None:
    assert _starts(policy=HostPolicy(delay_s=0.0, max_connections=0, own=True), requests=3) == [0.0, 0.0, 0.0]


def test_many_visits_at_a_time_with_hops_all_end(make_bench: Any) -> None:
    """More visits than the gatherer has connections, all of them redirected at one host: none holds up another."""
    bench = make_bench(gathering=GathererLimits(max_connections=2, flush_s=0.0), delay_s=0.001)
    for number in range(20):
        bench.server.said[f"/{number}"] = moved(f"/{number}/b")
        bench.server.said[f"/{number}/b"] = page()

    async def work() -> list[Report]:
        asked = [bench.hand.begin(f"{bench.server.origin}/{number}", Intent.NEW) for number in range(20)]
        return await asyncio.wait_for(asyncio.gather(*asked), 120.0)

    assert [Outcome(report.outcome) for report in bench.run(work())] == [Outcome.INDEXED] * 20
    assert len(bench.server.paths()) == 40
