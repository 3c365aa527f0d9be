"""``/api/v1/rdm``: RDM queries and submit requests about resource descriptions, as SOIF."""

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.failures import WebError
from ingather.web.state import admin_state

__all__ = ["RDM_PATH", "rdm"]

RDM_PATH = "/api/v1/rdm"
_MEDIA_TYPE = "application/index.obj"


async def rdm(request: Request) -> Response:
    """``POST /api/v1/rdm``: one message, whatever its content type; the answer is SOIF, 200 or 400."""
    state = admin_state(request)
    answer = state.parts.rdm
    if answer is None:
        raise WebError(404, "no-rdm", "This listener answers no RDM.", hint="It does under ingather serve.")
    body = await request.body()
    status, said = await state.workers.run(lambda: answer(body), timeout_s=state.parts.limits.admin_s)
    return Response(said, status, media_type=_MEDIA_TYPE)
