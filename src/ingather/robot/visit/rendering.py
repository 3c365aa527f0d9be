"""The step between fetching and reading for sources whose pages are made by scripts.

What comes out is a response like any other: the document as its scripts left it. A page that cannot be rendered goes on as it was fetched,
with a flag that says why.
"""

import html
from collections.abc import Callable
from dataclasses import dataclass, replace

from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.ports.renderer import Errand, NotAsked, Rendered, Renderer, RenderFailure
from ingather.robot.visit.judged import Judged, UnfinishedError
from ingather.robot.visit.reading import Reading, Unreadable
from ingather.robot.visit.scripted import decide

__all__ = ["OUR_FAILURES", "Outcome", "Rendering"]

OUR_FAILURES = frozenset({"render-failed:died", "render-failed:unavailable"})
"""Flags of a page that was read without its scripts for a reason that is none of its own: its next visit asks for the whole page again."""

_OF_THE_SHELL = frozenset({
    "age", "cache-control", "content-encoding", "content-length", "content-type", "etag", "expires", "last-modified", "transfer-encoding",
})  # fmt: skip
_MATTERS = frozenset({"script", "xhr", "fetch"})
_HARMLESS = frozenset({"page", "fetched", "kept", "kind", "method", "leads-away"})
_FAR_LESS = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """What rendering gave: the response to go on with, flags for the report, and the renderer's own answer if it was asked."""

    got: Response
    flags: tuple[str, ...]
    answer: Rendered | RenderFailure | None = None


class Rendering:
    """Renders what needs it; one a gatherer.

    Args:
        renderer: runs scripts.
        reading: reads what came, to see whether it needs them.
        modes: ``off``, ``auto`` or ``always`` by source.
        scopes: reach by source.
        errand: asks for what a page needs.
        told: takes (URL, outcome) of each page that was looked at; for people who ask.
    """

    def __init__(  # noqa: PLR0913 - the parts that app wires
        self,
        renderer: Renderer,
        *,
        reading: Reading,
        modes: Callable[[str], str],
        scopes: Callable[[str], Scope],
        errand: Errand,
        told: Callable[[str, Outcome], None] | None = None,
    ) -> None:
        self._renderer, self._reading = renderer, reading
        self._modes, self._scopes, self._errand, self._told = modes, scopes, errand, told

    def wants(self, source: str) -> bool:
        """Whether pages of *source* may be rendered at all."""
        return self._modes(source) != "off"

    async def rendered(self, judged: Judged, got: Response) -> Outcome:
        """Return what the visit goes on with.

        Raises:
            UnfinishedError: the gatherer ends.
        """
        outcome = await self._rendered(judged, got)
        if self._told is not None:
            self._told(judged.place, outcome)
        return outcome

    async def _rendered(self, judged: Judged, got: Response) -> Outcome:  # noqa: PLR0911 - one an outcome
        claim, url = judged.claim, judged.place
        if got.listing or not url.startswith("http"):
            return Outcome(got, ())
        if claim.suspect:
            return Outcome(got, ("not-rendered:suspect",))
        try:
            page = await self._reading.page(claim, url, got)
        except Unreadable:
            return Outcome(got, ())
        decided = decide(self._modes(claim.source), page, got.body)
        if not decided.render:
            return Outcome(got, () if decided.reason == "not-html" else (f"not-rendered:{decided.reason}",))
        stopped = False

        async def errand(request: Request, scope: Scope) -> Response | Failure | NotAsked:
            nonlocal stopped
            answer = await self._errand(request, scope)
            stopped = stopped or (isinstance(answer, NotAsked) and answer.reason == "stop")
            return answer

        answer = await self._renderer.render(url, got, self._scopes(claim.source), errand)
        if stopped:
            raise UnfinishedError(url)
        if isinstance(answer, RenderFailure):
            return Outcome(got, (f"render-failed:{answer.reason}",), answer)
        made = _made(got, answer)
        if page.text and await self._is_emptied(judged, made, len(page.text)):
            return Outcome(got, ("render-failed:emptied",), answer)
        missing = {fate.fate for fate in answer.fates if fate.kind in _MATTERS and fate.fate not in _HARMLESS}
        return Outcome(
            made,
            (f"rendered:{decided.reason}", *(f"render-incomplete:{why}" for why in sorted(missing))),
            answer,
        )

    async def _is_emptied(self, judged: Judged, made: Response, size: int) -> bool:
        """Whether scripts took away more than they brought: what was fetched tells more."""
        try:
            page = await self._reading.page(judged.claim, judged.place, made)
        except Unreadable:
            return True
        return len(page.text) * _FAR_LESS < size and not page.links


def _made(got: Response, answer: Rendered) -> Response:
    """Return the rendered document as a response. What the shell promised of its age does not hold for what scripts filled in."""
    headers = tuple((name, value) for name, value in got.headers if name.lower() not in _OF_THE_SHELL)
    ways = "".join(f'<a href="{html.escape(url)}"></a>' for url in answer.led_to if url.startswith("http"))
    return replace(
        got,
        headers=(*headers, ("Content-Type", "text/html; charset=utf-8")),
        body=answer.html + ways.encode("utf-8", "replace"),
        authorized=got.authorized or answer.authorized,
        lowered={},
    )
