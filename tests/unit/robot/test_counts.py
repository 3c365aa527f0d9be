"""filter-by-max hosts and objects: one count for all gatherers of a run, also after a restart."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.app.runplan import RunPlan, tally_of
from ingather.catalog.bodies import SegmentWriter
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf import load_bodies
from ingather.filters import Engine
from ingather.model.counted import Count
from ingather.model.report import Claim
from ingather.model.resource import Response
from ingather.model.url import Canonicaliser
from ingather.model.urlparts import key, split
from ingather.robot.frontier.seen import Seen
from ingather.robot.settling.tally import Tally
from ingather.robot.visit.discovering import Discoverer
from ingather.robot.visit.pipeline import Pipeline
from ingather.robot.visit.reading import Reading
from ingather.testing.clock import FakeClock
from ingather.testing.rig import Rig
from ingather.testing.site import Site

SEED = 5


def engine(enumeration: str, generation: str | None = None) -> Engine:
    other = enumeration if generation is None else generation
    text = (
        f'<Filter name="enumeration-default">\n{enumeration}\n</Filter>\n'
        f'<Filter name="generation-default">\n{other}\n</Filter>\n'
    )
    loaded = load_bodies({"filter.conf": text.encode(), "robot.conf": b"", "mime.types": b"text/html html\n"})
    assert loaded.ok, [str(d) for d in loaded.diagnostics]
    return Engine(loaded, counted_elsewhere=True)


class Hand:
    """The pipeline of one gatherer; the keeper's count is *tally*."""

    def __init__(self, folder: Path, name: str, lines: str, generation: str | None, tally: Tally) -> None:
        clock = FakeClock()
        self.asked: list[Count] = []
        self._segment = SegmentWriter(folder, name, max_bytes=1 << 20)
        made = engine(lines, generation)
        self.discoverer = Discoverer(made, version=1, seed=SEED)

        async def counts(asked: list[Count]) -> dict[str, bool]:
            self.asked += asked
            return {c.role: tally.admit(c.what, key(c.name, SEED), c.limit) for c in asked}

        self.pipeline = Pipeline(
            engine=made, discoverer=self.discoverer, segment=self._segment, clock=clock, seen=Seen(), counts=counts,
            reading=Reading(isolation=None, slot=None, clock=clock, agent="x", canonicaliser=Canonicaliser(())),  # type: ignore[arg-type]
        )  # fmt: skip

    def visit(self, url: str) -> tuple[bool, bool]:
        """Visit a page: whether its links may be followed, whether it is described."""
        parts = split(url)
        claim = Claim(id=1, host=1, path=parts.path, depth=1, max_depth=None, source="web")

        async def work() -> tuple[bool, bool]:
            judged = await self.pipeline.admitted(claim, parts.origin)
            if judged.report is None:
                body = f"<title>{url}</title>".encode()
                got = Response(url, 200, (("Content-Type", "text/html"),), body)
                await self.pipeline.process(judged, got)
            return judged.evaluation.enumeration.allowed, judged.evaluation.generation.allowed

        return asyncio.run(work())

    def close(self) -> None:
        self._segment.close()


Hands = list[Hand]


@pytest.fixture
def hands() -> Iterator[Hands]:
    made: Hands = []
    yield made
    for hand in made:
        hand.close()


def two(
    hands: Hands, folder: Path, tally: Tally, lines: str, generation: str | None = None
) -> tuple[Hand, Hand]:
    hands += [Hand(folder, f"g{len(hands) + n}", lines, generation, tally) for n in range(2)]
    return hands[-2], hands[-1]


@pytest.mark.parametrize("phase", ["MetaData", "Data"])
def test_two_gatherers_have_one_count_of_objects(hands: Hands, tmp_path: Path, phase: str) -> None:
    one, other = two(hands, tmp_path, Tally(), f"{phase} fn=filter-by-max src=objects value=3")
    urls = [f"http://h{n % 2}.example/{n}" for n in range(6)]
    said = [(one, other)[n % 2].visit(url) for n, url in enumerate(urls)]
    assert said == [(True, True)] * 3 + [(False, False)] * 3
    assert other.visit(urls[0]) == (True, True)  # a URL counts once, whoever visits it


@pytest.mark.parametrize("phase", ["MetaData", "Data"])
def test_two_gatherers_have_one_count_of_hosts(hands: Hands, tmp_path: Path, phase: str) -> None:
    one, other = two(hands, tmp_path, Tally(), f"{phase} fn=filter-by-max src=hosts value=1")
    assert one.visit("http://a.x/") == (True, True)
    assert other.visit("http://b.x/") == (False, False)
    assert other.visit("http://a.x/2") == (True, True)


def test_each_filter_counts_for_itself(hands: Hands, tmp_path: Path) -> None:
    lines = "MetaData fn=filter-by-max src=objects value={}"
    one, other = two(hands, tmp_path, Tally(), lines.format(1), lines.format(2))
    assert one.visit("http://a.x/1") == (True, True)
    assert other.visit("http://a.x/2") == (False, True)
    assert one.visit("http://a.x/3") == (False, False)


def test_what_does_not_come_to_the_line_is_not_counted(hands: Hands, tmp_path: Path) -> None:
    lines = "MetaData fn=filter-by-prefix src=path deny=/no\nMetaData fn=filter-by-max src=objects value=1"
    one, other = two(hands, tmp_path, Tally(), lines)
    assert one.visit("http://a.x/no") == (False, False)
    found = one.discoverer.discover("http://a.x/found", depth=1, max_depth=None, source="web")
    assert found.denial is None  # it is counted when its turn has come
    assert not one.asked
    assert other.visit("http://a.x/yes") == (True, True)
    assert one.visit("http://a.x/found") == (False, False)


def test_a_run_that_goes_on_counts_on_and_a_new_one_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    plan = RunPlan()

    def opened() -> tuple[CatalogWriter, Tally]:
        writer = CatalogWriter(path)
        return writer, writer.transaction(lambda w: tally_of(w, plan))

    writer, tally = opened()
    run, _ = writer.transaction(lambda w: w.registry.begin_run("crawl", 1.0))
    assert [tally.admit(1, number, 2) for number in (7, -9, 8)] == [True, True, False]
    writer.transaction(lambda w: w.counts.add(tally.fresh))
    writer.close()

    writer, tally = opened()  # the run was not ended: it goes on
    assert [tally.admit(1, number, 2) for number in (8, 7, -9)] == [False, True, True]
    assert not tally.fresh
    writer.transaction(lambda w: w.registry.end_run(run, 2.0, ""))
    writer.close()

    writer, tally = opened()
    assert [tally.admit(1, number, 2) for number in (8, 7, -9)] == [True, True, False]
    assert writer.transaction(lambda w: w.counts.all()) == []
    writer.close()


def test_a_crawl_with_two_gatherers_lets_pass_exactly_so_many(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "home", **{"gather.gatherers": "2"}).init()
    limit = 7
    with Site() as site:
        pages = [f"/{number}" for number in range(20)]
        site.page("/", "Start", *pages)
        for page in pages:
            site.page(page, f"Page {page}", *pages)
        rig.site(site.origin)
        filters = rig.path / "config" / "filter.conf"
        line = f"MetaData fn=filter-by-max src=objects value={limit}\nData fn=assign-source"
        filters.write_text(filters.read_text().replace("Data fn=assign-source", line))
        assert rig.run("crawl", "--quiet").status == 0
        assert len([url for url, page in rig.known().items() if page.described]) == limit
        denied = [page.detail for page in rig.known().values() if not page.described]
        assert denied == [f"filter-by-max: objects over {limit}"] * (len(pages) + 1 - limit)
        assert len(rig.rows("select 1 from run_count")) == 2 * limit  # of each filter
