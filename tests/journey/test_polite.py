"""What hosts see: promises of politeness judged from the servers' own logs, with real delays kept short."""

import itertools
from collections import Counter
from contextlib import ExitStack

import pytest

from ingather.model.lifecycle import Outcome
from ingather.testing.oracle import HostRules
from ingather.testing.rig import Rig, wait_until
from ingather.testing.server import SyntheticServer, judge_requests
from ingather.testing.site import Site, html
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import PLAIN_TREE, WebShape

DELAY_S = 0.25
RULES = HostRules(delay_s=DELAY_S, max_connections=2)
SHAPE = WebShape(
    **{
        **{name: getattr(PLAIN_TREE, name) for name in WebShape.__slots__},
        "pages": 12,
        "sites": 4,
        "depth": 2,
        "degree": 2,
        "foreign": 0.3,
    }
)
FLAGS = ("--delay", f"{DELAY_S}s")
LATE_S = 0.15
"""A request that a busy machine was late with comes so close to the next; the exact numbers are judged in simulations."""


def test_hosts_are_never_asked_too_fast_by_two_gatherers_nor_across_a_kill(rig: Rig) -> None:
    rig.tune("gather.gatherers", "2")
    with SyntheticServer(SyntheticWeb(3, SHAPE), latency_s=0.05) as server:
        with rig.start(*rig.crawling(*server.origins, own=False, flags=FLAGS)) as running:
            wait_until(lambda: len(server.requests) > 20 or running.process.poll() is not None)
            running.kill()
        assert rig.crawl(*server.origins, own=False, flags=FLAGS).status == 0
        assert judge_requests(server.requests, default=RULES, tolerance_s=LATE_S) == []
        counts = Counter(url for url in server.paths() if not url.endswith("/robots.txt"))
        assert len(counts) == 48
    assert rig.complaints() == []


def test_hosts_that_share_an_address_share_its_limits(rig: Rig) -> None:
    web = SyntheticWeb(3, SHAPE)
    with SyntheticServer(web, naming="port") as server:
        ran = rig.crawl(*server.origins, own=False, flags=("--delay", "0.4s", "--max-pages", "16"))
        assert ran.status == 0, ran.err
        rules = HostRules(delay_s=0.4, max_connections=2)
        assert judge_requests(server.requests, default=rules, tolerance_s=LATE_S) == []
        assert {seen.host for seen in server.requests} == set(server.hosts)


def test_own_hosts_have_no_delay(rig: Rig) -> None:
    with SyntheticServer(SyntheticWeb(3, SHAPE)) as server:
        # It ends at all: with the delay it would take twelve hours.
        assert rig.crawl(*server.origins, flags=("--delay", "1h")).status == 0
        assert len(set(server.paths())) == 4 * (12 + 1)


def gaps(site: Site) -> list[float]:
    starts = [seen.at_s for seen in site.server.requests]
    return [later - earlier for earlier, later in itertools.pairwise(starts)]


def test_a_crawl_delay_of_robots_txt_raises_the_delay(rig: Rig, site: Site) -> None:
    site.robots("User-agent: *\nCrawl-delay: 0.8\n")
    site.page("/", "Start", "/a", "/b")
    site.page("/a", "A")
    site.page("/b", "B")
    assert rig.crawl(site.url("/"), own=False, flags=("--delay", "0.1s")).status == 0
    assert len(site.server.requests) == 4
    assert min(gaps(site)[1:]) > 0.8 - LATE_S


def test_retry_after_is_obeyed_and_others_go_on_meanwhile(rig: Rig) -> None:
    with ExitStack() as stack:
        busy, calm = stack.enter_context(Site()), stack.enter_context(Site())
        busy.page("/", "Start", "/a")
        refusal = Answer(429, (("Retry-After", "2"),))
        busy.answer("/a", lambda times: refusal if times == 0 else None)
        busy.page("/b", "B")

        def when_the_other_has_refused(_times: int) -> Answer:
            """Only now does anybody hear of /b: nothing was under way to the host when it refused."""
            wait_until(lambda: any(seen.status == 429 for seen in busy.server.requests))
            page = html("Start", busy.url("/b"), *(f"/{n}" for n in range(5)))
            return Answer(200, (("Content-Type", "text/html"),), page.encode())

        calm.answer("/", when_the_other_has_refused)
        for n in range(5):
            calm.page(f"/{n}", f"Page {n}")
        ran = rig.crawl(busy.url("/"), calm.url("/"), flags=("--delay", "0.1s"))
        assert ran.status == 0, ran.err
        refused = [seen for seen in busy.server.requests if seen.status == 429]
        assert refused
        for seen in refused:
            early = [
                s
                for s in busy.server.requests
                if seen.ended_s < s.at_s < seen.ended_s + 2.0 - LATE_S and s is not seen
            ]
            assert early == []
        assert all(calm.asked(f"/{n}") == 1 for n in range(5))
        known = rig.known()
        assert known[busy.url("/a")].outcome is Outcome.NOT_FOUND
        assert known[busy.url("/b")].described
        assert ran.json["waiting"] == 0


def test_a_long_retry_after_ends_the_run_without_the_host_and_is_remembered(rig: Rig, site: Site) -> None:
    site.page("/", "Start", "/a", "/b")
    site.status("/a", 503, ("Retry-After", "3600"))
    site.page("/b", "B")
    ran = rig.crawl(site.url("/"))
    assert ran.status == 0, ran.err
    assert [3500 < seconds < 5500 for seconds in ran.json["left_alone"].values()] == [True]
    asked = len(site.server.requests)
    again = rig.crawl(site.url("/"))
    assert len(site.server.requests) == asked
    assert again.json["left_alone"]
    assert rig.complaints() == []


@pytest.mark.parametrize("status", [500, 429])
def test_nothing_is_asked_of_a_host_whose_robots_txt_fails(rig: Rig, site: Site, status: int) -> None:
    site.status("/robots.txt", status)
    site.page("/", "Start", "/a")
    ran = rig.crawl(site.url("/"))
    assert ran.status == 1
    assert "robots.txt" in ran.first
    assert set(site.server.paths()) == {site.url("/robots.txt")}
    assert rig.known()[site.url("/")].outcome is Outcome.ROBOTS_UNREACHABLE
    assert "robots.txt" in rig.explained(site.url("/")).partition("\n")[0]
