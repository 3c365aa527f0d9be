"""``/api/v1/search``: the search of the page, for programs."""

from starlette.requests import Request
from starlette.responses import Response

from ingather.search import results_form
from ingather.web.answers import json_answer
from ingather.web.asking import read_asked
from ingather.web.failures import WebError
from ingather.web.searching import run_search
from ingather.web.state import search_state

__all__ = ["search"]


async def search(request: Request) -> Response:
    """``GET /api/v1/search?q=...``; parameters as :func:`ingather.web.asking.read_asked` reads them."""
    asked = read_asked(request)
    if not asked.query:
        raise WebError(400, "missing-parameter", "The parameter q is missing.", hint="Ask with ?q=words.")
    return json_answer(results_form(await run_search(search_state(request), asked)))
