"""Quiet hosts and rd-expires on a real catalog, through the committer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.catalog.packing import pack_attributes
from ingather.conf.sources.source import SourceConf
from ingather.model.lifecycle import Outcome
from ingather.model.report import Report, Row
from ingather.robot.frontier.sampling import SamplingLimits
from ingather.robot.settling.remembering import promote
from ingather.testing.fedhome import Said
from ingather.testing.sitehome import SiteHome

A, DAY = "http://a.test", 86_400.0
LIMITS = SamplingLimits(after=6, sample=2)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[SiteHome]:
    made = SiteHome(tmp_path / "catalog.db", {"web": SourceConf()})
    yield made
    made.close()


def due(home: SiteHome) -> int:
    found: dict[int, int] = home.job(
        lambda writer, _: promote(writer, 1000, LIMITS, now_s=home.now_s, most_s=lambda _: 30 * DAY)
    )
    return sum(found.values())


def test_a_quiet_host_is_sampled_and_wakes_when_a_page_changes(home: SiteHome) -> None:
    version = [0]
    home.web = {f"{A}/{n}": lambda _, n=n: Said(body=f"<p>{n} {version[0]}</p>") for n in range(10)}  # type: ignore[misc]
    for number in range(10):
        home.start(f"{A}/{number}")
    home.visit()
    home.now_s += 2 * DAY
    assert due(home) == 10
    home.visit()  # ten visits that find no change
    home.now_s += 3 * DAY
    assert due(home) == 2
    assert due(home) == 0
    home.visit()
    home.now_s += 3700
    assert due(home) == 0  # the sample found no change: the rest waits to the upper bound
    assert len(home.rows("select id from url where due > ?", home.now_s + 20 * DAY)) == 8
    version[0] = 1
    home.now_s += 6 * DAY
    assert due(home) == 2
    home.visit()  # the sample changed
    assert due(home) == 8


def test_a_page_is_looked_at_before_its_description_expires(home: SiteHome) -> None:
    home.start(f"{A}/1")
    home.rows("update url set wait = ?", 25 * DAY)

    def report(row: Row) -> Report:
        made = original(row)
        made.attributes = pack_attributes({"rd-expires": ("2018-03-24T08:33:00Z",)}, "")  # in four days
        return made

    original, home.report = home.report, report  # type: ignore[method-assign]
    home.web = {f"{A}/1": Said(body="<p>x</p>", etag="e")}
    home.visit()
    assert home.rows("select due from url where path = '/1'") == [(home.now_s + 4 * DAY,)]
    home.now_s += DAY
    home.rows("update url set state = 0")
    home.report = original  # type: ignore[method-assign]
    home.visit()  # 304: what the visit found moves the date on, so four days from now
    assert home.asked[-1].status == 304
    assert home.rows("select outcome, due from url where path = '/1'") == [
        (int(Outcome.UNCHANGED), home.now_s + 4 * DAY)
    ]
