"""``/api/v1/explain``: why a URL is, or is not, in search."""

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import json_answer
from ingather.web.boards import Tree
from ingather.web.failures import WebError
from ingather.web.fields import flag, single
from ingather.web.state import admin_state

__all__ = ["explain", "explanation"]


async def explain(request: Request) -> Response:
    """``GET /api/v1/explain?url=URL&fetch=1``."""
    url = single(request, "url").strip()
    if not url:
        raise WebError(
            400, "missing-parameter", "The parameter url is missing.", hint="Ask with ?url=https://..."
        )
    return json_answer(await explanation(request, url, fetch=flag(single(request, "fetch"), "fetch")))


async def explanation(request: Request, url: str, *, fetch: bool) -> Tree:
    """Ask the explain room beside the event loop."""
    state = admin_state(request)
    return await state.workers.run(
        lambda: state.parts.explain(url, fetch), timeout_s=state.parts.limits.explain_s
    )
