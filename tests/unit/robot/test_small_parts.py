"""Seen cache, slot, URL shapes, link pass, access log."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.catalog.packing import pack_keys
from ingather.conf import Site, load_bodies
from ingather.conf.shipped import shipped
from ingather.filters import Engine
from ingather.model.lifecycle import Outcome
from ingather.model.report import Report
from ingather.robot.frontier.seen import Seen
from ingather.robot.indexing.linkpass import link_pass
from ingather.robot.logs.accesslog import AccessLog
from ingather.robot.slot import Slot
from ingather.robot.visit.discovering import Discoverer, UrlLimits


def test_a_shorter_path_to_a_known_url_is_news() -> None:
    seen = Seen()
    assert not seen.known(1, 5)
    assert seen.known(1, 5)
    assert seen.known(1, 9)
    assert not seen.known(1, 3)
    assert seen.known(1, 4)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), max_size=200), st.integers(1, 20))
def test_the_cache_may_forget_but_never_invents(steps: list[tuple[int, int]], limit: int) -> None:
    seen = Seen(limit)
    truth: dict[int, int] = {}
    for key, depth in steps:
        if seen.known(key, depth):
            assert truth[key] <= depth
        truth[key] = min(truth.get(key, depth), depth)


def test_both_sides_read_the_slot(tmp_path: Path) -> None:
    mine, keepers = Slot(tmp_path / "s"), Slot(tmp_path / "s")
    mine.begin(42, 7.5)
    assert keepers.read() == (42, 7.5)
    mine.end()
    assert keepers.read()[0] == 0
    mine.close()
    keepers.close()


@pytest.fixture(scope="module")
def discoverer() -> Discoverer:
    """Judges URLs of host ``h``, all of whose paths are wanted."""
    loaded = load_bodies({name: text.encode() for name, text in shipped().items()})
    assert loaded.ok
    engine = Engine(loaded.with_sites([Site(name="h", host="h")]))
    return Discoverer(engine, version=1, seed=3, limits=UrlLimits(chars=200))


def refusal(discoverer: Discoverer, url: str) -> str:
    found = discoverer.discover(url, depth=1, max_depth=None, source="web")
    return found.denial.reason if found.denial else ""


def test_shapes_of_traps_are_refused_by_name(discoverer: Discoverer) -> None:
    assert refusal(discoverer, "http://h/a/b/c") == ""
    assert "url-length" in refusal(discoverer, "http://h/" + "x" * 300)
    assert "url-segments" in refusal(discoverer, "http://h/" + "/".join(str(n) for n in range(22)))
    assert "url-repeats" in refusal(discoverer, "http://h/a/a/a/a/")
    assert refusal(discoverer, "http://h/a/b/a/b/a/b/") == ""
    assert refusal(discoverer, "http://h/x?next=/a/a/a/a/a/a") == ""


class Links:
    """A catalog of links in memory."""

    def __init__(
        self,
        pages: dict[int, list[tuple[int, str]]],
        titles: dict[int, str],
        known: dict[int, bytes],
        apart: dict[int, int] | None = None,
    ) -> None:
        self.pages, self.words, self.before, self.apart = pages, titles, known, apart or {}

    def keys(self) -> Any:
        return iter([(100 + row, row) for row in self.pages])

    def links_pass(self) -> Any:
        for row, links in self.pages.items():
            yield (
                row,
                pack_keys([100 + target for target, _ in links]),
                msgspec.msgpack.encode([text for _, text in links]),
                self.apart.get(row, 0),
            )

    def kept_apart(self) -> dict[int, int]:
        return self.apart

    def titles(self, ids: Any) -> dict[int, tuple[str, str]]:
        return {row: (self.words.get(row, ""), f"/leaves/{row}") for row in ids}

    def inlinks(self) -> dict[int, bytes]:
        return self.before


def test_the_link_pass_counts_pages_and_keeps_anchors_that_say_something_new() -> None:
    pages = {
        1: [(2, "Holiday form"), (3, "Payroll")],
        2: [(3, "salary slips"), (2, "itself")],
        3: [(2, "Holiday form")],
    }
    result = link_pass(Links(pages, {2: "Holiday Form 2026", 3: "Payroll"}, {}))
    assert list(result.counts) == [0, 0, 2, 2]
    assert {row: msgspec.msgpack.decode(said) for row, (_, said) in result.changed.items()} == {
        3: ["salary slips"]
    }


def test_links_of_a_source_kept_apart_count_for_its_own_documents_alone() -> None:
    """What a token pushes changes nothing of how others are found."""
    pages = {
        1: [(2, "our form"), (3, "nonsense about them"), (4, "theirs")],
        2: [],
        3: [(4, "a form")],
        4: [(2, "x")],
    }
    apart = {1: 7, 2: 7, 4: 8}
    result = link_pass(Links(pages, {}, {}, apart))
    assert list(result.counts) == [0, 0, 1, 0, 1]
    said = {row: msgspec.msgpack.decode(texts) for row, (_, texts) in result.changed.items()}
    assert said == {2: ["our form"], 4: ["a form"]}


def test_a_second_pass_over_the_same_links_changes_nothing() -> None:
    pages = {1: [(2, "forms and leaflets")], 2: []}
    first = link_pass(Links(pages, {}, {}))
    again = link_pass(Links(pages, {}, {row: said for row, (_, said) in first.changed.items()}))
    assert first.changed
    assert not again.changed


def test_parts_of_a_pass_give_what_one_pass_gives() -> None:
    pages = {row: [((row * 7) % 20 + 1, f"text {row}")] for row in range(1, 21)}
    whole = link_pass(Links(pages, {}, {}))
    parts = link_pass(Links(pages, {}, {}), partitions=3)
    assert list(whole.counts) == list(parts.counts)
    assert whole.changed == parts.changed


def settled(url: str) -> Any:
    report = Report(
        id=1, outcome=int(Outcome.INDEXED), status=200, at_s=1.5, version=1, size=10, elapsed_s=0.25
    )
    return SimpleNamespace(report=report, row=SimpleNamespace(depth=2)), url


def test_the_access_log_has_a_line_a_url_and_turns_over(tmp_path: Path) -> None:
    log = AccessLog(tmp_path / "access.log", max_bytes=300, keep=2)
    for number in range(12):
        item, url = settled(f"http://h/{number}")
        log.write([item], [url], [("http://h/trap", "urls-per-host")], 2.0)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files in (["access.log", "access.log.1", "access.log.2"], ["access.log.1", "access.log.2"])
    line = json.loads((tmp_path / "access.log.1").read_text().splitlines()[0])
    assert (line["outcome"], line["status"], line["depth"], line["ms"]) == ("indexed", 200, 2, 250)


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    log = AccessLog(tmp_path / "none" / "access.log")
    item, url = settled("http://h/")
    log.write([item], [url], [], 2.0)
    assert "none" in log.failed
