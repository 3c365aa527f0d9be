"""Simulate says what the crawl does: for configurations by the dice, over the synthetic web, real processes and real sockets."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingather.app import wiring
from ingather.app.confined.pool import ConverterPool
from ingather.app.home import Home
from ingather.app.rehearsal.simulating import Simulator, proposed
from ingather.catalog.bodies import SegmentWriter
from ingather.catalog.packing import unpack_attributes
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.conf import Loaded, load_bodies, shipped
from ingather.conf.settings.file import SettingsFile
from ingather.conf.sources.source import SourceConf
from ingather.filters import Engine
from ingather.model.lifecycle import Outcome, State
from ingather.model.report import Claim
from ingather.model.resource import Request
from ingather.model.url import Canonicaliser
from ingather.model.urlparts import split
from ingather.robot.frontier.seen import Seen
from ingather.robot.visit.discovering import Discoverer
from ingather.robot.visit.pipeline import Pipeline
from ingather.robot.visit.reading import Reading
from ingather.testing.configurations import filter_conf, rules_conf
from ingather.testing.fetcher import SyntheticFetcher
from ingather.testing.rig import Rig
from ingather.testing.server import SyntheticServer
from ingather.testing.web import SyntheticWeb
from ingather.testing.webshape import WebShape

SHAPE = WebShape(sites=2, pages=24, depth=3, degree=4, paragraphs=2, noindex=0.1, nofollow=0.1, plain=0.15)

SEED = 12


class Stopped:
    """A clock that stands where it was put."""

    at_s = 1_795_000_000.0

    def monotonic(self) -> float:
        return 0.0

    def wall(self) -> float:
        return self.at_s


@pytest.fixture(scope="module")
def server() -> Iterator[SyntheticServer]:
    with SyntheticServer(SyntheticWeb(11, SHAPE)) as running:
        yield running


def crawled(home: Path, server: SyntheticServer, seed: int, *, gatherers: int) -> Rig:
    """Return a home whose generated configuration has crawled the web."""
    dice = Random(seed)  # noqa: S311 - a test's dice
    rig = Rig(
        home,
        **{
            "catalog.outcome-wait": "0.02s", "gather.batch-wait": "0.02s", "gather.gatherers": str(gatherers),
        },
    ).init()  # fmt: skip
    hosts = ", ".join(f'"{origin.partition("://")[2]}"' for origin in server.origins)
    rig.toml(f'[source.web]\naddresses = ["127.0.0.0/8"]\nown-hosts = [{hosts}]')
    (home / "config" / "filter.conf").write_text(filter_conf(dice))
    (home / "config" / "filterrules.conf").write_text(rules_conf(dice, server.origins))
    ran = rig.run("crawl", "--json")
    assert ran.status == 0, ran.err
    return rig


def decided(rig: Rig) -> dict[str, tuple[Any, ...]]:
    """Return what the crawl decided about every URL."""
    rows = rig.rows(
        "select h.origin || u.path, u.depth, u.maxdepth, u.state, u.outcome, coalesce(d.place, ''), u.described, u.id "
        "from url u join host h on h.id = u.host left join directive d on d.id = u.verdict"
    )
    return {row[0]: tuple(row[1:]) for row in rows}


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory, server: SyntheticServer) -> Rig:
    return crawled(tmp_path_factory.mktemp("one") / "home", server, SEED, gatherers=1)


def test_every_url_of_a_crawl_is_simulated_as_it_went(rig: Rig) -> None:
    home = Home.open(rig.path)
    loaded, read, sources = proposed(home, None)
    clock = Stopped()
    reader = SqliteReader(rig.database, home.bodies)

    async def compare() -> int:
        simulator = Simulator(loaded, read, sources, clock=clock)
        described = 0
        try:
            for url, (depth, limit, state, outcome, where, at_s, row) in decided(rig).items():
                clock.at_s = at_s or clock.at_s
                said = await simulator.simulate(url, depth=depth, max_depth=limit, data=True)
                if state == State.EXCLUDED:
                    assert [said[role]["allowed"] for role in ("enumeration", "generation")] == [
                        False,
                        False,
                    ], url
                    assert said["generation"]["where"] == where
                    continue
                ended = Outcome.INDEXED if outcome == Outcome.DUPLICATE else Outcome(outcome)
                assert said["outcome"] == ended.name.lower(), url
                if ended is Outcome.INDEXED:
                    described += 1
                    kept = reader.description(row)
                    assert kept is not None
                    rd = {name: tuple(values) for name, values in said["rd"].items()}
                    assert rd == dict(kept.layers["page"]), url
                elif ended in {Outcome.ENUMERATED, Outcome.EXCLUDED, Outcome.NOINDEX}:
                    assert said["generation"]["where"] == where, url
        finally:
            await simulator.close()
            reader.close()
        return described

    assert asyncio.run(compare()) > 0


def test_verdicts_do_not_depend_on_how_many_gather(rig: Rig, tmp_path: Path, server: SyntheticServer) -> None:
    other = crawled(tmp_path / "home", server, SEED, gatherers=3)
    one, more = ({url: row[:5] for url, row in decided(home).items()} for home in (rig, other))
    assert one == more


# -- without processes: many more configurations -----------------------------------------------------


def configured(seed: int, origins: tuple[str, ...]) -> Loaded:
    dice = Random(seed)  # noqa: S311 - a test's dice
    bodies = {name: text.encode() for name, text in shipped().items()}
    bodies["filter.conf"] = filter_conf(dice).encode()
    bodies["filterrules.conf"] = rules_conf(dice, origins).encode()
    loaded = load_bodies(bodies)
    assert loaded.ok, [str(d) for d in loaded.diagnostics]
    return loaded


async def visits(
    loaded: Loaded, web: SyntheticWeb, segment: SegmentWriter, clock: Stopped
) -> dict[str, tuple[Any, ...]]:
    """Crawl *web* breadth first by a gatherer's pipeline; return what each URL came to, and at which depth."""
    settings_ = SettingsFile().settings
    discoverer = Discoverer(Engine(loaded), version=1, seed=1, limits=wiring.url_limits(settings_))
    fetcher = SyntheticFetcher(web)
    pool = ConverterPool(count=1, clock=clock)
    words = settings_.words("urls.drop-parameters")
    reading = Reading(
        isolation=pool, slot=None, clock=clock, agent="ingather", canonicaliser=Canonicaliser(words)
    )
    pipeline = Pipeline(
        engine=discoverer.engine, discoverer=discoverer, reading=reading, segment=segment, clock=clock, seen=Seen(),
        limits=wiring.pipeline_limits(settings_),
    )  # fmt: skip
    found: dict[str, tuple[Any, ...]] = {}
    queue = [
        discoverer.discover(start.url, depth=0, max_depth=start.depth, source=start.source)
        for start in loaded.starting_points
    ]
    for discovery in queue:
        url = discovery.origin + discovery.path
        if url in found or discovery.path.startswith("/private/"):
            continue
        if discovery.denial is not None:
            found[url] = (discovery.depth, discovery.max_depth, discovery.denial.where, None)
            continue
        claim = Claim(
            0, 0, discovery.path, discovery.depth, discovery.max_depth, discovery.source, discovery.hops
        )
        judged = pipeline.judge(claim, discovery.origin)
        assert judged.report is None
        got = await fetcher.fetch(Request(url), SourceConf().scope())
        report = await pipeline.process(judged, got)
        found[url] = (
            discovery.depth,
            discovery.max_depth,
            report.denial.where if report.denial else "",
            report,
        )
        queue += [*report.found, *([report.redirect] if report.redirect else [])]
    await pool.close()
    return found


WEB = SyntheticWeb(
    5, WebShape(sites=2, pages=14, depth=3, degree=3, paragraphs=1, noindex=0.15, plain=0.2, copies=0.1)
)


@settings(max_examples=25)
@given(seed=st.integers(0, 1 << 32))
def test_a_simulation_is_a_visit_whatever_the_configuration(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    loaded, clock = configured(seed, WEB.origins), Stopped()
    none = SettingsFile()

    async def compare() -> None:
        with SegmentWriter(tmp_path_factory.mktemp("bodies"), "gatherer-1", max_bytes=1 << 24) as segment:
            crawl = await visits(loaded, WEB, segment, clock)
        simulator = Simulator(loaded, none.settings, none.sources, clock=clock, fetcher=SyntheticFetcher(WEB))
        for url, (depth, limit, where, report) in crawl.items():
            said = await simulator.simulate(url, depth=depth, max_depth=limit, data=True)
            assert split(url).origin in WEB.origins
            if report is None:
                assert [said[role]["allowed"] for role in ("enumeration", "generation")] == [False, False]
                assert said["generation"]["where"] == where
                continue
            assert said["outcome"] == Outcome(report.outcome).name.lower()
            assert ("rd" in said) == report.described
            if report.described:
                kept = unpack_attributes(report.attributes, report.text)
                assert said["rd"] == {name: list(values) for name, values in sorted(kept.items())}
            elif report.denial is not None:
                assert said["generation"]["where"] == where
            assert said["link_count"] == len(report.links) // 8
        await simulator.close()

    asyncio.run(compare())
