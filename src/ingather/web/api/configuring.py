"""A new configuration for a running robot: what stands in ``config/``, or what was staged beside it."""

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import json_answer
from ingather.web.failures import WebError
from ingather.web.fields import read_fields
from ingather.web.state import admin_state

__all__ = ["publish", "reload"]

_RECONFIGURE_S = 110.0
"""Gatherers finish what they fetch first."""


async def reload(request: Request) -> Response:
    """``POST /api/v1/config/reload``: go on under what stands in ``config/``, or say why not."""
    return await _reconfigure(request, "")


async def publish(request: Request) -> Response:
    """``POST /api/v1/config/publish`` with ``stage``: go on under what was staged in ``run/``."""
    stage = (await read_fields(request)).get("stage", "")
    if not stage:
        raise WebError(
            400, "missing-parameter", "The field stage is missing.", hint="Use ingather conf publish."
        )
    return await _reconfigure(request, stage)


async def _reconfigure(request: Request, stage: str) -> Response:
    state = admin_state(request)
    call = state.parts.reconfigure
    if call is None:
        raise WebError(404, "not-found", "Nothing here has a configuration.")
    fields = await read_fields(request)
    author, note, base = fields.get("author", ""), fields.get("note", ""), fields.get("base", "")
    answer = await state.workers.run(lambda: call(stage, author, note, base), timeout_s=_RECONFIGURE_S)
    return json_answer(answer)
