"""One visit to a host's robots.txt: redirects followed, also to other hosts, then judged."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import can_ada
from ingather.fetch.limits import RobotsLimits
from ingather.fetch.redirects import follow
from ingather.fetch.robots_gate import RobotsKind, RobotsState, judge_robots
from ingather.model.resource import Request
from ingather.model.scope import Scope
from ingather.ports.clock import Clock
from ingather.ports.fetcher import Fetcher

__all__ = ["ROBOTS_SCHEMES", "robots_url", "visit_robots"]

ROBOTS_SCHEMES = ("http://", "https://", "ftp://", "ftps://")
"""Beginnings of URLs of hosts that have a robots.txt (RFC 9309 section 2.3 names http, ftp and their like)."""

_LINE = 16_663  # the line that begins within the limit is read to its end


def robots_url(url: str) -> str:
    """Return the address of the robots.txt that governs *url* (same scheme, host and port).

    Raises:
        ValueError: *url* is not a URL with a host.
    """
    try:
        parsed = can_ada.parse(url)
    except TypeError as error:
        raise ValueError("not a URL") from error
    if not parsed.host:
        raise ValueError("a URL without a host")
    return f"{parsed.protocol}//{parsed.host}/robots.txt"


async def visit_robots(  # noqa: PLR0913 - what a visit needs
    fetcher: Fetcher,
    url: str,
    scope: Scope,
    *,
    clock: Clock,
    previous: RobotsState | None = None,
    limits: RobotsLimits | None = None,
    admit: Callable[[str], Awaitable[bool]] | None = None,
) -> RobotsState:
    """Ask for the robots.txt that governs *url* and say what the answer means.

    Args:
        fetcher: asks, through the egress gate.
        url: any URL of the host.
        scope: the source's reach; a redirect may lead to any host within its addresses, through a proxy to the source's own hosts.
        clock: wall time of the answer.
        previous: what was known; its validators are sent while its rules are kept.
        limits: sizes, hops, ages.
        admit: awaited before each request, see ``redirects.follow``.
    """
    limits = limits or RobotsLimits()
    keeps = previous is not None and previous.kind is RobotsKind.RULES
    request = Request(
        robots_url(url),
        etag=previous.etag if previous and keeps else "",
        last_modified=previous.last_modified if previous and keeps else "",
        max_wire_bytes=limits.max_bytes + _LINE,
        max_decoded_bytes=limits.max_bytes + _LINE,
        cut=True,
    )
    wide = replace(scope, hosts=("*",), ports=frozenset(), narrow=scope)
    followed = await follow(fetcher, request, wide, max_hops=limits.max_redirects, admit=admit)
    state = judge_robots(followed.result, now_s=clock.wall(), previous=previous, limits=limits)
    if len(followed.urls) == 1:
        return state
    # Validators of another address than the one that will be asked next time are of no use.
    detail = f"{state.detail}, redirected to {followed.urls[-1][:200]}"
    return replace(state, detail=detail, etag="", last_modified="")
