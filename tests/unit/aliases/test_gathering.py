"""smart-host-heuristics at work in a gatherer: from the line of robot.conf to the keys of what a page links to."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from ingather.app.confined.pool import ConverterPool
from ingather.app.syndication.sources import fed_sources
from ingather.catalog.bodies import SegmentWriter
from ingather.conf import load_bodies
from ingather.conf.sources.source import SourceConf
from ingather.conf.sources.syndication import SyndicationConf
from ingather.filters import Engine
from ingather.model.lifecycle import Outcome
from ingather.model.report import Claim, Discovery, Report
from ingather.model.resource import Response
from ingather.model.url import Canonicaliser, canonical
from ingather.model.urlparts import split
from ingather.robot.frontier.seen import Seen
from ingather.robot.visit.discovering import Discoverer
from ingather.robot.visit.hostnames import HostNames
from ingather.robot.visit.pipeline import Pipeline
from ingather.robot.visit.reading import Reading
from ingather.robot.visit.renaming import Renaming
from ingather.testing.clock import FakeClock
from ingather.testing.site import html

FILTERS = (
    b'<Filter name="enumeration-default">\nEnumerate fn=enumerate-urls max=1024 type=text/html\n</Filter>\n'
    b'<Filter name="generation-default">\n</Filter>\n'
)
WWW = "http://www.siroe.com"


class Names:
    async def resolve(self, host: str) -> Sequence[str]:
        return ("10.0.0.7",) if host.endswith(".siroe.com") else ()


class Bench:
    """A pipeline under a line of robot.conf, and the claims that it gets."""

    def __init__(self, folder: Path, line: str) -> None:
        loaded = load_bodies({"robot.conf": line.encode(), "filter.conf": FILTERS})
        assert loaded.ok
        clock = FakeClock()
        discoverer = Discoverer(Engine(loaded), version=1, seed=0)
        names = HostNames(
            {"chosen.test": "host.test"},
            smart=bool(loaded.robot.smart_host_heuristics),
            resolver=Names(),
            clock=clock,
        )

        self.pipeline = Pipeline(
            engine=discoverer.engine, discoverer=discoverer, clock=clock, seen=Seen(),
            reading=Reading(
                isolation=ConverterPool(count=1, clock=clock), slot=None, clock=clock, agent="ingather", canonicaliser=Canonicaliser()
            ),
            segment=SegmentWriter(folder, "test", max_bytes=1 << 20),
            renaming=Renaming(names, discoverer, rules=lambda _: None),
        )  # fmt: skip

    def visit(self, url: str, *links: str, source: str = "web", hops: int = 0, redirect: str = "") -> Report:
        parts = split(url)
        claim = Claim(
            id=1,
            host=1,
            path=parts.path,
            depth=0,
            max_depth=None,
            source=source,
            hops=hops,
            pushed=source == "pushed",
        )

        async def visit() -> Report:
            judged = await self.pipeline.admitted(claim, parts.origin)
            if judged.report is not None:
                return judged.report
            got = Response(url, 200, (("Content-Type", "text/html"),), html("x", *links).encode())
            if redirect:
                got = Response(url, 302, (("Location", redirect),))
            return await self.pipeline.process(judged, got)

        return asyncio.run(visit())


def urls(found: Sequence[Discovery]) -> list[str]:
    return [one.origin + one.path for one in found]


@pytest.fixture
def smart(tmp_path: Path) -> Bench:
    return Bench(tmp_path, "smart-host-heuristics=true\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("smart-host-heuristics=true\n", [f"{WWW}/a", "http://www3.other.com/a", "http://host.test/b"]),
        ("", ["http://www12.siroe.com/a", f"{WWW}/a", "http://www3.other.com/a", "http://host.test/b"]),
    ],
)
def test_links_get_the_keys_that_count(tmp_path: Path, line: str, expected: list[str]) -> None:
    links = ("http://www12.siroe.com/a", f"{WWW}/a", "http://www3.other.com/a", "http://chosen.test/b")
    report = Bench(tmp_path, line).visit(f"{WWW}/", *links)
    assert urls(report.found) == expected
    assert len(report.links) == 8 * len(expected)


def test_what_waits_under_an_alias_finds_its_counterpart_and_is_not_visited(smart: Bench) -> None:
    report = smart.visit("http://www12.siroe.com/b?c")
    assert Outcome(report.outcome) is Outcome.EXCLUDED
    assert report.denial is not None
    assert report.denial.category == "host alias"
    assert (
        report.detail
        == "host alias: www12.siroe.com is www.siroe.com (smart-host-heuristics: both have the address 10.0.0.7)"
    )
    assert urls(report.found) == [f"{WWW}/b?c"]


def test_a_host_that_redirects_to_its_alias_keeps_its_pages(smart: Bench) -> None:
    report = smart.visit(f"{WWW}/", redirect="http://www12.siroe.com/")
    assert report.redirect is not None
    assert urls([report.redirect]) == ["http://www12.siroe.com/"]
    assert Outcome(smart.visit("http://www12.siroe.com/", hops=1).outcome) is not Outcome.EXCLUDED
    elsewhere = smart.visit(f"{WWW}/", redirect="http://www12.siroe.com/start")
    assert elsewhere.redirect is not None
    assert urls([elsewhere.redirect]) == [f"{WWW}/start"]


def test_pushed_content_keeps_its_names(smart: Bench) -> None:
    report = smart.visit("http://chosen.test/x", "http://chosen.test/y", source="pushed")
    assert Outcome(report.outcome) is not Outcome.EXCLUDED
    assert urls(report.found) == ["http://chosen.test/y"]


def test_what_a_web_feed_lists_gets_the_key_of_the_host() -> None:
    conf = SourceConf("news", kind="rss", syndication=SyndicationConf(link_scope="same-host"))
    names = HostNames({"chosen.test": "host.test"})
    source = fed_sources({"news": conf}, canonical, fold=names.fold)["news"]
    key = source.key_of("http://chosen.test/a")
    assert key == "http://host.test/a"
    assert source.refusal(key, "http://chosen.test/feed") == ""
    assert source.refusal(key, "http://host.test/feed") == ""
    assert "link-scope" in source.refusal(key, "http://other.test/feed")
