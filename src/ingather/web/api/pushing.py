"""The feed gate's addresses on the other two listeners: all on the admin listener, DTD and version beside the search page."""

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ingather.feeds.authority import Sender
from ingather.web.failures import WebError
from ingather.web.feedgate.answers import Answer
from ingather.web.feedgate.endpoints import static_answer
from ingather.web.feedgate.head import RequestHead
from ingather.web.feedgate.intake import Intake, Taking, answer_for
from ingather.web.fields import peer
from ingather.web.state import admin_state

__all__ = ["PUSH_PATHS", "feed_text", "gate_text", "push"]

PUSH_PATHS = frozenset({"/xmlfeed", "/xmlgroups"})
"""Where bodies of any size are streamed; their limits are the intake's."""
_PIECE = 64 * 1024


async def push(request: Request) -> Response:
    """``POST /xmlfeed``, ``POST /xmlgroups``: as on the feed ports, with a token instead of a trusted address."""
    intake = _intake(request)
    taking: Taking | None = None
    try:
        taking = intake.begin(_head(request))
        async for chunk in request.stream():
            for at in range(0, len(chunk), _PIECE):
                await taking.feed(chunk[at : at + _PIECE])
        answer = await taking.finish(Sender(peer(request)))
    except (ClientDisconnect, WebError):
        raise
    except Exception as error:  # noqa: BLE001 - each has its answer
        answer = answer_for(error)
    finally:
        if taking is not None:
            await taking.discard()
    intake.counts.answered(answer.status)
    return _response(answer)


async def gate_text(request: Request) -> Response:
    """``GET /getbacklogcount`` and the like."""
    return _response(static_answer(_head(request), _intake(request).backlog))


async def feed_text(request: Request) -> Response:
    """``GET /gsafeed.dtd``, ``GET /sw_version.txt``: the same for everybody."""
    return _response(static_answer(_head(request), lambda: 0))


def _intake(request: Request) -> Intake:
    intake = admin_state(request).parts.intake
    if intake is None:
        raise WebError(404, "no-feeds", "This listener takes no feeds.", hint="It does under ingather serve.")
    return intake


def _head(request: Request) -> RequestHead:
    query: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        query.setdefault(name, value)
    length = request.headers.get("content-length", "")
    return RequestHead(
        method=request.method,
        path=request.url.path,
        query=query,
        minor=1,
        fields=dict(request.headers),
        length=int(length) if length.isdecimal() else None,
        chunked="transfer-encoding" in request.headers,
    )


def _response(answer: Answer | None) -> Response:
    if answer is None:
        raise WebError(405, "method-not-allowed", "Send feeds by POST.", hint="See the reference.")
    made = Response(answer.body, answer.status, headers=dict(answer.headers))
    made.headers["content-type"] = answer.media
    return made
