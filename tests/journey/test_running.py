"""``crawl`` and ``serve`` as processes: how they end, what they leave, what they answer meanwhile."""

import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import pytest

from ingather.model.lifecycle import Outcome
from ingather.testing.rig import Rig, children_are_gone, wait_until
from ingather.testing.running import PATIENCE_S
from ingather.testing.server import SyntheticServer
from ingather.testing.site import Site, html
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

SUMMARY = {
    "run": int, "continued": bool, "interrupted": bool, "elapsed_s": float, "visited": int, "found": int, "bytes": int, "outcomes": dict,
    "indexed": int, "documents": int, "excluded": dict, "limits": dict, "waiting": int, "left_alone": dict, "robots_unreachable": list, "holds": int,
    "gatherer_deaths": int, "index": str, "failed_starts": list, "why_nothing": str, "stopped": str, "warnings": list, "state": str,
}  # fmt: skip


def free_port() -> int:
    """Return a port where nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


# --- how a crawl ends ---------------------------------------------------------------------------------


def test_the_summary_has_its_documented_shape(rig: Rig, site: Site) -> None:
    site.page("/", "Start")
    ran = rig.crawl(site.url("/"))
    assert ran.status == 0
    summary = ran.json
    assert {name: type(summary[name]) for name in SUMMARY} == SUMMARY
    assert (summary["state"], summary["warnings"]) == ("completed", [])


def test_without_json_the_summary_is_for_people_and_quiet_says_nothing(rig: Rig, site: Site) -> None:
    site.page("/", "Start")
    loud = rig.run("crawl", "--own-host", site.origin[7:], site.url("/"))
    assert loud.out.startswith("1 visits in ")
    assert "127.0.0.1" in loud.err
    quiet = rig.run("crawl", "--quiet", "--own-host", site.origin[7:], site.url("/"))
    assert (quiet.status, quiet.out, quiet.err) == (0, "", "")


@pytest.fixture
def deaf_port() -> Iterator[int]:
    """A port where nobody listens, and that nobody else gets meanwhile."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        yield int(one.getsockname()[1])


@pytest.mark.parametrize(
    "why", ["refused", "dns", "tls", "missing", "robots", "excluded", "noindex", "empty host"]
)
def test_a_crawl_that_brings_nothing_says_why_in_its_first_line(
    rig: Rig, site: Site, deaf_port: int, why: str
) -> None:
    site.page("/", "Start", head='<meta name="robots" content="noindex">')
    if why == "robots":
        site.robots("User-agent: *\nDisallow: /\n")
    url, word = {
        "refused": (f"http://127.0.0.1:{deaf_port}/", "connect"),
        "dns": ("http://no-such-host.invalid/", "dns"),
        "tls": (site.url("/").replace("http:", "https:"), "tls"),
        "missing": (site.url("/nothing"), "404"),
        "robots": (site.url("/"), "robots.txt"),
        "excluded": (site.url("/picture.png"), "filterrules.conf"),
        "noindex": (site.url("/"), "generation filter"),
        "empty host": ("http://127.0.0.1:9/", "connect"),
    }[why]
    rig.tune("limits.tls-timeout", "1s")
    ran = rig.run("crawl", url, timeout_s=85)  # less than the patience with hosts that ask for time
    assert ran.status == 1
    assert word in ran.first.lower(), ran
    assert word in ran.out.partition("\n")[0].lower(), ran
    assert "Traceback" not in ran.err
    if why != "excluded":
        assert url in rig.known()
    assert "not in search" in rig.explained(url).partition("\n")[0].lower()


def test_one_start_that_fails_beside_one_that_does_not_is_status_1_and_named(rig: Rig, site: Site) -> None:
    site.page("/", "Start", text="quetzal")
    ran = rig.crawl(site.url("/"), site.url("/missing"))
    assert ran.status == 1
    assert ran.first.startswith(site.url("/missing"))
    assert [item["url"] for item in ran.json["failed_starts"]] == [site.url("/missing")]
    assert rig.found("quetzal") == [site.url("/")]


def test_max_pages_bounds_a_run_and_the_rest_waits(rig: Rig, site: Site) -> None:
    site.page("/", "Start", *(f"/{n}" for n in range(9)))
    for n in range(9):
        site.page(f"/{n}", f"Page {n}", f"/{n}/below")
    ran = rig.crawl(site.url("/"), flags=("--max-pages", "4"))
    assert (ran.status, ran.json["visited"], ran.json["waiting"]) == (
        0,
        4,
        9,
    )  # six of the start page's, three below
    assert rig.crawl(site.url("/")).status == 0
    assert Counter(page.depth for page in rig.known().values() if page.history) == {0: 1, 1: 9, 2: 9}
    assert rig.complaints() == []


def test_depth_bounds_a_run(rig: Rig, site: Site) -> None:
    site.page("/", "Start", "/one")
    site.page("/one", "One", "/two")
    site.page("/two", "Two")
    assert rig.crawl(site.url("/"), flags=("--depth", "1")).status == 0
    assert (site.asked("/one"), site.asked("/two")) == (1, 0)
    assert "depth" in rig.explained(site.url("/two")).partition("\n")[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_crawl_ends_in_order_and_the_next_goes_on(rig: Rig, number: int) -> None:
    with SyntheticServer(SyntheticWeb(7, WebShape(sites=2, pages=80)), latency_s=0.02) as server:
        with rig.start(*rig.crawling(*server.origins)) as running:
            wait_until(lambda: len(server.requests) > 30)
            server.latency_s = 1.0  # however fast the machine, it is not done when the signal comes
            children = running.children()
            running.signal(number)
            ran = running.end()
        server.latency_s = 0.0
        assert ran.status == 130, ran.err
        assert "Traceback" not in ran.err
        assert ran.json["interrupted"] is True
        wait_until(lambda: children_are_gone(children))
        done = {url for url, page in rig.known().items() if page.history}
        assert done
        # What came with the signal is in the catalog, and in the index at the next start.
        assert [line for line in rig.complaints() if "behind" not in line and " missing " not in line] == []
        seen = len(server.requests)
        again = rig.crawl(*server.origins)
        assert again.status == 0
        assert again.json["continued"] is True
        fetched = {f"http://{s.host}{s.path}" for s in server.requests[seen:] if s.path != "/robots.txt"}
        assert fetched & done == set(), "what was kept is not fetched again in the same run"
    assert all(page.visits <= 1 for page in rig.known().values())
    assert rig.complaints() == []


# --- serve --------------------------------------------------------------------------------------------


def test_serve_gathers_answers_and_follows_the_site(rig: Rig, site: Site) -> None:
    rig.site(site.origin)
    site.page("/", "Start", "/one", text="quetzal")
    site.page("/one", "One", text="toucan")
    with rig.serving() as served:
        status = served.rest(2)
        assert (status["state"], status["documents"]) == ("running", 2)
        assert served.found("toucan") == [site.url("/one")]
        assert served.get("/health") == (200, {"status": "ok"})
        assert served.admin("/health")[0] == 200
        assert served.admin("/api/v1/status", token="wrong")[0] == 401  # noqa: S106 - it is wrong
        assert served.get("/api/v1/status")[0] == 404
        code, answer = served.admin(f"/api/v1/explain?url={site.url('/one')}")
        assert (code, answer["index"]["indexed"]) == (200, True)
        code, text = served.admin("/metrics")
        assert code == 200
        assert "ingather" in text
        code, queue = served.admin("/api/v1/reports/queue")
        assert (code, queue["waiting"], queue["rows"]) == (200, 0, [])
        code, runs = served.admin("/api/v1/runs")
        assert (code, sum(run["new"] for run in runs["rows"])) == (200, 2)
    assert '"toucan": 1 found' in (rig.path / "log" / "rdm.log").read_text("utf-8")
    assert rig.complaints() == []


def test_status_tells_the_sandbox_and_hosts_that_are_closed_for_long(rig: Rig, site: Site) -> None:
    rig.site(site.origin)
    site.page("/", "Start")
    assert rig.crawl(site.url("/")).status == 0
    month_s = 31 * 86_400.0
    for name, ago in (("long", month_s), ("late", 86_400.0)):
        rig.alter(
            "insert into host (origin, hkey, robots_kind, robots_since, robots_detail) values (?, ?, 'unreachable', ?, 'HTTP 503')",
            f"http://{name}.test", f"{name}.test", time.time() - ago,
        )  # fmt: skip
    closed = [{"host": "http://long.test", "days": 31, "why": "HTTP 503"}]
    with rig.serving() as served:
        wait_until(lambda: served.status["sandbox"]["level"] != "not measured yet", pause_s=0.1)
        status = served.status
    assert status["robots_unreachable"] == closed
    assert "limits" in status["sandbox"]["measures"]
    assert rig.crawl(site.url("/")).json["robots_unreachable"] == closed
    host = site.origin.partition("//")[2]
    said = rig.run("crawl", "--own-host", host, site.url("/")).out
    assert "http://long.test: robots.txt unreachable for 31 days" in said


def test_commands_on_a_home_that_is_served_reach_its_owner(rig: Rig, site: Site) -> None:
    rig.site(site.origin)
    site.page("/", "Start", "/one", text="quetzal")
    site.page("/one", "One", text="toucan")
    with rig.serving(admin=free_port()) as served:
        served.rest(2)
        ran = rig.run("remove", site.url("/one"))
        assert ran.status == 0, ran.err
        wait_until(lambda: served.found("toucan") == [])
        assert rig.call("holds", "list", "--json").json == []
        assert rig.call("undelete", site.url("/one")).status == 0
        wait_until(lambda: served.found("toucan") == [site.url("/one")])
        assert rig.call("search", "toucan").status == 0
        assert rig.call("explain", site.url("/one")).status == 0
        assert rig.call("catalog", "check").status == 0
    assert rig.complaints() == []


def test_serve_survives_a_kill_and_a_term_and_goes_on(rig: Rig, site: Site) -> None:
    rig.site(site.origin)
    site.page("/", "Start", *(f"/{n}" for n in range(30)), text="quetzal")
    for n in range(30):
        site.page(f"/{n}", f"Page {n}", text=f"toucan{n}")
    with suppress(AssertionError), rig.serving() as served:
        wait_until(lambda: len(site.server.requests) > 10)
        children = served.running.children()
        served.running.signal(signal.SIGKILL)
        wait_until(lambda: children_are_gone(children))
    with rig.serving() as served:
        assert served.rest(1)["documents"] == 31
        assert served.found("toucan29") == [site.url("/29")]
    assert all(page.visits == 1 for page in rig.known().values())
    assert rig.complaints() == []


def test_searches_are_answered_while_gathering_and_the_own_listeners_are_never_fetched(
    rig: Rig, site: Site
) -> None:
    port = free_port()
    rig.site(site.origin, ports=(port,))
    rig.tune("limits.first-byte-timeout", "150s")
    asked, gate = threading.Event(), threading.Event()
    site.page("/", "Start", "/slow", text="quetzal")

    def slow(_times: int) -> Answer:
        asked.set()
        gate.wait(PATIENCE_S)
        return Answer(
            200, (("Content-Type", "text/html"),), html("Slow", f"http://127.0.0.1:{port}/").encode()
        )

    site.answer("/slow", slow)
    with rig.serving(search=port) as served:
        try:
            assert asked.wait(PATIENCE_S)
            wait_until(lambda: served.found("quetzal"))
            assert served.status["in_flight"] == 1
        finally:
            gate.set()
        served.rest(3)
    known = rig.known()
    assert known[site.url("/slow")].outcome is Outcome.INDEXED
    own = known[f"http://127.0.0.1:{port}/"]
    assert own.outcome in {Outcome.FAILED, Outcome.ROBOTS_UNREACHABLE}
    assert "refused-address" in own.detail


def test_after_a_jump_of_the_clock_nothing_expires_and_nothing_is_deleted(rig: Rig, site: Site) -> None:
    rig.site(site.origin)
    site.page("/", "Start", "/one", text="quetzal")
    site.page("/one", "One", text="toucan")
    assert rig.crawl().status == 0
    site.status("/one", 404)
    # The last run is dated two days ahead: since then the clock was set back.
    rig.alter("update run set started = started + 172800, ended = ended + 172800")
    rig.alter("update url set due = 0, missing = fetched - 90000")
    seen = len(site.server.requests)
    with rig.serving() as served:
        status = wait_until(lambda: (now := served.status)["gatherers"]["connected"] and now)
        assert status["clock_trusted"] is False
        assert served.found("toucan") == [site.url("/one")]
    assert len(site.server.requests) == seen
    assert rig.known()[site.url("/one")].described
