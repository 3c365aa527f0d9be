"""``GET /`` of the search listener: the start page, or an answer."""

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from ingather.errors import IngatherError
from ingather.web.answers import page_answer
from ingather.web.asking import read_asked
from ingather.web.failures import WebError, explain_error
from ingather.web.searching import run_search
from ingather.web.searchui.signing import greeting
from ingather.web.searchui.view import refused_view, result_view, start_view
from ingather.web.state import identity, search_state

__all__ = ["search_page"]

_FRESH = {"cache-control": "private, no-cache"}


async def search_page(request: Request) -> Response:
    """Answer with the page; what cannot be answered is said on it, with the right status."""
    state = search_state(request)
    status, headers = 200, dict(_FRESH)
    view, query = start_view(), request.query_params.get("q", "")
    try:
        asked = read_asked(request, state.parts.paging)
        if asked.query:
            view = result_view(asked, await run_search(state, asked, identity(request).viewer))
        if not view.total:
            parts = state.parts
            nothing = await state.workers.run(parts.nothing, timeout_s=parts.limits.query_s)
            view = replace(view, nothing=nothing)
    except (WebError, IngatherError) as error:
        problem = explain_error(error)
        view = refused_view(query, problem)
        status = problem.status
        headers |= problem.headers
    return page_answer(
        "search.html",
        {"page": view, "name": state.parts.name, "who": greeting(request)},
        status=status,
        headers=headers,
    )
