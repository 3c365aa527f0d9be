"""The index on disk: made, rebuilt beside and swapped; damage is found and named."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingather.errors import IndexDamagedError, IndexingError
from ingather.index import ChainFilter, IndexFolder, Word, compare, damage
from ingather.ports.index import IndexDocument

Doc = Callable[..., IndexDocument]


def filled(path: Path, doc: Doc, number: int = 5) -> IndexFolder:
    folder = IndexFolder(path)
    writer = folder.writer()
    writer.put(doc(n, f"alpha word{n}") for n in range(1, number + 1))
    writer.commit(number)
    writer.close()
    return folder


def test_an_empty_folder_becomes_an_empty_index(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path / "deep" / "index")
    assert folder.reader().snapshot().count == 0
    assert folder.reader().snapshot().sequence == 0
    assert folder.damage() == []


def test_a_rebuild_takes_the_place_of_the_old_index_at_once(index: Any, doc: Doc) -> None:
    index.put(doc(1, "old"))
    held = index.reader.snapshot()
    with index.folder.rebuild() as rebuild:
        rebuild.writer.put([doc(2, "new")])
        rebuild.writer.commit(9)
        index.reader.reload()
        assert index.rows(Word("old")) == [1]
        index.writer.close()
        rebuild.swap()
    assert held.count == 1
    index.reader.reload()
    assert index.rows(Word("old")) == []
    assert index.rows(Word("new")) == [2]
    assert index.reader.snapshot().sequence == 9
    index.writer = index.folder.writer()
    assert index.writer.sequence() == 9
    assert [d.name for d in index.folder.path.iterdir() if d.is_dir()] == ["g000002"]


def test_an_abandoned_rebuild_leaves_nothing(index: Any, doc: Doc) -> None:
    index.put(doc(1, "old"))
    with index.folder.rebuild() as rebuild:
        rebuild.writer.put([doc(2, "new")])
    assert [d.name for d in index.folder.path.iterdir() if d.is_dir()] == ["g000001"]
    index.reader.reload()
    assert index.rows(Word("old")) == [1]


def test_leftovers_of_a_killed_rebuild_are_removed_by_the_next_writer(tmp_path: Path, doc: Doc) -> None:
    folder = filled(tmp_path, doc)
    rebuild = folder.rebuild()
    rebuild.writer.close()
    folder.writer().close()
    assert [d.name for d in tmp_path.iterdir() if d.is_dir()] == ["g000001"]


def test_a_first_start_that_was_cut_off_begins_again(tmp_path: Path, doc: Doc) -> None:
    filled(tmp_path / "whole", doc)
    cut = tmp_path / "cut"
    (cut / "g000001").mkdir(parents=True)
    (cut / "g000001" / "meta.json").write_text("{")
    assert IndexFolder(cut).reader().snapshot().count == 0


def test_a_lost_pointer_to_an_existing_index_is_damage_and_not_an_empty_index(
    tmp_path: Path, doc: Doc
) -> None:
    folder = filled(tmp_path, doc)
    (tmp_path / "CURRENT").unlink()
    with pytest.raises(IndexDamagedError, match="CURRENT") as caught:
        folder.reader()
    assert caught.value.hint == "run: ingather index rebuild"


def test_an_index_of_another_schema_asks_for_a_rebuild(tmp_path: Path, doc: Doc) -> None:
    folder = filled(tmp_path, doc)
    (tmp_path / "g000001" / "SCHEMA").write_text("0123\n")
    with pytest.raises(IndexDamagedError, match="another version"):
        folder.writer()
    with folder.rebuild() as rebuild:
        rebuild.writer.put([doc(1, "alpha")])
        rebuild.writer.commit(1)
        rebuild.swap()
    assert folder.reader().snapshot().count == 1


@pytest.mark.parametrize("part", ["term", "idx", "pos", "store", "fast", "fieldnorm"])
def test_a_flipped_byte_is_found_and_its_file_named(tmp_path: Path, doc: Doc, part: str) -> None:
    folder = filled(tmp_path, doc)
    victim = next((tmp_path / "g000001").glob(f"*.{part}"))
    data = bytearray(victim.read_bytes())
    place = random.Random(part).randrange(len(data) - 100)  # noqa: S311
    data[place] ^= 0x10
    victim.write_bytes(data)
    assert [d.file for d in damage(tmp_path / "g000001")] == [victim]
    assert victim.name in folder.damage()[0]


@pytest.mark.parametrize("part", ["term", "idx", "store", "fast"])
@pytest.mark.parametrize("how", ["missing", "short"])
def test_missing_and_cut_files_are_named_when_the_index_is_opened(
    tmp_path: Path, doc: Doc, part: str, how: str
) -> None:
    folder = filled(tmp_path, doc)
    victim = next((tmp_path / "g000001").glob(f"*.{part}"))
    if how == "missing":
        victim.unlink()
    else:
        victim.write_bytes(victim.read_bytes()[:10])
    with pytest.raises(IndexDamagedError, match=part) as caught:
        folder.reader().snapshot().words("al", ChainFilter(only=(1,)), 5)
    assert caught.value.place == str(victim)


def test_a_broken_list_of_segments_is_damage(tmp_path: Path, doc: Doc) -> None:
    folder = filled(tmp_path, doc)
    (tmp_path / "g000001" / "meta.json").write_text("{ not json")
    with pytest.raises(IndexDamagedError, match=r"meta\.json"):
        folder.reader()
    with pytest.raises(IndexDamagedError, match=r"meta\.json"):
        folder.writer()


def test_a_folder_that_cannot_be_made_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(IndexingError, match="file"):
        IndexFolder(tmp_path / "file").reader()


def test_the_loaded_state_goes_on_answering_when_the_index_is_lost(index: Any, doc: Doc) -> None:
    index.put(doc(1, "alpha"))
    index.writer.close()
    shutil.rmtree(index.folder.path / "g000001")
    with pytest.raises(IndexingError):
        index.reader.reload()
    assert index.rows(Word("alpha")) == [1]
    index.folder.path.joinpath("CURRENT").unlink()
    index.writer = index.folder.writer()


def test_index_and_catalog_are_compared_exactly(index: Any, doc: Doc) -> None:
    index.put(*(doc(n, "x") for n in (1, 2, 3, 70_000)))
    rows = index.reader.snapshot().rows
    assert compare(rows(), [1, 2, 3, 70_000]).equal
    found = compare(rows(), [1, 4, 70_000, 80_000])
    assert not found.equal
    assert found.missing == (4, 80_000)
    assert found.surplus == (2, 3)
    assert (found.indexed, found.expected) == (4, 4)
    assert str(found) == "2 missing (rows 4, 80000); 2 too many (rows 2, 3)"
    assert compare([(5, 2)], [5]).repeated == (5,)
    assert compare([], []).equal
    assert compare([], range(1, 1000), kept=3).missing == (1, 2, 3)
    assert compare([], range(1, 1000), kept=3).missing_count == 999
