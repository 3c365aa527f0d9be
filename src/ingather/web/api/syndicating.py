"""Feeds that sites publish, for the operator: what there is, why a document is as it is; poll, pause, resume, add."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import json_answer
from ingather.web.boards import RssBoard
from ingather.web.failures import WebError
from ingather.web.fields import flag, read_fields, single
from ingather.web.state import admin_state

__all__ = [
    "OPML_PATH",
    "add",
    "conflicts",
    "documents",
    "explain",
    "feed",
    "feeds",
    "import_opml",
    "opml",
    "pause",
    "poll",
    "resume",
    "status",
]

OPML_PATH = "/api/v1/rss/opml"
_MOST = 1000
_DIGITS = 18


async def status(request: Request) -> Response:
    """``GET /api/v1/rss/status``."""
    return await _answer(request, lambda board: board.status())


async def feeds(request: Request) -> Response:
    """``GET /api/v1/rss/feeds?source=NAME``."""
    source = single(request, "source")
    return await _answer(request, lambda board: {"feeds": list(board.feeds(source))})


async def feed(request: Request) -> Response:
    """``GET /api/v1/rss/feed?feed=NUMBER|URL``."""
    name = single(request, "feed")
    return await _answer(request, lambda board: board.feed(name))


async def documents(request: Request) -> Response:
    """``GET /api/v1/rss/documents?source=NAME&feed=FEED&state=STATE,STATE&after=N&limit=N``."""
    source, name = single(request, "source"), single(request, "feed")
    states = [state for state in single(request, "state").split(",") if state]
    after, limit = _number(request, "after", 0), min(_MOST, _number(request, "limit", 100))
    return await _answer(
        request,
        lambda board: board.documents(source=source, feed=name, states=states, after=after, limit=limit),
    )


async def explain(request: Request) -> Response:
    """``GET /api/v1/rss/explain?url=URL``."""
    url = single(request, "url")
    return await _answer(request, lambda board: board.explain(url))


async def conflicts(request: Request) -> Response:
    """``GET /api/v1/rss/conflicts?source=NAME``."""
    source = single(request, "source")
    return await _answer(request, lambda board: {"documents": list(board.conflicts(source))})


async def poll(request: Request) -> Response:
    """``POST /api/v1/rss/poll`` with ``feed``: a number, a URL, a source's name or ``all``."""
    target = await _target(request)
    return await _answer(request, lambda board: board.poll(target))


async def pause(request: Request) -> Response:
    """``POST /api/v1/rss/pause`` with ``feed``."""
    target = await _target(request)
    return await _answer(request, lambda board: board.pause(target))


async def resume(request: Request) -> Response:
    """``POST /api/v1/rss/resume`` with ``feed``."""
    target = await _target(request)
    return await _answer(request, lambda board: board.resume(target))


async def add(request: Request) -> Response:
    """``POST /api/v1/rss/add`` with ``url``, ``source``, ``all``, ``write`` and ``settings`` (``KEY=VALUE`` a line)."""
    fields = await read_fields(request)
    every, write = flag(fields.get("all", ""), "all"), flag(fields.get("write", ""), "write")
    settings = [line for line in fields.get("settings", "").splitlines() if line.strip()]
    return await _answer(
        request,
        lambda board: board.add(
            fields.get("url", ""), fields.get("source", ""), settings, every=every, write=write
        ),
    )


async def opml(request: Request) -> Response:
    """``GET /api/v1/rss/opml``: the feeds of all sources of kind ``rss``."""
    return Response(await _run(request, lambda board: board.opml()), media_type="text/x-opml")


async def import_opml(request: Request) -> Response:
    """``POST /api/v1/rss/opml?source=NAME&write=1``: the body is a file."""
    body, source = await request.body(), single(request, "source")
    write = flag(single(request, "write"), "write")
    return await _answer(request, lambda board: board.import_opml(body, source, write=write))


async def _target(request: Request) -> str:
    target = (await read_fields(request)).get("feed", "")
    if not target:
        raise WebError(
            400,
            "bad-parameter",
            "No feed is given.",
            hint="Give feed: a number, a URL, a source's name or all.",
        )
    return target


def _number(request: Request, name: str, otherwise: int) -> int:
    text = single(request, name)
    if not text:
        return otherwise
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise WebError(400, "bad-parameter", f"The parameter {name} is no number.", hint="Write digits.")
    return int(text)


async def _answer(request: Request, ask: Callable[[RssBoard], Any]) -> Response:
    return json_answer(await _run(request, ask))


async def _run(request: Request, ask: Callable[[RssBoard], Any]) -> Any:
    state = admin_state(request)
    board = state.parts.rss
    if board is None:
        raise WebError(
            404, "no-rss", "This listener knows no web feeds.", hint="It does under ingather serve."
        )
    return await state.workers.run(lambda: ask(board), timeout_s=state.parts.limits.explain_s)
