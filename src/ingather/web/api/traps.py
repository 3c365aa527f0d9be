"""Crawler traps: listed, shown, dismissed, and the rules that stop them put into force."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import json_answer
from ingather.web.failures import WebError
from ingather.web.fields import read_fields, single
from ingather.web.state import admin_state, identity
from ingather.web.trap_board import TrapBoard

__all__ = ["dismiss_trap", "publish_trap", "published_trap", "trap", "traps"]

_DIGITS = 9
_PUBLISH_S = 110.0
"""Gatherers finish what they fetch first."""
_HOLDER = "admin"


async def traps(request: Request) -> Response:
    """``GET /api/v1/traps?state=open|dismissed|published``: the traps, open ones first."""
    wanted = single(request, "state")
    return await _answer(request, lambda board: board.listed(wanted))


async def trap(request: Request) -> Response:
    """``GET /api/v1/traps/{id}``: one trap, with the rule that would stop it."""
    number = _number(request)
    return await _answer(request, lambda board: board.shown(number))


async def dismiss_trap(request: Request) -> Response:
    """``POST /api/v1/traps/{id}/dismiss``: it is none."""
    number, by = _number(request), await _by(request)
    return await _answer(request, lambda board: board.dismiss(number, by))


async def published_trap(request: Request) -> Response:
    """``POST /api/v1/traps/{id}/published``: note that its rule was put into force, as ``ingather traps publish`` does."""
    number, by = _number(request), await _by(request)
    return await _answer(request, lambda board: board.note_published(number, by))


async def publish_trap(request: Request) -> Response:
    """``POST /api/v1/traps/{id}/publish`` with ``note``, ``yes``, ``dry-run`` if wanted: puts its rule into force."""
    number, by, fields = _number(request), await _by(request), await read_fields(request)
    return await _answer(request, lambda board: board.publish_by(number, by, fields), timeout_s=_PUBLISH_S)


def _number(request: Request) -> int:
    text = str(request.path_params["id"])
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise _none(text)
    return int(text)


async def _by(request: Request) -> str:
    known = identity(request).name
    said = (await read_fields(request)).get("author", "") if known in {"", _HOLDER} else ""
    return said or known or _HOLDER


def _none(text: str) -> WebError:
    return WebError(
        404, "no-such-trap", f"There is no trap {text[:40]!r}.", hint="GET /api/v1/traps lists them."
    )


async def _answer(request: Request, call: Callable[[TrapBoard], Any], *, timeout_s: float = 0.0) -> Response:
    state = admin_state(request)
    board = state.parts.traps
    if board is None:
        raise WebError(404, "not-found", "There is no such address here.", hint="GET / has the overview.")
    return json_answer(
        await state.workers.run(lambda: call(board), timeout_s=timeout_s or state.parts.limits.admin_s)
    )
