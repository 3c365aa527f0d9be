"""The home folder: made once, found again, owned by one process."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ingather.app.disk import Headroom, Room, headroom
from ingather.app.home import Home
from ingather.app.owner import forget_address, note_address, owner_address
from ingather.errors import DiskFullError, HomeError, HomeLockedError

OWNER = (
    "import sys, pathlib\n"
    "from ingather.app.home import Home\n"
    "lock = Home(pathlib.Path(sys.argv[1])).lock('ingather serve')\n"
    "print('mine', flush=True)\n"
    "sys.stdin.read()\n"
)


@contextmanager
def owner_of(home: Home) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", OWNER, str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout
        assert child.stdout.readline() == "mine\n"
        try:
            yield child
        finally:
            child.kill()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_home_holds_settings_token_configuration_and_folders(tmp_path: Path) -> None:
    home = Home.create(tmp_path / "deep" / "home")
    assert home.settings_file.read_text().startswith("# Settings of this Ingather home.")
    assert mode(home.path / "admin-token") == 0o600
    assert mode(home.path) == 0o700
    assert len(home.admin_token()) >= 40
    assert {p.name for p in home.path.iterdir()} == {
        "ingather.toml", "admin-token", "config", "catalog", "bodies", "index", "log", "run", "feeds",
    }  # fmt: skip
    assert not home.settings().diagnostics


def test_the_shipped_configuration_is_copied(tmp_path: Path) -> None:
    home = Home.create(tmp_path / "home")
    names = {path.name for path in home.config.iterdir()}
    assert {"robot.conf", "filter.conf", "filterrules.conf", "mime.types"} <= names


def test_making_it_again_changes_nothing_and_completes_what_is_missing(tmp_path: Path) -> None:
    home = Home.create(tmp_path)
    home.settings_file.write_text("[log]\nlevel = 'debug'\n")
    token = home.admin_token()
    home.bodies.rmdir()
    again = Home.create(tmp_path)
    assert again.settings().settings.text("log.level") == "debug"
    assert again.admin_token() == token
    assert home.bodies.is_dir()


def test_two_homes_have_different_tokens(tmp_path: Path) -> None:
    assert Home.create(tmp_path / "a").admin_token() != Home.create(tmp_path / "b").admin_token()


def test_half_a_home_is_completed(tmp_path: Path) -> None:
    (tmp_path / "catalog").mkdir()
    (tmp_path / "ingather.toml.new").write_text("[lo")
    assert not Home.create(tmp_path).settings().diagnostics


def test_a_folder_that_holds_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").touch()
    with pytest.raises(HomeError, match=r"is not empty and no home of ours: it holds holiday\.jpg"):
        Home.create(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]


def test_what_else_a_user_keeps_in_a_home_does_no_harm(tmp_path: Path) -> None:
    Home.create(tmp_path)
    (tmp_path / "notes").touch()
    Home.create(tmp_path)
    Home.open(tmp_path)


def test_settings_that_init_was_told_stand_in_the_file(tmp_path: Path) -> None:
    home = Home.create(tmp_path, written={"listen.search": '"127.0.0.1:0"'})
    assert home.settings().settings.address("listen.search") == ("127.0.0.1", 0)


def test_a_home_that_is_none_says_how_to_make_one(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, text in (
        (tmp_path / "no", "does not exist"),
        (tmp_path, "has no ingather.toml"),
        (tmp_path / "file", "is not a folder"),
    ):
        with pytest.raises(HomeError, match=text) as caught:
            Home.open(path)
        assert caught.value.hint == f"make a home with: ingather init {path}"


@pytest.mark.parametrize("name", ["", "ingather.toml", "catalog"])
def test_an_unreadable_home_names_the_path_and_the_remedy(tmp_path: Path, name: str) -> None:
    home = Home.create(tmp_path / "home")
    locked = home.path / name
    program = (
        "import os, sys, pathlib\n"
        "from ingather.app.home import Home\n"
        "from ingather.errors import HomeError\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "try: Home.open(pathlib.Path(sys.argv[1]))\n"
        "except HomeError as error: print(error)\n"
    )
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if "pytest" in str(parent):
            parent.chmod(0o755)
    home.path.chmod(0o755)
    for folder in home.path.iterdir():
        folder.chmod(0o755)
    locked.chmod(0)
    done = subprocess.run(
        [sys.executable, "-c", program, str(home)], capture_output=True, text=True, check=True
    )
    locked.chmod(0o700)
    assert f"{locked} cannot be read: Permission denied; run as " in done.stdout


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HomeError, match="cannot be"):
        Home.create(tmp_path / "file" / "home")
    home = Home.create(tmp_path / "home")
    home.index.rmdir()
    home.index.touch()
    with pytest.raises(HomeError, match=f"{home.index} cannot be written"):
        home.prepare()


def test_a_home_that_can_be_written_is_prepared_without_a_trace(tmp_path: Path) -> None:
    home = Home.create(tmp_path)
    home.log.rmdir()
    home.prepare()
    assert home.log.is_dir()
    assert not list(home.index.iterdir())


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    home = Home.create(tmp_path)
    token = tmp_path / "admin-token"
    token.chmod(0o640)
    with pytest.raises(HomeError, match=r"can be read by others; chmod 600"):
        home.admin_token()
    token.write_text("")
    token.chmod(0o600)
    with pytest.raises(HomeError, match="is empty"):
        home.admin_token()
    token.write_bytes(b"\xff")
    with pytest.raises(HomeError, match="is not a token"):
        home.admin_token()
    token.unlink()
    with pytest.raises(HomeError, match="is missing"):
        home.admin_token()


def test_a_second_process_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    home = Home.create(tmp_path)
    with owner_of(home) as child, pytest.raises(HomeLockedError) as caught:
        home.lock("ingather crawl", wait_s=0.1)
    assert f"is in use by process {child.pid} (ingather serve, since 2" in str(caught.value)
    assert str(child.pid) in caught.value.owner


def test_a_dead_owner_blocks_nobody(tmp_path: Path) -> None:
    home = Home.create(tmp_path)
    with owner_of(home) as child:
        child.kill()
        child.wait()
        with home.lock("ingather crawl") as lock:
            assert json.loads((home.run / "lock").read_text())["pid"] == os.getpid() == lock.owner.pid


def test_a_released_home_can_be_taken_again_and_the_file_stays(tmp_path: Path) -> None:
    home = Home.create(tmp_path)
    with home.lock("one"), pytest.raises(HomeLockedError):
        home.lock("two", wait_s=0)
    with home.lock("three"):
        pass
    assert (home.run / "lock").exists()


def test_a_lock_file_with_nonsense_inside_still_locks(tmp_path: Path) -> None:
    home = Home.create(tmp_path)
    with home.lock("one"):
        (home.run / "lock").write_bytes(b"\x00[1]")
        with pytest.raises(HomeLockedError, match="in use by another process"):
            home.lock("two", wait_s=0)


def test_a_child_process_does_not_keep_the_lock(tmp_path: Path) -> None:
    home = Home.create(tmp_path)
    lock = home.lock("one")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False) as child:
        lock.release()
        home.lock("two", wait_s=0).release()
        child.kill()


def test_work_is_refused_below_the_reserve(tmp_path: Path) -> None:
    found = headroom(tmp_path, reserve_bytes=0, reserve_share=0.0)
    assert found.enough
    found.require()
    with pytest.raises(DiskFullError):
        found.require(found.free_bytes + 1)
    full = headroom(tmp_path, reserve_bytes=1 << 60, reserve_share=0.0)
    assert not full.enough
    with pytest.raises(
        DiskFullError, match=r"only .* are free below .*, 1073741824\.0 GiB are kept in reserve"
    ):
        full.require()
    assert headroom(tmp_path, reserve_bytes=0, reserve_share=1.0).reserve_bytes >= found.free_bytes
    assert Headroom(tmp_path, 10, 10).enough
    with pytest.raises(HomeError):
        headroom(tmp_path / "no", reserve_bytes=0, reserve_share=0.0)


def test_the_owner_is_asked_where_it_listens_and_strangers_get_no_token(tmp_path: Path) -> None:
    home = Home.create(tmp_path / "home", written={"listen.admin": '"127.0.0.1:0"'})
    settings = home.settings(environment={}).settings
    written = settings.address("listen.admin")
    note_address(home, "0.0.0.0", 4711)  # noqa: S104 - written down only
    mine = HomeLockedError("locked", owner=f"process {os.getpid()} (ingather serve, since today)")
    other = HomeLockedError("locked", owner=f"process {os.getpid()}0 (ingather crawl, since today)")
    assert owner_address(home, settings, mine) == ("127.0.0.1", 4711)
    assert owner_address(home, settings, other) == written
    for torn in ("", "{", "[]", '{"pid": "x"}'):
        (home.run / "admin.json").write_text(torn)
        assert owner_address(home, settings, mine) == written
    forget_address(home)
    forget_address(home)
    assert owner_address(home, settings, mine) == written


def test_room_is_looked_for_now_and_then_and_what_was_let_in_counts_as_written(tmp_path: Path) -> None:
    looks: list[Headroom] = []
    free, now = 1_000, 0.0

    def look() -> Headroom:
        looks.append(Headroom(tmp_path, free, 100))
        return looks[-1]

    room = Room(look, lambda: now, look_s=1.0)
    assert [room(400), room(400), len(looks)] == [True, True, 1]
    free = 200
    assert [room(100), len(looks)] == [True, 1]  # the old look still has so much
    assert [room(1), len(looks)] == [True, 2]
    free = 101
    assert [room(100), room(0), len(looks)] == [False, True, 3]  # looked again before it is refused
    free = 5_000
    assert room(4_000)  # nothing is refused by an old look
    free, now = 50, 1.0
    assert not room(0)
