"""Converters, extractors and fetchers of plug-ins: found by the same door, run where they belong."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ingather.app.clock import SystemClock
from ingather.app.confined.pool import ConverterPool
from ingather.app.fetching import ByProtocol
from ingather.app.plugging import converter_environment
from ingather.errors import ExtractError
from ingather.model.page import Converted
from ingather.model.report import Claim
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.model.url import Canonicaliser
from ingather.plugins import PlugIns
from ingather.robot.visit.reading import Reading

Plug = Callable[..., PlugIns]

DOORS = """
from ingather.model.page import Converted, Heading, Link, Page

@converter("application/x-thing")
def thing(body, name):
    if body == b"odd":
        return "text"
    return Converted(text=f"{name}: {body.decode()}")

@extractor("text/x-note")
def note(body, url):
    first, _, rest = body.decode().partition("\\n")
    return Page(title=first, text=rest, media_type="text/html", links=[Link("http://b.example/"), Link("javascript:x")])

@fetcher("ftp")
def by_ftp(**parts):
    return parts
"""


def run(plugins: PlugIns, job: str, body: bytes, **options: str) -> bytes:
    async def work() -> bytes:
        async with ConverterPool(
            count=1, clock=SystemClock(), environment=converter_environment(plugins)
        ) as pool:
            return await pool.run(job, body, options)

    return asyncio.run(work())


def test_a_converter_runs_in_the_converter(plug: Plug) -> None:
    plugins = plug(doors=DOORS)
    answer = run(plugins, "convert", b"abc", name="a.thing", content_type="application/x-thing")
    assert msgspec.msgpack.decode(answer, type=Converted).text == "a.thing: abc"
    declared = run(plugins, "convert", b"abc", content_type="text/plain", declared="Application/X-Thing; v=1")
    assert msgspec.msgpack.decode(declared, type=Converted).text == ": abc"
    other = run(plugins, "convert", b"plain text", content_type="text/plain")
    assert msgspec.msgpack.decode(other, type=Converted).text == "plain text"
    with pytest.raises(ExtractError, match="gave str where Converted"):
        run(plugins, "convert", b"odd", content_type="application/x-thing")


def test_an_extractor_makes_the_page(plug: Plug) -> None:
    plugins = plug(doors=DOORS)

    async def work() -> Any:
        async with ConverterPool(
            count=1, clock=SystemClock(), environment=converter_environment(plugins)
        ) as pool:
            reading = Reading(
                isolation=pool, slot=None, clock=SystemClock(), agent="x", canonicaliser=Canonicaliser(()),
                extractors=frozenset(plugins.extractors),
            )  # fmt: skip
            got = Response(
                "http://a.example/n", 200, (("Content-Type", "text/x-note; charset=utf-8"),), b"Title\nText"
            )
            return await reading.page(
                Claim(id=1, host=1, path="/n", depth=0, max_depth=None, source="web"), got.url, got
            )

    page = asyncio.run(work())
    assert (page.title, page.text, page.url, page.media_type) == (
        "Title",
        "Text",
        "http://a.example/n",
        "text/html",
    )
    assert [link.url for link in page.links] == ["http://b.example/"]


def test_converters_hear_of_plug_ins_only_where_there_are_some(plug: Plug, tmp_path: Path) -> None:
    assert converter_environment(plug(mine="x = 1")) == {}
    assert converter_environment(PlugIns(None, points=())) == {}
    assert converter_environment(plug(doors=DOORS)) == {"INGATHER_PLUG_INS": str(tmp_path / "plugins")}


class _Says:
    def __init__(self, detail: str) -> None:
        self.detail, self.closed = detail, False

    async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
        assert scope.source == "web"
        return Response(request.url, 200, (), self.detail.encode())

    async def close(self) -> None:
        self.closed = True


def test_a_fetcher_takes_its_protocol(plug: Plug) -> None:
    assert plug(doors=DOORS).fetchers["ftp"](clock=1) == {"clock": 1}
    usual, own = _Says("usual"), _Says("own")
    both = ByProtocol(usual, {"ftp": own})

    async def work() -> list[bytes]:
        scope = Scope(source="web", hosts=())
        found = [await both.fetch(Request(url), scope) for url in ("http://a.example/", "ftp://a.example/")]
        await both.close()
        return [got.body for got in found if isinstance(got, Response)]

    assert asyncio.run(work()) == [b"usual", b"own"]
    assert usual.closed
    assert own.closed
