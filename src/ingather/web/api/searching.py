"""``/api/v1/search``: the search of the page, for programs, and as whom they search."""

from starlette.requests import Request
from starlette.responses import Response

from ingather.model.acl import Principal
from ingather.search import results_form
from ingather.web.answers import json_answer
from ingather.web.asking import ignored, read_asked
from ingather.web.failures import WebError
from ingather.web.searching import run_search
from ingather.web.state import identity, search_state

__all__ = ["search", "whoami"]


async def search(request: Request) -> Response:
    """``GET /api/v1/search?q=...``; parameters as :func:`ingather.web.asking.read_asked` reads them."""
    state = search_state(request)
    asked = read_asked(request, state.parts.paging)
    if not asked.query:
        raise WebError(400, "missing-parameter", "The parameter q is missing.", hint="Ask with ?q=words.")
    answer = results_form(await run_search(state, asked, identity(request).viewer))
    unread = ignored(request)
    return json_answer({**answer, "ignored": unread} if unread else answer)


async def whoami(request: Request) -> Response:
    """``GET /api/v1/whoami``: name, roles, and the principals that access lists are asked about."""
    who = identity(request)
    return json_answer(
        {
            "name": who.name,
            "roles": sorted(who.rights),
            "users": [_spelt(one) for one in who.viewer.users],
            "groups": [_spelt(one) for one in who.viewer.groups],
        }
    )


def _spelt(one: Principal) -> dict[str, str]:
    return {"name": one.name, "domain": one.domain, "namespace": one.namespace}
