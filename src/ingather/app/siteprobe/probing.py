"""One look at each host: everything asked in order, everything judged; what goes wrong at one host is that host's finding."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from ingather.app.siteprobe.asking import Asking
from ingather.app.siteprobe.certificate import judge_certificate, told_certificate
from ingather.app.siteprobe.discovery import (
    find_feeds_of,
    find_login,
    find_sitemaps,
    judge_feeds,
    judge_login,
    judge_sitemaps,
)
from ingather.app.siteprobe.finding import LEVELS, Finding
from ingather.app.siteprobe.names import judge_names, twin_of
from ingather.app.siteprobe.ports import judge_ports, ports_to_try
from ingather.app.siteprobe.redirects import Way, judge_way, walk
from ingather.app.siteprobe.robots import judge_robots_txt, told_robots
from ingather.app.siteprobe.suggestion import adding, suggest, understood
from ingather.app.siteprobe.targets import Target
from ingather.fetch.egress import Beforehand
from ingather.fetch.knocking import Knock
from ingather.fetch.names import HostNames, look_up
from ingather.log import get
from ingather.model.resource import Failure, FailureKind, Response
from ingather.model.scope import Scope
from ingather.model.urlparts import split
from ingather.ports.clock import Clock

__all__ = ["Options", "glance", "look", "look_at_all"]

_log = get("probe")
_AT_ONCE: Final = 4
"""Hosts that are looked at at the same time."""
_NO_WAY: Final = frozenset({FailureKind.DNS, FailureKind.EGRESS})
_OPEN_IT: Final = (
    'if the host is yours, write its address into addresses (and its name into hosts, if that is not "*") of its [source.NAME] '
    "in ingather.toml"
)


@dataclass(frozen=True, slots=True)
class Options:
    """What is looked at: *dns*: names beside the addresses that a request needs; *redirects*: where the root leads."""

    dns: bool = True
    redirects: bool = True


class _Report(dict[str, Any]):
    """A report as a JSON object; remarks are added as they are found."""

    def __init__(self, target: Target) -> None:
        super().__init__(
            asked=target.asked, host=target.host, site=target.site, source=target.source, enabled=target.enabled, names=None,
            redirects=[], robots=None, ports=[], certificate=None, sitemaps=[], feeds=[], login={"schemes": [], "forms": []},
            server="", suggestion="",
        )  # fmt: skip
        self.remarks: list[Finding] = []

    def whole(self) -> dict[str, Any]:
        """Return it with ``findings`` (each remark once, worst first) and ``level``, the worst of them."""
        remarks = sorted(dict.fromkeys(self.remarks), key=lambda one: -LEVELS.index(one.level))
        worst = remarks[0].level if remarks else "ok"
        return {**self, "level": worst, "findings": [msgspec.to_builtins(one) for one in remarks]}


async def look_at_all(
    targets: Sequence[Target], asking: Asking, scopes: Mapping[str, Scope], clock: Clock, options: Options
) -> list[dict[str, Any]]:
    """Look at every target, four at a time; the reports in their order. See :func:`look`."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(target: Target) -> dict[str, Any]:
        async with gate:
            try:
                return await look(target, asking, scopes, clock, options)
            except Exception as error:  # noqa: BLE001 - one bad host never stops the others
                _log.warning("probe failed", host=target.host, error=str(error), exc_info=True)
                report = _Report(target)
                report.remarks.append(
                    Finding(
                        "site",
                        "problem",
                        f"looking at it failed: {error}",
                        "tell the makers; the log has more",
                    )
                )
                return report.whole()

    return list(await asyncio.gather(*map(one, targets)))


async def glance(starts: Sequence[str], asking: Asking, scope: Scope) -> list[Finding]:
    """Ask for *starts* (http and https) as the robot would and return what would be in its way, worst first; two requests a start."""
    found: list[Finding] = []
    for start in starts:
        if why := Beforehand(scope).refusal(split(start).scheme, split(start).host, split(start).port):
            found.append(Finding("site", "problem", f"we may not ask there: {why}", _OPEN_IT))
            continue
        state = await asking.robots(start, scope)
        if state.detail.startswith(f"{FailureKind.EGRESS}: "):
            why = state.detail.partition(": ")[2]
            found.append(Finding("site", "problem", f"we may not ask there: {why}", _OPEN_IT))
            continue
        found += judge_robots_txt(state, told_robots(state, asking.agent, (start,)), obey=asking.obey)
        if not state.allows(asking.agent, start) and asking.obey:
            continue
        way = await walk(start, lambda url: asking.get(url, scope), lambda url: asking.may(url, scope))
        found += judge_way(way, hint=_OPEN_IT)
        if isinstance(way.end, Response):
            found += judge_login(find_login([way.end]))
    remarks = dict.fromkeys(one for one in found if one.level != "ok")
    return sorted(remarks, key=lambda one: -LEVELS.index(one.level))


async def look(
    target: Target, asking: Asking, scopes: Mapping[str, Scope], clock: Clock, options: Options
) -> dict[str, Any]:
    """Look at one host; return the report as a JSON object.

    ``asked``, ``host``, ``site``, ``source``, ``enabled``, ``level`` (the worst of the findings), ``findings`` (``about``, ``level``, ``text``,
    ``do``), ``names``, ``redirects`` (a list of ways, each a list of hops), ``robots``, ``ports``, ``certificate``, ``sitemaps``, ``feeds``,
    ``login``, ``server``, ``suggestion`` (a ``<Site>``).
    """
    report = _Report(target)
    scope = scopes.get(target.source)
    if target.trouble or scope is None:
        said = target.trouble or f"its source {target.source!r} is none of ingather.toml"
        report.remarks.append(
            Finding(
                "site",
                "problem",
                said,
                "write a host, a URL, or the name of a site; sources stand in ingather.toml",
            )
        )
        return report.whole()
    if not target.enabled:
        report.remarks.append(
            Finding(
                "site", "note", f"the site {target.site} is disabled", f"ingather site enable {target.site}"
            )
        )
    if options.dns:
        await _names(report, target)
    ways = await _ways(report, target, asking, scope, options)
    if _hopeless(report, ways):
        return report.whole()
    base = _base(target, ways)
    state = await asking.robots(base, scope)
    starts = target.starts or (base,)
    report["robots"] = told_robots(state, asking.agent, starts)
    report.remarks += judge_robots_txt(state, report["robots"], obey=asking.obey)
    knocks = await _ports(report, target, ways, asking, scope)
    await _certificate(report, target, ways, knocks=knocks, asking=asking, scope=scope, now_s=clock.wall())
    pages = [way.end for way in ways if isinstance(way.end, Response)]
    report["server"] = next((got.header("server") for got in pages if got.header("server")), "")
    answering = any(way.answered for way in ways)
    if answering:
        report["sitemaps"] = await find_sitemaps(asking, base, report["robots"]["sitemaps"], scope)
        report.remarks += judge_sitemaps(report["sitemaps"])
        page = next(way.end for way in ways if way.answered)
        report["feeds"] = await find_feeds_of(page) if isinstance(page, Response) else []
        report.remarks += judge_feeds(report["feeds"])
    report["login"] = find_login(pages)
    report.remarks += judge_login(report["login"])
    _suggest(report, target, ways, knocks, base)
    return report.whole()


async def _names(report: _Report, target: Target) -> None:
    names = await look_up(target.host)
    twin: HostNames | None = None
    if names.addresses and (other := twin_of(target.host)):
        twin = await look_up(other, reverse=False)
    report["names"] = {
        "addresses": list(names.addresses),
        "canonical": names.canonical,
        "aliases": list(names.aliases),
        "reverse": {address: name for address, name in names.reverse},  # noqa: C416 - pairs to an object
        "twin": twin.host if twin and set(twin.addresses) & set(names.addresses) else "",
        "trouble": names.trouble,
    }
    report.remarks += judge_names(names, twin)


async def _ways(report: _Report, target: Target, asking: Asking, scope: Scope, options: Options) -> list[Way]:
    ways: list[Way] = []
    for root in target.roots:
        if any(hop.url == root for way in ways for hop in way.hops):
            continue  # an earlier way came through here
        ways.append(
            await walk(
                root,
                lambda url: asking.get(url, scope),
                lambda url: asking.may(url, scope),
                follow=options.redirects,
            )
        )
    report["redirects"] = [[msgspec.to_builtins(hop) for hop in way.hops] for way in ways]
    usable = any(way.answered for way in ways)
    for way in ways:
        if usable and len(ways) > 1 and not way.answered and len(way.hops) == 1 and not way.hops[0].status:
            report.remarks.append(Finding("server", "note", f"{way.url}: {way.hops[0].detail}"))
            continue
        report.remarks += judge_way(way, hint=_OPEN_IT)
    return ways


def _hopeless(report: _Report, ways: Sequence[Way]) -> bool:
    """Say so and return whether nothing can be asked there: no address, or none that the source may ask."""
    if any(len(way.hops) > 1 for way in ways):
        return False  # somebody answered, and sent us on
    ends = [way.end for way in ways]
    failed = [end for end in ends if isinstance(end, Failure) and end.kind in _NO_WAY]
    if not failed or len(failed) < len(ends):
        return False
    refused = [end for end in failed if end.kind is FailureKind.EGRESS]
    report.remarks = [
        one for one in report.remarks if one.about not in {"server", "names"} or one.level == "ok"
    ]
    if refused:
        said, do = f"we may not ask there: {refused[0].detail}", _OPEN_IT
    else:
        said = failed[0].detail
        do = "look at the spelling, and at the resolver of this machine (/etc/resolv.conf)"
    report.remarks.append(Finding("site" if refused else "names", "problem", said, do))
    return True


def _base(target: Target, ways: Sequence[Way]) -> str:
    """Return the root that everything else is asked below: where a way ends on the host, https before http."""
    ends = [
        f"{split(way.url).origin}/"
        for way in ways
        if isinstance(way.end, Response) and split(way.url).host == target.host
    ]
    ends.sort(key=lambda url: not url.startswith("https:"))
    return ends[0] if ends else target.roots[0]


async def _ports(
    report: _Report, target: Target, ways: Sequence[Way], asking: Asking, scope: Scope
) -> list[Knock]:
    """Knock at the ports, but at those that answered a request already."""
    answered = {
        split(hop.url).port: ""
        for way in ways
        for hop in way.hops
        if hop.status and split(hop.url).host == target.host
    }
    knocks = [
        Knock(port, "open") if port in answered else await asking.knock(target.host, port, scope)
        for port in ports_to_try(target.ports)
    ]
    report["ports"] = [
        {"port": knock.port, "state": knock.state, "address": knock.address, "detail": knock.detail} for knock in knocks
    ]  # fmt: skip
    report.remarks += judge_ports(knocks, target.ports)
    return knocks


async def _certificate(  # noqa: PLR0913 - the facts that say where
    report: _Report,
    target: Target,
    ways: Sequence[Way],
    *,
    knocks: Sequence[Knock],
    asking: Asking,
    scope: Scope,
    now_s: float,
) -> None:
    secured = [
        split(hop.url).port
        for way in ways
        for hop in way.hops
        if hop.url.startswith("https://") and split(hop.url).host == target.host
    ]
    is_open = {knock.port for knock in knocks if knock.state == "open"}
    port = next((port for port in (*secured, 443, 8443) if port in is_open), None)
    if port is None:
        return
    told = told_certificate(await asking.certificate(target.host, port, scope), target.host, now_s=now_s)
    report["certificate"] = {"port": port, **told}
    report.remarks += judge_certificate(told, target.host, port)


def _suggest(
    report: _Report, target: Target, ways: Sequence[Way], knocks: Sequence[Knock], base: str
) -> None:
    ended = next((way.url for way in ways if way.answered), base)
    start = target.starts[0] if target.starts else ended
    host = split(start).host
    schemes = {split(way.url).scheme for way in ways if way.answered and split(way.url).host == host}
    ports = (
        {knock.port for knock in knocks if knock.state == "open" and knock.port in {80, 443}}
        if host == target.host
        else set()
    )
    remarks = (
        [f"crawl-delay of its robots.txt: {report['robots']['crawl_delay']:g} s"]
        if report["robots"]["crawl_delay"]
        else []
    )
    remarks += [
        f"sitemap: {one['url']}" for one in report["sitemaps"] if one["kind"] and one["from"] == "robots.txt"
    ]
    text = suggest(
        start, ports=ports, schemes=schemes, source=target.source, domain=target.domain, remarks=remarks
    )
    if wrong := understood(text):
        _log.warning("the suggestion does not parse", host=host, error=wrong)
        return
    report["suggestion"] = text
    if target.site:
        report.remarks.append(Finding("site", "ok", f"filterrules.conf has it as the site {target.site}"))
    elif any(way.answered for way in ways):
        command = adding(start, ports=ports, schemes=schemes, source=target.source, domain=target.domain)
        report.remarks.append(
            Finding("site", "note", "filterrules.conf has no site for it", f"to crawl it: {command}")
        )
