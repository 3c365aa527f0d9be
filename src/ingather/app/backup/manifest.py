"""``backup.json``: what a backup holds. A folder without one is no backup: it is written last."""

import json
import os
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from ingather.errors import CatalogDamagedError, UsageError

__all__ = [
    "FOLDER",
    "NAME",
    "FileEntry",
    "FolderEntry",
    "LinkEntry",
    "Manifest",
    "read_manifest",
    "write_manifest",
]

NAME: Final = "backup.json"
FOLDER: Final = "home"
_FORMAT: Final = 1
_MODES: Final = 0o777


class FileEntry(msgspec.Struct, frozen=True):
    """A file: *path* below the home with ``/``, size in bytes, SHA-256 in hexadecimal, permission bits."""

    path: str
    size: int
    sha256: str
    mode: int


class LinkEntry(msgspec.Struct, frozen=True):
    """A symbolic link, kept as one: what it leads to is not in the backup unless it lies in the home."""

    path: str
    to: str


class FolderEntry(msgspec.Struct, frozen=True):
    """A folder with its permission bits."""

    path: str
    mode: int


class Manifest(msgspec.Struct, frozen=True):
    """What a backup holds.

    Attributes:
        program: version of Ingather that took it.
        taken: when, ISO 8601, UTC.
        schema: of the catalog, 0 = there was none.
        sequence: the catalog's last change.
        notes: what operators should know: what is not in it.
    """

    program: str
    taken: str
    schema: int
    sequence: int
    files: list[FileEntry]
    links: list[LinkEntry] = []
    folders: list[FolderEntry] = []
    notes: list[str] = []
    format: int = _FORMAT

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.files)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write ``backup.json`` into *folder*, durably.

    Raises:
        OSError: it cannot be written.
    """
    path = folder / NAME
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of the backup *folder*.

    Raises:
        UsageError: the folder is no backup, or one of a newer program.
        CatalogDamagedError: the manifest is damaged, or leads out of the home.
    """
    path = folder / NAME
    try:
        body = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(
            f"{folder} is no backup: it has no {NAME}", hint="name a folder that ingather backup made"
        ) from None
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", hint="give this user access to it"
        ) from error
    try:
        said = json.loads(body)
        if isinstance(said, dict) and said.get("format", _FORMAT) != _FORMAT:
            raise UsageError(
                f"{folder} is a backup of format {said['format']}, this program knows {_FORMAT}", hint="use the newer program that took it"
            )  # fmt: skip
        made = msgspec.convert(said, Manifest)
    except (ValueError, msgspec.ValidationError) as error:
        raise _damaged(path, str(error)) from error
    paths = [entry.path for entry in made.files] + [entry.path for entry in made.links]
    modes = [entry.mode for entry in made.files] + [entry.mode for entry in made.folders]
    for name in (*paths, *(entry.path for entry in made.folders)):
        if not _inside(name):
            raise _damaged(path, f"{name!r} leads out of the home")
    if len(set(paths)) < len(paths) or any(mode & ~_MODES for mode in modes):
        raise _damaged(path, "a file is named twice, or has a mode that none has")
    return made


def _inside(text: str) -> bool:
    path = PurePosixPath(text)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in text


def _damaged(path: Path, what: str) -> CatalogDamagedError:
    return CatalogDamagedError(f"{path} is damaged: {what}", place=str(path), hint="use another backup")
