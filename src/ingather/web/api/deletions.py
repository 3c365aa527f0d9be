"""What was deleted and why: tombstones with their evidence, holds with theirs, and what people decided."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import json_answer
from ingather.web.deletion_board import DeletionBoard
from ingather.web.failures import WebError
from ingather.web.fields import single
from ingather.web.state import admin_state

__all__ = ["closed_holds", "decisions", "hold", "tombstone", "tombstones"]

_FIELDS = ("run", "reason", "hold", "source", "after", "limit")
_DIGITS = 9


async def tombstones(request: Request) -> Response:
    """``GET /api/v1/tombstones?run=N&reason=TEXT&hold=N&source=NAME&after=N&limit=N``."""
    form = {name: single(request, name) for name in _FIELDS}
    return await _answer(request, lambda board: board.tombstones(form))


async def tombstone(request: Request) -> Response:
    """``GET /api/v1/tombstones/show?url=URL``: one URL, with its evidence."""
    url = single(request, "url")
    if not url:
        raise WebError(400, "missing-parameter", "The parameter url is missing.", hint="Add url=https://...")
    return await _answer(request, lambda board: board.tombstone(url))


async def closed_holds(request: Request) -> Response:
    """``GET /api/v1/holds/closed?limit=N``: the holds that ended, newest first."""
    limit = _count(request, "limit", 100)
    return await _answer(request, lambda board: {"holds": list(board.closed_holds(limit))})


async def hold(request: Request) -> Response:
    """``GET /api/v1/holds/{id}?after=N&limit=N``: one hold and what is in it."""
    text = str(request.path_params["id"])
    if not _is_number(text):
        raise WebError(
            404, "no-such-hold", f"There is no hold {text[:40]!r}.", hint="GET /api/v1/holds lists them."
        )
    after, limit = _count(request, "after", 0), _count(request, "limit", 100)
    return await _answer(request, lambda board: board.hold(int(text), after=after, limit=limit))


async def decisions(request: Request) -> Response:
    """``GET /api/v1/decisions?limit=N``: what people decided about deletions, newest first."""
    limit = _count(request, "limit", 100)
    return await _answer(request, lambda board: {"decisions": list(board.decisions(limit))})


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


def _count(request: Request, name: str, default: int) -> int:
    text = single(request, name)
    if text and not _is_number(text):
        raise WebError(
            400, "bad-parameter", f"{name}={text[:40]} is not a number.", hint="Write digits only."
        )
    return int(text) if text else default


async def _answer(request: Request, call: Callable[[DeletionBoard], Any]) -> Response:
    state = admin_state(request)
    board = state.parts.deletions
    if board is None:
        raise WebError(404, "not-found", "There is no such address here.", hint="GET / has the overview.")
    return json_answer(await state.workers.run(lambda: call(board), timeout_s=state.parts.limits.admin_s))
