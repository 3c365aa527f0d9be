"""Memberships of groups, for the operator and for programs that keep them up to date."""

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import json_answer
from ingather.web.boards import GroupBoard
from ingather.web.failures import WebError
from ingather.web.fields import flag, read_fields, single
from ingather.web.state import admin_state

__all__ = ["ADD_PATH", "add", "begin", "cleanup", "finish", "groups", "show"]

ADD_PATH = "/api/v1/groups/add"
_LIMIT = 10_000
_LOAD_S = 600.0


async def groups(request: Request) -> Response:
    """``GET /api/v1/groups?q=TEXT&limit=N``: sources, and groups by a part of their name."""
    text, limit = single(request, "q"), single(request, "limit", "100").strip()
    if not (limit.isascii() and limit.isdigit() and 0 < int(limit[:6]) <= _LIMIT):
        raise WebError(
            400,
            "bad-parameter",
            "The parameter limit is no number that it takes.",
            hint=f"Give 1 to {_LIMIT}.",
        )
    board, state = _board(request), admin_state(request)
    answer = await state.workers.run(
        lambda: board.listed(text, limit=int(limit)), timeout_s=state.parts.limits.admin_s
    )
    return json_answer(answer)


async def show(request: Request) -> Response:
    """``GET /api/v1/groups/show?user=NAME`` or ``?group=NAME``."""
    user, group, namespace = (single(request, name) for name in ("user", "group", "namespace"))
    board, state = _board(request), admin_state(request)
    call = board.shown
    answer = await state.workers.run(
        lambda: call(user=user, group=group, namespace=namespace), timeout_s=state.parts.limits.admin_s
    )
    return json_answer(answer)


async def begin(request: Request) -> Response:
    """``POST /api/v1/groups/begin`` with ``source`` and ``mode``."""
    fields, board = await read_fields(request), _board(request)
    source, mode = fields.get("source", ""), fields.get("mode", "incremental")
    answer = await admin_state(request).workers.run(lambda: board.begin(source, mode), timeout_s=_LOAD_S)
    return json_answer(answer)


async def add(request: Request) -> Response:
    """``POST /api/v1/groups/add`` with ``load`` and ``lines``."""
    fields, board = await read_fields(request), _board(request)
    load, body = fields.get("load", ""), fields.get("lines", "").encode("utf-8", "surrogatepass")
    answer = await admin_state(request).workers.run(lambda: board.add(load, body), timeout_s=_LOAD_S)
    return json_answer(answer)


async def finish(request: Request) -> Response:
    """``POST /api/v1/groups/finish`` with ``load`` and ``complete``."""
    fields, board = await read_fields(request), _board(request)
    load, trouble = fields.get("load", ""), fields.get("trouble", "")
    complete, repaired = (flag(fields.get(name, ""), name) for name in ("complete", "repaired"))
    answer = await admin_state(request).workers.run(
        lambda: board.finish(load, complete=complete, repaired=repaired, trouble=trouble), timeout_s=_LOAD_S
    )
    return json_answer(answer)


async def cleanup(request: Request) -> Response:
    """``POST /api/v1/groups/cleanup`` with ``source``."""
    source, board = (await read_fields(request)).get("source", ""), _board(request)
    answer = await admin_state(request).workers.run(lambda: board.clean_up(source), timeout_s=_LOAD_S)
    return json_answer(answer)


def _board(request: Request) -> GroupBoard:
    board = admin_state(request).parts.groups
    if board is None:
        raise WebError(
            404, "no-groups", "This listener keeps no groups.", hint="It does under ingather serve."
        )
    return board
