"""Redirects: where a Location leads, and which headers may go along (RFC 9110 section 15.4).

The fetcher never follows by itself: each hop is a request of its own through the egress gate,
and counts for politeness. :func:`follow` is for robots.txt and probes; the robot follows its
pages' redirects hop by hop with :func:`target_of` and :class:`Chain`.
"""

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import can_ada
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.ports.fetcher import Fetcher

__all__ = ["REDIRECTS", "Chain", "Followed", "carried_headers", "follow", "origin_of", "target_of"]

REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""Statuses that send a gatherer elsewhere (300 and 304 do not)."""

_HARMLESS = frozenset({"accept", "accept-language", "cache-control", "from", "pragma", "user-agent"})


def origin_of(url: str) -> str:
    """Return scheme, host and port as one text, the default port left out; ``""`` for no URL."""
    try:
        return can_ada.parse(url).origin
    except (ValueError, TypeError):
        return ""


def target_of(url: str, location: str) -> str | None:
    """Resolve *location* against *url*, without fragment; ``None`` when it leads nowhere.

    *location* is the field's value as received; bytes beyond ASCII are read as UTF-8 when they
    are that. Credentials in it are dropped: they belong to a source, never to a link.
    """
    text = location.strip(" \t")
    if not text:
        return None
    with contextlib.suppress(UnicodeError):  # else characters already, or bytes of another charset
        text = text.encode("latin-1").decode("utf-8")
    try:
        target = can_ada.parse(url) + text
    except (ValueError, TypeError):
        return None
    target.hash = ""
    if target.has_credentials():
        target.username = target.password = ""
    return target.href


def carried_headers(
    headers: tuple[tuple[str, str], ...], url: str, target: str
) -> tuple[tuple[str, str], ...]:
    """Return the headers that may go along from *url* to *target*: all within one origin.

    Across origins only those that are known to carry nothing of the source's go along.
    """
    origin = origin_of(url)
    if origin and origin == origin_of(target):
        return headers
    return tuple((name, value) for name, value in headers if name.lower() in _HARMLESS)


class Chain:
    """The hops of one redirected request; says when to stop.

    Args:
        url: where it began.
        max_hops: redirects that are followed.
    """

    def __init__(self, url: str, *, max_hops: int = 5) -> None:
        self.urls = [url]
        self._max_hops = max_hops

    def step(self, response: Response) -> str | Failure:
        """Return the next URL after the redirect *response*, or why there is none."""
        here = self.urls[-1]
        location = response.header("location")
        target = target_of(here, location)
        if target is None:
            detail = f"status {response.status} without a usable Location: {location[:200]!r}"
            return Failure(here, FailureKind.REDIRECT_TARGET, detail, response.address)
        if target in self.urls:
            loop = " -> ".join([*self.urls[self.urls.index(target) :], target])
            return Failure(here, FailureKind.REDIRECT_LOOP, loop[:1000], response.address)
        if len(self.urls) > self._max_hops:
            detail = f"more than {self._max_hops} redirects, the next to {target[:200]}"
            return Failure(here, FailureKind.REDIRECTS, detail, response.address)
        self.urls.append(target)
        return target


@dataclass(frozen=True, slots=True)
class Followed:
    """What came at the end of a chain; ``urls`` are all that were asked for, the last one answered."""

    result: Response | Failure
    urls: tuple[str, ...]


async def follow(
    fetcher: Fetcher,
    request: Request,
    scope: Scope,
    *,
    max_hops: int = 5,
    admit: Callable[[str], Awaitable[bool]] | None = None,
) -> Followed:
    """Ask for *request* and follow its redirects, each through the gate with *scope*.

    Args:
        fetcher: asks.
        request: the first request; validators are sent to the first URL only.
        scope: reach of every hop.
        max_hops: redirects that are followed.
        admit: awaited with each URL before it is asked for (politeness); ``False`` ends the
            chain as ``CANCELLED``.
    """
    chain = Chain(request.url, max_hops=max_hops)
    while True:
        if admit is not None and not await admit(request.url):
            denied = Failure(request.url, FailureKind.CANCELLED, "the scheduler did not admit the request")
            return Followed(denied, tuple(chain.urls))
        result = await fetcher.fetch(request, scope)
        if isinstance(result, Failure) or result.status not in REDIRECTS:
            return Followed(result, tuple(chain.urls))
        target = chain.step(result)
        if isinstance(target, Failure):
            return Followed(target, tuple(chain.urls))
        headers = carried_headers(request.headers, request.url, target)
        request = replace(request, url=target, etag="", last_modified="", headers=headers)
