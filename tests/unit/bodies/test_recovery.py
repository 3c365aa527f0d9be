"""Tails that nobody acknowledged, and compaction that may be killed anywhere."""

import hashlib
import os
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from ingather.catalog.bodies import (
    SegmentReader,
    SegmentWriter,
    compact,
    cut_tails,
    dead_space,
    drop,
    plan,
    reclaim,
    segment_name,
)
from ingather.errors import CatalogError
from ingather.model.report import Stored


def keep(writer: SegmentWriter, n: int, *, text: bool = True) -> Stored:
    body = b"page %d " % n + hashlib.sha512(b"%d" % n).digest() * 8
    digest = hashlib.md5(body, usedforsecurity=False).digest()
    return writer.append(
        f"http://a.example/{n}",
        200,
        (("X", "y"),),
        body,
        f"text {n}" if text else "",
        at_s=n + 0.5,
        digest=digest,
    )


def fill(folder: Path, count: int) -> list[Stored]:
    with SegmentWriter(folder, "g1") as writer:
        return [keep(writer, n) for n in range(count)]


def reads(folder: Path, place: Stored, n: int) -> bool:
    with SegmentReader(folder) as reader:
        record = reader.body(place.segment, place.offset, place.length)
        text = reader.text(place.segment, place.text_offset, place.text_length)
    return record.body.startswith(b"page %d " % n) and text == f"text {n}" and record.at_s == n + 0.5


def live_bytes(places: list[Stored]) -> int:
    return sum(place.length + place.text_length for place in places)


def test_a_tail_beyond_the_last_acknowledged_record_is_cut(tmp_path: Path) -> None:
    places = fill(tmp_path, 5)
    path = tmp_path / segment_name(places[0].segment)
    with path.open("ab") as file:
        file.write(b"half a rec")
    done = cut_tails(tmp_path, {places[0].segment: places[2].end})
    assert path.stat().st_size == places[2].end
    assert done.cut == ((places[0].segment, places[4].end - places[2].end + 10),)
    assert (done.deleted, done.short, done.missing) == ((), (), ())
    assert all(reads(tmp_path, places[n], n) for n in range(3))
    with SegmentReader(tmp_path) as reader:
        assert not reader.verify(places[0].segment).damaged
    assert cut_tails(tmp_path, {places[0].segment: places[2].end}).cut == ()


def test_a_segment_that_nobody_acknowledged_is_deleted_and_other_files_are_left(tmp_path: Path) -> None:
    places = fill(tmp_path, 1)
    other = fill(tmp_path, 2)
    (tmp_path / "notes.txt").write_text("mine")
    done = cut_tails(tmp_path, {other[0].segment: other[1].end})
    assert done.deleted == ((places[0].segment, places[0].end),)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        segment_name(other[0].segment),
        "last-segment",
        "notes.txt",
    ]


def test_acknowledged_bytes_that_are_gone_are_reported_not_hidden(tmp_path: Path) -> None:
    places = fill(tmp_path, 2)
    number = places[0].segment
    os.truncate(tmp_path / segment_name(number), places[1].end - 7)
    done = cut_tails(tmp_path, {number: places[1].end, 41: 1_000})
    assert done.short == ((number, 7),)
    assert done.missing == (41,)


def test_a_segment_is_planned_when_more_than_half_of_it_is_dead(tmp_path: Path) -> None:
    places = fill(tmp_path, 10)
    segment = places[0].segment
    most, few = live_bytes(places[:6]), live_bytes(places[:3])
    assert plan(tmp_path, dead_space(tmp_path, {segment: most})) == []
    dead = dead_space(tmp_path, {segment: few})
    assert plan(tmp_path, dead) == [segment]
    assert plan(tmp_path, dead, busy={segment}) == []
    assert plan(tmp_path, dead, share=0.9) == []
    assert plan(tmp_path, dead_space(tmp_path, {})) == [segment]


def test_a_segment_of_one_small_record_is_at_rest(tmp_path: Path) -> None:
    with SegmentWriter(tmp_path, "x" * 100) as writer:
        place = writer.append(
            "http://a.example/",
            200,
            (),
            b"",
            "t",
            at_s=0.0,
            digest=hashlib.md5(b"", usedforsecurity=False).digest(),
        )
    assert place.offset < 512
    assert plan(tmp_path, dead_space(tmp_path, {place.segment: live_bytes([place])})) == []


def test_compaction_moves_what_lives_and_drop_frees_the_rest(tmp_path: Path) -> None:
    places = fill(tmp_path, 10)
    segment = places[0].segment
    live = {2: places[2], 7: places[7], 9: places[9]}
    with SegmentWriter(tmp_path, "keeper") as writer:
        done = compact(tmp_path, segment, [live[9], live[2], live[7]], writer)
    assert not done.damaged
    assert set(done.moved) == set(live.values())
    for n, old in live.items():
        new = done.moved[old]
        assert new.segment != segment
        assert reads(tmp_path, old, n)
        assert reads(tmp_path, new, n)
    freed = drop(tmp_path, segment)
    assert freed == places[9].end
    assert drop(tmp_path, segment) == 0
    assert all(reads(tmp_path, done.moved[old], n) for n, old in live.items())


def test_places_without_body_or_without_text_move_too(tmp_path: Path) -> None:
    with SegmentWriter(tmp_path, "g1", keep_bodies=False) as writer:
        text_only, nothing = keep(writer, 1), keep(writer, 2, text=False)
    with SegmentWriter(tmp_path, "keeper") as writer:
        done = compact(tmp_path, text_only.segment, [text_only, nothing], writer)
    with SegmentReader(tmp_path) as reader:
        new = done.moved[text_only]
        assert reader.text(new.segment, new.text_offset, new.text_length) == "text 1"
    assert done.moved[nothing].length == done.moved[nothing].text_length == 0


def test_killed_before_the_rows_moved_the_old_places_are_valid_and_the_copies_go(tmp_path: Path) -> None:
    places = fill(tmp_path, 4)
    segment = places[0].segment
    with SegmentWriter(tmp_path, "keeper") as writer:
        done = compact(tmp_path, segment, [places[1]], writer)
    new = done.moved[places[1]].segment
    assert cut_tails(tmp_path, {segment: places[1].end}).deleted[0][0] == new
    assert reads(tmp_path, places[1], 1)


def test_killed_after_the_rows_moved_the_new_places_are_valid_and_the_old_file_goes(tmp_path: Path) -> None:
    places = fill(tmp_path, 4)
    segment = places[0].segment
    with SegmentWriter(tmp_path, "keeper") as writer:
        new = compact(tmp_path, segment, [places[1]], writer).moved[places[1]]
    assert cut_tails(tmp_path, {new.segment: new.end}).deleted == ((segment, places[3].end),)
    assert reads(tmp_path, new, 1)


def test_a_damaged_live_record_is_named_and_does_not_stop_the_others(tmp_path: Path) -> None:
    places = fill(tmp_path, 3)
    path = tmp_path / segment_name(places[0].segment)
    raw = bytearray(path.read_bytes())
    raw[places[1].offset + places[1].length // 2] ^= 0xFF
    path.write_bytes(raw)
    with SegmentWriter(tmp_path, "keeper") as writer:
        done = compact(tmp_path, places[0].segment, places, writer)
    assert set(done.moved) == {places[0], places[2]}
    assert list(done.damaged) == [places[1]]


def test_a_place_of_another_segment_is_refused(tmp_path: Path) -> None:
    places, others = fill(tmp_path, 1), fill(tmp_path, 1)
    with SegmentWriter(tmp_path, "keeper") as writer, pytest.raises(CatalogError):
        compact(tmp_path, places[0].segment, others, writer)


def test_a_reader_that_holds_a_dropped_segment_open_can_finish(tmp_path: Path) -> None:
    places = fill(tmp_path, 2)
    with SegmentReader(tmp_path) as reader:
        reader.text(places[0].segment, places[0].text_offset, places[0].text_length)
        drop(tmp_path, places[0].segment)
        assert reader.text(places[1].segment, places[1].text_offset, places[1].text_length) == "text 1"


class Rows:
    """Rows by page number, as a catalog keeps them."""

    def __init__(self, places: Mapping[int, Stored]) -> None:
        self.places: dict[int, Stored | None] = dict(places)

    def live_bytes(self) -> dict[int, int]:
        total: dict[int, int] = {}
        for place in filter(None, self.places.values()):
            total[place.segment] = total.get(place.segment, 0) + place.length + place.text_length
        return total

    def live_places(self, segment: int) -> list[Stored]:
        return [place for place in self.places.values() if place and place.segment == segment]

    def move_places(self, moved: Mapping[Stored, Stored], lost: Collection[Stored]) -> None:
        for page, place in self.places.items():
            if place in lost:
                self.places[page] = None
            elif place:
                self.places[page] = moved.get(place, place)


def test_reclaiming_empties_every_wasteful_segment_and_leaves_the_others(tmp_path: Path) -> None:
    wasteful, sound, waste = fill(tmp_path, 8), fill(tmp_path, 8), fill(tmp_path, 3)
    rows = Rows({1: wasteful[1], 6: wasteful[6]} | {10 + n: place for n, place in enumerate(sound)})
    os.truncate(tmp_path / segment_name(wasteful[0].segment), wasteful[6].end - 2)
    with SegmentWriter(tmp_path, "keeper") as writer:
        first = keep(writer, 50)
        rows.places[50] = first
        done = reclaim(tmp_path, rows, writer)
        assert reclaim(tmp_path, rows, writer) == []
    assert [len(one.moved) for one in done] == [1, 0]
    left = {path.name for path in tmp_path.glob("body-*")}
    assert left == {segment_name(sound[0].segment), segment_name(first.segment)}
    assert segment_name(waste[0].segment) not in left
    assert rows.places[6] is None
    assert rows.places[1]
    assert reads(tmp_path, rows.places[1], 1)


def test_a_reader_gives_the_space_of_dropped_segments_back(tmp_path: Path) -> None:
    one, two = fill(tmp_path, 1)[0], fill(tmp_path, 1)[0]
    with SegmentReader(tmp_path) as reader:
        reader.text(one.segment, one.text_offset, one.text_length)
        drop(tmp_path, one.segment)
        reader.text(two.segment, two.text_offset, two.text_length)
        held = [str(entry.readlink()) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    assert not [name for name in held if name.endswith("(deleted)") and segment_name(one.segment) in name]
