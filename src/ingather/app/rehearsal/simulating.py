"""Simulate: what the filters would do with a URL, before anything is gathered or published.

The journey is a gatherer's own (``ingather.robot.visit.rehearsing.Rehearsal``); what a run would add
to it (counters of hosts and objects, groups of equal bodies) is named instead of guessed.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ingather.app import sourcerules, wiring
from ingather.app.clock import SystemClock
from ingather.app.configuration import read_configuration
from ingather.app.confined.pool import ConverterPool
from ingather.app.credentials import CredentialFile
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.hostaliases.explaining import alias_answer
from ingather.app.plugging import converter_environment, plug_ins
from ingather.app.reaching.logins import LoginBook
from ingather.app.reaching.protocols import Guards, Passwords, protocol_fetchers
from ingather.app.rendering.setup import Scripts
from ingather.app.rendering.telling import rendering_form
from ingather.app.runsites import remembered_sites
from ingather.app.sourcescopes import SourceScopes, crawled_sources
from ingather.app.visiting import Visitor
from ingather.catalog.packing import unpack_attributes
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.conf import Loaded, load
from ingather.conf.settings.file import SettingsFile
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import CatalogError, ConfigurationError, UrlError, UsageError
from ingather.explain.forms import rule_at, step_form, verdict_form
from ingather.fetch import RobotsKind
from ingather.fetch.http import Asking
from ingather.fetch.logins import Login
from ingather.filters import Engine, Evaluation, TraceStep
from ingather.model.candidate import Candidate, Pushed
from ingather.model.lifecycle import Outcome
from ingather.model.report import Report
from ingather.model.resource import Failure, Response
from ingather.model.source_name import same_source
from ingather.model.url import Canonicaliser, canonical
from ingather.model.urlparts import split
from ingather.model.verdict import Exclusion, Verdict
from ingather.plugins import PlugIns
from ingather.ports.clock import Clock
from ingather.ports.fetcher import Fetcher
from ingather.robot.visit.pipeline import Judged
from ingather.robot.visit.reading import Reading
from ingather.robot.visit.rehearsing import Rehearsal
from ingather.robot.visit.rendering import Outcome as RenderOutcome

__all__ = ["Simulator", "proposed", "simulate"]

_RUN_COUNTERS = frozenset({"hosts", "objects"})
_SHOWN_LINKS = 100


def _no_password(_url: str, _source: str) -> tuple[str, str] | None:
    return None


def _no_guard(_url: str, _source: str) -> Login | None:
    return None


def proposed(
    home: Home | None, config: Path | None, *, environment: Mapping[str, str] | None = None
) -> tuple[Loaded, Settings, Mapping[str, SourceConf]]:
    """Return the configuration in *config* as it would work in *home*: with its settings, sources and run sites.

    Args:
        home: an open home; ``None`` = default settings and the source ``web`` alone.
        config: a folder with robot.conf, filter.conf, ...; ``None`` = the home's own.
        environment: variables of the process, for settings.

    Raises:
        ConfigurationError: it has errors; all of them are in it.
        UsageError: neither a home nor a folder was given, or it is none.
    """
    if config is not None and not config.is_dir():
        raise UsageError(f"--config: {config} is not a folder", hint="name a folder with filter.conf in it")
    if home is not None:
        read = read_configuration(home, environment=environment, config=config).require()
        return read.loaded.with_sites(remembered_sites(home)), read.settings, read.sources
    if config is None:
        raise UsageError("neither a home nor a configuration folder was given")
    loaded = load(config)
    if not loaded.ok:
        raise ConfigurationError(loaded.diagnostics, bodies=loaded.bodies)
    defaults = SettingsFile()
    return loaded, defaults.settings, defaults.sources


def simulate(  # noqa: PLR0913 - what a person may ask for
    texts: Sequence[str],
    *,
    home: Home | None,
    config: Path | None = None,
    data: bool = False,
    depth: int = 0,
    source: str = "",
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Simulate URLs; the answer is JSON-ready (``docs/reference/simulate-replay.md``).

    Args:
        texts: URLs, canonical or not.
        home: an open home, if there is one.
        config: a folder to try in place of the home's own.
        environment: variables of the process.
        data: fetch each and go through the whole pipeline, else MetaData alone.
        depth: links from a starting point at which the URLs are judged.
        source: whose they are; ``""`` = of those that feeds named its owner in the catalog, else what the sites say.

    Raises:
        UsageError: a text is no URL, or there is no such source.
        ConfigurationError: the configuration has errors.
    """
    urls = [(text, _canonical(text)) for text in texts]
    loaded, settings, sources = proposed(home, config, environment=environment)
    if source and source not in sources:
        raise UsageError(f"there is no source {source!r} (there are: {', '.join(sorted(sources))})")
    pushed = {} if home is None else _pushed(home, [url for _, url in urls], sources)

    async def work() -> list[dict[str, Any]]:
        own = plug_ins(home, settings) if home is not None else None
        clock = SystemClock()
        keys = CredentialFile(home.path, clock.monotonic).header if home is not None else None
        logins = None
        passwords: Passwords = _no_password
        guards: Guards = _no_guard
        if home is not None:
            book = LoginBook(
                home.path, settings, sources, clock, sites=loaded.rules.sites, robot=loaded.robot
            )
            logins, passwords, guards = book.find, book.password, book.guard
        simulator = Simulator(
            loaded, settings, sources, clock=clock, own=own, home=home.path if home is not None else None, authorization=keys, logins=logins,
            passwords=passwords, guards=guards,
        )  # fmt: skip
        try:
            return [
                {"asked": text, **await simulator.simulate(url, depth=depth, source=source or pushed.get(url, _WEB).source, data=data, pushed=_as(pushed.get(url, _WEB), source))}
                for text, url in urls
            ]  # fmt: skip
        finally:
            await simulator.close()

    folder = loaded.directory
    found = asyncio.run(work())
    if home is not None:
        for one in found:
            alias = alias_answer(home, one["url"], smart=bool(loaded.robot.smart_host_heuristics))
            one.update({} if alias is None else {"alias": alias})
    return {"config": str(folder) if folder else "", "data": data, "urls": found}


_WEB: Final = Candidate("")
"""Of a URL that no feed named."""


def _as(known: Candidate, source: str) -> Pushed:
    """Return how a URL was named, if it is judged as that source's."""
    return known.pushed if not source or same_source(source, known.source) else Pushed.NO


def _pushed(home: Home, urls: Sequence[str], sources: Mapping[str, SourceConf]) -> dict[str, Candidate]:
    """Return those of *urls* that feeds named, with their sources: their hosts need no site. A catalog that cannot be read has none."""
    if not database_of(home).exists():
        return {}
    try:
        reader = SqliteReader(database_of(home), home.bodies)
    except CatalogError:
        return {}
    try:
        known = [(url, record) for url in urls if (record := reader.find(url)) is not None]
        rules = sourcerules.rules_of(sources)
        return {
            url: Candidate(url, source=record.source, pushed=Pushed.LISTED if listed else Pushed.URL)
            for url, record in known
            if (listed := record.source in rules) or reader.pushed(record.id)
        }
    finally:
        reader.close()


class Simulator:
    """Simulates one URL after the other; belongs to one event loop, close it.

    Args:
        loaded, settings, sources: the configuration to try.
        clock: dates of descriptions.
        fetcher: asks instead of the network.
        own: plug-ins of the home, for documents that they read.
        home: its folder, which browsers shall not see.
        authorization: the header line with credentials for (URL, source).
        logins: the login for (URL, source).
        passwords, guards: accounts of protocols beside http, and who counts their refusals.
    """

    def __init__(  # noqa: PLR0913 - the parts of a simulation
        self,
        loaded: Loaded,
        settings: Settings,
        sources: Mapping[str, SourceConf],
        *,
        clock: Clock,
        fetcher: Fetcher | None = None,
        own: PlugIns | None = None,
        home: Path | None = None,
        authorization: Callable[[str, str], bytes | None] | None = None,
        logins: Callable[[str, str], Asking | None] | None = None,
        passwords: Passwords = _no_password,
        guards: Guards = _no_guard,
    ) -> None:
        robot = loaded.robot
        self._loaded = loaded
        self._agent = wiring.agent_token(robot)
        self._pool = ConverterPool(
            count=1, limits=wiring.converter_limits(settings, robot), clock=clock,
            environment=converter_environment(own) if own is not None else None,
        )  # fmt: skip
        self._visitor = Visitor(
            settings, robot, sources, clock=clock, fetcher=fetcher, authorization=authorization, logins=logins, home=home,
            scopes=None if home is None else SourceScopes(Home(home).feeds, settings, sources, crawled_sources(loaded)).of,
            others=lambda resolver: protocol_fetchers(
                loaded, settings, sources, home=home, clock=clock, resolver=resolver, passwords=passwords, guards=guards
            ),
        )  # fmt: skip
        reading = Reading(
            isolation=self._pool, slot=None, clock=clock, agent=self._agent,
            canonicaliser=Canonicaliser(settings.words("urls.drop-parameters")),
            summarizer=wiring.summarizers(self._pool, settings, robot),
            extractors=frozenset(own.extractors) if own is not None else frozenset(),
        )  # fmt: skip
        self._rendered: dict[str, Any] = {}
        self._scripts = Scripts(
            settings, sources, clock=clock, agent=wiring.user_agent(robot), home=home, reading=reading, scopes=self._visitor.scope,
            errand=self._visitor.errand, told=self._note_rendering,
        )  # fmt: skip
        self._rehearsal = Rehearsal(
            Engine(loaded), rendering=self._scripts.step, reading=reading, clock=clock, urls=wiring.url_limits(settings), visits=wiring.pipeline_limits(settings),
            rules=sourcerules.rules_of(sources).get,
        )  # fmt: skip
        self._starts = {start.url: start.depth for start in loaded.starting_points}

    async def close(self) -> None:
        """End browsers, converters and connections."""
        await self._scripts.close()
        await self._pool.close()
        await self._visitor.close()

    async def simulate(  # noqa: PLR0913 - the circumstances of a URL
        self,
        url: str,
        *,
        depth: int = 0,
        max_depth: int | None = None,
        source: str = "web",
        data: bool = False,
        pushed: Pushed = Pushed.NO,
    ) -> dict[str, Any]:
        """Return what would become of canonical *url*.

        Args:
            url: canonical.
            depth: links from its starting point.
            max_depth: limit of that starting point, -1 = none; ``None`` = its own if it is one, else the site's.
            source: owner, if no site says otherwise.
            data: fetch it and go on.
            pushed: how a feed named it.
        """
        steps: list[TraceStep] = []
        limit = self._starts.get(url) if max_depth is None else max_depth
        judged = self._rehearsal.judge(
            Candidate(url, depth=depth, max_depth=limit, source=source, pushed=pushed), trace=steps
        )
        evaluation = judged.evaluation
        answer: dict[str, Any] = {"url": url, "depth": depth, "phase": "metadata"}
        report = judged.report
        if report is not None:
            answer["outcome"], answer["detail"] = Outcome(report.outcome).name.lower(), report.detail
        if data and report is None:
            report = await self._visit(judged, evaluation.source or source, answer)
        if report is not None and report.status:
            answer["phase"] = "data"
        answer |= self._verdicts(evaluation, report, steps)
        if report is not None and report.described:
            answer |= _description(report)
        answer["links"] = [link.url for link in judged.links[:_SHOWN_LINKS]]
        answer["link_count"] = len(judged.links)
        answer["steps"] = [step_form(step) for step in steps]
        return answer

    async def _visit(self, judged: Judged, source: str, answer: dict[str, Any]) -> Report | None:
        """Ask robots.txt, then the page; the answer learns what was met."""
        url = judged.url
        state = await self._visitor.robots(split(url).origin, source)
        if state is not None:
            verdict = state.decide(self._agent, url)
            answer["robots"] = {
                "allowed": verdict.allowed,
                "line": verdict.line or None,
                "text": verdict.text.strip(),
                "detail": verdict.reason,
            }
            if not verdict.allowed:
                closed = state.kind is RobotsKind.UNREACHABLE
                answer["outcome"] = (Outcome.ROBOTS_UNREACHABLE if closed else Outcome.ROBOTS).name.lower()
                answer["detail"] = (
                    verdict.reason if closed else f"robots.txt forbids it: {verdict.text.strip()}"
                )
                return None
        got = await self._visitor.fetch(url, source)
        self._rendered = {}
        report = await self._rehearsal.visit(judged, got)
        if self._rendered:
            answer["rendering"] = self._rendered
        answer["outcome"], answer["detail"] = Outcome(report.outcome).name.lower(), report.detail
        answer["fetched"] = _fetched(got, report)
        if report.redirect is not None:
            denial = report.redirect.denial
            answer["redirect"] = {
                "url": report.redirect.origin + report.redirect.path,
                "allowed": denial is None,
                "reason": "" if denial is None else denial.reason,
                "where": "" if denial is None else denial.where,
            }
        return report

    def _note_rendering(self, _url: str, outcome: RenderOutcome) -> None:
        self._rendered = rendering_form(outcome)

    def _verdicts(
        self, evaluation: Evaluation, report: Report | None, steps: list[TraceStep]
    ) -> dict[str, Any]:
        site = evaluation.site
        forms: dict[str, Any] = {
            "site": site.name if site is not None else "",
            "source": evaluation.source,
            "enumeration": verdict_form(evaluation.enumeration),
            "generation": verdict_form(evaluation.generation),
        }
        for form, chosen in (
            (forms["enumeration"], self._loaded.enumeration),
            (forms["generation"], self._loaded.generation),
        ):
            form["rule"] = rule_at(form["where"], chosen.rules) if chosen is not None else ""
        denial = report.denial if report is not None else None
        if denial is not None and denial.category == Exclusion.BUDGET:  # its shape, before any filter
            refused = verdict_form(
                Verdict(allowed=False, reason=denial.reason, category=Exclusion(denial.category))
            ) | {"rule": ""}
            forms["enumeration"] = forms["generation"] = refused
        return {**forms, "depends_on_the_run": _depends(evaluation, steps)}


def _depends(evaluation: Evaluation, steps: list[TraceStep]) -> list[dict[str, str]]:
    """Name the steps whose answer only a run knows."""
    found = {(step.where, step.source): step.directive for step in steps if step.source in _RUN_COUNTERS}
    told = [
        {"what": source, "where": where, "directive": directive,
         "detail": f"passes while the run has not let more {source} pass than it allows"}
        for (where, source), directive in found.items()
    ]  # fmt: skip
    if evaluation.dedupe_enumeration:
        detail = "its links are not followed when a nearer page with the same body is described"
        told.append(_bodies(evaluation.dedupe_enumeration, detail))
    if evaluation.dedupe:
        detail = "hidden behind a page with the same body that is nearer to its starting point"
        told.append(_bodies(evaluation.dedupe, detail))
    return told


def _bodies(where: str, detail: str) -> dict[str, str]:
    return {"what": "md5", "where": where, "directive": "filter-by-md5", "detail": detail}


def _description(report: Report) -> dict[str, Any]:
    return {
        "rd": {name: list(values) for name, values in sorted(unpack_attributes(report.attributes, report.text).items())},
        "title": report.title, "language": report.language, "flags": list(report.flags), "text_characters": len(report.text),
    }  # fmt: skip


def _fetched(got: Response | Failure, report: Report) -> dict[str, Any]:
    if isinstance(got, Failure):
        return {"failure": str(got.kind), "detail": got.detail}
    return {
        "status": got.status, "bytes": len(got.body), "content_type": got.header("content-type"), "media_type": report.media_type,
        "address": got.address,
    }  # fmt: skip


def _canonical(text: str) -> str:
    try:
        return canonical(text if "://" in text else f"https://{text}")
    except UrlError as error:
        raise UsageError(f"{text!r} is not a URL: {error.text}") from error
