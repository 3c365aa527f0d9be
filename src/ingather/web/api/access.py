"""Who may see what, and why: for the operator."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import json_answer
from ingather.web.boards import AccessDesk, Tree
from ingather.web.failures import WebError
from ingather.web.fields import single
from ingather.web.state import admin_state

__all__ = ["broken", "explain_access", "who"]

_LIMIT = 100_000
_GROUPS = 1_000


async def explain_access(request: Request) -> Response:
    """``GET /api/v1/access/explain?url=URL&user=NAME&group=NAME``."""
    url, user = _url(request), single(request, "user")
    groups = request.query_params.getlist("group")[:_GROUPS]
    return await _answered(request, lambda desk: desk.explain(url, user, groups))


async def broken(request: Request) -> Response:
    """``GET /api/v1/access/broken?limit=N``."""
    limit = _limit(request)
    return await _answered(request, lambda desk: desk.broken(limit=limit))


async def who(request: Request) -> Response:
    """``GET /api/v1/access/who?url=URL&limit=N``."""
    url, limit = _url(request), _limit(request)
    return await _answered(request, lambda desk: desk.who(url, limit=limit))


async def _answered(request: Request, call: Callable[[AccessDesk], Tree]) -> Response:
    state = admin_state(request)
    desk = state.parts.access
    if desk is None:
        raise WebError(
            404, "no-access", "This listener explains no access.", hint="It does under ingather serve."
        )
    return json_answer(await state.workers.run(lambda: call(desk), timeout_s=state.parts.limits.explain_s))


def _url(request: Request) -> str:
    url = single(request, "url").strip()
    if not url:
        raise WebError(
            400, "missing-parameter", "The parameter url is missing.", hint="Ask with ?url=https://..."
        )
    return url


def _limit(request: Request) -> int:
    text = single(request, "limit", "1000").strip()
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= _LIMIT):
        raise WebError(
            400,
            "bad-parameter",
            "The parameter limit is no number that it takes.",
            hint=f"Give 1 to {_LIMIT}.",
        )
    return int(text)
