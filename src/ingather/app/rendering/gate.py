"""What one page may have: each request that its browser wants to make is judged here, and answered out of our own fetcher."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ingather.app.rendering.keeping import Kept
from ingather.errors import UrlError
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.model.url import canonical
from ingather.model.urlparts import split
from ingather.ports.renderer import Errand, Fate, NotAsked

__all__ = ["SKIPPABLE", "Gate", "GateLimits", "Refused"]

SKIPPABLE: Mapping[str, str] = {
    "image": "image",
    "media": "media",
    "texttrack": "media",
    "font": "font",
    "stylesheet": "style",
}
"""What the browser wants something for -> how the setting calls it. Of all else only scripts and data are fetched."""
_WANTED = frozenset({"script", "xhr", "fetch"})
_KEPT = frozenset({"script", "stylesheet"})
_HANDED_ON = frozenset({"accept", "origin", "x-requested-with"})
"""Header fields of a page's request that go out. Cookies and credentials are no page's business."""
_AT_ONCE = 4
_SHOWN = 200
_FIELD_CHARS = 1000


@dataclass(frozen=True, slots=True)
class GateLimits:
    """Bounds of one page: *requests* that are answered, *bytes* of the answers; *skip* = what is not asked for (``image``, ...)."""

    requests: int = 100
    bytes: int = 20 << 20
    skip: frozenset[str] = frozenset({"image", "media", "font"})


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that is not made, or failed."""

    fate: str
    detail: str = ""


class Gate:
    """The requests of one page; owned by one event loop.

    Attributes:
        fates: what became of them, in order, bounded.
        led_to: pages that would have taken this one's place: scripts wanted to go there.
        waiting: how many are under way at hosts.
        moves: grows with each request that goes out and each answer.
        authorized: credentials were used for some answer.
    """

    def __init__(  # noqa: PLR0913 - the parts of one page
        self, url: str, first: Response, scope: Scope, *, errand: Errand, kept: Kept, limits: GateLimits
    ) -> None:
        self._url, self._first, self._scope = url, first, scope
        self._origin = split(url).origin
        self._errand, self._kept, self._limits = errand, kept, limits
        self._free = asyncio.Semaphore(_AT_ONCE)
        self._requests = self._bytes = 0
        self._given = False
        self.fates: list[Fate] = []
        self.led_to: list[str] = []
        self.waiting = self.moves = 0
        self.authorized = False

    async def answer(self, kind: str, wanted: Mapping[str, Any], *, main: bool) -> Response | Refused:
        """Answer a request.

        Args:
            kind: what the browser wants it for, lower case.
            wanted: the request as DevTools describe it.
            main: it is for the page itself, not for a frame in it.
        """
        url = str(wanted.get("url", ""))
        answer, fate = await self._answer(kind, wanted, url, main=main)
        if len(self.fates) < _SHOWN:
            detail = answer.detail if isinstance(answer, Refused) else f"HTTP {answer.status}"
            self.fates.append(Fate(url[:2000], kind, fate, detail[:300]))
        return answer

    async def _answer(  # noqa: PLR0911 - one a fate
        self, kind: str, wanted: Mapping[str, Any], url: str, *, main: bool
    ) -> tuple[Response | Refused, str]:
        method = str(wanted.get("method", "GET"))
        plain = url.partition("#")[0]
        if kind == "document" and main and method == "GET" and not self._given:
            self._given = True
            return self._first, "page"
        refused = self._refusal(kind, method, plain, main=main)
        if refused is not None:
            return refused, refused.fate
        try:
            plain = canonical(plain)
        except UrlError as error:
            return Refused("url", error.text), "url"
        known = self._kept.get(self._scope.source, plain, self._origin) if kind in _KEPT else None
        if known is not None:
            return self._counted(known, "kept")
        asked = Request(plain, headers=_headers(wanted.get("headers", {})))
        self.waiting += 1
        self.moves += 1
        try:
            async with self._free:
                got = await self._errand(asked, self._scope)
        finally:
            self.waiting -= 1
            self.moves += 1
        if isinstance(got, NotAsked):
            return Refused(got.reason, got.detail), got.reason
        if isinstance(got, Failure):
            return Refused("failed", f"{got.kind}: {got.detail}"), "failed"
        if kind in _KEPT:
            self._kept.put(self._scope.source, plain, self._origin, got)
        return self._counted(got, "fetched")

    def leads_to(self, url: str) -> None:
        """Note a page that would have taken this one's place."""
        plain = url.partition("#")[0]
        if plain not in self.led_to and plain != self._url and len(self.led_to) < _SHOWN:
            self.led_to.append(plain)

    def _counted(self, got: Response, fate: str) -> tuple[Response | Refused, str]:
        self._bytes += len(got.body)
        if self._bytes > self._limits.bytes:
            return Refused("bytes", f"more than {self._limits.bytes} bytes for one page"), "bytes"
        self.authorized = self.authorized or got.authorized
        return got, fate

    def _refusal(self, kind: str, method: str, url: str, *, main: bool) -> Refused | None:
        """Say what speaks against a request before anybody is asked."""
        if kind == "document":
            if main and method == "GET":
                self.leads_to(url)
            return Refused("leads-away" if main else "kind", "another page" if main else "a frame")
        skipped = SKIPPABLE.get(kind)
        if not (kind in _WANTED or skipped) or skipped in self._limits.skip:
            return Refused("kind", "not needed for the text")
        if method != "GET":
            return Refused("method", f"a robot does not {method}")
        self._requests += 1
        if self._requests > self._limits.requests:
            return Refused("requests", f"more than {self._limits.requests} for one page")
        return None


def _headers(fields: Collection[tuple[str, str]] | Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pairs: Collection[tuple[str, str]] = list(fields.items()) if isinstance(fields, Mapping) else fields
    kept = [(name, value) for name, value in pairs if name.lower() in _HANDED_ON]
    return tuple(
        (name, value)
        for name, value in kept
        if len(value) < _FIELD_CHARS and value.isascii() and value.isprintable()
    )
