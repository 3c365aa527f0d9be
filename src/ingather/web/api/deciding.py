"""What the operator decides: held deletions, removal by hand and its undoing."""

from collections.abc import Callable, Mapping

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ingather.model.decided import By
from ingather.units import counted
from ingather.web.answers import json_answer
from ingather.web.auth.sessions import Session
from ingather.web.boards import Tree
from ingather.web.failures import WebError
from ingather.web.fields import read_fields
from ingather.web.state import admin_state, identity

__all__ = ["classify", "decided_by", "discard", "holds", "release", "remove", "undelete"]

_ROW_DIGITS = 18
_WANTED = ("run", "reason", "hold", "source", "decision")
_HOLDER = "admin"


async def holds(request: Request) -> Response:
    """``GET /api/v1/holds``: the open holds, a list."""
    state = admin_state(request)
    listed = await state.workers.run(state.parts.operations.holds, timeout_s=state.parts.limits.admin_s)
    return json_answer(list(listed))


async def release(request: Request) -> Response:
    """``POST /api/v1/holds/{id}/release`` with ``note`` if wanted: carry the held deletions out."""
    return await _close(request, release=True)


async def discard(request: Request) -> Response:
    """``POST /api/v1/holds/{id}/discard`` with ``note`` if wanted: keep the documents."""
    return await _close(request, release=False)


async def remove(request: Request) -> Response:
    """``POST /api/v1/remove`` with ``url``: take documents out at once; ``yes`` above a threshold, ``dry-run``: say how many.

    A person on the status page sees the count and some of the URLs first, whenever it is more than one.
    """
    fields = await read_fields(request)
    call = admin_state(request).parts.operations.remove
    yes, dry = (switched(fields, name) for name in ("yes", "dry-run"))
    session = _page_of(request)
    if session is not None and not yes:
        state, target, by = admin_state(request), _target_of(fields), decided_by(request, fields)
        found = await state.workers.run(
            lambda: call(target, by, dry_run=True), timeout_s=state.parts.limits.admin_s
        )
        if found.get("removed", 0) > 1:
            session.asked = {**found, "target": target}
            return RedirectResponse("/", status_code=303)
    return await _act(
        request, lambda url, by: call(url, by, yes=yes, dry_run=dry), "removed", "removed from search"
    )


async def undelete(request: Request) -> Response:
    """``POST /api/v1/undelete`` with ``url``, or with ``run``, ``reason``, ``hold``, ``source``, ``decision``: undo tombstones."""
    fields = await read_fields(request)
    if not fields.get("url", "").strip() and any(fields.get(name) for name in _WANTED):
        state, by = admin_state(request), decided_by(request, fields)
        form = {name: fields[name] for name in _WANTED if fields.get(name)}
        call = state.parts.operations.undo
        answer = await state.workers.run(lambda: call(form, by), timeout_s=state.parts.limits.admin_s)
        return _done(
            request,
            answer,
            f"{counted(answer.get('restored', 0), 'document')} put back: {answer.get('target', '')}",
        )
    return await _act(request, admin_state(request).parts.operations.undelete, "restored", "put back")


async def classify(request: Request) -> Response:
    """``POST /api/v1/classify``: documents into categories; the answer comes when it is done."""
    state = admin_state(request)
    call = state.parts.operations.classify
    answer = await state.workers.run(call, timeout_s=state.parts.limits.admin_s)
    return _done(
        request, answer, f"{counted(answer.get('changed', 0), 'document')} changed their categories."
    )


async def _close(request: Request, *, release: bool) -> Response:
    text = str(request.path_params["id"])
    if not (text.isascii() and text.isdigit() and len(text) <= _ROW_DIGITS):
        raise _no_hold(text[:_ROW_DIGITS])
    number = int(text)
    state = admin_state(request)
    call = state.parts.operations.close_hold
    by = decided_by(request, await read_fields(request))
    answer = await state.workers.run(
        lambda: call(number, release=release, by=by), timeout_s=state.parts.limits.admin_s
    )
    count = answer.get("documents")
    if count is None:
        raise _no_hold(text)
    return _done(request, answer, f"{counted(count, 'document')} {'deleted' if release else 'kept'}.")


async def _act(request: Request, call: Callable[[str, By], Tree], figure: str, words: str) -> Response:
    fields = await read_fields(request)
    target = _target_of(fields)
    state = admin_state(request)
    by = decided_by(request, fields)
    answer = await state.workers.run(lambda: call(target, by), timeout_s=state.parts.limits.admin_s)
    return _done(
        request,
        answer,
        f"{counted(answer.get(figure, 0), 'document')} {words}: {answer.get('target', target)}",
    )


def _target_of(fields: Mapping[str, str]) -> str:
    target = fields.get("url", "").strip()
    if not target:
        raise WebError(
            400,
            "missing-parameter",
            "The field url is missing.",
            hint='For example {"url": "https://intranet.example/page"}.',
        )
    return target


def switched(fields: Mapping[str, str], name: str) -> bool:
    """Whether a field says yes."""
    return fields.get(name, "").strip().lower() in {"1", "true", "yes", "on"}


def decided_by(request: Request, fields: Mapping[str, str]) -> By:
    """Return who decides: as whom he was let in, else as he says; and why."""
    known = identity(request).name
    author = fields.get("author", "") if known in {"", _HOLDER} else ""  # the home's token names nobody
    return By.of(author or known or _HOLDER, fields.get("note", ""))


def _no_hold(text: str) -> WebError:
    return WebError(404, "no-such-hold", f"No hold {text} is open.", hint="GET /api/v1/holds lists them.")


def _done(request: Request, answer: Tree, notice: str) -> Response:
    # A form of the status page goes back to it; a program gets the answer itself.
    session = _page_of(request)
    if session is not None:
        session.notice = notice
        decision = answer.get("decision")
        session.undoable = decision if isinstance(decision, int) and answer.get("removed") else None
        return RedirectResponse("/", status_code=303)
    return json_answer(answer)


def _page_of(request: Request) -> Session | None:
    """Return the session of a person whose browser sent a form of the status page."""
    session = identity(request).session
    return session if "text/html" in request.headers.get("accept", "") else None
