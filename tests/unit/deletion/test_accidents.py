"""How others lost documents, or kept what was gone, and that we do not: one test for each known accident.

Source: the accidents that users of other crawlers reported; the addresses stand with the tests.
"""

from pathlib import Path

import pytest

from ingather.catalog.deletion.sqlite_tombstones import TombstoneReader
from ingather.model.lifecycle import Outcome, State
from ingather.robot.settling.deletion import DeletionLimits
from ingather.testing.fedhome import FedHome, Said, fed
from ingather.testing.feeds import FeedRig, content, record
from ingather.testing.revisiting import GONE, Page, Revisits

FAILS = Page(outcome=Outcome.SERVER_ERROR, status=503, detail="status 503")
SILENT = Page(outcome=Outcome.FAILED, status=0, detail="dns: no such host")
HOME = "http://site.test/"


def documents(robot: Revisits) -> int:
    applier = robot.catalog.writer.applier
    return robot.catalog.writer.deletions.facts(applier.source("web"), robot.visitor.now_s).documents


def test_deletion_accident_01_a_parent_that_fails_for_a_moment_orphans_nobody(robot: Revisits) -> None:
    """github.com/Norconex/crawler/issues/126."""
    pages = robot.site(20)
    robot.web[HOME] = FAILS
    for _ in range(3):
        robot.visitor.now_s += 86_400.0
        robot.run()
    assert robot.found(pages) == pages
    robot.web[HOME] = GONE  # not even when it is gone itself
    for _ in range(3):
        robot.visitor.now_s += 86_400.0
        robot.run()
    assert robot.found([HOME, *pages]) == pages


def test_deletion_accident_02_what_is_not_due_stays(robot: Revisits) -> None:
    """github.com/Norconex/crawler/issues/278 and 274."""
    pages = robot.site(20)
    before = len(robot.asked)
    robot.pass_time(0.5)  # nothing is due, so nothing is asked, so nothing is known
    number = robot.run("serve")
    assert number
    robot.web.clear()
    asked = robot.asked[before:]
    robot.visitor.now_s += 60.0
    robot.job(lambda _w, _a: robot.catalog.writer.registry.promote_due(robot.visitor.now_s, 1000))
    robot.rest()
    assert robot.asked[before:] == asked
    assert robot.found(pages) == pages


def test_deletion_accident_03_what_left_the_sitemap_is_looked_at_and_goes(tmp_path: Path) -> None:
    """github.com/Norconex/crawler/issues/390: a date that was kept must not keep what is gone."""
    a, b, sitemap = "https://n.test/a", "https://n.test/b", "https://n.test/sitemap.xml"

    def listing(*urls: str) -> Said:
        entries = "".join(f"<url><loc>{url}</loc><lastmod>2018-03-01</lastmod></url>" for url in urls)
        return Said(
            body=f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
        )

    home = FedHome(tmp_path / "c.db", {"news": fed("sitemap", feeds=(sitemap,))})
    try:
        home.web |= {a: Said(body="Alpha"), b: Said(body="Beta"), sitemap: listing(a, b)}
        home.cycle()
        assert home.documents() == {a, b}
        home.web |= {sitemap: listing(a), b: Said(404)}
        home.until(72)
        assert home.documents() == {a}
        assert "404" in home.tombstone(b)
    finally:
        home.close()


@pytest.mark.parametrize(
    "answer", [FAILS, SILENT, Page(outcome=Outcome.REFUSED, status=403, detail="status 403")]
)
def test_deletion_accident_04_unreachable_for_a_while_is_not_gone(robot: Revisits, answer: Page) -> None:
    """github.com/Norconex/crawler/issues/792."""
    pages = robot.site(20)
    web = dict(robot.web)
    robot.web = dict.fromkeys(web, answer)
    robot.pass_time(24 * 40, step=24)
    assert robot.found(pages) == pages
    assert robot.catalog.writer.deletions.holds() == []
    robot.web = web
    robot.pass_time(24 * 40, step=24)
    assert robot.found(pages) == pages


def test_deletion_accident_05_targets_of_redirects_on_unchanged_pages_stay(robot: Revisits) -> None:
    """github.com/Norconex/crawler/issues/1121."""
    target, way = "http://site.test/target", "http://site.test/way"
    robot.web |= {
        HOME: Page("start", (way,)),
        way: Page(outcome=Outcome.REDIRECTED, status=301, detail=target, to=target),
        target: Page("the text"),
    }
    robot.visitor.start(HOME)
    robot.rest()
    assert robot.found([target]) == [target]
    for _ in range(4):  # 304 for the page with the link: its links were not read again
        robot.visitor.now_s += 86_400.0
        robot.run()
    assert robot.visitor.record(HOME).outcome is Outcome.UNCHANGED
    assert robot.found([HOME, target]) == [HOME, target]


def test_deletion_accident_06_a_shallower_crawl_deletes_nothing_that_a_deeper_one_found(
    robot: Revisits,
) -> None:
    """github.com/Norconex/crawler/issues/427."""
    chain = [f"http://site.test/{n}" for n in range(6)]
    for url, following in zip(chain, [*chain[1:], ""], strict=True):
        robot.web[url] = Page(f"text of {url}", (following,) if following else ())
    robot.visitor.start(chain[0])
    robot.rest()
    assert robot.found(chain) == chain
    robot.visitor.start(chain[0], max_depth=1)  # the same starting point, limited now
    for _ in range(3):
        robot.visitor.now_s += 86_400.0
        robot.run()
    assert robot.found(chain) == chain


def test_deletion_accident_07_an_empty_queue_purges_nothing(robot: Revisits) -> None:
    """github.com/elastic/crawler/issues/381 and pull/65: no document goes for being older than a run."""
    pages = robot.site(20)
    robot.visitor.now_s += 86_400.0
    registry = robot.catalog.writer.registry
    for _ in range(3):  # runs that visit nothing at all
        robot.job(
            lambda _w, _a: registry.end_run(
                registry.begin_run("crawl", robot.visitor.now_s)[0], robot.visitor.now_s, ""
            )
        )
    robot.web = dict.fromkeys(robot.web, SILENT)
    robot.run()  # and one that reaches nobody
    assert robot.found(pages) == pages
    assert robot.catalog.writer.deletions.holds() == []


@pytest.mark.parametrize(("number", "status"), [(8, 404), (9, 410)])
def test_deletion_accident_08_09_what_is_gone_is_found_no_more_even_after_a_rebuild(
    robot: Revisits, number: int, status: int
) -> None:
    """github.com/onyx-dot-app/onyx/issues/1222 (404) and 1028 (410)."""
    assert number
    pages = robot.site(20)
    robot.web[pages[3]] = Page(outcome=Outcome.NOT_FOUND, status=status, detail=f"status {status}")
    robot.pass_time(24 * 3)
    assert robot.found(pages) == [*pages[:3], *pages[4:]]  # by the change log and by what a rebuild reads
    assert robot.visitor.record(pages[3]).state is State.GONE
    assert documents(robot) == 20  # with the start page


def test_deletion_accident_10_what_a_full_listing_leaves_out_goes(tmp_path: Path) -> None:
    """github.com/onyx-dot-app/onyx/issues/5013: drives and buckets say what there is by listing all of it."""
    from ingather.app.feeds.process import FeedProcess

    process = FeedProcess()
    rig = FeedRig(tmp_path / "home", process)
    try:
        urls = [f"http://drive.test/{n}" for n in range(4)]
        rig.push(*(record(url, content(f"file {url}")) for url in urls), datasource="drive", feedtype="full")
        rig.push(
            *(record(url, content(f"file {url}")) for url in urls[1:]), datasource="drive", feedtype="full"
        )
        assert [rig.described(url) for url in urls] == [False, True, True, True]
        reader = TombstoneReader(rig.home.path / "catalog" / "catalog.db")
        row = reader.row_of(urls[0])
        assert row is not None
        [proof] = reader.evidence(row)
        assert (proof.reason, proof.decision) == ("missing from a full feed", "delete")
        assert proof.detail.startswith("feed ")
        reader.close()
    finally:
        rig.close()
        process.stop()


def test_deletion_accident_11_what_left_goes_without_a_reset(robot: Revisits) -> None:
    """github.com/sist2app/sist2/issues/124."""
    pages = robot.site(20)
    del robot.web[pages[0]]
    del robot.web[pages[1]]
    robot.run()
    assert robot.found(pages) == pages  # once is not enough
    robot.visitor.now_s += 7200.0
    robot.run()
    assert robot.found(pages) == pages[2:]
    robot.web[pages[0]] = Page("it is back")
    robot.visitor.now_s += 31 * 86_400.0
    robot.run()
    assert robot.found(pages) == [pages[0], *pages[2:]]


def test_deletion_accident_12_a_list_that_failed_says_nothing(tmp_path: Path) -> None:
    """github.com/sist2app/sist2/issues/415: a scan that failed must not be taken for an empty one."""
    a, b, sitemap = "https://n.test/a", "https://n.test/b", "https://n.test/sitemap.xml"
    whole = (
        '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<url><loc>{a}</loc></url><url><loc>{b}</loc></url></urlset>"
    )
    home = FedHome(tmp_path / "c.db", {"news": fed("sitemap", feeds=(sitemap,), complete=True)})
    try:
        home.web |= {a: Said(body="Alpha"), b: Said(body="Beta"), sitemap: Said(body=whole)}
        home.cycle()
        for failing in (Said(500), Said(0, kind="timeout"), Said(404), Said(body="<html>sorry</html>")):
            home.web[sitemap] = failing
            home.until(24, every=6)
            assert home.documents() == {a, b}
            assert home.holds() == []
    finally:
        home.close()


def test_deletion_accident_13_fifty_of_a_thousand_is_no_success(tmp_path: Path) -> None:
    """github.com/elastic/connectors/issues/2631."""
    from ingather.app.feeds.process import FeedProcess

    process = FeedProcess()
    rig = FeedRig(tmp_path / "home", process)
    try:
        urls = [f"http://wiki.test/{n}" for n in range(40)]
        rig.push(*(record(url, content(f"page {url}")) for url in urls), datasource="wiki", feedtype="full")
        told = rig.push(
            *(record(url, content(f"page {url}")) for url in urls[:2]), datasource="wiki", feedtype="full"
        )
        assert all(rig.described(url) for url in urls)  # nothing went ...
        assert (told["deleted"], told["held"]) == (0, 38)  # ... it is held, and said so
        assert "held" in told["detail"]
    finally:
        rig.close()
        process.stop()


def test_deletion_accident_14_counters_and_documents_agree(robot: Revisits) -> None:
    """github.com/onyx-dot-app/onyx/issues/1335."""
    pages = robot.site(60)
    for n, url in enumerate(pages):
        if n % 5 == 0:
            robot.web[url] = (
                GONE,
                FAILS,
                Page(outcome=Outcome.NOINDEX, rule="filter.conf:7", detail="noindex"),
            )[n % 3]
    for _ in range(4):
        robot.pass_time(24, step=4)
        robot.run("serve")
        assert documents(robot) == len(robot.found([HOME, *pages]))
    robot.catalog.restart()
    assert documents(robot) == len(robot.found([HOME, *pages])) < 61


def test_deletion_accident_15_no_deletion_sticks_half_way(robot: Revisits) -> None:
    """github.com/onyx-dot-app/onyx/issues/1378: what is held ends, by whatever happens to it."""
    pages = robot.site(20)
    web = dict(robot.web)
    for url in pages[:15]:
        del robot.web[url]
    robot.run("serve")
    robot.pass_time(2)
    [hold] = robot.catalog.writer.deletions.holds()
    assert hold.urls == 15
    robot.catalog.restart()
    for url in pages[:10]:
        robot.web[url] = web[url]
    robot.pass_time(48)
    [hold] = robot.catalog.writer.deletions.holds()
    assert hold.urls == 5
    robot.web = web
    robot.pass_time(48)
    assert robot.catalog.writer.deletions.holds() == []  # it closed by itself
    assert robot.found(pages) == pages
    assert documents(robot) == 21


def test_a_held_page_is_not_asked_for_each_minute(robot: Revisits) -> None:
    pages = robot.site(20)
    for url in pages[:15]:
        del robot.web[url]
    robot.run("serve")
    robot.pass_time(2)
    before = len(robot.asked)
    robot.pass_time(48, step=0.05)
    asked = [url for _, url in robot.asked[before:]]
    assert all(asked.count(url) <= 3 for url in pages[:15])


def test_limits_of_a_source_are_its_own(robot: Revisits) -> None:
    robot.limits = {"web": DeletionLimits(half_floor=50)}
    pages = robot.site(20)
    for url in pages[:15]:
        del robot.web[url]
    robot.pass_time(30)
    assert robot.catalog.writer.deletions.holds() == []
    assert robot.found(pages) == pages[15:]
