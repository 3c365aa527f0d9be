"""Rendering a page whose text is made by its scripts."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope

__all__ = ["Errand", "Fate", "NotAsked", "RenderFailure", "Rendered", "Renderer"]


@dataclass(frozen=True, slots=True)
class NotAsked:
    """Why nobody was asked; *detail* is for people.

    *reason*: ``scope``, ``url``, ``robots``, ``wait`` (its host wants to be left alone) or ``stop`` (who asks ends, so nothing of the visit counts).
    """

    reason: str
    detail: str = ""


Errand = Callable[[Request, Scope], Awaitable[Response | Failure | NotAsked]]
"""Asks for one more URL within a visit, as everything is asked for: scope, robots.txt, politeness, egress gate, limits."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one request of a page.

    ``kind``: what the browser wanted it for, lower case (``script``, ``xhr``, ``image``, ...). ``fate``: ``page`` (the response in hand),
    ``fetched``, ``kept`` (from the cache), ``failed``, or why it was refused: ``kind``, ``method``, ``requests``, ``bytes``, ``leads-away``
    (another page in this one's place), or a :class:`NotAsked` reason.
    """

    url: str
    kind: str
    fate: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page as its scripts made it.

    Attributes:
        html: the document, UTF-8, without scripts; links are absolute.
        url: where the page says it is (scripts may change that within the origin).
        fates: its requests, in order, bounded.
        errors: what its scripts complained of, bounded.
        led_to: pages that its scripts wanted to put in its place; nobody went there.
        authorized: something of it was fetched with credentials.
        refused_at_proxy: connections of page or browser that went round interception meanwhile, and ended at a closed door.
    """

    html: bytes
    url: str
    fates: tuple[Fate, ...] = ()
    errors: tuple[str, ...] = ()
    led_to: tuple[str, ...] = ()
    authorized: bool = False
    refused_at_proxy: int = 0


@dataclass(frozen=True, slots=True)
class RenderFailure:
    """A page that could not be rendered.

    ``reason``: ``unavailable`` (no browser, or it may not be started), ``time`` (all of it took too long), ``script-time`` (its scripts
    did), ``crashed`` (the page's process ended, by lack of memory too), ``died`` (the whole browser did), ``too-large``.
    """

    reason: str
    detail: str = ""
    fates: tuple[Fate, ...] = ()
    errors: tuple[str, ...] = ()
    refused_at_proxy: int = 0


class Renderer(Protocol):
    """Runs a page's scripts and returns what they made of it; a value for everything, never an exception for what a page did.

    The page's only way to any other resource is *errand*. Nothing that one source's pages leave behind is seen by those of another.
    Any number of calls may run in one event loop, as many pages at once as the adapter allows; one instance belongs to one loop.
    Cancelling a call ends its page.
    """

    async def render(
        self, url: str, first: Response, scope: Scope, errand: Errand
    ) -> Rendered | RenderFailure:
        """Render the document *first*, which stands at *url*; it is not asked for again."""

    async def close(self) -> None:
        """End all browsers; later calls are an error of the caller."""
