"""A replay's walk over the catalog: MetaData for every URL, the pipeline for bodies that are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, cast

from ingather.app import sourcerules, wiring
from ingather.app.clock import SystemClock
from ingather.app.confined.pool import ConverterPool
from ingather.app.plugging import converter_environment
from ingather.app.rehearsal.differences import Tally, changed_attributes
from ingather.app.rehearsal.shape import UnreadPage, judging, shaping
from ingather.catalog.packing import EMPTY_ATTRIBUTES, unpack_attributes
from ingather.catalog.reports.sqlite_replay import KnownUrl, ReplayReader
from ingather.conf import Loaded, Site, load_bodies
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import CatalogDamagedError
from ingather.filters import Engine
from ingather.model.candidate import Candidate, Pushed
from ingather.model.lifecycle import Outcome, State
from ingather.model.page import Page
from ingather.model.report import Report
from ingather.model.resource import Response
from ingather.model.url import Canonicaliser
from ingather.model.urlparts import split
from ingather.plugins import PlugIns
from ingather.robot.visit.discovering import denial_of
from ingather.robot.visit.reading import Reading
from ingather.robot.visit.rehearsing import Rehearsal

__all__ = ["Walk"]

_NO_LIMIT = -1
_GROUP = 100
_DENIED = frozenset({Outcome.ENUMERATED, Outcome.EXCLUDED, Outcome.NOINDEX})
_ROBOTS = frozenset({Outcome.ROBOTS, Outcome.ROBOTS_UNREACHABLE})


class Walk:
    """One walk over the catalog.

    Args:
        reader: the catalog; the caller closes it.
        loaded: the changed configuration, with the sites of earlier runs.
        sites: those sites, for configurations of the past.
        settings: limits.
        sources: who names their URLs.
        tally: takes what is found.
        own: plug-ins of the home, for documents that they read.
    """

    def __init__(  # noqa: PLR0913 - the parts of a walk
        self,
        reader: ReplayReader,
        loaded: Loaded,
        sites: Sequence[Site],
        settings: Settings,
        tally: Tally,
        *,
        sources: Mapping[str, SourceConf],
        own: PlugIns,
    ) -> None:
        robot = loaded.robot
        self._loaded = loaded
        self._reader, self._tally, self._sites, self._settings = reader, tally, sites, settings
        self._moment = _Moment()
        self._pool = ConverterPool(
            count=1, limits=wiring.converter_limits(settings, robot), clock=SystemClock(),
            environment=converter_environment(own),
        )  # fmt: skip
        self._own, self._sources = own, sources
        self._new = self._rehearsal(loaded)
        self._obey = bool(robot.enable_robots_txt)
        self._shaping, self._judging = shaping(loaded), judging(loaded)
        self._versions: dict[int, _Past | None] = {}
        self._reads = False
        self._depths: dict[str, int] = {}
        for start in loaded.starting_points:
            origin = split(start.url).origin
            self._depths[origin] = _further(self._depths.get(origin, start.depth), start.depth)

    def _rehearsal(self, loaded: Loaded) -> Rehearsal:
        reading = Reading(
            isolation=self._pool, slot=None, clock=self._moment, agent=wiring.agent_token(loaded.robot),
            canonicaliser=Canonicaliser(self._settings.words("urls.drop-parameters")),
            summarizer=wiring.summarizers(self._pool, self._settings, loaded.robot),
            extractors=frozenset(self._own.extractors),
        )  # fmt: skip
        limits = wiring.pipeline_limits(self._settings)
        return Rehearsal(
            Engine(loaded), reading=reading, clock=self._moment, visits=limits,
            rules=sourcerules.rules_of(self._sources).get,
        )  # fmt: skip

    def _past(self, version: int) -> "_Past | None":
        """Return a published configuration; ``None`` if it is not kept or does not load any more."""
        if version not in self._versions:
            files = self._reader.configuration(version)
            loaded = (
                load_bodies(files, vocabulary=self._loaded.vocabulary).with_sites(self._sites)
                if files
                else None
            )
            self._versions[version] = None
            if loaded is not None and loaded.ok:
                obeyed = bool(loaded.robot.enable_robots_txt) == self._obey
                self._versions[version] = _Past(
                    self._rehearsal(loaded),
                    same_obey=obeyed,
                    same_shape=obeyed and shaping(loaded) == self._shaping,
                    same_later=obeyed and judging(loaded) == self._judging,
                )
        return self._versions[version]

    async def denied(self) -> list[int]:
        """Return the rows of the documents that the MetaData filters deny now."""
        found = list[int]()
        try:
            for group in self._reader.known_urls(""):
                found += [known.id for known in group if self._is_denied(known)]
        finally:
            await self._pool.close()
        return found

    def _is_denied(self, known: KnownUrl) -> bool:
        if known.state is State.GONE or not (known.described and known.gathered):
            return False
        return not self._new.judge(self._candidate(known), known=True).evaluation.generation.allowed

    async def run(self, sample: int | None, source: str) -> None:
        """Judge everything, then read at most *sample* bodies."""
        chosen: list[KnownUrl] = []
        seen = 0
        dice = Random(0)  # noqa: S311 - the same sample when asked again
        try:
            for group in self._reader.known_urls(source):
                readable = [known for known in group if self._before_the_fetch(known)]
                if sample is None:
                    await self._read(readable)
                    continue
                for known in readable:
                    seen += 1
                    if len(chosen) < sample:
                        chosen.append(known)
                    elif (place := dice.randrange(seen)) < sample:
                        chosen[place] = known
            self._tally.counts["not_sampled"] = seen - len(chosen)
            await self._read(sorted(chosen))
        finally:
            await self._pool.close()

    # -- what the URL alone says ----------------------------------------------------------------

    def _candidate(self, known: KnownUrl) -> Candidate:
        limit = known.max_depth
        if limit is not None:
            limit = _further(limit, self._depths.get(split(known.url).origin, limit))
        return Candidate(
            known.url,
            depth=known.depth,
            max_depth=limit,
            source=known.source,
            hops=known.hops,
            pushed=Pushed.URL if known.pushed else Pushed.NO,
        )

    def _before_the_fetch(self, known: KnownUrl) -> bool:
        """Judge by MetaData; tell whether the body is wanted."""
        if known.state is State.GONE:
            return False
        tally = self._tally
        if not known.described:
            self._without_document(known)
            return False
        tally.counts["documents"] += 1
        tally.host(known.url, "documents")
        if not known.gathered:  # a person or a program brought it: no filter of the robot speaks about it
            tally.counts["brought_in"] += 1
            return False
        judged = self._new.judge(self._candidate(known), known=True)
        evaluation = judged.evaluation
        if not evaluation.generation.allowed:
            tally.lose(known, denial_of(evaluation, 0), phase="metadata")
            return False
        if not known.kept:
            tally.counts["without_body"] += 1
            return False
        tally.readable_of[known.source] += 1
        return True

    def _without_document(self, known: KnownUrl) -> None:
        tally = self._tally
        if known.state is State.WAITING:
            tally.counts["waiting"] += 1
        excluded = known.state is State.EXCLUDED or known.outcome in _DENIED or known.outcome in _ROBOTS
        excluded = excluded and known.state is not State.WAITING
        tally.counts["excluded"] += excluded
        if known.category in {"budget", "removed"}:  # no filter decided
            return
        evaluation = self._new.judge(self._candidate(known), known=True).evaluation
        followed, described = evaluation.enumeration.allowed, evaluation.generation.allowed
        if not excluded:
            if not (followed or described):
                tally.exclude(known, denial_of(evaluation, 0))
        elif known.state is State.EXCLUDED:
            if followed or described:
                tally.allow(known, enumeration=followed, generation=described)
        elif known.outcome in _ROBOTS:
            if not self._obey and (followed or described):
                tally.allow(known, enumeration=followed, generation=described)
        elif described:
            self._denied_later(known, followed=followed)

    def _denied_later(self, known: KnownUrl, *, followed: bool) -> None:
        """Judge what was visited and got no description: whether MetaData had denied it, or its body, which is not kept."""
        past = self._past(known.version)
        if past is not None:
            before = past.rehearsal.judge(self._candidate(known), known=True).evaluation
            if not before.generation.allowed:
                self._tally.allow(known, enumeration=followed, generation=True)
                return
            if past.same_later or (known.outcome is Outcome.NOINDEX and past.same_obey):
                return
        self._tally.counts["undecided"] += 1

    # -- what the body says ---------------------------------------------------------------------

    async def _read(self, wanted: list[KnownUrl]) -> None:
        for start in range(0, len(wanted), _GROUP):
            group = wanted[start : start + _GROUP]
            pages = self._reader.packed_pages([known.id for known in group])
            for known in group:
                attributes, media_type = pages.get(known.id, (EMPTY_ATTRIBUTES, ""))
                try:
                    await self._compare(known, attributes, media_type)
                except CatalogDamagedError:
                    self._tally.counts["damaged"] += 1

    async def _compare(self, known: KnownUrl, old: bytes, media_type: str) -> None:
        tally = self._tally
        response = self._reader.stored_response(known.id)
        if response is None:  # given up between the look at the row and the look at the file
            tally.counts["without_body"] += 1
            return
        tally.counts["read"] += 1
        tally.read_of[known.source] += 1
        past = self._past(known.described_version)
        if past is not None and past.same_shape and await self._judged_alone(known, response, media_type):
            return
        address = unpack_attributes(old, None).get("ip", ("",))[0]
        if address:
            response = replace(response, address=address)
        self._moment.at_s = known.described_s or 0.0
        judged = self._new.judge(self._candidate(known), known=True)
        report = await self._new.visit(judged, response)
        if not report.described:
            tally.lose(known, report.denial or denial_of(judged.evaluation, 0), phase="data")
            return
        attributes = []
        if report.attributes != old:
            old_text = self._reader.texts([known.id]).get(known.id, "")
            attributes = changed_attributes(old, report.attributes, old_text=old_text, new_text=report.text)
        if attributes and past is not None:
            attributes = await self._due_to_the_change(known, past, response, report, attributes)
        if attributes:
            tally.change(known, attributes)
        else:
            tally.counts["unchanged"] += 1

    async def _judged_alone(self, known: KnownUrl, response: Response, media_type: str) -> bool:
        """Judge what both configurations describe alike; tell whether that could be had without a description.

        The page is read only if a directive asks for more than the response and its media type say.
        """
        new, candidate = self._new, self._candidate(known)
        judged = new.judge(candidate, known=True)
        page = UnreadPage(media_type)
        ended = not self._reads and await new.data(judged, response, cast("Page", page))
        self._reads = self._reads or page.needed
        if page.needed or not ended:
            judged = new.judge(candidate, known=True)
            if not await new.data(judged, response):
                return False
        if judged.evaluation.generation.allowed:
            self._tally.counts["unchanged"] += 1
        else:
            self._tally.lose(known, denial_of(judged.evaluation, 0), phase="data")
        return True

    async def _due_to_the_change(
        self,
        known: KnownUrl,
        past: "_Past",
        response: Response,
        report: Report,
        attributes: list[dict[str, Any]],
    ) -> list[dict[str, Any]]:
        """Leave out what the configuration that described it would change by now too (a nearer path, for instance)."""
        judged = past.rehearsal.judge(self._candidate(known), known=True)
        before = await past.rehearsal.visit(judged, response)
        if not before.described:
            return attributes
        differing = changed_attributes(
            before.attributes, report.attributes, old_text=before.text, new_text=report.text
        )
        names = {attribute["name"] for attribute in differing}
        return [attribute for attribute in attributes if attribute["name"] in names]


@dataclass(frozen=True, slots=True)
class _Past:
    """A configuration that was in force, and what it shares with the changed one.

    ``same_obey``: robots rules count alike; ``same_shape``: descriptions come out alike; ``same_later``: what passes
    MetaData is judged alike.
    """

    rehearsal: Rehearsal
    same_obey: bool
    same_shape: bool
    same_later: bool


class _Moment:
    """A clock that stands where a description was made: dates in it come out as they were."""

    at_s = 0.0

    def monotonic(self) -> float:
        """Return a time that does not pass."""
        return 0.0

    def wall(self) -> float:
        """Return when the description at hand was made."""
        return self.at_s


def _further(one: int, other: int) -> int:
    """Return the more generous of two depth limits."""
    return _NO_LIMIT if _NO_LIMIT in (one, other) else max(one, other)
