"""Storage that fails or fills up: nothing acknowledged is lost, the message says what is wrong, work goes on afterwards."""

import random
from pathlib import Path

import pytest

from ingather.testing.faultwalk import Fault, FaultWalk
from ingather.testing.rig import Rig, Served, wait_until
from ingather.testing.server import SyntheticServer
from ingather.testing.site import Site, html
from ingather.testing.storage import fill
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

STRIDE = 12
SHAPE = WebShape(sites=1, pages=150, paragraphs=6)


@pytest.mark.parametrize("fault", Fault)
def test_any_write_or_sync_of_the_catalog_may_fail(tmp_path: Path, fault: Fault) -> None:
    walk = FaultWalk(tmp_path)
    troubles = [
        run
        for operation in range(random.randrange(1, STRIDE + 1), walk.operations + 1, STRIDE)  # noqa: S311 - a test's dice
        if (run := walk.run(operation, fault)).trouble or not run.reached
    ]
    assert troubles == []


@pytest.mark.parametrize("size", [60_000, 400_000])
def test_files_that_may_not_grow_stop_the_crawl_with_a_message_and_it_goes_on_later(
    rig: Rig, size: int
) -> None:
    with SyntheticServer(SyntheticWeb(7, SHAPE)) as server:
        ran = rig.run(*rig.crawling(*server.origins), files_bytes=size)
        assert ran.status == 1
        assert "Traceback" not in ran.err
        assert "space" in ran.err or "disk is full" in ran.err
        before = rig.shown() if size > 100_000 else set()
        again = rig.crawl(*server.origins)
        assert again.status == 0, again.err
        assert before <= rig.shown()
        assert len(rig.shown()) > 130
    assert rig.complaints() == []


def test_serve_refuses_new_work_below_the_reserve_keeps_answering_and_recovers_by_itself(
    small_disk: Path, site: Site
) -> None:
    rig = Rig(small_disk / "home", **{"disk.reserve": "8MiB", "disk.reserve-share": "0%"}).init()
    rig.site(site.origin)
    ballast = small_disk / "ballast"
    site.page("/", "Start", "/one", text="quetzal")
    site.page("/two", "Two", text="motmot")
    running: list[Served] = []

    def one(_times: int) -> Answer:
        fill(ballast, leave=6 << 20)
        wait_until(lambda: running and running[0].status["disk_full"])
        return Answer(200, (("Content-Type", "text/html"),), html("One", "/two", text="toucan").encode())

    site.answer("/one", one)
    with rig.serving() as served:
        running.append(served)
        wait_until(lambda: served.found("toucan"))  # what was under way is kept and found
        status = served.status
        assert (status["state"], status["pool"], site.asked("/two")) == ("disk full", 1, 0)
        assert served.found("quetzal") == [site.url("/")]
        assert served.get("/health")[0] == 200
        ballast.unlink()
        wait_until(lambda: served.found("motmot"))
        assert served.status["state"] == "running"
    assert rig.complaints() == []


def test_a_disk_that_is_really_full_costs_no_acknowledged_page(small_disk: Path) -> None:
    rig = Rig(small_disk / "home", **{"disk.reserve": "1MiB", "disk.reserve-share": "0%"}).init()
    with SyntheticServer(SyntheticWeb(7, SHAPE)) as server:
        ballast = small_disk / "ballast"
        fill(ballast, leave=1200 << 10)
        ran = rig.crawl(*server.origins)
        assert ran.status == 1
        assert "space" in ran.err or "disk is full" in ran.err or "are free" in ran.err
        assert "Traceback" not in ran.err
        ballast.unlink()
        again = rig.crawl(*server.origins)
        assert again.status == 0, again.err
        assert len(rig.shown()) > 130
    assert rig.complaints() == []
