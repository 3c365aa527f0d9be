"""What a converter reads of suspect HTML is what the gatherer would have read."""

import asyncio
from collections.abc import Mapping

from ingather.app.confined.pool import ConverterPool
from ingather.model.report import Claim
from ingather.model.resource import Response
from ingather.model.url import Canonicaliser
from ingather.robot.visit.reading import Reading
from ingather.testing.clock import FakeClock

URL = "http://a.test/"
BODY = b"<title>t</title><a href='/x?ticket=1&b=2&utm_source=3'>x</a><a href='/y;ticket=4'>y</a>"


def _links(dropped: tuple[str, ...], *, suspect: bool) -> list[str]:
    async def read() -> list[str]:
        async with ConverterPool(count=1, clock=FakeClock()) as pool:
            reading = Reading(
                isolation=pool, slot=None, clock=FakeClock(), agent="ingather", canonicaliser=Canonicaliser(dropped)
            )  # fmt: skip
            claim = Claim(id=1, host=1, path="/", depth=0, max_depth=None, source="web", suspect=suspect)
            got = Response(URL, 200, (("Content-Type", "text/html"),), BODY)
            page = await reading.page(claim, URL, got)
            assert ("suspect-html" in page.flags) is suspect
            return [link.url for link in page.links]

    return asyncio.run(read())


def test_the_configured_parameters_are_dropped_in_a_converter_too() -> None:
    for dropped in (("ticket",), (), Canonicaliser().drop_parameters):
        assert _links(dropped, suspect=True) == _links(dropped, suspect=False)
    assert _links(("ticket",), suspect=True) == ["http://a.test/x?b=2&utm_source=3", "http://a.test/y"]


def test_large_xml_is_read_in_a_converter_as_it_would_be_here() -> None:
    class Counting(ConverterPool):
        jobs: tuple[str, ...] = ()

        async def run(self, job: str, body: bytes, options: Mapping[str, str]) -> bytes:
            self.jobs = (*self.jobs, job)
            return await super().run(job, body, options)

    async def read(rows: int) -> tuple[str, list[str], tuple[str, ...]]:
        async with Counting(count=1, clock=FakeClock()) as pool:
            reading = Reading(
                isolation=pool, slot=None, clock=FakeClock(), agent="ingather", canonicaliser=Canonicaliser()
            )
            claim = Claim(id=1, host=1, path="/", depth=0, max_depth=None, source="web")
            body = b"<?xml version='1.0'?><r><title>T</title>" + b"<row>text</row>\n" * rows + b"</r>"
            page = await reading.page(
                claim, URL, Response(URL, 200, (("Content-Type", "text/xml; charset=utf-8"),), body)
            )
            return page.title, page.flags, pool.jobs

    assert asyncio.run(read(10)) == ("T", [], ())
    assert asyncio.run(read(200_000)) == ("T", [], ("page",))
