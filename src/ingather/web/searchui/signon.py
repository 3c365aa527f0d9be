"""Logging in at an identity provider: there, and back."""

from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ingather import log
from ingather.errors import IngatherError
from ingather.web.auth.guard import cookie_name
from ingather.web.auth.people import People, SignOn
from ingather.web.console.signing import local
from ingather.web.failures import WebError
from ingather.web.fields import single
from ingather.web.searchui.signing import begun
from ingather.web.state import search_state

__all__ = ["come_back", "go_to_provider"]

_log = log.get("web")
T = TypeVar("T")
_PATIENCE_S = 30.0
_KEPT_S = 600
_PATH = "/login"


async def go_to_provider(request: Request) -> Response:
    """``GET /login/provider``: begin a login that only this browser can end."""
    _, sign_on = _parts(request)
    target = local(single(request, "target", "/"))
    state = search_state(request)
    address, kept = await state.provider.run(
        lambda: _asked(lambda: sign_on.begin(target)), timeout_s=_PATIENCE_S
    )
    answer = RedirectResponse(address, status_code=303)
    answer.set_cookie(
        _cookie(request), kept, max_age=_KEPT_S, httponly=True, samesite="lax",
        secure=state.guard.proxies.secure(request), path=_PATH,
    )  # fmt: skip
    return answer


async def come_back(request: Request) -> Response:
    """``GET /login/return``: what the provider says begins a session.

    The address changes something although it is asked for by GET: the protocol says so. What proves that it was meant
    is the state, which this browser's cookie has to know.
    """
    people, sign_on = _parts(request)
    kept = request.cookies.get(_cookie(request), "")
    said = {name: single(request, name) for name in request.query_params}
    state = search_state(request)
    old = request.cookies.get(cookie_name(request), "")

    def work() -> tuple[str, str] | None:
        vouched = _asked(lambda: sign_on.finish(said, kept))
        if vouched is None:
            return None
        if old:
            people.end_session(old)
        cookie = people.open_provided(vouched.user, vouched.groups)
        return None if cookie is None else (cookie, vouched.target)

    found = await state.provider.run(work, timeout_s=_PATIENCE_S)
    if found is None:
        raise WebError(
            401,
            "login-refused",
            "The login did not come off.",
            hint="Begin again at /login, with the same browser.",
        )
    answer = begun(request, found[0], local(found[1]))
    answer.delete_cookie(_cookie(request), path=_PATH, httponly=True, samesite="lax")
    return answer


def _asked(call: Callable[[], T]) -> T:
    try:
        return call()
    except IngatherError as error:
        _log.warning("no login at the identity provider", why=error.text)
        raise WebError(
            502,
            "provider-unavailable",
            "The identity provider did not answer as it should.",
            hint="Try again; the log of the server says more.",
        ) from error


def _cookie(request: Request) -> str:
    return cookie_name(request) + "-login"


def _parts(request: Request) -> tuple[People, SignOn]:
    parts = search_state(request).parts
    if parts.people is None or parts.sign_on is None:
        raise WebError(404, "not-found", "There is no identity provider here.")
    return parts.people, parts.sign_on
