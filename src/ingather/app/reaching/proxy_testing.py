"""Which proxy a URL takes and why, told without asking the host for anything: ``ingather proxy test``."""

import asyncio
from collections.abc import Mapping
from typing import Any

from ingather.app.clock import SystemClock
from ingather.app.home import Home
from ingather.app.homeparts import load_checked
from ingather.app.reaching.proxies import proxies_of
from ingather.conf.sources.source import SourceConf
from ingather.errors import ProxyError, UrlError, UsageError
from ingather.fetch import SystemResolver
from ingather.fetch.egress import EgressGate, Refusal
from ingather.fetch.proxies.hop import Target
from ingather.fetch.proxies.pac import shown_url
from ingather.fetch.proxies.routing import DIRECT, Router
from ingather.fetch.proxies.rules import Choice
from ingather.model.proxies import SCHEMES, Proxy
from ingather.model.scope import Scope
from ingather.model.url import Canonicaliser
from ingather.model.urlparts import split

__all__ = ["proxy_text", "try_proxy"]


def try_proxy(home: Home, url: str, *, source: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return which ways *url* takes, as a JSON object.

    ``url``, ``source``, ``why`` (who says so), ``reason`` (what there decides), ``pac`` (``shown``: the URL that the file saw, ``answer``), ``ways``: a
    list with ``way`` (``DIRECT`` or a proxy), ``login`` (whether a user and password go along) and ``refused`` (why the gate would not let it,
    ``""`` if it would); ``error``: why no way can be told, ``""`` if there is one.

    Raises:
        UsageError: *url* is no URL that takes proxies, or there is no such source.
    """
    settings = home.settings()
    if source not in settings.sources:
        raise UsageError(
            f"there is no source {source!r}", hint=f"there are: {', '.join(sorted(settings.sources))}"
        )
    try:
        parts = split(Canonicaliser(()).canonical(url))
    except UrlError as error:
        raise UsageError(
            f"{url[:200]!r} is no URL: {error.text}", hint="write it whole, with http://"
        ) from None
    scheme = parts.origin.partition(":")[0]
    if scheme not in SCHEMES:
        raise UsageError(f"{scheme}: URLs take no proxy", hint=f"those do: {', '.join(SCHEMES)}")
    target = Target(Canonicaliser(()).canonical(url), scheme, parts.host, parts.port)
    return asyncio.run(_test(home, settings.sources, target, source, environment))


async def _test(
    home: Home, sources: Mapping[str, SourceConf], target: Target, source: str, environment: Mapping[str, str]
) -> dict[str, Any]:
    clock = SystemClock()
    resolver = SystemResolver(clock)
    router = proxies_of(
        home.settings().settings, load_checked(home).robot, sources, home=home.path, clock=clock, resolver=resolver, environment=environment
    )  # fmt: skip
    scope, gate = sources[source].scope(), EgressGate(resolver)
    found: dict[str, Any] = {
        "url": target.url, "source": source, "why": "", "reason": DIRECT.why, "pac": None, "ways": [], "error": "",
    }  # fmt: skip
    try:
        choice = DIRECT if router is None else await router.choose(target, scope)
    except ProxyError as error:
        rule = None if router is None else router.rules.find(source)
        return {
            **found,
            "why": "" if rule is None else rule.place(target.scheme),
            "reason": "",
            "error": error.text,
        }
    else:
        ways = [await _way(way, target, scope, choice, gate, router) for way in choice.ways]
    finally:
        if router is not None:
            await router.close()
        await resolver.close()
    if choice is not DIRECT:
        found |= {"why": choice.why, "reason": choice.reason}
    if choice.answer:
        found["pac"] = {"shown": shown_url(target), "answer": choice.answer}
    return {**found, "ways": ways}


async def _way(  # noqa: PLR0913, PLR0917 - what is told of one way
    way: Proxy | None, target: Target, scope: Scope, choice: Choice, gate: EgressGate, router: Router | None
) -> dict[str, Any]:
    if way is None or router is None:
        answer = await gate.admit(target.scheme, target.host, target.port, scope, url=target.url)
        return {
            "way": "DIRECT",
            "login": False,
            "refused": answer.detail if isinstance(answer, Refusal) else "",
        }
    rule = router.rules.find(scope.source)
    assert rule is not None  # noqa: S101 - it chose this way
    try:
        hop = router.hop(way, rule, choice, target.scheme, scope)
    except ProxyError as error:
        return {"way": str(way), "login": False, "refused": error.text}
    answer = await gate.admit_through(target, scope, (way.host, way.port), hop.reach)
    refused = answer.detail if isinstance(answer, Refusal) else ""
    return {"way": str(way), "login": hop.login is not None, "refused": refused}


def proxy_text(found: Mapping[str, Any]) -> str:
    """Return what :func:`try_proxy` found, for people."""
    lines = [f"{found['url']} of source {found['source']}"]
    if found["why"]:
        lines.append(f"  named by  {found['why']}")
    if found["reason"]:
        lines.append(f"  because   {found['reason']}")
    if found["pac"]:
        lines += [f"  PAC saw   {found['pac']['shown']}", f"  PAC says  {found['pac']['answer']}"]
    for number, way in enumerate(found["ways"], 1):
        login = ", with user and password" if way["login"] else ""
        gate = f"the gate refuses: {way['refused']}" if way["refused"] else "the gate lets it through"
        lines.append(f"  way {number}     {way['way']}{login}: {gate}")
    if found["error"]:
        lines.append(f"  no way    {found['error']}")
    return "\n".join(lines)
