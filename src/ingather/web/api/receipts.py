"""Pushed feeds for the operator: what came, what became of each record, the file itself, once more, away."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from ingather.web.answers import json_answer
from ingather.web.api.deciding import decided_by
from ingather.web.boards import FeedBoard
from ingather.web.failures import WebError
from ingather.web.fields import read_fields, single
from ingather.web.state import admin_state

__all__ = [
    "conflicts",
    "delete_source",
    "destroy",
    "empty",
    "feed",
    "feed_file",
    "feeds",
    "forget",
    "records",
    "replay",
    "retry",
    "source",
    "sources",
]

_MOST = 10_000
_DIGITS = 18


async def feeds(request: Request) -> Response:
    """``GET /api/v1/feeds?source=NAME&before=N&limit=N``: feeds, newest first, and the backlog."""
    source, before, limit = (
        single(request, "source"),
        _number(request, "before", 0),
        _number(request, "limit", 100),
    )
    return await _answer(request, lambda board: board.listed(datasource=source, before=before, limit=limit))


async def feed(request: Request) -> Response:
    """``GET /api/v1/feeds/{name}``: one feed, by name or number."""
    name = _name(request)
    return await _answer(request, lambda board: board.shown(name))


async def records(request: Request) -> Response:
    """``GET /api/v1/feeds/{name}/records?after=N&limit=N&state=STATE``: receipts, in document order."""
    name, state = _name(request), single(request, "state")
    after, limit = _number(request, "after", 0), _number(request, "limit", 1000)
    return await _answer(request, lambda board: board.records(name, after=after, limit=limit, state=state))


async def feed_file(request: Request) -> Response:
    """``GET /api/v1/feeds/{name}/file``: the bytes as they were pushed."""
    name, state, board = _name(request), admin_state(request), _board(request)
    path = await state.workers.run(lambda: board.file(name), timeout_s=state.parts.limits.admin_s)
    return FileResponse(path, media_type="application/octet-stream", filename=f"{path.name}.feed")


async def retry(request: Request) -> Response:
    """``POST /api/v1/feeds/{name}/retry``: apply it from its beginning once more."""
    name = _name(request)
    return await _answer(request, lambda board: board.retry(name))


async def replay(request: Request) -> Response:
    """``POST /api/v1/feeds/{name}/replay``: its file again, as a feed of its own."""
    name = _name(request)
    return await _answer(request, lambda board: board.replay(name))


async def forget(request: Request) -> Response:
    """``POST /api/v1/feeds/{name}/delete``: forget the feed with receipts and file."""
    name = _name(request)
    return await _answer(request, lambda board: board.forget(name))


async def empty(request: Request) -> Response:
    """``POST /api/v1/feeds/empty`` with ``source``: delete what feeds brought for a data source."""
    source = (await read_fields(request)).get("source", "").strip()
    if not source:
        raise WebError(400, "missing-parameter", "The field source is missing.", hint="Name a data source.")
    return await _answer(request, lambda board: board.delete_documents(source))


async def sources(request: Request) -> Response:
    """``GET /api/v1/sources``: sources, what they own, what was pushed for them."""
    return await _answer(request, lambda board: board.sources())


async def source(request: Request) -> Response:
    """``GET /api/v1/sources/{name}``: one source, with states, settings and last feeds."""
    name = _name(request)
    return await _answer(request, lambda board: board.source(name))


async def conflicts(request: Request) -> Response:
    """``GET /api/v1/conflicts?source=NAME&after=N&limit=N``: URLs that one source owns and another names, too."""
    source, after, limit = (
        single(request, "source"),
        _number(request, "after", 0),
        _number(request, "limit", 1000),
    )
    return await _answer(
        request, lambda board: {"documents": list(board.conflicts(source, after=after, limit=limit))}
    )


async def delete_source(request: Request) -> Response:
    """``POST /api/v1/sources/{name}/delete`` with ``note`` if wanted: delete its documents."""
    name, by = _name(request), decided_by(request, await read_fields(request))
    return await _answer(request, lambda board: board.delete_source(name, by))


async def disable_source(request: Request) -> Response:
    """``POST /api/v1/sources/{name}/disable``: nothing is fetched for it, its feeds wait, its documents stay."""
    name = _name(request)
    return await _answer(request, lambda board: board.switch_source(name, off=True))


async def enable_source(request: Request) -> Response:
    """``POST /api/v1/sources/{name}/enable``: it goes on."""
    name = _name(request)
    return await _answer(request, lambda board: board.switch_source(name, off=False))


async def destroy(request: Request) -> Response:
    """``POST /api/v1/sources/{name}/destroy``: forget what was listed for a source without documents."""
    name = _name(request)
    return await _answer(request, lambda board: board.destroy(name))


async def _answer(request: Request, call: Callable[[FeedBoard], Any]) -> Response:
    state, board = admin_state(request), _board(request)
    return json_answer(await state.workers.run(lambda: call(board), timeout_s=state.parts.limits.admin_s))


def _board(request: Request) -> FeedBoard:
    board = admin_state(request).parts.feeds
    if board is None:
        raise WebError(404, "no-feeds", "This listener knows no feeds.", hint="It does under ingather serve.")
    return board


def _name(request: Request) -> str:
    return str(request.path_params["name"])


def _number(request: Request, name: str, default: int) -> int:
    text = single(request, name, str(default)).strip()
    good = text.isascii() and text.isdigit() and len(text) <= _DIGITS
    if not good or (name == "limit" and not 0 < int(text) <= _MOST):
        raise WebError(
            400,
            "bad-parameter",
            f"The parameter {name} is no number that it takes.",
            hint=f"limit: 1 to {_MOST}.",
        )
    return int(text)
