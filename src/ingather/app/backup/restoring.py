"""A home from a backup: into an empty folder only, everything checked, the index made anew.

``ingather.toml`` is written last: a folder in which a restore broke off is no home yet, and nothing works in it.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ingather.app.backup.copying import copy_file, same, sync_folder, trouble_of
from ingather.app.backup.manifest import FOLDER, Manifest, read_manifest
from ingather.app.checking import check_catalog, rebuild_index
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.catalog.sqlite_open import migrations
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.settings.file import SETTINGS_FILE
from ingather.errors import CatalogDamagedError, CatalogError, IngatherError, UsageError

__all__ = ["Restored", "check_backup", "restore"]

_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Restored:
    """A home that was restored; *documents* are in its new index, ``None`` = none was made; *damage*: what does not read back."""

    path: Path
    manifest: Manifest
    documents: int | None
    damage: tuple[str, ...] = ()

    def form(self) -> dict[str, Any]:
        """Return it as JSON shows it."""
        made = self.manifest
        return {
            "home": str(self.path), "taken": made.taken, "files": len(made.files), "bytes": made.size, "sequence": made.sequence,
            "documents": self.documents, "notes": list(made.notes), "damage": list(self.damage),
        }  # fmt: skip


def check_backup(folder: Path) -> Manifest:
    """Read every file of a backup and compare it with the manifest; return that.

    Raises:
        UsageError: *folder* is no backup, or one of a newer program.
        CatalogDamagedError: something in it is not as it was written.
    """
    manifest = read_manifest(folder)
    newest = migrations()[-1][0]
    if manifest.schema > newest:
        raise UsageError(
            f"the backup's catalog has schema {manifest.schema}, this program knows {newest}", hint=f"use Ingather {manifest.program} or newer"
        )  # fmt: skip
    wrong = [text for entry in manifest.files if (text := same(folder / FOLDER, entry))]
    if wrong:
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise CatalogDamagedError(
            f"the backup {folder} is damaged: {'; '.join(wrong[:_SHOWN])}{more}", place=str(folder), hint="use another backup"
        )  # fmt: skip
    return manifest


def restore(
    folder: Path, to: Path, *, index: bool = True, tell: Callable[[str], None] = lambda _: None
) -> Restored:
    """Make the home *to* of the backup *folder*.

    Args:
        folder: the backup; nothing in it is changed.
        to: does not exist, or is an empty folder.
        index: whether the index is made, too.
        tell: gets a line for each step.

    Raises:
        UsageError: *folder* is no backup, or *to* is not empty.
        CatalogDamagedError: the backup is damaged; nothing is left behind.
        DiskFullError, HomeError, CatalogError: the home cannot be written; nothing is left behind.
    """
    home = Home(to)
    read_manifest(folder)
    _require_empty(home)
    tell("checking the backup")
    manifest = check_backup(folder)
    ours = not home.path.exists()
    try:
        tell(f"writing {len(manifest.files)} files")
        _write(folder / FOLDER, home, manifest)
    except OSError as error:
        _undo(home, ours=ours)
        raise trouble_of(error, home.path) from error
    except BaseException:
        _undo(home, ours=ours)
        raise
    damage = _checked(home, manifest, tell)
    documents = None
    if index and manifest.schema:
        tell("making the index")
        try:
            with home.lock("ingather restore"):
                documents = rebuild_index(home, home.settings(environment={}).settings, tell=lambda _: None)
        except IngatherError as error:
            damage = (*damage, f"the index could not be made: {error.text}")
    return Restored(home.path, manifest, documents, damage)


def _require_empty(home: Home) -> None:
    try:
        found = next(home.path.iterdir(), None)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(
            f"{home} cannot be restored into: {error.strerror}", hint="name a new folder"
        ) from error
    if found is not None:
        raise UsageError(
            f"{home} is not empty: it holds {found.name}", hint="restore into a new folder; nothing that exists is overwritten"
        )  # fmt: skip


def _write(source: Path, home: Home, manifest: Manifest) -> None:
    home.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    home.path.chmod(0o700)
    for folder in manifest.folders:
        (home.path / folder.path).mkdir(mode=0o700, parents=True, exist_ok=True)
    for entry in sorted(manifest.files, key=lambda one: one.path == SETTINGS_FILE):
        if entry.path == SETTINGS_FILE:
            _finish(home, manifest)
        fd = os.open(source / entry.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            made = copy_file(fd, home.path / entry.path, entry.path, mode=entry.mode)
        finally:
            os.close(fd)
        if made != entry:
            raise CatalogDamagedError(f"{entry.path} changed while it was restored", place=entry.path)
    sync_folder(home.path)


def _finish(home: Home, manifest: Manifest) -> None:
    """Everything but the settings is there: links, which nothing may be written through, modes, an up-to-date catalog."""
    for link in manifest.links:
        (home.path / link.path).symlink_to(link.to)
    for folder in manifest.folders:
        (home.path / folder.path).chmod(folder.mode)
    for entry in manifest.files:
        if entry.path != SETTINGS_FILE and (wrong := same(home.path, entry)):
            raise CatalogDamagedError(f"what was written does not read back: {wrong}", place=entry.path)
    if manifest.schema:
        CatalogWriter(database_of(home)).close()  # recovers and brings its schema up to date


def _checked(home: Home, manifest: Manifest, tell: Callable[[str], None]) -> tuple[str, ...]:
    home.prepare()
    if not manifest.schema:
        return ()
    tell("reading catalog and bodies back")
    try:
        return tuple(f"{found['place']}: {found['what']}" for found in check_catalog(home, bodies=True))
    except CatalogError as error:
        return (error.text,)


def _undo(home: Home, *, ours: bool) -> None:
    """Leave the place as it was: gone, or empty."""
    if ours:
        shutil.rmtree(home.path, ignore_errors=True)
        return
    for child in home.path.iterdir():
        if child.is_dir() and not child.is_symlink():
            shutil.rmtree(child, ignore_errors=True)
        else:
            with suppress(OSError):
                child.unlink()
