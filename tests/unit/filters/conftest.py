"""Engines from a few lines, and resources to judge."""

from collections.abc import Callable, Mapping

import pytest

from ingather.conf import load_bodies
from ingather.filters import Decision, Engine
from ingather.model.candidate import Candidate
from ingather.model.page import Page
from ingather.model.resource import Response

NOW_S = 1_795_000_000.0  # November 2026

MIME = "text/html html htm\napplication/zip zip\n"


@pytest.fixture
def engine() -> Callable[..., Engine]:
    """Make an engine of the lines of the enumeration filter, and those of the generation filter (default: the same)."""

    def make(  # noqa: PLR0913 - the texts of a configuration
        lines: str = "",
        generation: str | None = None,
        *,
        robot: str = "",
        rules: str = "",
        mime: str = MIME,
        digests: Mapping[str, str] | None = None,
    ) -> Engine:
        one, other = lines, lines if generation is None else generation
        text = (
            f'<Filter name="enumeration-default">\n{one}\n</Filter>\n'
            f'<Filter name="generation-default">\n{other}\n</Filter>\n'
        )
        bodies = {"filter.conf": text, "robot.conf": robot, "filterrules.conf": rules, "mime.types": mime}
        loaded = load_bodies({name: body.encode() for name, body in bodies.items()})
        assert loaded.ok, [str(d) for d in loaded.diagnostics]
        return Engine(loaded, digests=digests)

    return make


@pytest.fixture
def judge(engine: Callable[..., Engine]) -> Callable[..., Decision]:
    """Judge one URL by a few lines that both filters hold."""

    def decide(  # noqa: PLR0913 - the parts of a response
        lines: str,
        url: str = "http://www.example.com/",
        *,
        content_type: str | None = None,
        headers: tuple[tuple[str, str], ...] = (),
        body: bytes = b"x",
        page: Page | None = None,
        depth: int = 0,
        fetched: bool = True,
        **texts: str,
    ) -> Decision:
        if content_type is not None:
            headers = (("Content-Type", content_type), *headers)
        response = Response(url, 200, headers, body, address="192.0.2.1") if fetched else None
        return engine(lines, **texts).decide(
            Candidate(url, depth=depth),
            response,
            read_page=lambda got: page if page is not None else Page(url=got.url),
            now_s=NOW_S,
        )

    return decide
