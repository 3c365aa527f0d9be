import os
from pathlib import Path

import apsw
import pytest

from ingather.catalog.sqlite_open import (
    MINIMUM_SQLITE,
    guard_version,
    migrations,
    open_reader,
    open_writer,
    schema_version,
)
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.errors import CatalogDamagedError, CatalogError
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor


@pytest.mark.parametrize("version", ["3.7.0", "3.40.1", "3.51.2"])
def test_an_sqlite_that_can_corrupt_its_log_is_refused(version: str) -> None:
    with pytest.raises(CatalogError, match=f"SQLite {version} is too old") as caught:
        guard_version(version)
    assert caught.value.hint == "install apsw 3.51.3 or newer, which brings its own SQLite"


@pytest.mark.parametrize("version", ["3.51.3", "3.53.0", "4.0.0"])
def test_a_sound_sqlite_is_accepted(version: str) -> None:
    guard_version(version)


def test_the_sqlite_in_use_is_sound() -> None:
    guard_version()
    assert tuple(map(int, apsw.sqlite_lib_version().split("."))) >= MINIMUM_SQLITE


def test_what_durability_needs_is_really_set(tmp_path: Path) -> None:
    db = open_writer(tmp_path / "catalog.db")
    told = {
        name: db.execute(f"pragma {name}").get
        for name in ("journal_mode", "synchronous", "page_size", "wal_autocheckpoint")
    }
    db.close()
    assert told == {"journal_mode": "wal", "synchronous": 2, "page_size": 4096, "wal_autocheckpoint": 0}


def test_plans_do_not_hang_on_the_values_that_are_bound(tmp_path: Path) -> None:
    for opened in (open_writer, open_reader):
        db = opened(tmp_path / "catalog.db")
        stable = db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1)
        db.close()
        assert stable == 1


def test_each_catalog_has_a_seed_of_its_own_that_stays(tmp_path: Path) -> None:
    seeds = []
    for name in ("a.db", "b.db", "a.db"):
        writer = CatalogWriter(tmp_path / name)
        seeds.append(writer.seed)
        writer.close()
    assert seeds[0] == seeds[2] != seeds[1]


def test_a_catalog_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    db = open_writer(path)
    db.execute("pragma user_version=99").fetchall()
    db.close()
    for opening in (open_writer, open_reader):
        with pytest.raises(CatalogError, match=r"has schema 99, this program knows \d+"):
            opening(path)


def test_a_reader_does_not_guess_at_an_older_schema(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    apsw.Connection(str(path)).execute("create table t (x)").fetchall()
    with pytest.raises(CatalogError, match="has schema 0, this program needs") as caught:
        open_reader(path)
    assert not isinstance(caught.value, CatalogDamagedError)


def test_a_missing_catalog_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="there is no catalog"):
        SqliteReader(tmp_path / "catalog.db", tmp_path)
    assert not (tmp_path / "catalog.db").exists()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"catalog\.db could not be opened"):
        CatalogWriter(tmp_path / "nowhere" / "catalog.db")


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    path.write_bytes(b"not a database, " * 1000)
    for opening in (lambda: CatalogWriter(path), lambda: SqliteReader(path, tmp_path)):
        with pytest.raises(CatalogDamagedError, match=r"catalog\.db is damaged") as caught:
            opening()
        assert (caught.value.place, caught.value.hint) == (str(path), "run: ingather catalog check")


def _filled(folder: Path, pages: int = 300) -> Path:
    catalog = SqliteUnderTest(folder)
    visitor = Visitor(catalog)
    for n in range(pages):
        url = f"http://a.test/{n}"
        visitor.start(url)
        visitor.visit(url, f"body {n}" * 50)
    visitor.close()
    return folder / "catalog.db"


def test_a_torn_end_is_found_at_start(tmp_path: Path) -> None:
    path = _filled(tmp_path)
    os.truncate(path, path.stat().st_size // 2 // 4096 * 4096)
    with pytest.raises(CatalogDamagedError, match=r"catalog\.db is damaged"):
        CatalogWriter(path)


def test_an_index_that_does_not_fit_its_table_is_found_at_start(tmp_path: Path) -> None:
    path = _filled(tmp_path, 3)
    db = apsw.Connection(str(path))
    root = db.execute("select rootpage from sqlite_schema where name = 'sqlite_autoindex_url_1'").get
    db.close()
    data = bytearray(path.read_bytes())
    cells = data[(root - 1) * 4096 + 3] * 256 + data[(root - 1) * 4096 + 4]
    assert cells == 3
    data[(root - 1) * 4096 + 3 : (root - 1) * 4096 + 5] = b"\0\1"  # the leaf has one entry left
    path.write_bytes(data)
    with pytest.raises(CatalogDamagedError, match="is damaged"):
        CatalogWriter(path)


def test_damage_that_is_met_while_reading_is_named(tmp_path: Path) -> None:
    path = _filled(tmp_path)
    reader = SqliteReader(path, tmp_path)
    assert reader.integrity() == []
    reader.close()
    data = bytearray(path.read_bytes())
    for page in range(len(data) // 4096 * 2 // 3, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(data)
    reader = SqliteReader(path, tmp_path)
    with pytest.raises(CatalogDamagedError, match=r"catalog\.db is damaged") as caught:
        reader.stats()
    assert caught.value.place == str(path)
    reader.close()


def test_migrations_are_numbered_without_gaps() -> None:
    assert [number for number, _ in migrations()] == list(range(1, len(migrations()) + 1))


def test_an_empty_file_is_a_new_catalog(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    path.touch()
    db = open_writer(path)
    assert schema_version(db) == migrations()[-1][0]
    db.close()


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    path = _filled(tmp_path, 1)
    db = open_reader(path)
    with pytest.raises(apsw.ReadOnlyError):
        db.execute("delete from url").fetchall()
    db.close()
