"""Logging in to the search page with name and password, and out."""

from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ingather.access.principals import fold
from ingather.errors import DirectoryError
from ingather.web.answers import page_answer, problem_answer
from ingather.web.auth.guard import cookie_name
from ingather.web.auth.people import People
from ingather.web.console.signing import local
from ingather.web.failures import Problem, WebError
from ingather.web.fields import read_fields, single, wants_page
from ingather.web.state import identity, search_state

__all__ = ["Greeting", "begun", "greeting", "sign_in", "sign_in_page", "sign_out"]

_LOGIN_S = 10.0
_LONGEST = 1_024
_WRONG = Problem(401, "wrong-login", "Name and password do not belong together.", "Try again.")


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a page says about who searches: *name* ``""`` = unknown; *csrf* lets him log out; *login* leads to the form."""

    name: str = ""
    csrf: str = ""
    login: str = ""


def greeting(request: Request) -> Greeting:
    """Return what the page of this request says about its reader."""
    who, people = identity(request), search_state(request).parts.people
    if who.viewer.known:
        return Greeting(who.name, who.csrf)
    provided = search_state(request).parts.sign_on is not None
    if people is None or not (provided or people.offers_login()):
        return Greeting()
    query = request.url.query
    return Greeting(
        login="/login?target=" + quote(f"{request.url.path}?{query}" if query else request.url.path)
    )


async def sign_in_page(request: Request) -> Response:
    """``GET /login``: the form; it comes back to ``target``."""
    _people(request)
    return _form(request, None, local(single(request, "target", "/")))


async def sign_in(request: Request) -> Response:
    """``POST /login`` with ``name`` and ``password``: begin a session and go to ``target``.

    Answers and times are the same for names that are nobody's, for users who are disabled, and for wrong passwords.
    """
    state, people = search_state(request), _people(request)
    fields = await read_fields(request)
    name, password = fields.get("name", "").strip(), fields.get("password", "")
    target = local(fields.get("target", "/"))
    # However a name is spelt, it is counted as it is looked up.
    counted, address = fold(name[:_LONGEST]), state.guard.proxies.client(request)
    try:
        state.throttle.attempt(counted, address)
    except WebError as error:
        return _refused(request, error.problem, target)
    user = None
    if name and len(name) <= _LONGEST and len(password) <= _LONGEST:
        try:
            user = await state.logins.run(lambda: people.check(name, password), timeout_s=_LOGIN_S)
        except (WebError, DirectoryError):
            state.throttle.succeeded(counted, address)  # nobody looked at it
            raise
    cookie = None
    if user is not None:
        number, old = user, request.cookies.get(cookie_name(request), "")
        cookie = await state.logins.run(lambda: _opened(people, number, old), timeout_s=_LOGIN_S)
    if cookie is None:
        return _refused(request, _WRONG, target)
    state.throttle.succeeded(counted, address)
    return begun(request, cookie, target)


def begun(request: Request, cookie: str, target: str) -> Response:
    """Return the answer that gives the browser its session and leads to *target*."""
    answer = RedirectResponse(target, status_code=303)
    answer.set_cookie(
        cookie_name(request),
        cookie,
        httponly=True,
        # Not strict: whoever follows a link to a page of results is to see his own.
        samesite="lax",
        secure=search_state(request).guard.proxies.secure(request),
        path="/",
    )
    return answer


async def sign_out(request: Request) -> Response:
    """``POST /logout``: end the session."""
    state, people, name = search_state(request), _people(request), cookie_name(request)
    cookie = request.cookies.get(name, "")
    if cookie:
        await state.logins.run(lambda: people.end_session(cookie), timeout_s=_LOGIN_S)
    answer = RedirectResponse("/", status_code=303)
    answer.delete_cookie(name, path="/", httponly=True, samesite="lax")
    return answer


def _opened(people: People, user: int | str, old: str) -> str | None:
    if old:
        people.end_session(old)
    return people.open_session(user) if isinstance(user, int) else people.open_provided(user, ())


def _people(request: Request) -> People:
    people = search_state(request).parts.people
    if people is None:
        raise WebError(404, "not-found", "Nobody logs in here.")
    return people


def _refused(request: Request, problem: Problem, target: str) -> Response:
    if wants_page(request):
        return _form(request, problem, target)
    error = WebError(
        problem.status, problem.code, problem.message, hint=problem.hint, headers=problem.headers
    )
    return problem_answer(request, error)


def _form(request: Request, problem: Problem | None, target: str) -> Response:
    parts = search_state(request).parts
    return page_answer(
        "signin.html",
        {
            "problem": problem,
            "target": target,
            "name": parts.name,
            "csrf": identity(request).csrf,
            "passwords": parts.people is not None and parts.people.offers_login(),
            "provider": parts.sign_on is not None,
        },
        status=200 if problem is None else problem.status,
        headers=None if problem is None else problem.headers,
    )
