"""Sums of the catalog's pages: what rots is named with its place, and nothing sound ever is."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from ingather.catalog.sqlite_backup import copy_catalog
from ingather.catalog.sqlite_open import open_reader, open_writer
from ingather.catalog.sqlite_pagesums import SUFFIX
from ingather.catalog.sqlite_rows import Rows
from ingather.errors import CatalogDamagedError
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

PAGE = 4096


def rot(path: Path) -> list[str]:
    """Return what is said of the catalog at *path*."""
    db = open_reader(path)
    try:
        return Rows(db, path).rot()
    finally:
        db.close()


@contextmanager
def visited(folder: Path, pages: int = 30) -> Iterator[Visitor]:
    """Give a catalog that has been worked on, still open."""
    folder.mkdir(exist_ok=True)
    catalog = SqliteUnderTest(folder)
    catalog.put_source("web", "public")
    visitor = Visitor(catalog)
    visitor.start("http://rot.test/")
    for number in range(pages):
        url = f"http://rot.test/{number}"
        visitor.start(url)
        visitor.visit(url, f"body {number} " * 100, [f"{url}/a", f"{url}/b"])
    try:
        yield visitor
    finally:
        visitor.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A catalog that nobody has open."""
    with visited(tmp_path):
        pass
    return tmp_path / "catalog.db"


def flip(path: Path, page: int, dice: Random) -> int:
    """Flip a bit of a page (from 1); return where."""
    at = (page - 1) * PAGE + dice.randrange(PAGE)
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ (1 << dice.randrange(8))]))
    return at


def test_a_bit_that_flips_is_named_with_its_page_and_table_wherever_it_is(path: Path) -> None:
    assert rot(path) == []
    sound, dice = path.read_bytes(), Random(4)  # noqa: S311 - a test's dice
    db = open_reader(path)
    tables = [(int(page), str(name)) for page, name in db.execute("select pageno, name from dbstat")]
    try:
        for page in range(2, len(sound) // PAGE + 1):
            flip(path, page, dice)
            found = Rows(db, path).rot()
            assert [line.split()[1] for line in found] == [str(page)]
            path.write_bytes(sound)
    finally:
        db.close()
    flip(path, *next((page, dice) for page, name in tables if name == "page"))
    assert "(page) is not as it was written" in rot(path)[0]


def test_a_backup_refuses_a_rotten_page(path: Path, tmp_path: Path) -> None:
    copy_catalog(path, tmp_path / "sound.db")
    flip(path, 5, Random(1))  # noqa: S311 - a test's dice
    with pytest.raises(CatalogDamagedError, match=r"page 5 \("):
        copy_catalog(path, tmp_path / "rotten.db")
    assert not (tmp_path / "rotten.db").exists()


def test_pages_are_sound_while_they_are_written_and_after_any_crash(tmp_path: Path) -> None:
    with visited(tmp_path / "home") as visitor:
        path = tmp_path / "home" / "catalog.db"
        for number in range(40):
            visitor.start(f"http://rot.test/more/{number}")
            if number % 9 == 4:
                visitor.catalog.writer.checkpoint()  # type: ignore[attr-defined]
            if number % 9 == 7:  # the log is moved, and the process dies before it keeps the sums
                visitor.catalog.writer._db.execute("pragma wal_checkpoint(passive)").fetchall()  # type: ignore[attr-defined]
            assert rot(path) == []
            copy = tmp_path / f"copy{number}"
            shutil.copytree(path.parent, copy)
            open_writer(copy / "catalog.db").close()
            assert rot(copy / "catalog.db") == []
    assert rot(path) == []
    assert (tmp_path / "home" / "catalog.db-wal").exists() is False or not os.path.getsize(f"{path}-wal")  # noqa: PTH202 - beside it


def test_readers_that_hold_the_log_make_no_page_rotten(tmp_path: Path) -> None:
    with visited(tmp_path) as visitor:
        path, reader = tmp_path / "catalog.db", open_reader(tmp_path / "catalog.db")
        with reader:
            reader.execute("select count(*) from url").fetchall()
            visitor.start("http://rot.test/held")
            visitor.catalog.writer.checkpoint()  # type: ignore[attr-defined]
            assert rot(path) == []
        visitor.start("http://rot.test/free")
        visitor.catalog.writer.checkpoint()  # type: ignore[attr-defined]
        visitor.start("http://rot.test/again")
        assert rot(path) == []
        reader.close()
    assert rot(path) == []


def test_a_catalog_from_before_gets_its_sums_at_the_next_start(path: Path) -> None:
    path.with_name(path.name + SUFFIX).unlink()
    assert rot(path) == []
    open_writer(path).close()
    flip(path, 3, Random(1))  # noqa: S311 - a test's dice
    assert len(rot(path)) == 1


def test_sums_that_cannot_be_written_are_given_up_and_nothing_sound_is_called_rotten(tmp_path: Path) -> None:
    with visited(tmp_path) as visitor:
        path = tmp_path / "catalog.db"
        sums = path.with_name(path.name + SUFFIX)
        sums.unlink()
        sums.symlink_to("/dev/full")  # no space left
        visitor.start("http://rot.test/last")
        visitor.catalog.writer.checkpoint()  # type: ignore[attr-defined]
        assert not sums.exists()
        visitor.start("http://rot.test/without")
        assert rot(path) == []


def test_closing_a_check_costs_the_writer_no_lock(tmp_path: Path) -> None:
    """Whoever opens and closes the catalog's file beside SQLite ends its locks: another process would take the log away."""
    with visited(tmp_path) as visitor:
        path = tmp_path / "catalog.db"
        assert rot(path) == []
        visitor.catalog.writer.checkpoint()  # type: ignore[attr-defined]
        locks = Path("/proc/locks").read_text()
        assert f":{path.stat().st_ino} " in locks
