"""External metadata: what is laid over documents, why, and records that are set here."""

import json
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import json_answer
from ingather.web.boards import OverlayBoard
from ingather.web.failures import WebError
from ingather.web.fields import flag, read_fields, single
from ingather.web.state import admin_state

__all__ = [
    "DIFF_PATH",
    "REPLACE_PATH",
    "compare",
    "delete",
    "delete_record",
    "diff",
    "expired",
    "explain",
    "hidden",
    "history",
    "publish",
    "put",
    "put_record",
    "records",
    "replace",
    "rollback",
    "show",
    "stats",
]

DIFF_PATH = "/api/v1/overlay/diff"
REPLACE_PATH = "/api/v1/overlay/replace"
_LONG_S = 600.0
_FORMATS = {"json": "application/json", "csv": "text/csv", "cfg": "text/plain"}


async def explain(request: Request) -> Response:
    """``GET /api/v1/overlay/explain?url=URL``."""
    url = single(request, "url")
    return await _answer(request, lambda board: board.explain(url))


async def stats(request: Request) -> Response:
    """``GET /api/v1/overlay/stats``."""
    return await _answer(request, lambda board: board.stats())


async def history(request: Request) -> Response:
    """``GET /api/v1/overlay/history``."""
    return await _answer(request, lambda board: {"versions": list(board.history())})


async def expired(request: Request) -> Response:
    """``GET /api/v1/overlay/expired``."""
    return await _answer(request, lambda board: {"documents": list(board.expired())})


async def diff(request: Request) -> Response:
    """``POST /api/v1/overlay/diff?source=NAME&name=FILE&old=STATE``: the body is a file, nothing is changed."""
    body, source, name = await request.body(), single(request, "source"), single(request, "name")
    old = single(request, "old") or "current"
    return await _answer(request, lambda board: board.diff(body, source, name=name, old=old))


async def compare(request: Request) -> Response:
    """``GET /api/v1/overlay/diff?old=STATE&new=STATE``: a version's number, ``current`` or ``config``."""
    old, new = single(request, "old") or "current", single(request, "new") or "config"
    return await _answer(request, lambda board: board.compare(old, new))


async def records(request: Request) -> Response:
    """``GET /api/v1/overlay/records``: all, with ``?format=json|csv|cfg`` as text, with ``?prefix=PREFIX`` one."""
    prefix, form = single(request, "prefix"), single(request, "format")
    if form:
        if form not in _FORMATS:
            raise WebError(400, "bad-parameter", "There is no such format.", hint="Give json, csv or cfg.")
        text = await _run(request, lambda board: board.exported(form))
        return Response(text, media_type=_FORMATS[form])
    if prefix:
        record = await _run(request, lambda board: board.record(prefix))
        if record is None:
            raise WebError(404, "no-record", "There is no such record.", hint="List them without a prefix.")
        return json_answer(record)
    return await _answer(request, lambda board: {"records": list(board.records())})


async def put_record(request: Request) -> Response:
    """``PUT /api/v1/overlay/records?prefix=PREFIX`` with ``{"classes": {"c": ["partner"]}}``."""
    prefix, body = single(request, "prefix"), await request.body()
    classes = _classes(body, whole=True)
    return await _answer(request, lambda board: board.put(prefix, classes, _AUTHOR))


async def delete_record(request: Request) -> Response:
    """``DELETE /api/v1/overlay/records?prefix=PREFIX``."""
    prefix = single(request, "prefix")
    return await _answer(request, lambda board: board.delete(prefix, _AUTHOR))


async def put(request: Request) -> Response:
    """``POST /api/v1/overlay/put`` with ``prefix`` and ``classes`` (JSON as text)."""
    fields = await read_fields(request)
    classes = _classes(fields.get("classes", "").encode(), whole=False)
    return await _answer(
        request, lambda board: board.put(fields.get("prefix", ""), classes, fields.get("author", _AUTHOR))
    )


async def delete(request: Request) -> Response:
    """``POST /api/v1/overlay/delete`` with ``prefix``."""
    fields = await read_fields(request)
    return await _answer(
        request, lambda board: board.delete(fields.get("prefix", ""), fields.get("author", _AUTHOR))
    )


async def replace(request: Request) -> Response:
    """``POST /api/v1/overlay/replace`` with ``body`` and ``format`` (``json`` or ``csv``)."""
    fields = await read_fields(request)
    form = fields.get("format", "json")
    if form not in {"json", "csv"}:
        raise WebError(400, "bad-parameter", "There is no such format.", hint="Give json or csv.")
    return await _answer(
        request, lambda board: board.replace(fields.get("body", ""), form, fields.get("author", _AUTHOR))
    )


async def hidden(request: Request) -> Response:
    """``POST /api/v1/overlay/hidden`` with ``url`` and ``hidden``."""
    fields = await read_fields(request)
    hide = flag(fields.get("hidden", ""), "hidden")
    return await _answer(
        request,
        lambda board: board.set_hidden(fields.get("url", ""), fields.get("author", _AUTHOR), hidden=hide),
    )


async def show(request: Request) -> Response:
    """``GET /api/v1/overlay/show?version=STATE``: a version's number, ``current`` or ``config``."""
    version = single(request, "version") or "current"
    return await _answer(request, lambda board: {"version": version, "layers": dict(board.files(version))})


async def publish(request: Request) -> Response:
    """``POST /api/v1/overlay/publish`` with ``note``."""
    fields = await read_fields(request)
    author, note = fields.get("author", _AUTHOR), fields.get("note", "")
    return await _answer(request, lambda board: board.publish(author, note))


async def rollback(request: Request) -> Response:
    """``POST /api/v1/overlay/rollback`` with ``version``."""
    fields = await read_fields(request)
    text = fields.get("version", "")
    if not (text.isascii() and text.isdigit() and len(text) < 10):  # noqa: PLR2004 - digits
        raise WebError(400, "bad-parameter", "The version is no number.", hint="Give one of the history.")
    return await _answer(request, lambda board: board.rollback(int(text), fields.get("author", _AUTHOR)))


_AUTHOR = "admin"


def _classes(body: bytes, *, whole: bool) -> dict[str, list[str]]:
    try:
        tree = json.loads(body)
        classes = tree["classes"] if whole else tree
        return {str(n): [str(v) for v in ([vs] if isinstance(vs, str) else vs)] for n, vs in classes.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise WebError(
            400, "bad-json", "The body names no classes.", hint='Send {"classes": {"c": ["partner"]}}.'
        ) from None


async def _answer(request: Request, ask: Callable[[OverlayBoard], Any]) -> Response:
    return json_answer(await _run(request, ask))


async def _run(request: Request, ask: Callable[[OverlayBoard], Any]) -> Any:
    state = admin_state(request)
    board = state.parts.overlay
    if board is None:
        raise WebError(
            404,
            "no-overlay",
            "This listener keeps no external metadata.",
            hint="It does under ingather serve.",
        )
    return await state.workers.run(lambda: ask(board), timeout_s=_LONG_S)
