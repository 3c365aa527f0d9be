"""What is old goes by itself: at the end of a crawl, and under ``serve`` when nothing is gathered."""

import shutil

import msgspec

from ingather.testing.rig import Rig, wait_until
from ingather.testing.site import Site

HALF_A_YEAR_S = 200 * 86_400.0


def aged(rig: Rig, site: Site) -> None:
    """A crawled home with a tombstone; all that happened so far lies half a year back."""
    site.page("/", "All birds", "/quetzal", "/shoebill")
    site.page("/quetzal", "Quetzal")
    site.page("/shoebill", "Shoebill")
    rig.crawl(site.url("/"))
    assert rig.call("remove", site.url("/quetzal")).status == 0
    rig.alter("update tombstone set decided = 0, at = at - ?", HALF_A_YEAR_S)
    rig.alter("insert into event (at, kind, subject, detail) values (1, 'old', '', '')")
    [(newest,)] = rig.rows("select max(seq) from change")
    assert newest >= 4
    marks = msgspec.msgpack.encode([(1.0, newest)])
    rig.alter("insert or replace into meta (name, value) values ('change-marks', ?)", marks)


def old(rig: Rig) -> list[int]:
    """Rows of tombstones, old events, and changes."""
    return [
        rig.rows(f"select count(*) from {table}")[0][0]  # noqa: S608 - fixed names
        for table in ("tombstone", "event where kind = 'old'", "change")
    ]


def test_a_crawl_forgets_what_is_old(rig: Rig, site: Site) -> None:
    aged(rig, site)
    rig.crawl(site.url("/"))
    assert old(rig) == [0, 0, 1]
    assert rig.shown() == {site.url("/"), site.url("/shoebill")}
    assert rig.complaints() == []
    # An index that is lost is filled from the catalog, now that the log does not reach back.
    shutil.rmtree(rig.path / "index")
    rig.crawl(site.url("/"))
    assert rig.found("shoebill")[0] == site.url("/shoebill")
    assert rig.complaints() == []


def test_a_serving_home_forgets_what_is_old_when_it_rests(rig: Rig, site: Site) -> None:
    aged(rig, site)
    with rig.serving():
        wait_until(lambda: old(rig) == [0, 0, 1])
    assert rig.complaints() == []
