"""Every way to the newest schema ends at the same one."""

from pathlib import Path

import apsw
import pytest

from ingather.catalog.sqlite_open import migrate, migrations, open_writer, schema_of, schema_version
from ingather.errors import CatalogError

FROZEN = sorted((Path(__file__).parent / "schemas").glob("*.sql"))


def _fresh(path: Path) -> list[tuple[str, str]]:
    db = open_writer(path)
    try:
        return schema_of(db)
    finally:
        db.close()


def test_migrating_step_by_step_from_zero_gives_the_fresh_schema(tmp_path: Path) -> None:
    known = migrations()
    path = tmp_path / "stepped.db"
    for upto in range(1, len(known) + 1):  # one program version after the other
        db = apsw.Connection(str(path))
        migrate(db, known[:upto])
        assert schema_version(db) == upto
        db.close()
    db = apsw.Connection(str(path))
    assert schema_of(db) == _fresh(tmp_path / "fresh.db")
    db.close()


@pytest.mark.parametrize("frozen", FROZEN, ids=lambda path: path.stem)
def test_a_catalog_of_each_released_schema_is_brought_up_to_date(tmp_path: Path, frozen: Path) -> None:
    path = tmp_path / "old.db"
    db = apsw.Connection(str(path))
    db.execute(frozen.read_text("utf-8")).fetchall()
    db.execute(f"pragma user_version={int(frozen.stem)}").fetchall()
    db.execute("insert into meta (name, value) values ('seed', 7)").fetchall()
    db.close()
    db = open_writer(path)
    assert schema_of(db) == _fresh(tmp_path / "fresh.db")
    assert db.execute("select value from meta where name = 'seed'").get == 7
    db.close()


def test_every_released_schema_is_frozen_here() -> None:
    assert [int(path.stem) for path in FROZEN] == [number for number, _ in migrations()]


def test_the_newest_frozen_schema_is_what_the_program_makes(tmp_path: Path) -> None:
    """Whoever changes a schema that is out writes a migration, and freezes what it leads to."""
    db = apsw.Connection(str(tmp_path / "frozen.db"))
    db.execute(FROZEN[-1].read_text("utf-8")).fetchall()
    assert schema_of(db) == _fresh(tmp_path / "fresh.db")
    db.close()


def test_a_migration_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    db = apsw.Connection(str(tmp_path / "catalog.db"))
    good = (1, "create table meta (name text primary key, value any) strict, without rowid;")
    migrate(db, [good])
    before = schema_of(db)
    with pytest.raises(apsw.SQLError):
        migrate(db, [good, (2, "create table more (x integer); create table broken (;")])
    assert schema_of(db) == before
    assert schema_version(db) == 1
    migrate(db, [good, (2, "create table more (x integer);")])
    assert schema_version(db) == 2
    db.close()


def test_migrations_that_ran_do_not_run_again(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    open_writer(path).close()
    db = open_writer(path)
    assert db.execute("select count(*) from meta where name = 'seed'").get == 1
    with pytest.raises(CatalogError):
        migrate(db, migrations()[:0] or [(0, "")])
    db.close()


def test_a_home_with_pushed_urls_is_told_what_becomes_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Migration 28: URLs of feeds keep their parameters."""
    path = tmp_path / "old.db"
    frozen = next(one for one in FROZEN if one.stem == "0025")
    db = apsw.Connection(str(path))
    db.execute(frozen.read_text("utf-8")).fetchall()
    db.execute("pragma user_version=25").fetchall()
    db.execute("insert into meta (name, value) values ('seed', 7), ('feed-newest', 12)").fetchall()
    db.execute(
        "insert into fed (id, source, web, feed, n) values (1, 1, 0, 9, 1), (2, 1, 0, 11, 1)"
    ).fetchall()
    db.close()
    db = open_writer(path)
    assert db.execute("select value from meta where name = 'short-feed'").get == 12
    db.close()
    said = capsys.readouterr().err
    assert "Push full feeds" in said
    assert "pushed_urls" in said
    open_writer(path).close()
    assert capsys.readouterr().err == ""
