"""Expired descriptions: proposed by their date, and never unless somebody looked for the page after it."""

import asyncio
from collections.abc import Mapping

import msgspec
import pytest

from ingather.app.expiring import Expired, Lifetimes, Terms, expire
from ingather.catalog.deletion.sqlite_tombstones import TombstoneReader
from ingather.catalog.packing import pack_attributes
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.model.lifecycle import Outcome
from ingather.robot.settling.committing import Batch
from ingather.robot.settling.deletion import DeletionPolicy
from ingather.testing.revisiting import Page, Revisits

DAY_S = 86_400.0
FAILS = Page(outcome=Outcome.SERVER_ERROR, status=503, detail="status 503")


def expired(robot: Revisits, sources: Mapping[str, SourceConf] | None = None) -> Expired:
    path = robot.catalog.writer.path
    terms = Terms(
        path, path.parent / "bodies", Lifetimes(Settings(), sources or {}), lambda _: DeletionPolicy()
    )
    return asyncio.run(expire(robot, terms, now_s=robot.visitor.now_s))


def dated(robot: Revisits, url: str, expires: str) -> None:
    """Describe *url* with an ``rd-expires``."""
    row = robot.visitor.claim(url)
    report = robot.visitor.report(row, url, "dated")
    attributes = pack_attributes({"title": ("dated",), "rd-expires": (expires,)}, "")
    robot.commit(Batch(visits=[(msgspec.structs.replace(report, attributes=attributes), row)]))


def days(robot: Revisits, count: float) -> None:
    robot.pass_time(24 * count, step=24)


def test_a_page_that_fails_for_90_days_expires(robot: Revisits) -> None:
    pages = robot.site(20)
    robot.web[pages[0]] = FAILS
    days(robot, 89)
    assert expired(robot) == Expired()
    days(robot, 40)
    assert expired(robot) == Expired(deleted=1)
    assert robot.found(pages) == pages[1:]
    reader = TombstoneReader(robot.catalog.writer.path)
    [seen] = reader.evidence(robot.visitor.id(pages[0]))
    assert seen.detail.startswith("90 days without being found; found last 2025-")
    reader.close()
    robot.web[pages[0]] = Page("it is back")
    days(robot, 40)
    assert robot.found(pages) == pages


def test_a_page_that_nobody_looked_for_since_does_not(robot: Revisits) -> None:
    pages = robot.site(20)
    robot.web[pages[0]] = FAILS
    days(robot, 40)
    robot.visitor.now_s += 200 * DAY_S  # nothing ran
    assert expired(robot) == Expired()
    robot.web[pages[0]] = Page(f"text of {pages[0]}")
    days(robot, 1)
    assert expired(robot) == Expired()
    assert robot.found(pages) == pages


def test_a_source_that_is_silent_for_90_days_is_held_and_not_emptied(robot: Revisits) -> None:
    pages = robot.site(20)
    robot.web = dict.fromkeys(robot.web, FAILS)
    days(robot, 130)
    assert expired(robot) == Expired(held=21)
    assert robot.found(pages) == pages
    [hold] = robot.catalog.writer.deletions.holds()
    assert (hold.reason, hold.urls) == ("its description expired", 21)
    robot.web = {url: Page("back") for url in robot.web}
    days(robot, 40)
    assert robot.catalog.writer.deletions.holds() == []


def test_rd_expires_counts_before_the_lifetime(robot: Revisits) -> None:
    pages = robot.site(20)
    dated(robot, pages[0], "2025-07-01T00:00:00Z")
    dated(robot, pages[1], "2027-01-01T00:00:00Z")
    robot.web[pages[0]] = robot.web[pages[1]] = FAILS
    days(robot, 130)
    assert expired(robot) == Expired(deleted=1)
    assert robot.found(pages) == pages[1:]


def test_a_date_that_each_visit_renews_never_comes(robot: Revisits) -> None:
    pages = robot.site(3)
    dated(robot, pages[0], "2025-07-01T00:00:00Z")
    robot.web[pages[0]] = Page("dated")
    days(robot, 200)
    assert expired(robot) == Expired()
    assert robot.found(pages) == pages


@pytest.mark.parametrize(("lifetime_s", "deleted"), [(0.0, 0), (10 * DAY_S, 1), (None, 1)])
def test_a_source_has_its_own_lifetime(robot: Revisits, lifetime_s: float | None, deleted: int) -> None:
    pages = robot.site(20)
    robot.web[pages[0]] = FAILS
    days(robot, 130 if lifetime_s is None else 45)
    source = SourceConf(deletion_rd_lifetime=lifetime_s)
    assert expired(robot, {"web": source}) == Expired(deleted=deleted)


def test_it_is_done_once_a_day_and_not_by_a_clock_that_jumped(robot: Revisits) -> None:
    pages = robot.site(20)
    robot.web[pages[0]] = FAILS
    robot.web[pages[1]] = FAILS
    days(robot, 130)
    robot.trusted = False
    assert expired(robot) == Expired()
    robot.trusted = True
    assert expired(robot) == Expired(deleted=2)
    undone = robot.visitor.catalog.undelete(pages[0], robot.visitor.now_s, exact=True)
    assert undone[0] == 1
    robot.rest()
    assert expired(robot) == Expired()  # within the same day
    robot.visitor.now_s += DAY_S
    assert expired(robot) == Expired(deleted=1)


def test_a_disabled_source_loses_nothing(robot: Revisits) -> None:
    pages = robot.site(20)
    robot.web[pages[0]] = FAILS
    days(robot, 130)
    now_s = robot.visitor.now_s
    robot.job(lambda w, _a: w.registry.disable_source("web", "site", "public", now_s))
    assert expired(robot) == Expired()


def test_where_only_crawls_run_a_404_goes_when_it_expires(robot: Revisits) -> None:
    pages = robot.site(20)
    del robot.web[pages[0]]
    robot.one_shot = True
    for _ in range(9):
        robot.visitor.now_s += 10.5 * DAY_S
        robot.run()
        assert robot.found(pages) == pages
    assert expired(robot) == Expired(deleted=1)
    assert robot.found(pages) == pages[1:]
