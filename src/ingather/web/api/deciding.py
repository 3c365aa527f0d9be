"""What the operator decides: held deletions, removal by hand and its undoing."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ingather.web.answers import json_answer
from ingather.web.boards import Tree
from ingather.web.failures import WebError
from ingather.web.fields import read_fields
from ingather.web.state import admin_state, identity

__all__ = ["classify", "discard", "holds", "release", "remove", "undelete"]

_ROW_DIGITS = 18


async def holds(request: Request) -> Response:
    """``GET /api/v1/holds``: the open holds, a list."""
    state = admin_state(request)
    listed = await state.workers.run(state.parts.operations.holds, timeout_s=state.parts.limits.admin_s)
    return json_answer(list(listed))


async def release(request: Request) -> Response:
    """``POST /api/v1/holds/{id}/release``: carry the held deletions out."""
    return await _close(request, release=True)


async def discard(request: Request) -> Response:
    """``POST /api/v1/holds/{id}/discard``: keep the documents."""
    return await _close(request, release=False)


async def remove(request: Request) -> Response:
    """``POST /api/v1/remove`` with ``url``: take documents out at once."""
    return await _act(request, admin_state(request).parts.operations.remove, "removed", "removed from search")


async def undelete(request: Request) -> Response:
    """``POST /api/v1/undelete`` with ``url``: undo tombstones."""
    return await _act(request, admin_state(request).parts.operations.undelete, "restored", "put back")


async def classify(request: Request) -> Response:
    """``POST /api/v1/classify``: documents into categories; the answer comes when it is done."""
    state = admin_state(request)
    call = state.parts.operations.classify
    answer = await state.workers.run(call, timeout_s=state.parts.limits.admin_s)
    return _done(request, answer, f"{answer.get('changed', 0)} documents changed their categories.")


async def _close(request: Request, *, release: bool) -> Response:
    text = str(request.path_params["id"])
    if not (text.isascii() and text.isdigit() and len(text) <= _ROW_DIGITS):
        raise _no_hold(text[:_ROW_DIGITS])
    number = int(text)
    state = admin_state(request)
    call = state.parts.operations.close_hold
    answer = await state.workers.run(
        lambda: call(number, release=release), timeout_s=state.parts.limits.admin_s
    )
    count = answer.get("documents")
    if count is None:
        raise _no_hold(text)
    return _done(request, answer, f"{count} documents {'deleted' if release else 'kept'}.")


async def _act(request: Request, call: Callable[[str], Tree], counted: str, words: str) -> Response:
    target = (await read_fields(request)).get("url", "").strip()
    if not target:
        raise WebError(
            400,
            "missing-parameter",
            "The field url is missing.",
            hint='For example {"url": "https://intranet.example/page"}.',
        )
    state = admin_state(request)
    answer = await state.workers.run(lambda: call(target), timeout_s=state.parts.limits.admin_s)
    return _done(
        request, answer, f"{answer.get(counted, 0)} documents {words}: {answer.get('target', target)}"
    )


def _no_hold(text: str) -> WebError:
    return WebError(404, "no-such-hold", f"No hold {text} is open.", hint="GET /api/v1/holds lists them.")


def _done(request: Request, answer: Tree, notice: str) -> Response:
    # A form of the status page goes back to it; a program gets the answer itself.
    session = identity(request).session
    if session is not None and "text/html" in request.headers.get("accept", ""):
        session.notice = notice
        return RedirectResponse("/", status_code=303)
    return json_answer(answer)
