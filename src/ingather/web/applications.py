"""From the route table to two ASGI applications; what is not in the table does not exist."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ingather.errors import UnknownNameError
from ingather.web.answers import problem_answer
from ingather.web.api.describing import RDM_PATH
from ingather.web.api.groups import ADD_PATH
from ingather.web.api.overlaying import DIFF_PATH, REPLACE_PATH
from ingather.web.api.pushing import PUSH_PATHS
from ingather.web.api.syndicating import OPML_PATH
from ingather.web.auth import Guard, OperatorGuard, SearcherGuard, Sessions, Throttle, TokenGate
from ingather.web.boundary import Boundary
from ingather.web.console.signing import login_page
from ingather.web.endpoint import Endpoint, Handler, Listener
from ingather.web.failures import WebError
from ingather.web.fields import wants_page
from ingather.web.parts import AdminParts, SearchParts
from ingather.web.routes import ROUTES
from ingather.web.state import AdminState, SearchState
from ingather.web.workers import Workers

__all__ = ["admin_app", "search_app"]


def search_app(parts: SearchParts) -> Starlette:
    """Build the listener that everybody may reach: search page, search API, ``/health``.

    It knows searchers and admits nobody as operator. Any number of requests run in one event
    loop; searches run in ``limits.search_threads`` threads, which end with the lifespan, as do those
    that look at passwords and those that look up sessions and tokens: none waits for the others.
    """
    limits = parts.limits
    workers = Workers("search", threads=limits.search_threads, waiting=limits.search_waiting)
    looks = Workers("people", threads=2, waiting=limits.search_waiting)
    logins = Workers("login", threads=limits.login_threads, waiting=limits.login_waiting)
    provider = Workers("provider", threads=2, waiting=limits.login_waiting)
    monotonic = time.monotonic if parts.clock is None else parts.clock.monotonic
    throttle = Throttle(limits.logins, monotonic=monotonic)
    guard = SearcherGuard(parts.people, parts.proxies, looks)
    state = SearchState(parts, guard, workers, logins, provider, throttle)
    boundary = Middleware(
        Boundary,
        listener=Listener.SEARCH.value,
        hosts=parts.hosts,
        limits=limits.request,
        metrics=parts.metrics,
        refuse=problem_answer,
    )
    return _application(Listener.SEARCH, state, (workers, looks, logins, provider), boundary)


def admin_app(parts: AdminParts) -> Starlette:
    """Build the operator's listener; it belongs on a loopback address.

    Raises:
        UsageError: the admin token is too short to be one.
    """
    limits = parts.limits
    monotonic = parts.clock.monotonic
    gate = TokenGate(
        parts.token,
        monotonic=monotonic,
        burst=limits.failures,
        refill_s=limits.failures_refill_s,
        pause_s=limits.failures_pause_s,
    )
    sessions = Sessions(monotonic=monotonic, idle_s=limits.session_idle_s, life_s=limits.session_life_s)
    workers = Workers("admin", threads=limits.admin_threads, waiting=limits.admin_threads * 4)
    looks = Workers("people", threads=2, waiting=limits.admin_threads * 4)
    state = AdminState(parts, OperatorGuard(gate, sessions, parts.people, looks), workers)
    boundary = Middleware(
        Boundary,
        listener=Listener.ADMIN.value,
        hosts=parts.hosts,
        limits=replace(
            limits.request,
            large_paths=frozenset({RDM_PATH, ADD_PATH, DIFF_PATH, REPLACE_PATH, OPML_PATH}),
            streamed_paths=PUSH_PATHS,
        ),
        metrics=parts.metrics,
        refuse=problem_answer,
    )
    return _application(Listener.ADMIN, state, (workers, looks), boundary)


def _application(
    listener: Listener, state: SearchState | AdminState, workers: Sequence[Workers], boundary: Middleware
) -> Starlette:
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in ROUTES:
        if endpoint.listener is listener:
            for method in endpoint.methods:
                by_path.setdefault(endpoint.path, {})[method] = endpoint

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        for pool in workers:
            await asyncio.to_thread(pool.close)

    made = Starlette(
        routes=[
            Route(path, _admitted(state.guard, methods), methods=list(methods))
            for path, methods in by_path.items()
        ],
        middleware=[boundary],
        exception_handlers=_HANDLERS,
        lifespan=lifespan,
    )
    # An address with a slash too many is another address, not a redirect.
    made.router.redirect_slashes = False
    made.state.ours = state
    return made


def _admitted(guard: Guard, methods: Mapping[str, Endpoint]) -> Handler:
    """Put the doorman before the handlers of one path."""

    async def admitted(request: Request) -> Response:
        endpoint = methods["GET" if request.method == "HEAD" else request.method]
        request.state.route = endpoint.path
        try:
            request.state.identity = await guard.admit(request, endpoint.role)
        except WebError as error:
            refused = error.problem.status == 401 and request.method in {"GET", "HEAD"}  # noqa: PLR2004
            if refused and endpoint.listener is Listener.ADMIN and wants_page(request):
                return login_page(request)
            raise
        try:
            return await endpoint.handler(request)
        except UnknownNameError as error:
            # Only what the address itself names is not found: what a parameter or a form names is a bad request.
            if _number_or_name(error.name) not in map(_number_or_name, request.path_params.values()):
                raise
            raise WebError(404, f"no-such-{error.kind}", error.text, hint=error.hint or "") from error

    return admitted


def _number_or_name(text: str) -> str:
    return text.lstrip("0") if text.isdigit() else text


async def _http_problem(request: Request, error: Exception) -> Response:
    return problem_answer(request, error)


_HANDLERS: dict[Any, Callable[..., Any]] = {HTTPException: _http_problem}
