"""The spool by itself: counts across pieces, shared syncs, what a dead process left."""

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.feeds.spool import PART, Spool


def cut(data: bytes, at: list[int]) -> Iterator[bytes]:
    places = sorted({min(place, len(data)) for place in at})
    for start, end in zip([0, *places], [*places, len(data)], strict=True):
        yield data[start:end]


@given(
    st.lists(st.sampled_from([b"<record ", b"<rec", b"ord", b"<", b"x", b"<record"])),
    st.lists(st.integers(0, 60)),
)
def test_records_are_counted_however_the_bytes_are_cut(words: list[bytes], at: list[int]) -> None:
    data = b"".join(words)
    with TemporaryDirectory() as folder:
        file = Spool(Path(folder)).begin(b"<record")
        for piece in cut(data, at):
            file.write(piece)
        spooled = file.commit()
    assert (spooled.records, spooled.size) == (data.count(b"<record"), len(data))


def test_a_committed_file_is_whole_and_its_digest_right(tmp_path: Path) -> None:
    file = Spool(tmp_path).begin(b"<record")
    pieces = [b"x" * 70_000, b"", b"y" * 100_000, b"z"]
    for piece in pieces:
        file.write(piece)
        if file.full:
            file.flush()
            assert [path.suffix for path in tmp_path.iterdir()] == [PART]
    spooled = file.commit()
    assert spooled.path.read_bytes() == b"".join(pieces)
    assert spooled.sha256 == hashlib.sha256(b"".join(pieces)).hexdigest()
    assert [path.name for path in tmp_path.iterdir()] == [spooled.name]


def test_what_was_not_acknowledged_is_removed_and_nothing_else(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    kept, orphan = spool.begin(b"<record").commit(), spool.begin(b"<record").commit()
    half = spool.begin(b"<record")
    half.write(b"x")
    half.flush()
    (tmp_path / "notes.txt").touch()
    assert spool.recover({kept.name}) == 2
    assert {path.name for path in tmp_path.iterdir()} == {kept.name, "notes.txt"}
    assert not orphan.path.exists()
    half.discard()


def test_many_commits_share_syncs_and_none_is_lost(tmp_path: Path) -> None:
    spool = Spool(tmp_path)

    def one(number: int) -> str:
        file = spool.begin(b"<record")
        file.write(b"%d" % number)
        return file.commit().name

    with ThreadPoolExecutor(16) as threads:
        names = list(threads.map(one, range(200)))
    assert {path.name for path in tmp_path.iterdir()} == set(names)


def test_a_folder_that_is_gone_is_an_error_every_time(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    for _ in range(2):
        file = spool.begin(b"<record")
        file.write(b"x")
        with pytest.raises(OSError, match="spool"):
            file.commit()
