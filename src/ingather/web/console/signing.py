"""Logging in with the admin token, and out."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ingather.web.answers import page_answer
from ingather.web.auth.guard import cookie_name
from ingather.web.failures import Problem, WebError
from ingather.web.fields import peer, read_fields
from ingather.web.state import admin_state

__all__ = ["local", "log_in", "log_out", "login_page"]


def login_page(request: Request) -> Response:
    """Show the form in the place of the page that wants it (401); it comes back here.

    A page whose session ended while its figures renewed themselves is told to load anew.
    """
    headers = {"hx-refresh": "true"} if "hx-request" in request.headers else {}
    return page_answer(
        "login.html", {"problem": None, "target": local(request.url.path)}, status=401, headers=headers
    )


async def log_in(request: Request) -> Response:
    """``POST /login`` with ``token``: begin a session and go to ``target``."""
    fields = await read_fields(request)
    gate, sessions = admin_state(request).guard.gate, admin_state(request).guard.sessions
    target = local(fields.get("target", "/"))
    try:
        right = await gate.check(fields.get("token", "").strip(), peer(request))
    except WebError as error:
        return _again(error.problem, target)
    if not right:
        return _again(
            Problem(
                401,
                "wrong-token",
                "That is not the admin token.",
                "It is in the file admin-token of the home folder.",
            ),
            target,
        )
    # The session that this browser had ends: nobody else who knows its cookie stays in.
    sessions.end(request.cookies.get(cookie_name(request), ""))
    name, _ = sessions.open()
    answer = RedirectResponse(target, status_code=303)
    answer.set_cookie(
        cookie_name(request),
        name,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        path="/",
    )
    return answer


async def log_out(request: Request) -> Response:
    """``POST /logout``: end the session."""
    sessions = admin_state(request).guard.sessions
    name = cookie_name(request)
    sessions.end(request.cookies.get(name, ""))  # whatever let the request in
    answer = RedirectResponse("/", status_code=303)
    answer.delete_cookie(name, path="/", httponly=True, samesite="strict")
    return answer


def _again(problem: Problem, target: str) -> Response:
    return page_answer(
        "login.html", {"problem": problem, "target": target}, status=problem.status, headers=problem.headers
    )


def local(target: str) -> str:
    """Return *target* if it is a path of this listener and nothing that a browser could take for another host, else ``/``."""
    ours = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if ours and target not in {"/login", "/logout"} else "/"
