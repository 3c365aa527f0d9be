"""Compaction, from the rows' side: what is named stays readable, whatever happens in between."""

import subprocess
import sys
from pathlib import Path

import pytest

from ingather.catalog.bodies import SegmentWriter, cut_tails
from ingather.catalog.bodies.folder import segment_name, segments
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_places import Job, compact_bodies
from ingather.errors import CatalogError
from ingather.model.lifecycle import State
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor


def _visit(visitor: Visitor, segment: SegmentWriter, url: str, body: str) -> None:
    row = visitor.claim(url)
    report = visitor.report(row, url, body)
    report.stored = segment.append(
        url, 200, [], body.encode(), f"text of {body}", at_s=visitor.now_s, digest=report.digest
    )
    segment.sync()
    visitor.settle(report, row)


def _wasted(visitor: Visitor, folder: Path, pages: int = 20) -> list[str]:
    """Fill a segment, and make most of it dead by visiting again into another."""
    urls = [f"http://a.test/{n}" for n in range(pages)]
    with SegmentWriter(folder, "gatherer-1") as segment:
        for url in urls:
            visitor.start(url)
            _visit(visitor, segment, url, f"first of {url} " * 40)
    with SegmentWriter(folder, "gatherer-1") as segment:
        for url in urls[: pages * 3 // 4]:
            _visit(visitor, segment, url, f"second of {url} " * 40)
    return urls


def _commit(catalog: SqliteUnderTest, job: Job) -> Applied:
    applied = Applied()
    catalog.writer.transaction(lambda w: job(w, applied))
    return applied


def _bodies(catalog: SqliteUnderTest, urls: list[str]) -> list[bytes | None]:
    reader = catalog.reader()
    try:
        ids = [record.id for url in urls if (record := reader.find(url)) is not None]
        assert all(text.startswith("text of ") for text in reader.texts(ids).values())
        assert len(reader.texts(ids)) == len(ids)
        return [reader.body(url_id) for url_id in ids]
    finally:
        reader.close()


def _compact(catalog: SqliteUnderTest, folder: Path, *, below: int = 99) -> int:
    with SegmentWriter(folder, "keeper") as keeper:
        return len(
            compact_bodies(
                folder, catalog.writer.path, lambda job: _commit(catalog, job), keeper, below=below, now_s=5.0
            )
        )


def test_dead_space_is_given_back_and_every_body_is_still_there(
    visitor: Visitor, catalog: SqliteUnderTest, tmp_path: Path
) -> None:
    folder = tmp_path / "bodies"
    urls = _wasted(visitor, folder)
    before = _bodies(catalog, urls)
    size = sum(path.stat().st_size for path in segments(folder).values())
    assert _compact(catalog, folder) == 1
    assert sum(path.stat().st_size for path in segments(folder).values()) < size * 0.7
    assert list(segments(folder)) == [2, 3]
    assert _bodies(catalog, urls) == before
    assert _compact(catalog, folder) == 0


def test_segments_that_are_still_written_to_are_left_alone(
    visitor: Visitor, catalog: SqliteUnderTest, tmp_path: Path
) -> None:
    folder = tmp_path / "bodies"
    _wasted(visitor, folder)
    assert _compact(catalog, folder, below=1) == 0


def test_a_page_that_is_visited_meanwhile_keeps_its_new_place(
    visitor: Visitor, catalog: SqliteUnderTest, tmp_path: Path
) -> None:
    folder = tmp_path / "bodies"
    urls = _wasted(visitor, folder)

    def commit(job: Job) -> None:
        with SegmentWriter(folder, "gatherer-2") as segment:
            _visit(visitor, segment, urls[-1], "third")
        _commit(catalog, job)

    with SegmentWriter(folder, "keeper") as keeper:
        compact_bodies(folder, catalog.writer.path, commit, keeper, below=2, now_s=5.0)
    assert _bodies(catalog, urls)[-1] == b"third"


def test_a_segment_that_gets_a_new_row_is_not_dropped(
    visitor: Visitor, catalog: SqliteUnderTest, tmp_path: Path
) -> None:
    folder = tmp_path / "bodies"
    urls = _wasted(visitor, folder)
    late = visitor.claim(urls[0])

    def commit(job: Job) -> None:
        reader = catalog.reader()
        place = next(iter(reader.places()))
        reader.close()
        catalog.writer.transaction(
            lambda w: w.applier._cursor.execute(
                "update url set seg = 1, off = ?, len = 1 where id = ?", (place[2], late.id)
            ).fetchall()
        )
        _commit(catalog, job)

    before = _bodies(catalog, urls)[1:]
    with (
        SegmentWriter(folder, "keeper") as keeper,
        pytest.raises(CatalogError, match="segment 1 is written to"),
    ):
        compact_bodies(folder, catalog.writer.path, commit, keeper, below=2, now_s=5.0)
    assert (folder / segment_name(1)).exists()
    assert _bodies(catalog, urls[1:]) == before


def test_a_page_whose_bytes_are_damaged_is_fetched_again(
    visitor: Visitor, catalog: SqliteUnderTest, tmp_path: Path
) -> None:
    folder = tmp_path / "bodies"
    urls = _wasted(visitor, folder)
    reader = catalog.reader()
    place = next(p for p in reader.places() if p[0] == visitor.id(urls[-1]))
    reader.close()
    path = folder / segment_name(place[1])
    data = bytearray(path.read_bytes())
    data[place[2] + 40] ^= 0xFF
    path.write_bytes(data)
    assert _compact(catalog, folder) == 1
    record = visitor.record(urls[-1])
    assert (record.state, record.described, record.etag) == (State.WAITING, True, "")
    reader = catalog.reader()
    assert reader.body(record.id) is None
    reader.close()


_KILLED = """
import os, sys
from pathlib import Path
from ingather.catalog.bodies import SegmentWriter
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_places import compact_bodies
from ingather.testing.contracts_catalog import SqliteUnderTest
home, when = Path(sys.argv[1]), sys.argv[2]
catalog = SqliteUnderTest(home)
def commit(job):
    if when == "before":
        os.kill(os.getpid(), 9)
    applied = Applied()
    def work(writer):
        job(writer, applied)
        if when == "within":
            os.kill(os.getpid(), 9)
    catalog.writer.transaction(work)
    if when == "after":
        os.kill(os.getpid(), 9)
with SegmentWriter(home / "bodies", "keeper") as keeper:
    compact_bodies(home / "bodies", catalog.writer.path, commit, keeper, below=99, now_s=5.0)
"""


@pytest.mark.parametrize("when", ["before", "within", "after"])
def test_a_kill_between_any_two_steps_loses_no_body(tmp_path: Path, when: str) -> None:
    folder = tmp_path / "bodies"
    catalog = SqliteUnderTest(tmp_path)
    visitor = Visitor(catalog)
    urls = _wasted(visitor, folder)
    before = _bodies(catalog, urls)
    visitor.close()
    done = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path), when], check=False, timeout=60)
    assert done.returncode == -9
    catalog = SqliteUnderTest(tmp_path)
    tails = cut_tails(folder, catalog.writer.registry.acknowledged())
    assert not tails.short
    assert not tails.missing
    assert list(segments(folder)) == ([2, 3] if when == "after" else [1, 2])
    assert _bodies(catalog, urls) == before
    assert _compact(catalog, folder) == (0 if when == "after" else 1)
    assert _bodies(catalog, urls) == before
    catalog.close()
