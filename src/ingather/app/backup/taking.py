"""Taking a backup of a home, whether it is served, crawled or at rest: no lock is taken, nothing in it is written.

The order is what makes it whole: the catalog of one moment first, then what it names. Segments of bodies only grow and
are dropped whole, so each named one is there as far as it is acknowledged, unless compaction dropped it meanwhile: then the
catalog is copied once more. A feed that was acknowledged has a row, and its file lies in the spool before that.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ingather import __version__
from ingather.app.backup.copying import copy_file, digest_of, same, sync_folder, trouble_of
from ingather.app.backup.manifest import (
    FOLDER,
    FileEntry,
    FolderEntry,
    LinkEntry,
    Manifest,
    write_manifest,
)
from ingather.app.checking import damaged_bodies
from ingather.app.doctor.homely import secrets_of
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.robot.statefile import FILE as STATE
from ingather.app.robot.statefile import StateFile
from ingather.app.secrets import FILE as SECRETS
from ingather.catalog.bodies.folder import segment_name
from ingather.catalog.sqlite_backup import acknowledged_of, copy_catalog
from ingather.catalog.sqlite_open import migrations
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.conf import load
from ingather.conf.settings.values import Settings
from ingather.errors import CatalogDamagedError, DiskFullError, HomeError, IngatherError, UsageError
from ingather.ports.clock import Clock

__all__ = ["Taken", "take_backup"]

_LEFT_OUT: Final = frozenset({"index", "log", "run", "catalog", "bodies"})
_TEMPORARY: Final = (".new", ".part")
_PROBE: Final = ".probe-"
_PUBLISHING: Final = "publishing"
_TRIES: Final = 5
_ROOM: Final = 1 << 20
_OUTSIDE: Final = (
    "feeds.certificate", "feeds.certificate-key", "access.oidc-secret-file", "directory.ca-file", "directory.bind-password-file",
    "notices.secret-file", "notices.mail-password-file", "plugins.folder",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Taken:
    """A backup that was taken: where, its manifest, and what in the home itself does not read back."""

    path: Path
    manifest: Manifest
    damage: tuple[str, ...] = ()

    def form(self) -> dict[str, Any]:
        """Return it as JSON shows it."""
        made = self.manifest
        return {
            "backup": str(self.path), "taken": made.taken, "files": len(made.files), "bytes": made.size, "sequence": made.sequence,
            "schema": made.schema, "notes": list(made.notes), "damage": list(self.damage),
        }  # fmt: skip


class _MovedError(Exception):
    """Something that the copied catalog names was dropped meanwhile."""


def take_backup(  # noqa: PLR0913 - what an answer may depend on
    home: Home,
    settings: Settings,
    to: Path,
    clock: Clock,
    *,
    secrets: bool = True,
    read_back: bool = True,
    tell: Callable[[str], None] = lambda _: None,
) -> Taken:
    """Make the backup *to* of *home*, whoever owns it.

    Args:
        home: the home.
        settings: its settings.
        to: a folder that does not exist or is empty, not in the home.
        clock: of the date in it.
        secrets: whether files with secrets are taken along, with their modes.
        read_back: whether every file, the catalog and every kept body are read again from the backup.
        tell: gets a line for each step.

    Raises:
        UsageError: *to* cannot be one.
        CatalogError: the catalog cannot be read, or changed faster than it could be copied.
        DiskFullError: there is not enough room.
        HomeError: a file cannot be read or written.
    """
    place = Path(os.path.abspath(to.expanduser()))  # noqa: PTH100 - resolve() would follow links
    _require_empty(home, place)
    work = place.with_name(f".{place.name}.part-{os.getpid()}")
    try:
        work.parent.mkdir(parents=True, exist_ok=True)
        work.mkdir(mode=0o700)
        _require_room(home, work)
        taken = _Taking(home, settings, work, secrets=secrets, tell=tell).take(clock)
        damage = _read_back(work, taken, tell) if read_back else ()
        write_manifest(work, taken)
        sync_folder(work)
        with suppress(FileNotFoundError):
            place.rmdir()
        work.rename(place)
        sync_folder(place.parent)
    except OSError as error:
        raise trouble_of(error, work) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return Taken(place, taken, damage)


class _Taking:
    """One backup on its way."""

    def __init__(
        self, home: Home, settings: Settings, work: Path, *, secrets: bool, tell: Callable[[str], None]
    ) -> None:
        self._home, self._settings, self._to, self._tell = home, settings, work / FOLDER, tell
        self._closed = set() if secrets else {str(path) for path in secrets_of(home, settings)}
        self._files: list[FileEntry] = []
        self._links: list[LinkEntry] = []
        self._folders: list[FolderEntry] = []
        self._notes: list[str] = []

    def take(self, clock: Clock) -> Manifest:
        """Copy everything; return the manifest, not written yet."""
        self._to.mkdir(mode=0o700)
        taken = datetime.fromtimestamp(clock.wall(), UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        schema, sequence = self._catalog()
        self._tell("copying configuration, feeds and secrets")
        self._settled_files()
        self._robot_state()
        self._notes += self._outside()
        return Manifest(
            __version__, taken, schema, sequence, self._files, self._links, self._folders, self._notes
        )

    def _catalog(self) -> tuple[int, int]:
        if not database_of(self._home).exists():
            self._notes.append("there was no catalog")
            return 0, 0
        for attempt in range(_TRIES):
            try:
                return self._catalog_once()
            except _MovedError as moved:
                self._tell(
                    f"{moved} was dropped by compaction meanwhile: once more ({attempt + 2} of {_TRIES})"
                )
        raise HomeError(
            f"compaction dropped bodies {_TRIES} times while the catalog was copied", hint="try again when the robot rests"
        )  # fmt: skip

    def _catalog_once(self) -> tuple[int, int]:
        self._tell("copying the catalog")
        name = "catalog/" + database_of(self._home).name
        copy = self._to / name
        shutil.rmtree(self._to)
        copy.parent.mkdir(mode=0o700, parents=True)
        self._files.clear()
        copy_catalog(database_of(self._home), copy)
        reader = SqliteReader(copy, self._home.bodies)
        try:
            sequence = reader.last_sequence()
        finally:
            reader.close()
        self._files.append(FileEntry(name, *digest_of(copy), 0o600))
        ends = acknowledged_of(copy)
        self._tell(f"copying {len(ends)} segments of bodies")
        for number, end in sorted(ends.items()):
            self._segment(number, end)
        self._counter()
        return migrations()[-1][0], sequence

    def _segment(self, number: int, end: int) -> None:
        source = self._home.bodies / segment_name(number)
        name = f"bodies/{source.name}"
        try:
            fd = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            if number in acknowledged_of(database_of(self._home)):  # it is named still: lost, not dropped
                self._notes.append(f"{name} is missing in the home")
                return
            raise _MovedError(source.name) from None
        try:
            self._files.append(copy_file(fd, self._to / name, name, mode=0o600, end=end))
        except CatalogDamagedError as damaged:
            self._notes.append(f"{damaged.text}: it is copied as it is")
            (self._to / name).unlink()
            self._files.append(copy_file(fd, self._to / name, name, mode=0o600))
        finally:
            os.close(fd)

    def _counter(self) -> None:
        """Files beside the segments (the last number that was given)."""
        for path in sorted(self._home.bodies.iterdir()):
            if not path.name.startswith("body-") and path.is_file() and not path.name.endswith(_TEMPORARY):
                self._file(path, f"bodies/{path.name}")

    def _settled_files(self) -> None:
        """Copy all other files; ``config/`` once more if a new configuration came meanwhile."""
        kept = len(self._files)
        for _ in range(_TRIES):
            before = self._configuration()
            for entry in sorted(self._home.path.iterdir()):
                if entry.name not in _LEFT_OUT and not _passing(entry.name):
                    self._tree(entry, entry.name)
            if before == self._configuration() and not (self._home.run / _PUBLISHING).exists():
                return
            del self._files[kept:], self._links[:], self._folders[:]
            for child in self._to.iterdir():
                if child.name in _LEFT_OUT:
                    continue
                shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()
        raise HomeError("config/ changed each time it was copied", hint="try again when nobody publishes")

    def _configuration(self) -> list[tuple[str, int, int]]:
        return [
            (str(path), found.st_mtime_ns, found.st_ino)
            for path in sorted([*self._home.config.rglob("*"), self._home.settings_file])
            if not _passing(path.name) and (found := path.lstat())
        ]

    def _tree(self, path: Path, name: str) -> None:
        try:
            found = path.lstat()
        except FileNotFoundError:
            return  # it passed
        if stat.S_ISLNK(found.st_mode) and not ("/" not in name and path.is_dir()):
            to = str(path.readlink())
            self._links.append(LinkEntry(name, to))
            (self._to / name).symlink_to(to)
            self._notes.append(f"{name} is a link to {to}, kept as a link")
        elif path.is_dir():
            self._folders.append(FolderEntry(name, stat.S_IMODE(path.stat().st_mode) & 0o777))
            (self._to / name).mkdir(mode=0o700, exist_ok=True)
            for child in sorted(path.iterdir()):
                if not _passing(child.name):
                    self._tree(child, f"{name}/{child.name}")
        elif stat.S_ISREG(found.st_mode):
            self._file(path, name)

    def _file(self, path: Path, name: str) -> None:
        if str(path) in self._closed:
            self._notes.append(f"{name} holds a secret and was left out")
            return
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return  # a feed that was just forgotten
        try:
            mode = stat.S_IMODE(os.fstat(fd).st_mode) & 0o777
            self._files.append(copy_file(fd, self._to / name, name, mode=mode))
        finally:
            os.close(fd)

    def _robot_state(self) -> None:
        """What commands set may lie outside of the home (``robot-state-dir``): it is taken along as the home's own."""
        try:
            folder = str(load(self._home.config).robot.robot_state_dir)
        except IngatherError as error:
            self._notes.append(f"robot-state-dir cannot be read, {STATE} may be missing: {error.text}")
            return
        there = StateFile(self._home.path, folder).path
        if Path(os.path.abspath(there)).is_relative_to(self._home.path) or not there.is_file():  # noqa: PTH100 - links are kept
            return
        self._files = [entry for entry in self._files if entry.path != STATE]
        (self._to / STATE).unlink(missing_ok=True)
        try:
            self._file(there, STATE)
        except OSError as error:
            self._notes.append(f"{there} cannot be read and is not in the backup: {error.strerror}")
            return
        self._notes.append(
            f"{there} is in the backup as {STATE} of the home: restored it is moved to robot-state-dir, unless one lies there"
        )

    def _outside(self) -> Iterator[str]:
        for name in _OUTSIDE:
            text = self._settings.text(name).strip()
            if text and not (self._home.path / text).is_relative_to(self._home.path):
                yield f"{name} = {text} lies outside of the home and is not in the backup"
        if (self._to / SECRETS).exists():
            yield f"{SECRETS} is encrypted, and its key is not in the backup: keep a copy of it (ingather doctor says where it is)"


def _passing(name: str) -> bool:
    return name.startswith(_PROBE) or name.endswith(_TEMPORARY)


def _require_empty(home: Home, place: Path) -> None:
    real = place.resolve()
    if real == home.path.resolve() or real.is_relative_to(home.path.resolve()):
        raise UsageError(f"{place} lies in the home", hint="name a place outside, best on another disk")
    try:
        taken = next(place.iterdir(), None)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(
            f"{place} cannot be the backup: {error.strerror}", hint="name a new folder"
        ) from error
    if taken is not None:
        raise UsageError(
            f"{place} is not empty: it holds {taken.name}", hint="name a new folder for each backup"
        )


def _require_room(home: Home, work: Path) -> None:
    def size_of(folder: Path) -> int:
        return (
            sum(path.stat().st_size for path in folder.iterdir() if path.is_file()) if folder.is_dir() else 0
        )

    wanted = size_of(home.catalog) + size_of(home.bodies) + _ROOM
    free = shutil.disk_usage(work).free
    if free < wanted:
        raise DiskFullError(
            f"the backup may need {wanted:,} bytes, {free:,} are free at {work.parent}", hint="make room, or name another place"
        )  # fmt: skip


def _read_back(work: Path, manifest: Manifest, tell: Callable[[str], None]) -> tuple[str, ...]:
    """Read the whole backup again; return what of the home itself is damaged.

    Raises:
        CatalogDamagedError: the backup does not read as it was written.
    """
    tell("reading everything back")
    folder = work / FOLDER
    for entry in manifest.files:
        wrong = same(folder, entry)
        if wrong:
            raise CatalogDamagedError(
                f"the backup does not read back: {wrong}", place=entry.path, hint="the disk of the backup fails: use another one"
            )  # fmt: skip
    if not manifest.schema:
        return ()
    reader = SqliteReader(folder / "catalog" / "catalog.db", folder / "bodies")
    try:
        damage = [f"catalog: {line}" for line in reader.integrity()]
        damage += [
            f"{error.place}: {error.text} ({url})"
            for _, url, error in damaged_bodies(reader, folder / "bodies")
        ]
    finally:
        reader.close()
    return tuple(damage)
