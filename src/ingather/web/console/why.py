"""The page of an explanation: why a URL is, or is not, in search."""

from starlette.requests import Request
from starlette.responses import Response

from ingather.errors import IngatherError
from ingather.web.answers import page_answer
from ingather.web.api.explaining import explanation
from ingather.web.failures import WebError, explain_error
from ingather.web.fields import flag, single
from ingather.web.state import admin_state, identity

__all__ = ["why"]


async def why(request: Request) -> Response:
    """``GET /explain?url=URL&fetch=1``; without a URL the empty form."""
    url = single(request, "url").strip()
    fetch = flag(single(request, "fetch"), "fetch")
    found, problem = None, None
    if url:
        try:
            found = await explanation(request, url, fetch=fetch)
        except (IngatherError, WebError) as error:
            problem = explain_error(error)
    session = identity(request).session
    values = {
        "csrf": session.csrf if session else "",
        "fetch": fetch,
        "found": found,
        "problem": problem,
        "url": url,
        "version": admin_state(request).parts.version,
    }
    return page_answer("why.html", values, status=problem.status if problem else 200)
