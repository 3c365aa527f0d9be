"""What sitemaps cost the writer where many hosts have one, and what they may never list."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingather.conf.sources.revisits import RevisitConf
from ingather.conf.sources.source import SourceConf
from ingather.robot.settling.sitemaps import may_list
from ingather.testing.fedhome import Said
from ingather.testing.sitehome import SiteHome

A = "http://a.test"
INDEX, MAP = f"{A}/index.xml", f"{A}/map.txt"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[SiteHome]:
    sources = {"web": SourceConf(revisits=RevisitConf())}
    with_it = SiteHome(tmp_path / "catalog.db", sources, sites=("a.test",))
    yield with_it
    with_it.close()


def test_no_statement_about_sitemaps_reads_a_whole_table(home: SiteHome) -> None:
    said: dict[str, Any] = {}

    def note(_: Any, sql: str, values: Any) -> bool:
        said[sql] = values or ()
        return True

    db = home.writer._db
    home.web = {
        INDEX: Said(body=f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>{MAP}</loc></sitemap>'
                         "</sitemapindex>"),
        MAP: Said(body=f"{A}/1\n"), f"{A}/1": Said(body="<p>page</p>"),
    }  # fmt: skip
    db.exec_trace = note
    home.robots(A, f"Sitemap: {INDEX}\n")
    home.rest()
    home.robots(A, "")
    home.rest()
    db.exec_trace = None
    about = [
        sql for sql in said if "sitemap" in sql and sql.lstrip().startswith(("select", "update", "delete"))
    ]
    assert len(about) > 10
    scans = {
        (sql, plan)
        for sql in about
        for *_, plan in home.writer.syndication.query(f"explain query plan {sql}", tuple(said[sql]))
        if plan.startswith("SCAN ") and not plan.startswith("SCAN CONSTANT") and "INDEX" not in plan
    }
    assert not scans


@pytest.mark.parametrize("configured", [True, False])
def test_a_sitemap_of_a_host_names_no_file_of_ours(*, configured: bool) -> None:
    for url in ("file:///srv/docs/a.txt", "file:///"):
        assert not may_list(url, MAP, vouched=("file://", "", A), configured=configured)
    assert may_list(
        "file:///srv/docs/a.txt", "file:///srv/docs/sitemap.xml", vouched=(), configured=configured
    )
