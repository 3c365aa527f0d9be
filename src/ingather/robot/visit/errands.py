"""Requests that a page makes for itself: scripts, styles and data, asked for as everything is asked for."""

from collections.abc import Callable

from ingather.fetch.egress import Beforehand
from ingather.model.report import Denial
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.model.urlparts import split
from ingather.ports.renderer import NotAsked
from ingather.robot.visit.hopping import Hopping

__all__ = ["Errands", "refused_beforehand"]


class Errands:
    """Judges a request by its source's reach and the URL's shape, then asks in its host's turn; one a gatherer.

    Args:
        hopping: asks, as robots.txt and politeness allow.
        shape: says why the shape of a URL alone refuses it.
    """

    def __init__(self, hopping: Hopping, *, shape: Callable[[str], Denial | None]) -> None:
        self._hopping, self._shape = hopping, shape
        self._known: tuple[Scope, Beforehand] | None = None

    async def ask(self, request: Request, scope: Scope) -> Response | Failure | NotAsked:
        """Ask for ``request.url`` on behalf of a page of *scope*'s source."""
        if self._known is None or self._known[0] is not scope:
            self._known = scope, Beforehand(scope)
        refused = refused_beforehand(request.url, self._known[1], self._shape)
        return refused or await self._hopping.errand(request, scope)


def refused_beforehand(url: str, reach: Beforehand, shape: Callable[[str], Denial | None]) -> NotAsked | None:
    """Say what speaks against canonical *url* before anybody is asked, robots.txt included."""
    parts = split(url)
    refused = reach.refusal(url.partition(":")[0], parts.host, parts.port)
    if refused:
        return NotAsked("scope", refused)
    denial = shape(url)
    return NotAsked("url", denial.reason) if denial is not None else None
