"""Looking at a URL before it becomes a feed of a source: the document, the feeds that a page names, what robots.txt says of them."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from ingather.app import wiring
from ingather.app.clock import SystemClock
from ingather.app.credentials import CredentialFile
from ingather.app.home import Home
from ingather.app.homeparts import load_checked
from ingather.app.reaching.logins import LoginBook
from ingather.app.reaching.proxies import proxies_of
from ingather.app.syndication.checking import MOST_BYTES, Fetched, check_document
from ingather.conf import RobotConf
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import UrlError, UsageError, WebFeedError
from ingather.fetch import SystemResolver, visit_robots
from ingather.fetch.http import HttpFetcher
from ingather.fetch.redirects import follow
from ingather.model.resource import Failure, FailureKind, Request
from ingather.model.scope import Scope
from ingather.model.url import Canonicaliser

__all__ = ["MOST_FEEDS", "feed_url", "fetch_through", "probe"]

MOST_FEEDS: Final = 20
"""Feeds of a page that are looked at; a page that names more is told of with these."""

_HOPS: Final = 10
_OK: Final = 200
_READ_S: Final = 10.0
_OPEN_IT: Final = (
    "if the host is yours, give its address to the source: ingather rss add URL addresses=ADDRESS, in CIDR form for several, "
    "or write addresses into [source.NAME] of ingather.toml"
)


def feed_url(text: str) -> str:
    """Return *text* as the URL of a feed is kept: canonical.

    Raises:
        UsageError: it is none, or not of http or https.
    """
    with suppress(UrlError):
        url = Canonicaliser(()).canonical(text.strip())  # its parameters are its own, none is dropped
        if url.startswith(("http://", "https://")):
            return url
    raise UsageError(f"{text[:200]!r} is no URL of a feed", hint="write it whole, with http:// or https://")


def probe(home: Home, settings: Settings, source: SourceConf, url: str) -> dict[str, Any]:
    """Return what *url* is, as a JSON object: ``url``, ``page`` (whether it is a web page) and ``feeds``.

    A feed or sitemap: one feed. A page: the feeds that it names. Each feed is as ``check_document`` reports it, with ``asked`` (the
    URL that was asked for), ``robots`` (why robots.txt would forbid it, ``""`` if it does not) and, if it cannot be had, ``error``.

    Args:
        home: whose configuration and credentials count.
        settings: its settings.
        source: through whose gate it is asked.
        url: canonical.

    Raises:
        WebFeedError: nothing came from *url*.
    """
    return asyncio.run(_probe(home, settings, source, url))


def fetch_through(home: Home, settings: Settings, source: SourceConf, url: str) -> Fetched:
    """Return what *url* gives to *source*: through its gate and its proxies, with its logins. robots.txt is not asked.

    Raises:
        WebFeedError: nothing came.
    """

    async def fetched() -> Fetched:
        clock, robot = SystemClock(), load_checked(home).robot
        fetcher = _fetcher(home, settings, source, robot, clock)
        try:
            return await _document(fetcher, source.scope(), url)
        finally:
            await fetcher.close()

    return asyncio.run(fetched())


def _fetcher(
    home: Home, settings: Settings, source: SourceConf, robot: RobotConf, clock: SystemClock
) -> HttpFetcher:
    keys = CredentialFile(home.path, clock.monotonic)
    limits = replace(
        wiring.fetch_limits(settings, robot), max_wire_bytes=MOST_BYTES, max_decoded_bytes=MOST_BYTES
    )
    sources, resolver = {source.name: source}, SystemResolver(clock)
    return HttpFetcher(
        limits, user_agent=wiring.user_agent(robot), email=str(robot.email), resolver=resolver, clock=clock,
        routing=proxies_of(settings, robot, sources, home=home.path, clock=clock, resolver=resolver),
        authorization=keys.header, logins=LoginBook(home.path, settings, sources, clock, robot=robot).find,
    )  # fmt: skip


async def _document(fetcher: HttpFetcher, scope: Scope, wanted: str) -> Fetched:
    answer = (await follow(fetcher, Request(wanted), scope, max_hops=_HOPS)).result
    if isinstance(answer, Failure):
        hint = _OPEN_IT if answer.kind is FailureKind.EGRESS else None
        raise WebFeedError(f"{answer.url}: {answer.kind}: {answer.detail}", hint=hint)
    if answer.status != _OK:
        raise WebFeedError(f"{answer.url}: answers {answer.status}")
    return Fetched(answer.body, answer.url, answer.header("content-type"))


async def _probe(home: Home, settings: Settings, source: SourceConf, url: str) -> dict[str, Any]:
    robot = load_checked(home).robot
    clock = SystemClock()
    fetcher = _fetcher(home, settings, source, robot, clock)
    scope, agent = source.scope(), wiring.agent_token(robot)

    async def document(wanted: str) -> Fetched:
        return await _document(fetcher, scope, wanted)

    async def forbidden(wanted: str) -> str:
        if not robot.enable_robots_txt:
            return ""
        state = await visit_robots(fetcher, wanted, scope, clock=clock, limits=wiring.robots_limits(settings))
        verdict = state.decide(agent, wanted)
        return "" if verdict.allowed else verdict.text or verdict.reason

    async def look(wanted: str) -> dict[str, Any]:
        try:
            seen = await document(wanted)
            return await asyncio.to_thread(check_document, seen, timeout_s=_READ_S)
        except WebFeedError as error:
            return {"url": wanted, "kind": "", "error": str(error), "malformed": False, "remarks": [], "items": []}  # fmt: skip

    try:
        first = await asyncio.to_thread(check_document, await document(url), timeout_s=_READ_S)
        if first["kind"] != "html":
            found = [{**first, "asked": url}]
        else:
            named = first["feeds"][:MOST_FEEDS]
            found = [{**await look(feed), "asked": feed} for feed in named]
        for feed in found:
            feed["robots"] = await forbidden(feed["asked"])
    finally:
        await fetcher.close()
    return {"url": url, "page": first["kind"] == "html", "feeds": found, "named": _named(first)}


def _named(first: Mapping[str, Any]) -> int:
    return len(first.get("feeds", ()))
