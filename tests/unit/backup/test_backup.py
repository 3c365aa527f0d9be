"""What backup and restore refuse, and what they leave behind: nothing."""

import json
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from ingather.app.backup import check_backup, restore, take_backup
from ingather.app.backup.manifest import read_manifest
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.robot.statefile import Kept, StateFile
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.errors import CatalogDamagedError, DiskFullError, UsageError
from ingather.testing.clock import FakeClock
from ingather.testing.rig import Rig

USAGE = namedtuple("USAGE", "total used free")  # noqa: PYI024 - as shutil has it


@pytest.fixture
def made(home: Path) -> Home:
    """A home with an empty catalog, a secret and a plug-in."""
    made = Home.create(home)
    CatalogWriter(database_of(made)).close()
    (made.path / "plugins").mkdir()
    (made.path / "plugins" / "own.py").write_text("# nothing\n")
    (made.path / "plugins" / "own.py").chmod(0o640)
    return made


def take(home: Home, to: Path, *, secrets: bool = True) -> Path:
    settings = home.settings(environment={}).settings
    return take_backup(home, settings, to, FakeClock(), secrets=secrets).path


def test_there_and_back_with_modes(made: Home, tmp_path: Path) -> None:
    folder = take(made, tmp_path / "copy")
    done = restore(folder, tmp_path / "again")
    assert (done.damage, done.documents) == ((), 0)
    for name in ("admin-token", "ingather.toml", "plugins/own.py", "config/filter.conf"):
        old, new = made.path / name, tmp_path / "again" / name
        assert (new.read_bytes(), new.stat().st_mode) == (old.read_bytes(), old.stat().st_mode)
    assert Home.open(tmp_path / "again").admin_token() == made.admin_token()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_the_robots_state_outside_of_the_home_comes_along(made: Home, tmp_path: Path) -> None:
    outside = tmp_path / "var"
    conf = made.config / "robot.conf"
    conf.write_text(f'{conf.read_text()}\nrobot-state-dir="{outside}"\n')
    StateFile(made.path, str(outside)).write(Kept(slowed={"h.example": 9.0}))
    folder = take(made, tmp_path / "copy")
    assert any("robot-state.json of the home" in note for note in read_manifest(folder).notes)
    shutil.rmtree(outside)
    restore(folder, tmp_path / "again")
    assert (tmp_path / "again" / "robot-state.json").exists()
    assert StateFile(tmp_path / "again", str(outside)).read().slowed == {"h.example": 9.0}
    assert (outside / "robot-state.json").exists()


def test_secrets_may_be_left_out(made: Home, tmp_path: Path) -> None:
    folder = take(made, tmp_path / "copy", secrets=False)
    token = made.admin_token().encode()
    assert not any(token in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert "admin-token holds a secret and was left out" in read_manifest(folder).notes


def test_what_is_no_place_for_a_backup(made: Home, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "canary").touch()
    with pytest.raises(UsageError, match="holds canary"):
        take(made, tmp_path / "full")
    with pytest.raises(UsageError, match="lies in the home"):
        take(made, made.path / "copy")
    with pytest.raises(UsageError, match="cannot be the backup"):
        take(made, tmp_path / "full" / "canary")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "home"]


def test_no_room_leaves_nothing(made: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: USAGE(100, 99, 1))
    with pytest.raises(DiskFullError, match="1 are free"):
        take(made, tmp_path / "copy")
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_a_backup_goes_into_an_empty_home_only(made: Home, tmp_path: Path) -> None:
    folder = take(made, tmp_path / "copy")
    with pytest.raises(UsageError, match="is not empty"):
        restore(folder, made.path)
    (tmp_path / "empty").mkdir()
    assert restore(folder, tmp_path / "empty").damage == ()


@pytest.mark.parametrize("name", ["catalog/catalog.db", "config/filter.conf", "admin-token"])
def test_a_flipped_bit_is_found_and_nothing_is_restored(made: Home, tmp_path: Path, name: str) -> None:
    folder = take(made, tmp_path / "copy")
    path = folder / "home" / name
    body = bytearray(path.read_bytes())
    body[len(body) // 2] ^= 1
    path.write_bytes(body)
    with pytest.raises(CatalogDamagedError, match=name):
        restore(folder, tmp_path / "again")
    assert not (tmp_path / "again").exists()
    with pytest.raises(CatalogDamagedError):
        check_backup(folder)


@pytest.mark.parametrize("path", ["../canary", "/etc/canary", "config/../../canary", ""])
def test_a_manifest_that_leads_out_of_the_home(made: Home, tmp_path: Path, path: str) -> None:
    folder = take(made, tmp_path / "copy")
    said = json.loads((folder / "backup.json").read_text())
    said["files"][0]["path"] = path
    (folder / "backup.json").write_text(json.dumps(said))
    with pytest.raises(CatalogDamagedError, match="leads out of the home"):
        restore(folder, tmp_path / "again")
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1}', '"x"'])
def test_a_manifest_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "backup.json").write_text(text)
    with pytest.raises(CatalogDamagedError, match=r"backup\.json is damaged"):
        restore(tmp_path / "copy", tmp_path / "again")


def test_backups_of_newer_programs_and_other_folders(made: Home, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no backup"):
        restore(made.path, tmp_path / "again")
    folder = take(made, tmp_path / "copy")
    said = json.loads((folder / "backup.json").read_text())
    (folder / "backup.json").write_text(json.dumps({**said, "schema": 9_999}))
    with pytest.raises(UsageError, match="schema 9999"):
        restore(folder, tmp_path / "again")
    (folder / "backup.json").write_text(json.dumps({**said, "format": 2}))
    with pytest.raises(UsageError, match="format 2"):
        restore(folder, tmp_path / "again")


def test_a_link_is_kept_as_one_and_said(made: Home, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "canary").write_text("secret")
    (made.path / "plugins" / "linked").symlink_to(tmp_path / "outside")
    folder = take(made, tmp_path / "copy")
    assert not any(path.name == "canary" for path in (folder / "home").rglob("*") if not path.is_symlink())
    assert any("plugins/linked is a link" in note for note in read_manifest(folder).notes)
    restore(folder, tmp_path / "again")
    assert (tmp_path / "again" / "plugins" / "linked").readlink() == tmp_path / "outside"


def test_bodies_that_do_not_read_back_are_told_and_the_rest_is_kept(made: Home, tmp_path: Path) -> None:
    rig = Rig(made.path)
    rig.alter("insert into host (id, origin, hkey) values (1, 'http://a.test', 'a.test')")
    rig.alter(
        "insert into url (id, key, host, path, source, depth, state, prio, hops, seg, off, len) values (1, 7, 1, '/', 1, 0, 3, 0, 0, 9, 0, 500)"
    )
    said = rig.call("backup", str(tmp_path / "copy"), "--json")
    assert (said.status, len(said.json["damage"])) == (1, 1)
    assert (tmp_path / "copy" / "home" / "ingather.toml").exists()


def test_the_commands_refuse_in_one_line(made: Home, tmp_path: Path) -> None:
    rig = Rig(made.path)
    said = rig.call("restore", str(tmp_path / "nothing"))
    assert (said.status, said.err.count("\n"), "is no backup" in said.err) == (2, 1, True)
    assert rig.call("backup", str(tmp_path / "copy")).status == 0
    assert "are as they were written" in rig.call("restore", str(tmp_path / "copy"), "--check").out
