"""``/health`` and ``/ready`` for load balancers, ``/metrics`` for Prometheus, ``/api/v1/status`` for people's scripts."""

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import Response

from ingather.web.answers import json_answer
from ingather.web.state import admin_state, health_of, readiness_of

__all__ = ["health", "metrics", "ready", "status"]


async def health(request: Request) -> Response:
    """``GET /health``: 200 ``{"status": "ok"}``, or 503 with the reason. Never waits for anything."""
    found = health_of(request)
    return json_answer({"status": found.text}, status=200 if found.ok else 503)


async def ready(request: Request) -> Response:
    """``GET /ready``: 200 when requests should come here now, else 503, with every reason. Never waits for anything."""
    found = readiness_of(request)
    told = {
        "ready": found.ready,
        "reasons": [{"reason": name, "text": text} for name, text in found.reasons],
        "notes": list(found.notes),
    }
    return json_answer(told, status=200 if found.ready else 503)


async def metrics(request: Request) -> Response:
    """``GET /metrics``: the whole registry, text format."""
    state = admin_state(request)
    text = await state.workers.run(
        lambda: generate_latest(state.parts.registry), timeout_s=state.parts.limits.admin_s
    )
    return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})


async def status(request: Request) -> Response:
    """``GET /api/v1/status``: the one status document."""
    state = admin_state(request)
    return json_answer(await state.workers.run(state.parts.status, timeout_s=state.parts.limits.admin_s))
